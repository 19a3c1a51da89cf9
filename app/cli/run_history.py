"""While a run is driven from a terminal its hosts are sampled too, so that its report has curves."""

from __future__ import annotations

import contextlib
import logging
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.compose import open_watcher
from services.errors import UserError
from services.procedures.journal.taken_down import taken_down
from services.procedures.service.run_events import run_events

if TYPE_CHECKING:
    from services.procedures.plan.run_model import Listener, RunView
    from services.sampling.watcher import Watcher

_logger = logging.getLogger(__name__)


class _Telling:
    """Shows a run, and tells who watches its hosts what it does: a node that it stops is no fault."""

    def __init__(self, shown: Listener, watcher: Watcher) -> None:
        self._shown = shown
        self._watcher = watcher
        self._told = {event.key for event in watcher.events() if event.kind in {"run", "step"}}

    def run_changed(self, view: RunView) -> None:
        """Tell what the run moves before anybody sees it moved."""
        self._watcher.on_purpose(taken_down((view,)))
        for event in run_events(view):
            if event.key not in self._told:
                self._told.add(event.key)
                self._watcher.tell(event)
        self._shown.run_changed(view)


@contextlib.contextmanager
def sampled(options: Namespace, shown: Listener) -> Iterator[Listener]:
    """Watch the estate into the local history for the length of a with block; give who must be shown the run.

    Where a window does that already (it holds the history, and reads the journal of the run), or it can't be done, the
    run goes on without.
    """
    try:
        watcher = open_watcher(options)
    except UserError as problem:
        _logger.info("not sampled here: %s", problem)
        yield shown
        return
    watcher.start()
    try:
        yield _Telling(shown, watcher)
    finally:
        watcher.stop()
