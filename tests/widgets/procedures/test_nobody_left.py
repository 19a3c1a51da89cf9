"""The last host is no longer watched: the window stands as on the first run. Who is watched is faked here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QApplication

from app.window.finder import Finder
from app.window.hosts.first_run import show_first_run
from app.window.hosts.host_actions import HostActions
from app.window.hosts.nobody_left import NobodyLeft
from app.window.main_window import FIRST_RUN
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.types import Health
from tests.widgets import builders as b
from tests.widgets.dark_estate import dark_estate, dark_events, silent
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window, settle
from widgets.common.commands.palette import CommandPalette
from widgets.procedures.run.confirm_strip import ConfirmStrip
from widgets.timeline.strip import EventStrip

ALONE = updated_estate(None, {"eu-01": silent("eu-01")}, b.AT)


class Emptied:
    """A window whose only host can be taken away and brought back."""

    def __init__(self, opened: OpenWindow, source: FakeLiveSource) -> None:
        self.opened, self.source, self.watched = opened, source, True
        NobodyLeft(opened.controller, opened.window, lambda: self.watched, lambda: show_first_run(opened.window))

    def shows(self, estate: EstateSnapshot, *, watched: bool) -> None:
        self.watched, self.source.newest = watched, estate
        self.opened.controller.pump.beat()
        settle(self.opened.controller)

    def looks(self) -> tuple[str, bool, bool]:
        window = self.opened.window
        strip = window.findChild(EventStrip)
        assert strip is not None
        return window.page(), strip.isVisible(), window.inspector.isVisible()


@pytest.fixture
def emptied(qapp: QApplication) -> Iterator[Emptied]:
    source = FakeLiveSource(ALONE)
    source.told = [*dark_events()]
    with open_window(qapp, source) as opened:
        yield Emptied(opened, source)


def test_that_the_window_of_nobody_stands_as_on_the_first_run_until_a_host_is_watched_again(emptied: Emptied) -> None:
    assert emptied.looks() == ("topology", True, True)
    emptied.opened.window.messages.say(Health.BAD, ("eu-01 refused.",))
    emptied.shows(EstateSnapshot(at=b.AT + 1), watched=False)
    assert emptied.looks() == (FIRST_RUN, False, False)
    assert emptied.opened.window.messages.text() == ""
    emptied.shows(EstateSnapshot(at=b.AT + 2), watched=True)
    assert emptied.looks() == ("topology", True, True)
    assert emptied.opened.window.topology.empty_texts()[0] == "Waiting for the first answer"
    assert FIRST_RUN not in emptied.opened.window._page_keys
    emptied.shows(replace(ALONE, at=b.AT + 3), watched=True)
    assert emptied.opened.window.topology.empty_texts()[0] == "eu-01: refused"


def test_that_hosts_that_are_watched_and_silent_are_not_nobody(emptied: Emptied) -> None:
    emptied.shows(EstateSnapshot(at=b.AT + 1), watched=True)
    assert emptied.looks()[0] == "topology"
    emptied.shows(replace(dark_estate(), at=b.AT + 2), watched=False)  # the picture follows who was dropped
    assert emptied.looks()[0] == "topology"


def test_that_the_palette_of_nobody_offers_the_ways_in_alone(emptied: Emptied) -> None:
    emptied.shows(EstateSnapshot(at=b.AT + 1), watched=False)
    finder = emptied.opened.window.findChild(Finder)
    assert finder is not None
    opened: list[object] = []
    finder._palette.open_with = opened.append  # type: ignore[method-assign, assignment]
    emptied.opened.window.palette_wanted.emit()
    assert opened == []
    assert len([p for p in emptied.opened.window.findChildren(CommandPalette) if p.isVisible()]) == 1


def test_that_an_undo_is_not_drawn_as_danger(emptied: Emptied, tmp_path: Path) -> None:
    from app.vault import SessionVault
    from app.window.hosts.add_host import AddHost

    opened = emptied.opened
    hosts = AddHost(opened.window, opened.ops, SessionVault(), tmp_path / "inventory.toml", opened.window)
    actions = HostActions(opened.controller, cast("Any", None), opened.window, hosts, opened.ops, opened.window)
    assert actions.undo.yes.property("kind") == "primary"
    assert actions.question.yes.property("kind") == ConfirmStrip().yes.property("kind") == "danger"
