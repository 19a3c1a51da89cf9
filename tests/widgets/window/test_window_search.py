"""Ctrl+K finds hosts by address, charts, metrics, settings, events and moments, and Enter goes there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from tests.widgets.fake_sources import NOW, FakeRecording, OpenWindow, open_window
from widgets.charts.page import ChartsPage
from widgets.common.commands.palette import CommandPalette, PaletteEntry
from widgets.common.look.text import format_clock


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeRecording()) as made:
        yield made


def found(opened: OpenWindow, typed: str) -> tuple[PaletteEntry, ...]:
    """What stands in the list when this is typed."""
    palette = opened.window.findChild(CommandPalette)
    assert palette is not None
    opened.window.palette_wanted.emit()
    palette.type_text(typed)
    return palette.shown()


def take_first(qtbot: QtBot, opened: OpenWindow) -> None:
    palette = opened.window.findChild(CommandPalette)
    assert palette is not None
    field = palette.findChild(QLineEdit)
    assert field is not None
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_that_a_host_is_found_by_its_address(opened: OpenWindow) -> None:
    cluster = opened.controller.cluster()
    assert cluster is not None
    address = next(node.address for node in cluster.nodes if node.address)
    there = [("node", node.name) for node in cluster.nodes if node.address == address]
    assert [(entry.kind, entry.title) for entry in found(opened, address)] == there


def test_that_a_typed_time_of_day_is_looked_at(qtbot: QtBot, opened: OpenWindow) -> None:
    clock = format_clock(NOW - 120.0)
    assert found(opened, clock)[0].kind == "moment"
    take_first(qtbot, opened)
    assert format_clock(opened.controller.source.now()) == clock


@pytest.mark.parametrize("typed", ["99:99", "yesterday 2:30", "13", "2020-01-01"])
def test_that_no_moment_is_offered_where_nothing_was_recorded(opened: OpenWindow, typed: str) -> None:
    assert not [entry for entry in found(opened, typed) if entry.kind == "moment"]


def test_that_an_event_is_found_by_its_words_and_its_moment_shown(qtbot: QtBot, opened: OpenWindow) -> None:
    opened.controller.look_at(NOW)
    opened.controller.pump.beat()
    event = opened.controller.events[0]
    first = found(opened, event.text)[0]
    assert (first.kind, first.title) == ("event", event.text)
    take_first(qtbot, opened)
    assert opened.controller.source.now() == pytest.approx(event.at, abs=2.0)


def test_that_a_chart_is_found_by_its_title_and_a_metric_by_its_key(qtbot: QtBot, opened: OpenWindow) -> None:
    assert [entry.kind for entry in found(opened, "cpu.iowait")] == ["metric"]
    take_first(qtbot, opened)
    assert opened.window.page() == "charts"
    page = opened.window.findChild(ChartsPage)
    assert page is not None
    assert page.card("cpu").visibleRegion().boundingRect().height() > 0
    assert "chart" in {entry.kind for entry in found(opened, "flow control")}


def test_that_a_setting_is_found_and_has_the_keys(qtbot: QtBot, opened: OpenWindow) -> None:
    first = found(opened, "text size")[0]
    assert (first.kind, first.title) == ("setting", "Text size")
    shown: list[str] = []
    opened.window.setting_wanted.connect(shown.append)
    take_first(qtbot, opened)
    assert shown == ["Text size"]
