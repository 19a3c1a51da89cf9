"""The look as data: colour tokens of the light and the dark theme, and the holder every widget reads them from.

Values are those of the design's token table; tests/widgets/common/test_theme_contrast.py proves 4.5:1 for every text on
every ground it stands on, and that the state colours and the curves stay apart for the three common colour blindnesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from services.colors import CURVES, DARK, LIGHT
from services.types import Health
from widgets.common.look.fonts import mono_font, set_text_percent, text_percent, ui_font
from widgets.common.look.style import style_sheet
from widgets.common.look.styling import styling

__all__ = [
    "CURVES",
    "Theme",
    "ThemeHolder",
    "ThemeName",
    "apply_text_size",
    "apply_theme",
    "current_theme",
    "curve_color",
    "mono_font",
    "system_theme_name",
    "theme",
    "theme_holder",
    "ui_font",
    "with_alpha",
]

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Theme:
    """Colour tokens. `window` frame, `panel` tree/inspector/cards, `canvas` what lies under cards.

    `*_tint` are grounds for text of the same name. `warn` is text, `warn_fill` shapes and frames. `stale` draws dashed
    outlines and is never text. `on_accent` is text on a ground of `accent`. `hover` is a ground under the pointer.
    """

    name: ThemeName
    window: QColor
    panel: QColor
    canvas: QColor
    line: QColor
    divider: QColor
    text: QColor
    second: QColor
    third: QColor
    accent: QColor
    accent_tint: QColor
    on_accent: QColor
    good: QColor
    good_tint: QColor
    transfer: QColor
    transfer_tint: QColor
    warn: QColor
    warn_fill: QColor
    warn_tint: QColor
    on_warn_fill: QColor
    bad: QColor
    bad_tint: QColor
    stale: QColor
    enclosure: QColor
    enclosure_line: QColor
    hover: QColor

    @property
    def dark(self) -> bool:
        """Return whether this is the dark theme."""
        return self.name == "dark"

    def health(self, health: Health) -> QColor:
        """Return the colour of a state's word (UNKNOWN: the grey of hints)."""
        return getattr(self, _WORD[health])  # type: ignore[no-any-return]

    def health_fill(self, health: Health) -> QColor:
        """Return the colour of a state's shape."""
        return getattr(self, _SHAPE[health])  # type: ignore[no-any-return]

    def health_tint(self, health: Health) -> QColor:
        """Return the ground for a state's word in a box."""
        return getattr(self, _TINT[health])  # type: ignore[no-any-return]

    def value(self, health: Health) -> QColor:
        """Return the colour of a number: plain text while good or unknown, the state's own colour when it matters."""
        return self.health(health) if health in {Health.WARN, Health.BAD} else self.text


# Which token paints a state; one look-up each, because painting asks for them thousands of times a frame.
_WORD = {
    Health.GOOD: "good",
    Health.TRANSFER: "transfer",
    Health.WARN: "warn",
    Health.BAD: "bad",
    Health.UNKNOWN: "third",
}
_SHAPE = _WORD | {Health.WARN: "warn_fill", Health.UNKNOWN: "stale"}
_TINT = {
    Health.GOOD: "good_tint",
    Health.TRANSFER: "transfer_tint",
    Health.WARN: "warn_tint",
    Health.BAD: "bad_tint",
    Health.UNKNOWN: "divider",
}


@lru_cache(maxsize=2)
def theme(name: ThemeName) -> Theme:
    """Return the theme called `name`."""
    values = DARK if name == "dark" else LIGHT
    return Theme(name=name, **{token: QColor(value) for token, value in values.items()})


def curve_color(index: int) -> QColor:
    """Return the curve colour of the `index`-th node; the same in both themes and on every page."""
    return QColor(CURVES[index % len(CURVES)])


def with_alpha(color: QColor, alpha: float) -> QColor:
    """Return `color` with an opacity of 0 to 1."""
    faded = QColor(color)
    faded.setAlphaF(alpha)
    return faded


class ThemeHolder(QObject):
    """Where widgets find the present theme.

    `changed` asks them to repaint with the new one, or with text of another size; `sized`, which comes first, asks
    those that set their own size to do so anew.
    """

    changed = Signal(object)
    sized = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._theme = theme("light")

    @property
    def theme(self) -> Theme:
        """Return the present theme."""
        return self._theme

    def set(self, new: Theme) -> None:
        """Make `new` the present theme and tell everybody."""
        if new is not self._theme:
            self._theme = new
            self.changed.emit(new)

    def text_sized(self) -> None:
        """Tell everybody that text has another size."""
        self.sized.emit()
        self.changed.emit(self._theme)


@lru_cache(maxsize=1)
def theme_holder() -> ThemeHolder:
    """Return the one holder of this process (GUI thread only)."""
    return ThemeHolder()


def current_theme() -> Theme:
    """Return the theme to paint with now."""
    return theme_holder().theme


def system_theme_name() -> ThemeName:
    """Return what the desktop asks for (light where it does not say)."""
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def apply_theme(app: QApplication, name: ThemeName) -> Theme:
    """Dress the whole application at once: style, font, palette, the panels' style sheet, what paints itself.

    In a window that stands it takes up to 200 ms, once; the paint that follows shows all of it in the new theme.
    """
    new = theme(name)
    if app.font() != ui_font():
        app.setStyle("Fusion")
        app.setFont(ui_font())
    app.setPalette(_palette(new))
    theme_holder().set(new)
    styling().dress(style_sheet(new))
    return new


def apply_text_size(app: QApplication, percent: int) -> None:
    """Give all text of the application another size, at once."""
    if percent == text_percent():
        return
    set_text_percent(percent)
    app.setFont(ui_font())
    styling().dress(style_sheet(current_theme()))
    theme_holder().text_sized()


def _palette(t: Theme) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    pairs = (
        (role.Window, t.window),
        (role.WindowText, t.text),
        (role.Base, t.panel),
        (role.AlternateBase, t.canvas),
        (role.Text, t.text),
        (role.PlaceholderText, t.third),
        (role.Button, t.panel),
        (role.ButtonText, t.text),
        (role.ToolTipBase, t.panel),
        (role.ToolTipText, t.text),
        (role.Highlight, t.accent_tint),
        (role.HighlightedText, t.text),
        (role.Link, t.accent),
        (role.LinkVisited, t.accent),
        (role.Accent, t.accent),
        (role.Light, t.panel),
        (role.Mid, t.line),
        (role.Dark, t.line),
        (role.Shadow, t.line),
    )
    for which, color in pairs:
        palette.setColor(which, color)
    for which in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, t.third)
    return palette
