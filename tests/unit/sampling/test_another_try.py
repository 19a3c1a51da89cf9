"""A person who wants another try has it at once, whatever is left of the waits: real sockets, nothing behind them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.errors import NothingListens
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from services.secrets import SystemVault
from tests.unit.sampling.test_watcher import _until

LIMITS = Limits(connect_s=2.0, backoff_first_s=600.0, backoff_most_s=600.0)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_quiet(server: socket.socket) -> None:
    """Refuse the lane's own tries until the next one is further off than the socket's time limit."""
    for _ in range(8):
        try:
            caller, _ = server.accept()
        except TimeoutError:
            return
        caller.close()
    raise AssertionError("the pauses between tries don't grow")


@pytest.mark.parametrize("way", ["sql", "ssh"])
def test_that_another_try_does_not_wait_for_its_turn(tmp_path: Path, way: str) -> None:
    port = _free_port()
    ssh = SshAccess("root", port=port, config="", agent=False) if way == "ssh" else None
    entry = HostEntry("n1", "127.0.0.1", ssh, SqlAccess("observer", port=port, tls="off") if way == "sql" else None)
    store = HistoryStore.open(tmp_path / "history.sqlite")
    clock = SystemClock()
    open_session: Callable[[HostEntry], HostSession] = lambda one: HostSession(  # noqa: E731
        one, SystemVault(), clock=clock, limits=LIMITS
    )
    watcher = Watcher("lab", (entry,), open_session, store, clock, WatchSettings(rediscover_s=3600.0))
    watcher.start()
    try:
        _until(lambda: any(p.code == NothingListens.code for f in watcher.hub.facts().values() for p in f.problems))
        with socket.create_server(("127.0.0.1", port)) as server:
            server.settimeout(1.5)
            _until_quiet(server)
            watcher.try_now(["n1"])
            server.settimeout(5.0)
            caller, _ = server.accept()
            caller.close()
    finally:
        watcher.stop()
