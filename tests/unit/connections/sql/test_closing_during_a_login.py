"""Closing a session ends the login that is under way, over TLS too: TLS has a socket of its own."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.reads import statements
from services.errors import TimedOut, Unreachable
from services.inventory.model import HostEntry, SqlAccess
from services.secrets import MemoryVault
from tests.unit.connections.tls_peer import Authority, TlsPeer


class _Holding(TlsPeer):
    """Shakes hands over TLS and then hears nothing of the login until it is let go."""

    def __init__(self, *args: object) -> None:
        self.holds, self.let_go = threading.Event(), threading.Event()
        super().__init__(*args)  # type: ignore[arg-type]

    def _read(self) -> bytes:
        if self.encrypted:
            self.holds.set()
            self.let_go.wait(60)
        return super()._read()


def test_that_closing_ends_a_login_over_tls_that_the_server_holds(tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    peer = _Holding(ca.issue("n1", "127.0.0.1"))
    access = SqlAccess("u", port=peer.port, tls="verify-ca", ca=str(ca.file))
    session = HostSession(HostEntry("n1", "127.0.0.1", sql=access), MemoryVault(), clock=SystemClock())

    def close() -> None:
        peer.holds.wait(30)
        time.sleep(0.2)
        session.close()

    closing = threading.Thread(target=close)
    closing.start()
    try:
        with pytest.raises(Unreachable) as raised:
            session.query(statements.VARIABLES, limit_s=60)
        assert not isinstance(raised.value, TimedOut)
    finally:
        closing.join()
        peer.let_go.set()
        peer.close()
