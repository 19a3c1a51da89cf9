"""The window without an estate: the three ways in where there is no host yet, and what is wrong where it can't open."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.main_window import MainWindow
from services.errors import UserError
from services.types import Health
from services.words import tr
from widgets.common.empty import EmptyState, Way
from widgets.common.wardrobe import wear
from widgets.inventory.first_run import FirstRunPage

TRY_AGAIN, OPEN_DEMO = 0, 1


def show_first_run(window: MainWindow) -> FirstRunPage:
    """Show the page with the three ways in."""
    page = FirstRunPage()
    window.set_first_run(page)
    return page


def show_trouble(window: MainWindow, problem: UserError) -> EmptyState:
    """Show why the estate can't be opened, what is safe, what to try; its ways are TRY_AGAIN and OPEN_DEMO."""
    title, _, details = str(problem).partition("\n")
    words = EmptyState(560)
    words.say(
        title.rstrip(":"),
        "\n".join(part for part in (details, problem.safe) if part),
        tries=problem.try_,
        ways=(
            Way(tr("Try again"), primary=True),
            Way(tr("Open the demo"), tr("A recorded incident, without any server")),
        ),
        health=Health.BAD,
    )
    page = QFrame()
    page.setProperty("kind", "canvas")
    QVBoxLayout(page).addWidget(words)
    wear(page)
    window.set_first_run(page)
    return words
