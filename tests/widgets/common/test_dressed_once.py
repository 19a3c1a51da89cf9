"""A panel that is built in pieces is dressed once: where it stands, and not while it is made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from widgets.common.look.styling import dress_left, undressed, wear
from widgets.common.look.theme import apply_theme


class Panel(QFrame):
    """A panel that wears the theme when its widgets are made, as all of them do."""

    def __init__(self) -> None:
        super().__init__()
        wear(self)


@pytest.fixture(autouse=True)
def _themed(qapp: QApplication) -> Iterator[None]:
    apply_theme(qapp, "light")
    yield
    apply_theme(qapp, "light")


def test_that_a_panel_made_undressed_wears_the_sheet_when_the_left_are_dressed(qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    with undressed():
        panel = Panel()
    assert panel.styleSheet() == ""
    QVBoxLayout(place).addWidget(panel)
    steps = sum(1 for _ in dress_left())
    assert panel.styleSheet() != ""
    assert steps == 1
    assert sum(1 for _ in dress_left()) == 0, "none is left"


def test_that_each_step_dresses_one_panel_of_those_that_are_left(qtbot: QtBot) -> None:
    with undressed():
        panels = [Panel() for _ in range(3)]
    for panel in panels:
        qtbot.addWidget(panel)
    worn = [sum(panel.styleSheet() != "" for panel in panels) for _ in dress_left()]
    assert worn == [1, 2, 3]


def test_that_a_change_of_theme_dresses_what_still_waits(qtbot: QtBot, qapp: QApplication) -> None:
    with undressed():
        panel = Panel()
    qtbot.addWidget(panel)
    apply_theme(qapp, "dark")
    dark = panel.styleSheet()
    apply_theme(qapp, "light")
    assert dark
    assert panel.styleSheet() not in {"", dark}


def test_that_what_is_made_after_an_error_while_undressed_is_dressed_again(qtbot: QtBot) -> None:
    with pytest.raises(RuntimeError, match="made"), undressed():
        raise RuntimeError("not made")
    panel = Panel()
    qtbot.addWidget(panel)
    assert panel.styleSheet() != ""


def test_that_a_page_added_to_the_window_is_dressed_there(qtbot: QtBot) -> None:
    window = MainWindow()
    qtbot.addWidget(window)
    assert sum(1 for _ in dress_left()) == 0, "nothing of a furnished window is left undressed"
    with undressed():
        page = Panel()
    window.add_page("charts", page)
    assert page.styleSheet() == window.topology.styleSheet() != ""


def test_that_a_window_is_furnished_in_a_step_for_each_panel_it_dresses(qtbot: QtBot) -> None:
    window = MainWindow(bare=True)
    qtbot.addWidget(window)
    most, before = 0, set[int]()
    for _ in window.furnish():
        worn = {id(panel) for panel in window.findChildren(QWidget) if panel.styleSheet()}
        parts = [getattr(window, name, None) for name in ("top", "tree", "topology", "inspector", "status")]
        worn |= {id(part) for part in parts if part is not None and part.styleSheet()}
        most, before = max(most, len(worn - before)), worn
    assert most == 1
    assert len(before) >= 5
