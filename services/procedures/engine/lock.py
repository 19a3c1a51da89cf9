"""One console at a time: a lock per cluster, a small file on every host of the plan, made in one atomic step.

The file is written aside and given its name by link(2), which fails when the name exists (man ln(1)): two consoles can
never both have made it. It lies under /run, so a host that was restarted has none. All hosts are tried in the same
order; a majority of the plan's hosts must hold the lock, so that two consoles that see different halves of an estate
still meet on one host. The lock is a host's: of two servers on one it is taken once, by the plan's first way there.

What one inventory knows as a part of a cluster, another may know as a cluster (a shard without its mongos): where a
plan names such parts, the lock of each is taken too, on its own hosts and by a majority of these. Two runs for two
parts of one cluster meet only where they share a host.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.connections.command import Command
from services.errors import Refused, Unreachable, UserError
from services.i18n import tr
from services.moments import utc_time
from services.procedures.plan.host_facts import LockSeen
from services.secrets import Secret
from services.visible import as_line

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ports import OperatorSession
    from services.procedures.engine.ports import Hosts
    from services.procedures.plan.model import Plan
    from services.procedures.plan.run_model import RunView

LOCK_FOLDER = "/run/pilothouse"
MAKE_FOLDER = Command(("install", "-d", "-m", "0755", LOCK_FOLDER), sudo=True)
_LIMIT_S = 10.0
_MOST_BYTES, _MOST_WORD, _MOST_AT = 4096, 300, 4e9


class LockHeld(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """Another console's run holds the lock.

    Attributes:
        holder: whose it is; held_on: the host where it was met.
        own: this same console's run that holds it, where its journal knows that run (ways.tell_holder).
    """

    code = "lock-held"

    def __init__(self, holder: LockSeen, host: str) -> None:
        super().__init__(
            holder_sentence(holder),
            host=host,
            try_=(
                tr("Wait until that run is over, or ask {owner}.", owner=holder.owner),
                tr("Take over the lock, if that console is permanently gone."),
            ),
        )
        self.holder = holder
        self.held_on = host
        self.own: RunView | None = None


class LockNotTaken(UserError):  # noqa: N818 - as above
    """Too few hosts of the plan could be asked."""

    code = "lock-not-taken"


@dataclass(frozen=True, slots=True)
class LockTaken:
    """Where the lock is ours now.

    Attributes:
        hosts: sorted; unreachable: (host, why) of those that could not be asked; taken_from: whom it was taken from.
    """

    hosts: tuple[str, ...]
    unreachable: tuple[tuple[str, str], ...] = ()
    taken_from: LockSeen | None = None


def lock_path(cluster_id: str) -> str:
    """Return the lock's file for a cluster (its state UUID, or any other id made a plain name)."""
    return f"{LOCK_FOLDER}/lock-{re.sub(r'[^A-Za-z0-9-]+', '-', cluster_id)[:80] or 'none'}"


def parse_lock(text: str) -> LockSeen | None:
    """Return the lock a file's text tells of, None for an empty text; one that can't be read is told as such."""
    if not text.strip():
        return None
    try:
        data = json.loads(text[:_MOST_BYTES])
    except (ValueError, RecursionError):
        data = None
    told: dict[str, object] = data if isinstance(data, dict) else {}
    since = told.get("since")
    known = isinstance(since, int | float) and not isinstance(since, bool) and 0 <= since < _MOST_AT
    words = {name: _word(told.get(name)) for name in ("owner", "run_id", "procedure", "cluster_id")}
    return LockSeen(**words, since=float(since) if known and isinstance(since, int | float) else None)


def _word(value: object) -> str:
    """Return a lock's word as one line; a value of another kind is none of ours."""
    return as_line(value, _MOST_WORD) if isinstance(value, str) else "?"


def lock_text(lock: LockSeen) -> str:
    """Return the file's content: one line of JSON."""
    fields = {
        "owner": lock.owner,
        "run_id": lock.run_id,
        "since": lock.since,
        "procedure": lock.procedure,
        "cluster_id": lock.cluster_id,
    }
    return json.dumps(fields) + "\n"


def holder_sentence(lock: LockSeen) -> str:
    """Return who works on the cluster, with what, since when."""
    if lock.since is None:
        return tr("{owner} runs {procedure} on this cluster (run {run}).", owner=lock.owner, procedure=lock.procedure,
                  run=lock.run_id)  # fmt: skip
    since = utc_time(lock.since).strftime("%Y-%m-%d %H:%M:%S UTC")
    return tr("{owner} runs {procedure} on this cluster since {since} (run {run}).", owner=lock.owner,
              procedure=lock.procedure, since=since, run=lock.run_id)  # fmt: skip


class ClusterLock:
    """The lock of one run. Hosts must be armed while it is taken, checked or released; one thread at a time."""

    def __init__(self, hosts: Hosts, run_id: str, owner: str, clock: Clock) -> None:
        """Remember who asks.

        Args:
            owner: 'user@workstation'; a lock is ours when owner and run are the same (run numbers are small and local).
        """
        self._hosts = hosts
        self._run_id = run_id
        self._owner = owner
        self._clock = clock
        self._mine: LockSeen | None = None
        self._held: tuple[str, ...] = ()
        self._roads: dict[str, str] = {}  # host -> the plan's key by which it is reached
        self._paths: dict[str, tuple[str, ...]] = {}  # host -> its lock files: the cluster's, then those of its parts
        self._maybe: set[tuple[str, str]] = set()  # (host, path) where our file may lie: also where the way broke

    @property
    def held(self) -> tuple[str, ...]:
        """Return the hosts where this object took the lock."""
        return self._held

    def take(self, plan: Plan, *, take_over: bool = False) -> LockTaken:
        """Take the lock on all hosts of the plan that answer, or on none; on each all that the plan wants there.

        The same run of the same owner takes it again (resume). With `take_over` another's lock is replaced.

        Raises:
            LockHeld: another holds it on some host; what this call took is given back.
            LockNotTaken: fewer than a majority of the plan's hosts, or of a part's, could be asked; given back too.
        """
        mine = LockSeen(self._owner, self._run_id, self._clock.wall(), plan.procedure, plan.cluster_id)
        self._mine, self._roads, self._paths = mine, plan.roads, _paths(plan)
        before = set(self._maybe)
        ours, away = list[str](), list[tuple[str, str]]()
        taken_from: LockSeen | None = None
        try:
            for host in sorted(plan.machines):
                try:
                    other = self._take_all(host, mine, take_over=take_over)
                except (LockHeld, Refused):
                    raise
                except UserError as problem:
                    away.append((host, problem.sentence))
                    continue
                ours.append(host)
                taken_from = other or taken_from
            self._need_majority(plan, ours, away)
        except UserError:
            self._give_back(self._maybe - before)
            raise
        self._held = tuple(ours)
        return LockTaken(self._held, tuple(away), taken_from)

    def check(self) -> tuple[str, ...]:
        """Return the hosts where another holds the lock now.

        One that is gone (the host was restarted) is taken again; a host that can't be asked is not counted.
        """
        mine = self._mine
        lost = []
        for host in self._held if mine is not None else ():
            assert mine is not None
            try:
                self._take_all(host, mine, take_over=False)
            except LockHeld:
                lost.append(host)
            except Refused:
                raise
            except UserError:
                continue
        return tuple(lost)

    def release(self) -> tuple[str, ...]:
        """Remove our lock where it still is ours; return the hosts where that could not be done."""
        left = self._give_back(set(self._maybe))
        self._held = left
        return left

    def _take_all(self, host: str, mine: LockSeen, *, take_over: bool) -> LockSeen | None:
        """Take on one host all that are to be taken there; return whom one was taken from."""
        others = [self._take_one(host, path, mine, take_over=take_over) for path in self._paths[host]]
        return next((other for other in reversed(others) if other is not None), None)

    def _take_one(self, host: str, path: str, mine: LockSeen, *, take_over: bool) -> LockSeen | None:
        """Take one lock on one host; return whom it was taken from."""
        session = self._session(host)
        seen = self._read(session, path)
        if seen is not None and self._is_mine(seen):
            self._maybe.add((host, path))
            return None
        if seen is not None and not take_over:
            raise LockHeld(seen, host)
        _done(session, MAKE_FOLDER)
        aside = f"{LOCK_FOLDER}/.lock-{secrets.token_hex(6)}"
        session.write_file(aside, Secret(lock_text(mine)), mode="0644", limit_s=_LIMIT_S)
        self._maybe.add((host, path))
        if seen is not None:
            _done(session, Command(("mv", "-fT", "--", aside, path), sudo=True))
            return seen
        linked = session.run(Command(("ln", "-T", "--", aside, path), sudo=True), limit_s=_LIMIT_S)
        with contextlib.suppress(UserError):
            session.run(Command(("rm", "-f", "--", aside), sudo=True), limit_s=_LIMIT_S)
        if linked.exit_code:
            self._lost_the_race(session, path, host)
        return None

    def _session(self, host: str) -> OperatorSession:
        return self._hosts.operator(self._roads.get(host, host))

    def _lost_the_race(self, session: OperatorSession, path: str, host: str) -> None:
        """Tell why no link could be made; return when the file there is our own after all."""
        seen = self._read(session, path)
        if seen is None:
            raise Unreachable(tr("The lock file {path} could not be made.", path=path), host=host)
        if not self._is_mine(seen):
            self._maybe.discard((host, path))
            raise LockHeld(seen, host)

    def _need_majority(self, plan: Plan, ours: list[str], away: list[tuple[str, str]]) -> None:
        """Two runs for one part may have no other host in common than this part's: a majority of each is needed."""
        for name, hosts in plan.locks:
            got = sum(host in ours for host in hosts)
            if got > len(hosts) // 2:
                continue
            total, told = len(hosts), _not_asked(away, hosts)
            sentence = (
                tr("Only {ours} of the plan's {total} hosts could be locked. Not asked: {away}.", ours=got,
                   total=total, away=told)
                if name == plan.cluster_id
                else tr("Only {ours} of the {total} hosts of a replica set could be locked. Not asked: {away}.",
                        ours=got, total=total, away=told)
            )  # fmt: skip
            raise LockNotTaken(sentence, try_=(tr("Make the hosts reachable again, then retry."),))

    def _give_back(self, places: set[tuple[str, str]]) -> tuple[str, ...]:
        left = dict[str, None]()
        for host, path in sorted(places):
            try:
                session = self._session(host)
                seen = self._read(session, path)
                if seen is not None and self._is_mine(seen):
                    _done(session, Command(("rm", "-f", "--", path), sudo=True))
                self._maybe.discard((host, path))
            except UserError:
                left[host] = None
        return tuple(left)

    def _is_mine(self, seen: LockSeen) -> bool:
        return (seen.owner, seen.run_id) == (self._owner, self._run_id)

    @staticmethod
    def _read(session: OperatorSession, path: str) -> LockSeen | None:
        content = session.read_file(path, limit_s=_LIMIT_S)
        return None if content is None else parse_lock(content.decode("utf-8", "replace") or "?")


def _paths(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return host -> the files of the locks that are taken there."""
    wanted = [(host, lock_path(name)) for name, hosts in plan.locks for host in hosts]
    return {host: tuple(dict.fromkeys(path for where, path in wanted if where == host)) for host in plan.machines}


def _not_asked(away: list[tuple[str, str]], hosts: tuple[str, ...]) -> str:
    return "; ".join(f"{host} ({why.rstrip('.')})" for host, why in away if host in hosts)


def _done(session: OperatorSession, command: Command) -> None:
    output = session.run(command, limit_s=_LIMIT_S)
    if output.exit_code:
        why = output.error_text
        raise Unreachable(tr("{command} failed: {why}", command=command.brief, why=why), host=session.host)
