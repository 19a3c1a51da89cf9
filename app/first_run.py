"""The window before there is any host: it teaches the three ways in, each one click."""

from __future__ import annotations

from app.main_window import MainWindow
from services.errors import UserError
from widgets.inventory.first_run import FirstRunPage


def show_first_run(window: MainWindow, problem: UserError) -> None:
    """Show the page with the three ways in, and why nothing could be opened."""
    page = FirstRunPage()
    page.explain(str(problem))
    window.set_first_run(page)
