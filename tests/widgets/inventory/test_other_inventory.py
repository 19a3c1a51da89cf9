"""An inventory that is not there, or faulty: said in the window, with another one a click or a palette's line away."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from app.window import window_run
from app.window.finder import Finder
from app.window.hosts.inventory_choice import InventoryChoice, made_where_none_is
from app.window.main_window import MainWindow
from app.window.window_run import Play, WindowStart
from services.inventory.model import HostEntry, Inventory, SqlAccess
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from tests.widgets.fake_sources import FakeLiveSource, open_window
from widgets.common.commands.palette import CommandPalette, PaletteEntry
from widgets.inventory.first_run import FirstRunPage

NOBODY = HostEntry("db9", "127.0.0.1", None, SqlAccess("nobody", port=9))


class _Hooks(ErrorHooks):
    """Those of the program; Qt's messages stay with the test."""

    def install_qt(self) -> None:
        """Leave them where they are."""


class Start:
    """The window as the program starts it, with --inventory."""

    def __init__(self, qtbot: QtBot, folder: Path, inventory: Path) -> None:
        self.qtbot = qtbot
        self.window = MainWindow(bare=True)
        self.window.resize(960, 600)
        self.options = Namespace(inventory=inventory, data=folder / "data", theme="light")
        self.start = WindowStart(self.options, _Hooks(), self.window, Play(None, autoplay=False, start_s=None))
        self.window.show()
        self.session = self.start.at_once()
        with qtbot.waitSignal(self.session.ready, timeout=20_000):
            pass

    def words(self) -> str:
        return "\n".join(label.text() for label in self.window.findChildren(QLabel) if label.isVisible())

    def presses(self, text: str) -> None:
        next(b for b in buttons(self.window) if b.text().startswith(text)).click()

    def file_dialog(self) -> QFileDialog:
        choice = self.session.findChild(InventoryChoice)
        assert choice is not None
        assert choice.dialog is not None
        return choice.dialog

    def gives(self, path: Path) -> None:
        """Answer the system's question for a file, and wait until the window has read it."""
        dialog = self.file_dialog()
        with self.qtbot.waitSignal(self.session.ready, timeout=20_000):
            dialog.fileSelected.emit(str(path))
            dialog.done(0)

    def stop(self) -> None:
        self.start.stop()
        self.window.close()
        self.window.deleteLater()
        QApplication.processEvents()


def buttons(widget: QWidget) -> list[QPushButton]:
    return [b for b in widget.findChildren(QPushButton) if b.isVisible()]


@pytest.fixture
def started(qtbot: QtBot, qapp: QApplication) -> Iterator[list[Start]]:
    made: list[Start] = []
    yield made
    for start in made:
        start.stop()


def begin(started: list[Start], qtbot: QtBot, folder: Path, text: str | None) -> Start:
    typo = folder / "typo.toml"
    if text is not None:
        typo.write_text(text)
    started.append(Start(qtbot, folder, typo))
    return started[-1]


def good(folder: Path) -> Path:
    path = folder / "right.toml"
    save_inventory(Inventory(hosts=(NOBODY,)), path)
    return path


def test_that_a_mistyped_inventory_is_told_and_the_right_one_is_two_clicks_away(
    started: list[Start], qtbot: QtBot, tmp_path: Path
) -> None:
    start = begin(started, qtbot, tmp_path, None)
    assert f"There is no inventory at {tmp_path / 'typo.toml'}" in start.words()
    start.presses("Choose another inventory")
    assert start.file_dialog().directory().absolutePath() == str(tmp_path)
    start.gives(good(tmp_path))
    assert start.window.page() == "topology"
    assert start.session.controller is not None
    assert not (tmp_path / "typo.toml").exists()


def test_that_a_new_inventory_is_made_where_a_person_says_and_hosts_go_there(
    started: list[Start], qtbot: QtBot, tmp_path: Path
) -> None:
    start = begin(started, qtbot, tmp_path, None)
    start.presses("Create a new one…")
    assert start.file_dialog().selectedFiles() == [str(tmp_path / "typo.toml")]
    new = tmp_path / "new" / "estate.toml"
    start.gives(new)
    assert load_inventory(new).hosts == ()
    assert f"The inventory {new} contains no hosts." in start.words()
    assert start.options.inventory == new
    hosts = start.start._hosts
    assert hosts is not None
    assert hosts.path == new


@pytest.mark.parametrize("text", ["version = 1\n[[host]\n", "version = 1\n[[host]]\nnme = 3\n"])
def test_that_a_faulty_inventory_is_told_and_left_as_it_is_while_another_is_opened(
    started: list[Start], qtbot: QtBot, tmp_path: Path, text: str
) -> None:
    start = begin(started, qtbot, tmp_path, text)
    assert str(tmp_path / "typo.toml") in start.words()
    assert {"Try again", "Open the demo", "Choose another inventory…", "Create a new one…"} <= {
        b.text() for b in buttons(start.window)
    }
    start.presses("Choose another inventory")
    start.gives(good(tmp_path))
    assert start.window.page() == "topology"
    assert (tmp_path / "typo.toml").read_text() == text


def test_that_the_palette_offers_it_too_whatever_the_window_shows(
    started: list[Start], qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    start = begin(started, qtbot, tmp_path, "version = 1\n[[host]\n")
    start.window.palette_wanted.emit()
    palette = next(p for p in start.window.findChildren(CommandPalette) if p.isVisible())
    palette.chosen.emit(PaletteEntry("open-inventory", "action", ""))
    start.gives(tmp_path / "also-not-there.toml")
    assert start.window.findChild(FirstRunPage) is not None
    with open_window(qapp, FakeLiveSource()) as opened:
        finder = opened.window.findChild(Finder)
        assert finder is not None
        assert "Open another inventory file…" in {entry.title for entry in finder._entries()}
        with qtbot.waitSignal(opened.window.inventory_wanted):
            finder._go(PaletteEntry("open-inventory", "action", ""))


def test_that_a_window_with_an_estate_gives_way_to_a_new_one(
    started: list[Start], qtbot: QtBot, tmp_path: Path
) -> None:
    start = begin(started, qtbot, tmp_path, None)
    start.presses("Choose another inventory")
    start.gives(good(tmp_path))
    other = tmp_path / "other.toml"
    start.window.may_close = lambda: False  # a run is at work
    start.start.show_inventory(other)
    assert start.start.other is None
    assert start.window.isVisible()
    start.window.may_close = lambda: True
    start.start.show_inventory(other)
    assert start.start.other == other
    assert not start.window.isVisible()


def test_that_the_demo_takes_the_place_of_an_estate_without_hosts(
    started: list[Start], qtbot: QtBot, tmp_path: Path
) -> None:
    start = begin(started, qtbot, tmp_path, None)
    start.presses("Choose another inventory")
    start.gives(good(tmp_path))
    session = start.start._session
    assert session is not None
    qtbot.waitUntil(lambda: session.controller is not None, timeout=10_000)
    session._open_demo()
    assert isinstance(start.start.other, Play)
    assert not start.start.other.live
    assert not start.window.isVisible()


def test_that_the_next_window_shows_the_inventory_that_was_chosen_in_the_last(
    monkeypatch: pytest.MonkeyPatch, qapp: QApplication, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    shown: list[tuple[object, object]] = []

    def mock_window(options: Namespace, _hooks: object, play: Play) -> tuple[int, Path | None]:
        shown.append((getattr(options, "inventory", None), play._recording))
        return 0, other if len(shown) == 1 else None

    monkeypatch.setattr(window_run, "_one_window", mock_window)
    monkeypatch.setattr(ErrorHooks, "install", lambda _self: None)
    monkeypatch.setattr(window_run.gc, "disable", lambda: None)
    recording = tmp_path / "a.pilothouse"
    assert window_run.run_window(Namespace(), recording=recording) == 0
    assert shown == [(None, recording), (other, None)]


def test_that_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    there = tmp_path / "there.toml"
    there.write_text("not mine")
    assert made_where_none_is(there) == there
    assert there.read_text() == "not mine"


@pytest.mark.parametrize("text", [None, "version = 1\n[[host]\n"])
def test_that_every_way_out_is_in_sight_in_a_small_window(
    started: list[Start], qtbot: QtBot, tmp_path: Path, text: str | None
) -> None:
    start = begin(started, qtbot, tmp_path, text)
    QApplication.processEvents()
    place = start.window.pages
    for button in buttons(place):
        assert place.rect().contains(button.rect().translated(button.mapTo(place, button.rect().topLeft())))
        assert button.width() >= button.sizeHint().width(), button.text()
