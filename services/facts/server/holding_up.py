"""Who holds a server up while a run waits for it: a read lock of all tables, DDL, a long transaction; with the session.

Read over an Observer session, and only what can be read is said. Sources: MariaDB KB "FLUSH" (FLUSH TABLES WITH READ
LOCK desyncs and pauses a Galera node), "Information Schema INNODB_TRX Table"; of locks see `lock_holders`. Where the
server does not tell them, a session that holds the lock and does nothing looks like any idle one: then the lock is told
by the desync that nobody asked for, and who may hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.connections.ports import ObserverSession, SqlValue, text
from services.connections.reads import statements
from services.errors import UserError
from services.facts.reading import count, flag, words
from services.facts.server.lock_holders import LIMIT_S, read_lockers, rows_of
from services.facts.server.sessions import parse_sessions

LONG_S = 10
_MOST = 3


@dataclass(frozen=True, slots=True)
class Holder:
    """One thing that holds a server up.

    Attributes:
        key: the same for the same session and cause, whatever time passes; sentence: what, who, for how many seconds.
    """

    key: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read of one server; None: that could not be read.

    Attributes:
        processes: rows of SESSIONS_WITH_HOSTS; transactions: session -> seconds; lockers: sessions with the read lock;
        desynced: it is desynced, and its variable says that nobody asked for it.
        own_users: the accounts of this console: what they do is its own reading and changing, and holds nothing up.
    """

    processes: tuple[tuple[SqlValue, ...], ...]
    transactions: dict[int, int]
    lockers: frozenset[int] | None
    desynced: bool
    own_users: frozenset[str] = frozenset()


def holders(host: str, seen: Seen) -> tuple[Holder, ...]:
    """Return what holds the server up, the worst first; () where nothing that was read does."""
    rows = tuple(row for row in seen.processes if len(row) > 5)
    sessions = tuple(s for s in parse_sessions(rows).clients if s.user not in seen.own_users)
    who = {number: _who(row) for row in rows if (number := count(text(row[0]))) is not None}
    found = []
    for number in sorted(seen.lockers or ()):
        by = who.get(number, f"session {number}")
        found.append(Holder(f"{host}:lock:{number}", f"{by} holds FLUSH TABLES WITH READ LOCK on {host}"))
    known = seen.lockers or frozenset()
    ddl = [s for s in sessions if s.ddl and s.number not in known]
    found += [Holder(f"{host}:ddl:{s.number}", f"{who[s.number]} runs {s.ddl} on {host}") for s in ddl]
    ids = {s.number for s in sessions}
    for number, seconds in sorted(seen.transactions.items(), key=lambda one: -one[1]):
        if seconds >= LONG_S and number in ids - known:
            told = f"{who[number]} has a transaction open on {host} since {seconds} s"
            found.append(Holder(f"{host}:trx:{number}", told))
    if not found and seen.desynced:
        idle = ", ".join(who[s.number] for s in sessions if not s.busy)[:200]
        told = f"{host} is desynced and nobody set wsrep_desync: FLUSH TABLES WITH READ LOCK or a backup may hold it"
        whose = f"; which session is not known, idle are: {idle}" if idle else "; which session is not known"
        found.append(Holder(f"{host}:desync", told + whose))
    return tuple(found[:_MOST])


def read_holders(session: ObserverSession, host: str, accounts: frozenset[str]) -> tuple[Holder, ...]:
    """Read and judge; () for a server that does not answer: then the wait itself says so.

    Args:
        accounts: those of this console on the host, as the inventory names them.
    """
    try:
        own = session.query(statements.OWN_USER, limit_s=LIMIT_S)
        processes = session.query(statements.SESSIONS_WITH_HOSTS, limit_s=LIMIT_S).rows
        status = session.status(limit_s=LIMIT_S)
        asked = session.query(statements.DESYNC_ASKED, limit_s=LIMIT_S).pairs()
    except UserError:
        return ()
    desynced = status.get("wsrep_desync_count", "0") != "0" and flag(asked.get("wsrep_desync", "")) is False
    return holders(
        host,
        Seen(
            processes=tuple(processes),
            transactions=dict(_numbers(rows_of(session, statements.TRANSACTIONS) or ())),
            lockers=read_lockers(session),
            desynced=desynced,
            own_users=accounts | {text(row[0]) for row in own.rows},
        ),
    )


def _numbers(rows: Sequence[tuple[SqlValue, ...]]) -> list[tuple[int, int]]:
    pairs = [(count(text(row[0])), count(text(row[1]))) for row in rows if len(row) > 1]
    return [(number, seconds) for number, seconds in pairs if number is not None and seconds is not None]


def _who(row: tuple[SqlValue, ...]) -> str:
    """Return 'app@10.0.0.5 (session 33, 20 s, idle)'; the port of the client says nothing to a person."""
    number, user, command, at = words(row[0], 20), words(row[1], 80), text(row[2]).strip().lower(), words(row[5], 80)
    doing = "idle" if command == "sleep" else "at work"
    return f"{user}@{at.rpartition(':')[0] or at} (session {number}, {words(row[4], 20)} s, {doing})"
