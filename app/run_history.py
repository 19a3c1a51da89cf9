"""While a run is driven from a terminal its hosts are sampled too, so that its report has curves."""

from __future__ import annotations

import contextlib
import logging
from argparse import Namespace
from collections.abc import Iterator

from app.compose import open_watcher
from services.errors import UserError

_logger = logging.getLogger(__name__)


@contextlib.contextmanager
def sampled(options: Namespace) -> Iterator[None]:
    """Watch the estate into the local history for the length of a with block.

    Where a window does that already (it holds the history), or it can't be done, the run goes on without.
    """
    try:
        watcher = open_watcher(options)
    except UserError as problem:
        _logger.info("not sampled here: %s", problem)
        yield
        return
    watcher.start()
    try:
        yield
    finally:
        watcher.stop()
