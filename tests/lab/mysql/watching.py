"""The live watcher on the estate of MySQL, as the window has it: it knows a host of each cluster and finds the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.compose import session_opener
from app.written_estate import cluster_names
from services.clock import SystemClock
from services.history.store import HistoryStore
from services.inventory.toml_file import load_inventory
from services.inventory.trust import trust_of
from services.sampling.watcher import Watcher
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts

SAMPLES_S = 3.0 + 0.8
"""Three samples of one second; the poll under way, the hub's settling, and two shared cores."""


@contextmanager
def watched(estate: Estate, folder: Path) -> Iterator[Watcher]:
    """Watch until the end of the block; the history is kept in `folder`."""
    inventory = load_inventory(estate.client_dir / "inventory.toml")
    watcher = Watcher(
        "lab", inventory.hosts, session_opener(), HistoryStore.open(folder / "history.sqlite"), SystemClock(),
        cluster_names=cluster_names(inventory),
    )  # fmt: skip
    watcher.let_ask(trust_of(inventory))
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()


def becomes(truth: Callable[[], bool], limit_s: float = SAMPLES_S) -> None:
    """Wait until it holds, within three samples where nothing else is said."""

    def holds() -> None:
        assert truth()

    while_asserts(holds, limit_s=limit_s, every_s=0.05)
