"""Builds the pages that need the heavy libraries, and connects everything that a person can do with the controller."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject

from app.add_host import AddHost
from app.chart_feed import ChartFeed
from app.controller import Controller
from app.finder import Finder
from app.main_window import MainWindow
from app.replay_axis import ReplayAxis
from app.steering_door import DeskDoor
from app.still_pages import StillPages
from app.time_axis import TimeAxis
from widgets.bridge.ops import Ops
from widgets.charts.page import ChartsPage
from widgets.journal.page import JournalPage


def build_pages(
    controller: Controller, window: MainWindow, ops: Ops, parent: QObject, door: DeskDoor | None = None
) -> Iterator[None]:
    """Add charts, journal, event strip, palette and procedures to the window, a piece a step, events between.

    Args:
        door: opens the desk of procedures; None: nothing here can be steered.
    """
    charts = ChartsPage(turns=controller.turns)
    window.add_page("charts", charts)
    ChartFeed(controller, charts, ops)
    yield
    journal = JournalPage()
    window.add_page("journal", journal)
    controller.events_shown.connect(journal.show_events)
    journal.moment_chosen.connect(controller.look_at)
    yield
    if controller.player is None:
        TimeAxis(controller, window, charts, ops, parent)
    else:
        ReplayAxis(controller, controller.player, window, charts, parent)
    yield
    finder = Finder(controller, window, parent)
    yield
    if door is None:
        StillPages(window, ops, parent)
        yield
        return
    # What opened a live source has imported them; a recording needs none of what stands behind them.
    from app.steering_pages import SteeringPages
    from app.steering_window import Steering

    pages = SteeringPages()
    yield
    steering = Steering(controller, window, pages, door, ops, parent)
    finder.offer(steering.offers.entries, steering.offers.take)
    journal.run_chosen.connect(steering.show_run)
    yield  # the first snapshot is a piece of its own


def wire_host_actions(controller: Controller, window: MainWindow, hosts: AddHost, ops: Ops, parent: QObject) -> None:
    """Let hosts be edited and removed where they are watched live."""
    if not controller.source.is_live:
        return
    # What opened a live source has imported these; a recording needs neither them nor what stands behind them.
    from app.ask_more import AskMore
    from app.host_actions import HostActions
    from services.sampling.watcher import Watcher

    if isinstance(controller.source, Watcher):
        HostActions(controller, controller.source, window, hosts, ops, parent)
        AskMore(controller, window, hosts, ops, parent)
