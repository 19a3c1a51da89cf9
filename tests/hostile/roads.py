"""The roads by which a damaged answer reaches the console: over a socket before and after the login, from a host."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.clock import ManualClock, SystemClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.ports import ObserverSession, Rows
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.changes import events_between
from services.discovery.looks.crawl import leads_of, odd_names
from services.discovery.looks.probe import probe
from services.discovery.snapshot import updated_estate
from services.errors import UserError
from services.facts.galera.status import parse_members
from services.facts.model import NodeFacts
from services.facts.numeric import numeric_status, numeric_variables, replication_values
from services.facts.replication.replication import parse_replication
from services.facts.replication.write_rate import rates_of
from services.facts.server.dialect import dialect_of
from services.facts.server.sessions import parse_sessions, sst_account_of
from services.facts.server.table_columns import generated_columns
from services.inventory.model import HostEntry, Inventory, SqlAccess, SshAccess
from services.procedures.catalogue import all_procedures
from services.procedures.conditions.server.same_rows import checksum_of
from services.procedures.gather.gather import gather
from services.sampling.metrics.derived_now import DerivedNow
from services.secrets import MemoryVault
from tests.hostile import mongo_road
from tests.hostile.damage import damaged, damaged_host, damaged_text, talk
from tests.hostile.parsers import PARSERS, as_printed
from tests.hostile.servers import mysql_server, ssh_server
from tests.hostile.servers.listener import Listener
from tests.unit.connections import packets as p
from tests.unit.recorded.replies import ReplaySession, load, situations

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


@dataclass(frozen=True)
class Road:
    """One way of asking. `talks`: over a socket, so that it must be seen to get there."""

    name: str
    ask: Callable[[random.Random], object]
    talks: bool = True


class _Teller:
    """Plays what is due with each connection, and counts those that came."""

    def __init__(self) -> None:
        self.due: tuple[bytes, ...] = ()
        self.reply: bytes | None = None
        self.reached = 0

    def __call__(self, sock: socket.socket, over: threading.Event) -> None:
        """Play one connection: a whole talk, or an honest login and one reply."""
        self.reached += 1
        if self.reply is None:
            self._talk(sock)
        else:
            self._serve(sock, self.reply)
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(1.0)
        while sock.recv(65536):
            pass

    def _talk(self, sock: socket.socket) -> None:
        """Say one part at once, then one for each thing that the client sends."""
        for part in self.due:
            sock.settimeout(1.0)
            sock.sendall(part)
            sock.settimeout(0.02)  # a client that waits for more of a damaged part gets the next one
            with contextlib.suppress(TimeoutError):
                if not sock.recv(65536):
                    return

    @staticmethod
    def _serve(sock: socket.socket, reply: bytes) -> None:
        sock.settimeout(2.0)
        mysql_server.let_in(sock)
        while mysql_server.take(sock)[1:4] == b"SET":
            sock.sendall(_OK)
        sock.sendall(reply)


class Roads:
    """All roads, over one listener. `close` ends it."""

    def __init__(self) -> None:
        self._teller = _Teller()
        self._listener = Listener(self._teller)
        self._folder = tempfile.TemporaryDirectory(prefix="pilothouse-fuzz-")
        config = Path(self._folder.name) / "config"
        config.touch()
        os.chmod(config, 0o600)  # noqa: PTH101 - as the neighbours of this file in a home have it
        self._config = str(config)
        self.all = (
            Road("a login", lambda chance: self._talked(self._mysql, _status, _TALK, chance)),
            Road("a long login", lambda chance: self._talked(self._mysql, _variables, _LONG, chance)),
            Road("an SSH greeting", lambda chance: self._talked(self._ssh, _shake, _SSH, chance)),
            Road("a reply after the login", self._replied),
            Road("all that a host says", _drawn, talks=False),
            Road("a command's output", _parsed, talks=False),
            Road("all that a procedure reads", _gathered, talks=False),
            Road("a talk of MongoDB", self._mongo),
            Road("an answer of MongoDB", mongo_road.parsed, talks=False),
        )

    def reached(self) -> int:
        """Return how many connections came to the server so far."""
        return self._teller.reached

    def close(self) -> None:
        """End the server."""
        self._listener.close()
        self._folder.cleanup()

    def _mysql(self) -> HostSession:
        access = SqlAccess("obs", port=self._listener.port, tls="off", heartbeat_table="percona.heartbeat")
        entry = HostEntry("db1", "127.0.0.1", sql=access)
        return HostSession(entry, MemoryVault(), clock=SystemClock(), limits=LIMITS)

    def _ssh(self) -> HostSession:
        known = str(Path(self._config).with_name("known_hosts"))
        access = SshAccess("dba", port=self._listener.port, config=self._config, known_hosts=known, agent=False)
        return HostSession(HostEntry("n1", "127.0.0.1", ssh=access), MemoryVault(), clock=SystemClock(), limits=LIMITS)

    def _talked(
        self,
        make: Callable[[], HostSession],
        ask: Callable[[HostSession], object],
        parts: tuple[bytes, ...],
        chance: random.Random,
    ) -> None:
        self._teller.due, self._teller.reply = talk(chance, parts), None
        with make() as session:
            ask(session)

    def _mongo(self, chance: random.Random) -> None:
        self._teller.due, self._teller.reply = talk(chance, chance.choice(mongo_road.TALKS)), None
        own = mongo_road.session(self._listener.port, LIMITS)
        try:
            mongo_road.asked(own)
        finally:
            own.close()

    def _replied(self, chance: random.Random) -> None:
        """Log in, ask one of the named reads whose reply is recorded, and read the damaged reply for what it is for."""
        name = chance.choice(list(REPLIES))
        read, recorded, use = REPLIES[name]
        self._teller.reply = damaged(recorded, chance) if chance.random() < 0.5 else _rows_damaged(recorded, chance)
        with self._mysql() as session:
            if read is statements.STATUS:
                use(session.status(limit_s=2.0))
            else:
                use(session.query(read, limit_s=2.0))


def _status(session: HostSession) -> object:
    return session.status(limit_s=2.0)


def _variables(session: HostSession) -> object:
    return session.query(statements.VARIABLES, limit_s=2.0)


def _shake(session: HostSession) -> object:
    return session._links.ssh()


# -- replies after a login -------------------------------------------------------------------------------------------


def _packed(found: dict[str, Any]) -> bytes:
    columns = [p.column(name) for name in found["columns"]]
    return p.result(columns, [[None if v is None else str(v).encode() for v in row] for row in found["rows"]])


def _pairs(found: dict[str, str]) -> bytes:
    return _packed({"columns": ["Variable_name", "Value"], "rows": list(found.items())})


def _rows_damaged(recorded: bytes, chance: random.Random) -> bytes:
    """Damage what stands in the values, not the frame: most bytes that a server sends are values."""
    text = recorded.decode("latin-1")
    at = chance.randrange(len(text))
    same = damaged_text(text[at : at + 20], chance).encode("utf-8", "replace").decode("latin-1")[:20]
    return (text[:at] + same.ljust(min(20, len(text) - at)) + text[at + 20 :]).encode("latin-1")


def _use_status(status: object) -> None:
    assert isinstance(status, dict)
    numeric_status(status)


def _use_variables(rows: object) -> None:
    assert isinstance(rows, Rows)
    numeric_variables(rows.pairs())
    dialect_of(rows.pairs())


def _use_channels(rows: object) -> None:
    assert isinstance(rows, Rows)
    replication_values(parse_replication(rows, None, None, {"log_bin": "ON"}))


def _use_checksum(rows: object) -> None:
    assert isinstance(rows, Rows)
    checksum_of(rows)


def _use_others(rows: object) -> None:
    assert isinstance(rows, Rows)
    parse_replication(None, rows, rows, {"log_bin": "ON"})
    parse_sessions(rows.rows)
    sst_account_of(rows.rows, "sst")
    parse_members(rows)
    rates_of(rows, rows, 2.0)


_GALERA = load("situations/galera-healthy.json")["hosts"]["n1"]
_MYSQL = next(iter(load("situations/mysql-replica-broken.json")["hosts"].values()))


def _reply(sql: str) -> bytes:
    """Return a recorded reply, of whichever host was asked that."""
    for name in situations():
        for host in load(name)["hosts"].values():
            found = host.get("queries", {}).get(sql, {})
            if found.get("rows"):
                return _packed(found)
    return _packed({"columns": ["a", "b", "c", "d"], "rows": [["1", "x", "Sleep", "SELECT 1"], ["2", None, "", ""]]})


def _replies() -> dict[str, tuple[SqlRead, bytes, Callable[[object], None]]]:
    """Return name -> (read, reply, what is made of it) for every statement of the registry without values."""
    uses = {"variables": _use_variables, "all-slaves": _use_channels, "slave": _use_channels, "replica": _use_channels}
    uses["checksum"], uses["columns"] = _use_checksum, generated_columns
    given = {"heartbeat": ("percona", "heartbeat"), "variable": ("wsrep_on",), "checksum": ("shop", "items")}
    given["columns"], given["whole-variable"] = given["checksum"], ("gtid_executed",)
    found: dict[str, tuple[SqlRead, bytes, Callable[[object], None]]] = {
        "status": (statements.STATUS, _pairs(_GALERA["status"]), _use_status)
    }
    for name, template in statements.STATEMENTS.items():
        values = given.get(name, ())
        if name not in found:
            read = SqlRead(name, values)
            found[name] = (read, _reply(template.bound(values)), uses.get(name, _use_others))
    return found


REPLIES = _replies()


# -- what a host says, without a socket ------------------------------------------------------------------------------


def _drawn(chance: random.Random) -> None:
    """Ask every host of a recorded situation, one of them damaged, and draw the estate before and after."""
    recorded = load(chance.choice(situations()))
    clock = ManualClock(recorded["at"] + 1)
    hosts, which = recorded["hosts"], chance.choice(list(recorded["hosts"]))
    honest = {name: probe(ReplaySession(name, said), clock, address=said["address"]) for name, said in hosts.items()}
    said = damaged_host(hosts[which], chance)
    facts = probe(ReplaySession(which, said), clock, honest[which], address=said["address"])
    _sampled(said, facts, recorded["at"])
    before = updated_estate(None, honest, recorded["at"])
    after = updated_estate(before, {**honest, which: facts}, recorded["at"] + 1)
    events_between(before, after)
    leads_of(facts)
    odd_names(facts)
    assert snapshot_from_json(snapshot_to_json(after)) == after


def _sampled(said: dict[str, Any], facts: NodeFacts, at: float) -> None:
    """Make of the damaged answers what is sampled each second."""
    status = said.get("status", {})
    values = numeric_status({} if "error" in status else status)
    if facts.replication is not None:
        values.update(replication_values(facts.replication))
    DerivedNow().values(facts, values, at)


def _parsed(chance: random.Random) -> None:
    """Read one command's damaged output."""
    parse, printed = PARSERS[chance.choice(list(PARSERS))]
    parse(as_printed(damaged_text(printed, chance)))


class _Damaged:
    """Reading sessions that replay, one host damaged; the account for changes replays too."""

    def __init__(self, hosts: dict[str, Any]) -> None:
        self._hosts = hosts

    def observer(self, host: str) -> ObserverSession:
        """Return a session that answers from the recording."""
        return ReplaySession(host, self._hosts[host])

    rights_reader = observer


def _gathered(chance: random.Random) -> None:
    """Gather all that a procedure reads of a recorded cluster, one host damaged."""
    recorded = load(chance.choice([name for name in situations() if "galera" in name]))
    which = chance.choice(list(recorded["hosts"]))
    hosts = {name: damaged_host(said, chance) if name == which else said for name, said in recorded["hosts"].items()}
    entries = tuple(HostEntry(name, said["address"], sql=SqlAccess("observer")) for name, said in hosts.items())
    with contextlib.suppress(UserError):
        gather(
            _Damaged(hosts),  # type: ignore[arg-type]
            Inventory(hosts=entries),
            ManualClock(recorded["at"]),
            needs=frozenset().union(*(procedure.about.needs for procedure in all_procedures())),
        )
