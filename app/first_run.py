"""The window before there is any host: it teaches the three ways in, each one click."""

from __future__ import annotations

from app.main_window import MainWindow
from services.errors import UserError
from widgets.inventory.first_run import FirstRunPage


def show_first_run(window: MainWindow, problem: UserError) -> FirstRunPage:
    """Show the page with the three ways in; a fault in an existing inventory is told above it."""
    page = FirstRunPage()
    window.set_first_run(page)
    if "There is no inventory" not in problem.sentence:
        window.messages.say_error(problem)
    return page
