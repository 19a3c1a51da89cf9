"""Builds the pages that need the heavy libraries, and connects everything that a person can do with the controller."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.mark_shelf import MarkShelf, SessionShelf
from app.window.charts.change_feed import ChangeFeed
from app.window.charts.chart_feed import ChartFeed
from app.window.charts.kept_feed import KeptFeed
from app.window.controller import Controller
from app.window.finder import Finder
from app.window.hosts.add_host import AddHost
from app.window.main_window import MainWindow
from app.window.search_places import SearchPlaces
from app.window.steering.door import ServiceDoor
from app.window.still_pages import StillPages
from app.window.time.replay_axis import ReplayAxis
from app.window.time.time_axis import TimeAxis
from widgets.bridge.ops import Ops
from widgets.charts.page import ChartsPage
from widgets.common.look.styling import dress_left, undressed
from widgets.journal.page import JournalPage

if TYPE_CHECKING:
    from app.window.steering.window import Steering


@dataclass(frozen=True, slots=True)
class Pages:
    """What steering joins."""

    finder: Finder
    journal: JournalPage


def build_pages(
    controller: Controller,
    window: MainWindow,
    ops: Ops,
    parent: QObject,
    *,
    steered: bool = False,
    shelf: MarkShelf | None = None,
) -> Generator[None, None, Pages]:
    """Add charts, journal, event strip and palette to the window, a piece a step, events between.

    Args:
        shelf: where marked changes are kept; None: for as long as the window stands.
        steered: procedures can be run here, and their page follows (build_steering); else it only tells of them.
    """
    yield  # a controller is a piece of its own
    with undressed():
        charts = ChartsPage(turns=controller.turns)
        _show_first_span(controller, charts)
    yield
    window.add_page("charts", charts)
    ChangeFeed(controller, charts, ChartFeed(controller, charts, ops), ops)
    KeptFeed(charts, shelf or SessionShelf(), ops)
    yield
    with undressed():
        journal = JournalPage()
    yield
    window.add_page("journal", journal)
    controller.events_shown.connect(journal.show_events)
    others = getattr(controller.source, "other_events", None)  # a recording has none
    journal.know_others(others() if others is not None else ())
    journal.moment_chosen.connect(controller.look_at)
    yield
    if controller.player is None:
        TimeAxis(controller, window, charts, ops, parent)
    else:
        ReplayAxis(controller, controller.player, window, charts, parent)
    yield
    finder = Finder(controller, window, parent)
    places = SearchPlaces(controller, window, charts)
    finder.offer(places.entries, places.take)
    finder.typed = places.typed
    yield
    if not steered:
        still = StillPages(window, ops, parent)
        finder.offer(still.entries, still.take)
        yield
    return Pages(finder, journal)


def _show_first_span(controller: Controller, charts: ChartsPage) -> None:
    """Let the time axis stand where its samples are before anybody sees it; the strip joins it a turn later."""
    if controller.player is None:
        now = controller.source.now()
        charts.set_range(now - charts.view().span, now, live=True)
    else:
        begin, end = controller.source.span()
        charts.set_range(begin, end, live=False, now=end)


def import_steering() -> None:
    """Import what stands behind procedures: much, so on a worker, and once the first hosts are on the screen."""
    for name in ("window", "chunks"):
        importlib.import_module(f"app.window.steering.{name}")


def build_steering(
    controller: Controller, window: MainWindow, pages: Pages, door: ServiceDoor, ops: Ops, parent: QObject
) -> Generator[None, None, Steering]:
    """Add the procedures to the window, a piece a step; `door` opens their service. `import_steering` comes first."""
    from app.window.steering.chunks import ChunksOffer
    from app.window.steering.pages import SteeringPages
    from app.window.steering.window import Steering

    with undressed():
        steered = SteeringPages()
    yield
    with undressed():
        steered.make_wizard()
    yield
    for _ in dress_left():
        yield
    steering = Steering(controller, window, steered, door, ops, parent)
    pages.finder.offer(steering.offers.entries, steering.offers.take)
    pages.finder.offer(steering.entries, steering.take)
    chunks = ChunksOffer(controller, window, steered)
    pages.finder.offer(chunks.entries, chunks.take)
    pages.journal.run_chosen.connect(steering.show_run)
    yield
    return steering


def wire_host_actions(
    controller: Controller,
    window: MainWindow,
    hosts: AddHost,
    ops: Ops,
    finder: Finder,
    first_run: Callable[[], object],
    *,
    parent: QObject,
) -> None:
    """Let hosts be edited, asked again and removed where they are watched live, in menus and in the palette.

    `first_run` shows the page of who has none.
    """
    if not controller.source.is_live:
        return
    # What opened a live source has imported these; a recording needs neither them nor what stands behind them.
    from app.window.hosts.ask_keys import AskKeys
    from app.window.hosts.ask_more import AskMore
    from app.window.hosts.host_actions import HostActions
    from app.window.hosts.nobody_left import NobodyLeft
    from services.sampling.watcher import Watcher

    if isinstance(controller.source, Watcher):
        watcher = controller.source
        actions = HostActions(controller, watcher, window, hosts, ops, parent)
        finder.offer(actions.entries, actions.take)
        NobodyLeft(controller, window, lambda: watcher.watches_any, first_run)
        more = AskMore(controller, window, hosts, ops, parent)
        more.ask_about = AskKeys(window, ops, hosts.vault, watcher.try_now, parent).ask_about
