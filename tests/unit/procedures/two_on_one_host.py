"""An estate in memory of two hosts and three servers, two of them on one host, behind both roads of a run.

Files and locks are a host's, settings a server's. Sessions are scripted; the actor, the prover and the lock are real.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.operator import files as operator_files
from services.connections.ports import FileSeen, ObserverSession, OperatorSession, Output, Rows
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of, statement_of
from services.connections.sql.statement import Statement
from services.errors import Refused, Unreachable
from services.facts.model import NodeFacts
from services.procedures.engine.engine import Engine
from services.procedures.engine.lock import ClusterLock
from services.procedures.engine.parts import Parts, Policy
from services.procedures.execute.acting import RealActor
from services.procedures.journal.entries import approved, planned
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Plan
from services.procedures.verify.prover import RealProver
from services.secrets import Secret
from services.types import Reach
from tests.faults.scripted.running import DyingJournal, Somebody, WaitingClock
from tests.unit.procedures.scripted_sessions import ScriptedSession, out

CLUSTER = "6f1e7d3c-1111-11f0-9c0e-3b2f8d5a7c11"
ON = {"n1": "n1", "n1:3307": "n1", "n2": "n2"}
OWNER = "somebody@scripted"
MISSING = "cat: x: No such file or directory"


@dataclass(slots=True)
class Estate:
    """Host -> its files; key -> its server's settings; every file written and statement made, with its place."""

    files: dict[str, dict[str, bytes]] = field(default_factory=lambda: {host: {} for host in ON.values()})
    settings: dict[str, dict[str, str]] = field(default_factory=lambda: {key: {"max_connections": "151"} for key in ON})
    done: list[str] = field(default_factory=list)

    def state(self) -> tuple[object, ...]:
        """Return what is left on hosts and servers."""
        return self.files, self.settings


class Reading(ScriptedSession):
    """The reading session of a key: files of its host, variables of its server."""

    def __init__(self, key: str, estate: Estate) -> None:
        super().__init__(key)
        self._estate = estate

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        del limit_s
        name = re.findall(r"'(\w+)'", statement_of(read))[0]
        return Rows(("Variable_name", "Value"), ((name, self._estate.settings[self.host][name]),))

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        found = self._estate.files[ON[self.host]].get(command_of(read).argv[-1])
        return out(errors=MISSING, code=1) if found is None else Output(0, found, b"")


class Changing:
    """The changing session of a key: the commands of locks and files, on its host; statements, on its server."""

    def __init__(self, key: str, estate: Estate) -> None:
        self.host = key
        self._estate = estate
        self._files = estate.files[ON[key]]

    def execute(self, statement: Statement, *, limit_s: float = 10.0) -> Rows:
        del limit_s
        found = re.fullmatch(r"SET GLOBAL (\w+) ?= ?'?(\w+)'?", str(statement))
        assert found is not None, str(statement)
        self._estate.settings[self.host][found[1]] = found[2]
        self._estate.done.append(f"{self.host}: {found[1]}={found[2]}")
        return Rows((), ())

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        del limit_s
        argv = command.argv
        if argv[0] == "sh":
            return self._script(argv[2], argv[4:])
        if argv[0] == "test":
            return out(code=0 if argv[1] == "-e" and argv[2] in self._files else 1)
        if argv[0] in {"ln", "mv"}:
            source, target = argv[-2:]
            if argv[0] == "ln" and target in self._files:
                return out(code=1, errors="File exists")
            self._files[target] = self._files[source] if argv[0] == "ln" else self._files.pop(source)
            self._estate.done.append(f"{ON[self.host]}: {argv[0]} {target}")
            return out()
        if argv[0] == "rm":
            self._files.pop(argv[-1], None)
            return out()
        assert argv[0] in {"install", "rmdir"}, argv
        return out()

    def _script(self, script: str, words: tuple[str, ...]) -> Output:
        if script == operator_files.COPY:
            self._files[words[1]] = self._files[words[0]]
        elif script == operator_files.REMOVE:
            for path in words:
                self._files.pop(path, None)
        else:
            assert script == operator_files.MAKE
        return out()

    def look_file(self, path: str, *, whole: bool = True, follow: bool = True, limit_s: float = 10.0) -> FileSeen:
        del whole, follow, limit_s
        return FileSeen(path in self._files, self._files.get(path, b""), "0:0", "0644", own=True, alone=True)

    def read_file(self, path: str, *, limit_s: float = 10.0) -> bytes | None:
        del limit_s
        return self._files.get(path)

    def write_file(
        self,
        path: str,
        content: Secret,
        *,
        mode: str = "0644",
        owner: str = "root:root",
        follow: bool = True,
        limit_s: float = 10.0,
    ) -> None:
        del mode, owner, follow, limit_s
        self._files[path] = content.reveal().encode()

    def close(self) -> None:
        """See OperatorSession."""


class Roads:
    """`Hosts` over the estate: sessions by key, changing ones for what is armed."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self.armed: tuple[str, ...] = ()
        self.was_armed: set[str] = set()
        self.away = ""  # a key whose host can't be reached

    def observer(self, host: str) -> ObserverSession:
        return Reading(host, self._estate)

    def rights_reader(self, host: str) -> ObserverSession:
        raise AssertionError(host)

    def operator(self, host: str) -> OperatorSession:
        if host not in self.armed:
            raise Refused("No procedure is armed for this host.", host=host)
        if host == self.away:
            raise Unreachable("No route to host.", host=host)
        return Changing(host, self._estate)

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        del run_id
        self.armed = hosts
        self.was_armed.update(hosts)

    def disarm(self) -> None:
        self.armed = ()

    def close(self) -> None:
        self.armed = ()


def facts(*keys: str) -> Facts:
    """What was gathered of these keys: each answers, and says on which host it stands beside the first server."""
    hosts = tuple(
        HostFacts(key, node=NodeFacts(key, 0.0, Reach.FULL, on="" if ON[key] == key else ON[key])) for key in keys
    )
    return Facts(0.0, CLUSTER, "toy", members=keys, hosts=hosts)


@dataclass(slots=True)
class Desk:
    """A console over the estate: a journal that outlives it, and an engine made anew each time."""

    estate: Estate = field(default_factory=Estate)
    clock: WaitingClock = field(default_factory=WaitingClock)
    journal: DyingJournal = field(init=False)
    roads: Roads = field(init=False)
    run_id: str = ""

    def __post_init__(self) -> None:
        self.journal, self.roads = DyingJournal(self.clock), Roads(self.estate)

    def begin(self, plan: Plan) -> None:
        """Journal and approve a run."""
        self.run_id = self.journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        self.journal.append(self.run_id, *planned(plan, {}, (), (), OWNER))
        self.journal.append(self.run_id, *approved("somebody"))

    def engine(self) -> Engine:
        """Return an engine as a console that was just started has it."""
        actor = RealActor(self.roads, self.run_id, self.clock)
        lock = ClusterLock(self.roads, self.run_id, OWNER, self.clock)
        parts = Parts(
            self.journal, self.roads, actor, RealProver(self.roads, self.clock), self.clock, Somebody(),
            lock=lock, cleanup=actor.cleanup, policy=Policy("undo", unattended=True, by="somebody"),
        )  # fmt: skip
        return Engine(parts, self.run_id)


def another_lock(estate: Estate, clock: ManualClock) -> tuple[Roads, ClusterLock]:
    """Return another console's roads and lock."""
    roads = Roads(estate)
    return roads, ClusterLock(roads, "9", "another@elsewhere", clock)
