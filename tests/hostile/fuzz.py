"""Damaged replies by the thousand: `python -m tests.hostile.fuzz [HOW_MANY] [SEED]`, 20,000 where nothing is said.

Each is a talk of a server with bytes changed, left out, doubled or cut. The console must end each with a value or with
a UserError; anything else is printed with its number, which together with the seed makes it again.
"""

from __future__ import annotations

import contextlib
import random
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.reads import statements
from services.errors import UserError
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault
from tests.hostile import mysql_server, ssh_server
from tests.hostile.listener import Listener
from tests.hostile.memory import grown
from tests.unit.connections import packets as p

LIMITS = Limits(connect_s=2.0, handshake_s=2.0, auth_s=2.0, channel_s=2.0, close_s=2.0)
_OK = p.packets([mysql_server.OK], 1)
_TALK = (mysql_server.HELLO, p.packets([mysql_server.OK], 2), *[_OK] * 8, mysql_server.STATUS)
_SWITCH = p.packets([b"\xfecaching_sha2_password\0" + mysql_server.SALT + b"\0"], 2)
_LONG = (mysql_server.HELLO, _SWITCH, p.packets([b"\x01\x03"], 4), p.packets([mysql_server.OK], 5), *_TALK[2:])
_KEX = ssh_server.packet(
    b"\x14" + b"\0" * 16 + b"".join(len(name).to_bytes(4, "big") + name for name in (
        b"curve25519-sha256@libssh.org", b"ssh-ed25519", b"aes128-ctr", b"aes128-ctr", b"hmac-sha2-256",
        b"hmac-sha2-256", b"none", b"none", b"", b"")) + b"\0" * 5
)  # fmt: skip
_REPLY = ssh_server.packet(
    b"\x1f" + b"".join(len(part).to_bytes(4, "big") + part for part in (
        b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + b"k" * 32, b"q" * 32, b"\0\0\0\x0bssh-ed25519\0\0\0\x40" + b"s" * 64))
)  # fmt: skip
_SSH = (ssh_server.HELLO, _KEX, _REPLY, ssh_server.packet(b"\x15"), ssh_server.packet(b"\x06\0\0\0\x0cssh-userauth"))


@dataclass
class Outcome:
    """What came of a run: how many, the slowest (seconds), bytes grown, and each escape as a traceback."""

    tried: int = 0
    slowest_s: float = 0.0
    grown: int = 0
    escaped: list[str] = field(default_factory=list)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to six faults."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(out)) if out else 0
        kind = chance.randrange(6)
        if kind == 0:
            out[at : at + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            out[at : at + 1] = chance.choice((b"\x00", b"\xff", b"\xfe", b"\xfb", b"\x7f"))
        elif kind == 2:
            del out[at : at + chance.randint(1, 9)]
        elif kind == 3:
            out[at:at] = chance.randbytes(chance.randint(1, 40))
        elif kind == 4:
            out[at:at] = out[at : at + chance.randint(1, 60)]
        else:
            del out[at:]
    return bytes(out)


def talk(chance: random.Random, parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return a talk with one or two of its parts damaged."""
    said = list(parts)
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(said))
        said[at] = damaged(said[at], chance)
    return tuple(said)


class _Teller:
    """Says the talk that is due: one part at once, then one for each thing that the client sends; then hangs up."""

    def __init__(self) -> None:
        self.due: tuple[bytes, ...] = ()

    def __call__(self, sock: socket.socket, over: threading.Event) -> None:
        """Play one connection."""
        for part in self.due:
            sock.settimeout(1.0)
            sock.sendall(part)
            sock.settimeout(0.02)  # a client that waits for more of a damaged part gets the next one
            with contextlib.suppress(TimeoutError):
                if not sock.recv(65536):
                    return
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(1.0)
        while sock.recv(65536):
            pass


def _ask_mysql(port: int) -> HostSession:
    entry = HostEntry("db1", "127.0.0.1", sql=SqlAccess("obs", port=port, tls="off"))
    return HostSession(entry, MemoryVault(), clock=SystemClock(), limits=LIMITS)


def _ask_ssh(port: int) -> HostSession:
    access = SshAccess("dba", port=port, config="none", known_hosts="/nonexistent/known_hosts", agent=False)
    return HostSession(HostEntry("n1", "127.0.0.1", ssh=access), MemoryVault(), clock=SystemClock(), limits=LIMITS)


def _of_ssh(session: HostSession) -> object:
    return session._links.ssh()


_ROADS: tuple[tuple[Callable[[int], HostSession], Callable[[HostSession], object], tuple[bytes, ...]], ...] = (
    (_ask_mysql, lambda session: session.status(limit_s=2.0), _TALK),
    (_ask_mysql, lambda session: session.query(statements.VARIABLES, limit_s=2.0), _LONG),
    (_ask_ssh, _of_ssh, _SSH),
)


def fuzz(how_many: int, seed: int) -> Outcome:
    """Try so many damaged talks, the same for the same seed."""
    outcome, teller = Outcome(), _Teller()
    listener = Listener(teller)
    try:
        with grown() as memory:
            for number in range(how_many):
                _try(number, random.Random(seed * 1_000_003 + number), listener.port, teller, outcome)
        outcome.grown = memory.bytes
    finally:
        listener.close()
    return outcome


def _try(number: int, chance: random.Random, port: int, teller: _Teller, outcome: Outcome) -> None:
    make, ask, parts = _ROADS[number % len(_ROADS)]
    teller.due = talk(chance, parts)
    began = time.monotonic()
    session = make(port)
    try:
        ask(session)
    except UserError:
        pass
    except Exception:  # noqa: BLE001 - what escapes is what is looked for
        outcome.escaped.append(f"number {number}: {traceback.format_exc()}")
    finally:
        session.close()
    outcome.tried += 1
    outcome.slowest_s = max(outcome.slowest_s, time.monotonic() - began)


def main() -> int:
    """Run from the command line; 1 where something escaped."""
    how_many = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    sys.stdout.write(f"{how_many} damaged talks, seed {seed}\n")
    outcome = fuzz(how_many, seed)
    for told in outcome.escaped[:20]:
        sys.stdout.write(f"{told}\n")
    sys.stdout.write(
        f"{outcome.tried} tried, {len(outcome.escaped)} escaped, slowest {outcome.slowest_s:.1f} s, "
        f"memory grew {outcome.grown / 1e6:.0f} MB\n"
    )
    return 1 if outcome.escaped else 0


if __name__ == "__main__":
    raise SystemExit(main())
