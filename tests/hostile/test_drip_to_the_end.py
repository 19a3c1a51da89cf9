"""`pilothouse topology --wait 3`, the real command in a child process, against a server that drips a byte a second."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile.servers import mysql_server as m
from tests.hostile.servers import ssh_server as s
from tests.hostile.servers.estate import ROOT
from tests.hostile.servers.listener import Listener, Script, drip
from tests.unit.connections import packets as p

pytestmark = pytest.mark.timeout(240)  # two commands of 90 s each, at most
_ITSELF: dict[str, float] = {}
"""What the program takes on this machine where the server hangs up at once, by the way to the server."""
WAIT_S = 3.0
MARGIN_S = 15.0
"""Beside what the program takes itself, on a machine that others use; without a limit the first answer alone would take
a minute and more."""
LONG = b"x" * 60
"""Makes a short answer as long as the others."""


def _greeting(sock: object, over: object) -> None:
    drip(sock, over, m.HELLO, 1.0)  # type: ignore[arg-type]


def _set_up(sock: object, over: object) -> None:
    m.let_in(sock)  # type: ignore[arg-type]
    m.take(sock)  # type: ignore[arg-type]
    drip(sock, over, p.packets([m.OK + LONG], 1), 1.0)  # type: ignore[arg-type]


def _row(sock: object, over: object) -> None:
    m.let_in(sock)  # type: ignore[arg-type]
    while m.take(sock)[1:4] == b"SET":  # type: ignore[arg-type]
        sock.sendall(p.packets([m.OK], 1))  # type: ignore[attr-defined]
    drip(sock, over, m.STATUS, 1.0)  # type: ignore[arg-type]


def _ssh_greeting(sock: object, over: object) -> None:
    drip(sock, over, s.HELLO.rstrip() + LONG + b"\r\n", 1.0)  # type: ignore[arg-type]


def _key_exchange(sock: object, over: object) -> None:
    sock.sendall(s.HELLO)  # type: ignore[attr-defined]
    drip(sock, over, s.packet(b"\x14" + b"\0" * 61), 1.0)  # type: ignore[arg-type]


DRIPS: dict[str, tuple[Callable[[object, object], None], str]] = {
    "the greeting": (_greeting, "sql"),
    "the set-up": (_set_up, "sql"),
    "a row": (_row, "sql"),
    "the SSH greeting": (_ssh_greeting, "ssh"),
    "the key exchange": (_key_exchange, "ssh"),
}


def _asked(script: Script, way: str, folder: Path) -> tuple[str, float]:
    """Return what the command printed of such a server, and how long it took."""
    listener = Listener(script)
    (folder / "config").write_text("", encoding="utf-8")
    ways = {
        "sql": f'[host.sql]\nuser = "obs"\nport = {listener.port}\ntls = "off"\n',
        "ssh": f'[host.ssh]\nuser = "dba"\nport = {listener.port}\nagent = false\nconfig = "{folder}/config"\n',
    }
    inventory = folder / "inventory.toml"
    inventory.write_text(f'version = 1\n[[host]]\nname = "db1"\naddress = "127.0.0.1"\n{ways[way]}', encoding="utf-8")
    words = ["topology", f"--wait={WAIT_S:g}", f"--inventory={inventory}", f"--data={folder / 'data'}"]
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "app", *words], cwd=ROOT, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
    finally:
        took = time.monotonic() - began
        listener.close()
    return done.stdout + done.stderr, took


@pytest.mark.parametrize("what", DRIPS)
def test_that_a_byte_a_second_ends_within_the_wait_with_one_sentence(what: str, tmp_path: Path) -> None:
    script, way = DRIPS[what]
    if way not in _ITSELF:
        _, _ITSELF[way] = _asked(lambda sock, over: None, way, tmp_path)
    said, took = _asked(script, way, tmp_path)
    assert took < WAIT_S + 2 * _ITSELF[way] + MARGIN_S
    assert len([line for line in said.splitlines() if line.strip().endswith(" s.")]) == 1, said
    assert "Traceback" not in said
