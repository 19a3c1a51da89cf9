"""Makes the page of settings when it is asked for, and lets each setting do what it says."""

from __future__ import annotations

import platform
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, qVersion

from app.window.main_window import SETTINGS, MainWindow
from app.window.settings.keeper import Keeper
from app.window.settings.window_state import WindowState
from services.i18n import languages, mark, tr
from services.workstation.preferences import INTERVALS_S, KEEP_DAYS, MOST_GIB
from widgets.bridge.ops import Ops
from widgets.common.look.fonts import SIZES, text_percent
from widgets.common.look.theme import theme_holder

if TYPE_CHECKING:
    from app.window.session import WindowSession
    from widgets.settings.page import SettingsPage
    from widgets.settings.values import Limit, Shown


class SettingsDoor(QObject):
    """One per window."""

    def __init__(
        self,
        window: MainWindow,
        ops: Ops,
        keeper: Keeper,
        standing: WindowState,
        options: Namespace,
        session: WindowSession,
    ) -> None:
        super().__init__(window)
        self._window, self._ops = window, ops
        self._keeper, self._standing = keeper, standing
        self._options, self._session = options, session
        self._page: SettingsPage | None = None
        window.page_awaited.connect(self._asked)
        window.setting_wanted.connect(self._show_setting)
        theme_holder().changed.connect(self._show_look)
        session.ready.connect(self._note_estate)

    def _asked(self, key: str) -> None:
        if key == SETTINGS and self._page is None:
            self._make()

    def _show_setting(self, name: str) -> None:
        self._window.show_settings()
        if self._page is not None:
            self._page.show_setting(name)

    def _make(self) -> None:
        from services.secrets import keyring_in_use
        from widgets.settings.page import SettingsPage

        page = self._page = SettingsPage(self._shown(), limit_fault)
        page.changed.connect(self._set)
        page.limit_changed.connect(self._set_limit)
        page.estate_forgotten.connect(lambda: self._keeper.change(inventory=""))
        page.closed.connect(self._window.leave_settings)
        self._window.add_page(SETTINGS, page)
        self._ops.run("keyring", keyring_in_use, lambda found: page.show_keyring(*found))

    def _shown(self) -> Shown:
        from widgets.settings.values import Shown

        now = self._keeper.now
        estate = str(self._estate()) if self._live() else ""
        return Shown(
            theme=now.theme,
            text_percent=text_percent(),
            language=now.language,
            languages=languages(),
            sizes=SIZES,
            interval_s=now.interval_s,
            intervals=INTERVALS_S,
            keep_days=now.keep_days,
            days=KEEP_DAYS,
            most_gib=now.most_gib,
            gib=MOST_GIB,
            limits=now.limits,
            questions=limits_there_are(),
            estate=estate,
            usual_estate=not now.inventory,
            kept=str(self._keeper.path or ""),
            about=about(self._options, self._keeper),
        )

    def _set(self, name: str, value: object) -> None:
        if name == "theme":
            self._standing.set_theme(str(value))
        elif name == "text_percent" and isinstance(value, int):
            self._standing.set_text(value)
        else:
            self._keeper.change(**{name: value})

    def _set_limit(self, name: str, text: str) -> None:
        limits = {key: kept for key, kept in self._keeper.now.limits.items() if key != name}
        self._keeper.change(limits=limits | ({name: text} if text else {}))

    def _show_look(self) -> None:
        if self._page is not None:
            self._page.show_theme(self._keeper.now.theme)
            self._page.show_text(text_percent())

    def _live(self) -> bool:
        controller = self._session.controller
        return controller is not None and controller.source.is_live

    def _estate(self) -> Path:
        from app.places import windows_inventory

        return windows_inventory(self._options).absolute()

    def _note_estate(self) -> None:
        """Keep which inventory is open, where it is not the usual one and its estate stands."""
        from argparse import Namespace

        from app.places import windows_inventory

        if self._live():
            path, usual = self._estate(), windows_inventory(Namespace()).absolute()
            self._keeper.change(inventory="" if path == usual else str(path))


def limit_fault(text: str) -> str:
    """Return what is wrong with a limit that a person typed, '' for nothing."""
    from services.procedures.plan.forms.inputs import number_of, seconds_of

    if number_of(text) is not None or seconds_of(text) is None:
        return tr("Write a time like 90 s, 2 min or 1 h.")
    return ""


def limits_there_are() -> tuple[Limit, ...]:
    """Return the times that several procedures ask for, with what they begin with where nobody set anything."""
    from widgets.settings.values import Limit

    return (
        Limit("drain_limit", mark("Longest drain of a node"), "2 min"),
        Limit("soak", mark("Watch a node that is back before clients return to it"), "60 s"),
        Limit("pause", mark("Pause between two nodes"), "60 s"),
        Limit("downtime", mark("Expected downtime of a node"), "2 min"),
    )


def about(options: Namespace, keeper: Keeper) -> tuple[tuple[str, str], ...]:
    """Return what the program says of itself: (marked name, value)."""
    from importlib.metadata import PackageNotFoundError, metadata

    import PySide6

    from services.workstation.own_version import own_build

    try:
        licence = metadata("pilothouse")["License-Expression"]
    except PackageNotFoundError:
        licence = ""
    folder = keeper.path.parent if keeper.path is not None else getattr(options, "data", None)
    return tuple(
        (name, value)
        for name, value in (
            (mark("Version"), own_build().line),
            (mark("Python"), platform.python_version()),
            (mark("Qt"), f"{qVersion()} (PySide6 {PySide6.__version__})"),
            (mark("System"), platform.platform()),
            (mark("Licence"), licence),
            (mark("Data folder"), str(folder or "")),
            (mark("Log"), tr("standard error; --verbose adds details")),
        )
        if value
    )
