"""The window before there is an estate: search and palette find the ways in; a mistyped --inventory is told."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.window.hosts.first_run import show_first_run
from app.window.main_window import MainWindow
from app.written_estate import NothingToWatch, read_inventory
from widgets.common.commands.palette import CommandPalette, PaletteEntry


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    return made


def test_that_search_offers_the_ways_in_on_the_first_run(qtbot: QtBot, window: MainWindow) -> None:
    page = show_first_run(window)
    palette = window.findChild(CommandPalette)
    assert palette is not None
    window.top.search_wanted.emit()
    assert palette.isVisible()
    with qtbot.waitSignal(page.demo_requested):
        palette.chosen.emit(PaletteEntry("demo", "action", "Open the demo"))
    with qtbot.waitSignal(page.import_requested) as asked:
        palette.chosen.emit(PaletteEntry("ssh", "action", ""))
    assert asked.args == ["ssh"]


def test_that_with_an_estate_the_first_palette_stays_away(window: MainWindow) -> None:
    show_first_run(window)
    palette = window.findChild(CommandPalette)
    assert palette is not None
    window.show_page("topology")
    window.palette_wanted.emit()
    assert not palette.isVisible()


def test_that_the_first_run_names_the_inventory_that_is_not_there(tmp_path: Path, window: MainWindow) -> None:
    typo = tmp_path / "typo.toml"
    with pytest.raises(NothingToWatch) as refused:
        read_inventory(Namespace(inventory=typo))
    page = show_first_run(window, refused.value.told)
    assert any(str(typo) in label.text() for label in page.findChildren(QLabel))


def test_that_a_first_start_is_told_of_no_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_names, **_how: str(tmp_path))
    with pytest.raises(NothingToWatch) as refused:
        read_inventory(Namespace())
    assert refused.value.told == ""


def test_that_over_the_first_page_no_page_is_marked_as_shown_not_even_the_settings(window: MainWindow) -> None:
    show_first_run(window)
    marked = lambda: [key for key, button in window.top._buttons.items() if button.isChecked()]  # noqa: E731
    assert marked() == []
    window.add_page("settings", QWidget())
    window.show_settings()
    assert marked() == ["settings"]
    window.leave_settings()
    assert (window.page(), marked()) == ("first-run", [])
    window.leave_first_run()
    assert marked() == ["topology"]
    window.top._buttons["topology"].click()
    assert marked() == ["topology"]
