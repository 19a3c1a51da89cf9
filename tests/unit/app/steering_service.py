"""A service over the scripted cluster, and the commands run on it: what `app` does with it, without any server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import main
from services.clock import ManualClock
from services.discovery.model import ClusterSnapshot
from services.errors import BadInput
from services.inventory.model import HostEntry, Inventory, SshAccess
from services.procedures.catalogue import procedure_named
from services.procedures.engine.lock import LockHeld
from services.procedures.engine.parts import Parts, Policy
from services.procedures.engine.rehearsal import Rehearsal, rehearse
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, LockSeen
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Question, RunView
from services.procedures.service.service import Draft, ProcedureService
from tests.faults.scripted.acting import ScriptedActor
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.proving import ScriptedProver
from tests.faults.scripted.running import ScriptedHosts

DESYNC = ("desync-for-backup", "--input", "node=n3")
ROLLING = ("rolling-restart", "--input", "pause=1 s")
HOLDER = LockSeen("eva@desk2 a1b2c3", "9", 1_700_000_000.0, "add-node", "orders")


class HeldLock:
    """A cluster lock that another console holds until it is taken over."""

    def __init__(self, world: World) -> None:
        self._world = world

    def take(self, plan: Plan, *, take_over: bool = False) -> object:
        """Take it, or raise LockHeld."""
        del plan
        if self._world.holder is not None and not take_over:
            raise LockHeld(self._world.holder, "n1")
        self._world.holder = None
        return None

    def check(self) -> tuple[str, ...]:
        """Nobody takes it away."""
        return ()

    def release(self) -> tuple[str, ...]:
        """Given back."""
        return ()


@dataclass(slots=True)
class World:
    """The cluster, who holds its lock, what the gathering is made to say, what a picture shows, what was asked."""

    cluster: Cluster = field(default_factory=lambda: whole("n1", "n2", "n3"))
    holder: LockSeen | None = None
    changed: Callable[[Facts], Facts] = lambda facts: facts
    on_act: Callable[[str], None] | None = None
    asked: list[Question] = field(default_factory=list)
    gathered: int = 0
    picture: ClusterSnapshot | None = None


class ScriptedService(ProcedureService):
    """The real service, journal and engine; hosts, acts and proofs are the scripted cluster's."""

    world: World

    def gather(self, cluster: str = "", name: str = "", **_: object) -> Facts:
        """Return the scripted facts: of each host the parts that the procedure's card names, where one is named."""
        del cluster
        self.world.gathered += 1
        facts = self.world.changed(facts_of(self.world.cluster))
        if not name:
            return facts
        needs = procedure_named(name).about.needs
        read = (replace(h, parts=tuple(part for part in h.parts if type(part) in needs)) for h in facts.hosts)
        return replace(facts, hosts=tuple(read))

    def rehearse(self, draft: Draft) -> Rehearsal:
        """Rehearse on the scripted cluster."""
        assert draft.plan is not None
        return rehearse(draft.plan, ScriptedProver(self.world.cluster))

    def _parts(self, view: Any, hosts: Any, listener: Any, policy: Any, person: Any) -> Parts:
        del hosts
        world = self.world

        class Heard:
            def answer(self, run_id: str, question: Question) -> str | None:
                if question not in world.asked:
                    world.asked.append(question)
                answer: str | None = person.answer(run_id, question)
                return answer

        return Parts(
            journal=self.bound,
            hosts=ScriptedHosts(),
            actor=ScriptedActor(world.cluster, on_act=world.on_act),
            prover=ScriptedProver(world.cluster),
            clock=ManualClock(),
            person=Heard(),
            lock=HeldLock(world),
            listener=listener,
            continuing=lambda now: _continued(world, now),
            snapshot=lambda: world.picture,
            policy=policy or Policy(),
        )


@dataclass(slots=True)
class Said:
    """What a command ended with and printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Return the one JSON document; the test fails when anything else was printed."""
        assert self.err == ""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


class Shell:
    """Runs `pilothouse WORDS` over a scripted world with a data folder of its own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.world = World()
        self.folder = folder
        self._capsys = capsys
        self._patch = patch
        hosts = tuple(HostEntry(f"n{i}", f"10.0.0.{i}", SshAccess("dba")) for i in (1, 2, 3))
        inventory = Inventory(path=str(folder / "inventory.toml"), hosts=hosts)

        def service(*parts: Any) -> ScriptedService:
            made = ScriptedService(*parts)
            made.world = self.world
            return made

        patch.setattr("app.cli.steering.ProcedureService", service)
        patch.setattr("app.cli.steering.read_inventory", lambda _: inventory)
        patch.setattr("app.cli.run_history.open_watcher", _no_watcher)
        self.sits_there(sits=False)

    def sits_there(self, *, sits: bool) -> None:
        """Let a person sit at the terminal, or nobody."""
        for module in ("app.cli.steering", "app.cli.commands.plan", "app.cli.commands.resume"):
            self._patch.setattr(f"{module}.attended", lambda: sits)

    @contextlib.contextmanager
    def typing(self, *lines: str) -> Iterator[None]:
        """Let a person sit there and type these lines, then end the input."""
        file = self.folder / "typed"
        file.write_text("".join(f"{line}\n" for line in lines))
        self.sits_there(sits=True)
        with file.open() as stdin:
            self._patch.setattr("sys.stdin", stdin)
            yield
        self.sits_there(sits=False)

    def __call__(self, *words: str) -> Said:
        """Run one command."""
        code = main([*words, "--data", str(self.folder)])
        out = self._capsys.readouterr()
        return Said(code, out.out, out.err)


def _continued(world: World, view: RunView) -> tuple[tuple[Check, ...], Plan]:
    facts = facts_of(world.cluster, view.kept)
    return procedure_named(view.plan.procedure).continued(facts, dict(view.plan.inputs), view.plan)


def _no_watcher(options: object) -> object:
    del options
    raise BadInput("Nothing is sampled here.")


def nothing_was_changed(shell: Shell) -> bool:
    """Return whether no act reached the cluster and no run was journalled."""
    return shell.world.cluster.log == [] and shell("procedures", "--runs").out.startswith("No procedure has been run")


def last_run(said: Said) -> str:
    """Return the state in the last printed run's heading."""
    heading = [line for line in said.out.splitlines() if line.startswith("run ")][-1]
    return heading.rpartition("[")[2].rstrip("]")
