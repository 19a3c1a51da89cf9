"""Any plan with any outcome of every act, look and answer, on consoles that are killed anywhere: the laws hold."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from services.clock import ManualClock
from services.errors import BadInput, TimedOut, Unreachable, UserError
from services.procedures.engine.control import Control
from services.procedures.engine.engine import Engine
from services.procedures.engine.parts import Parts, Policy
from services.procedures.engine.ports import Acted
from services.procedures.journal.entries import approved, planned
from services.procedures.journal.journal import MemoryJournal
from services.procedures.journal.projection import ENDED, project
from services.procedures.plan.actions import Action
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Plan
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import Question, RunState, StepState
from tests.examples import examples
from tests.unit.procedures.engine_world import FragileJournal, Killed, WorldHosts
from tests.unit.procedures.plans import good_plans


class Impatient(ManualClock):
    """A clock of a world in which no pause lasts for long."""

    def __init__(self) -> None:
        super().__init__()
        self.control = Control()

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Go on after a nap, in long steps."""
        self.control.go_on()
        return super().sleep(seconds * 20, stop)


class Fate:
    """Actor, prover and person whose every answer is drawn; it keeps what would break a law."""

    def __init__(self, draws: random.Random, journal: MemoryJournal, run_id: str, control: Control) -> None:
        self.draws, self.journal, self.run_id, self.control = draws, journal, run_id, control
        self.unannounced: list[str] = []

    def perform(
        self,
        step_id: str,
        host: str,
        action: Action,
        kept: Mapping[str, str],
        *,
        limit_s: float,
        stop: threading.Event | None = None,
        said: Callable[[str], None] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Acted:
        """Do nothing, or fail; every act must have been announced."""
        del action, kept, limit_s, stop, said, ready
        view = project(self.journal.entries(self.run_id))
        what, _, name = step_id.rpartition(":") if step_id.startswith("undo:") else ("", "", step_id)
        states = {s.step.step_id: s.state for s in view.steps}
        if step_id.startswith("release:"):
            announced = any(f"release:{o.obligation.key}" == step_id for o in view.obligations)
        else:
            announced = states[name] is (StepState.UNDOING if what else StepState.ACTING)
        if not announced:
            self.unannounced.append(step_id)
        self._wish()
        fate = self.draws.random()
        if fate < 0.1:
            raise Unreachable("The way broke.", host=host)
        if fate < 0.15:
            raise TimedOut("It took too long.", host=host)
        if fate < 0.25:
            raise UserError("It failed.", host=host)
        return Acted(("said something",), (("word", "value"),) if fate > 0.95 else ())

    def discard(self, host: str, name: str) -> None:
        """Change nothing."""

    def end(self, host: str, name: str) -> bool:
        """End it, find none, or fail."""
        fate = self.draws.random()
        if fate < 0.1:
            raise Unreachable(f"{name} was not reached.", host=host)
        return fate < 0.5

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """Find anything."""
        del past, memory
        fate = self.draws.random()
        keep = str(getattr(condition, "keep", ""))
        if fate < 0.75:
            return Answer(holds=True, evidence="so it is", kept=((keep, "7"),) if keep else ())
        return Answer(holds=None if fate < 0.85 else False, evidence="not so", final=fate > 0.97)

    def answer(self, run_id: str, question: Question) -> str | None:
        """Say anything, or nothing yet."""
        del run_id
        self._wish()
        return self.draws.choice([None, "yes", "stop", question.ask.expect, *(v for v, _ in question.ask.choices)])

    def _wish(self) -> None:
        fate = self.draws.random()
        wishes = (self.control.pause, self.control.go_on, self.control.cancel, self.control.undo, self.control.close)
        if fate < 0.05:
            self.draws.choice(wishes)()
        elif fate < 0.06:
            self.control.leave("enough")


@given(good_plans(), st.randoms(use_true_random=False))
@settings(max_examples=examples(40))
def test_that_any_plan_with_any_outcome_on_dying_consoles_keeps_its_journal_legal_and_its_obligations_told(
    plan: Plan, draws: random.Random
) -> None:
    clock = Impatient()
    journal, hosts = FragileJournal(clock), WorldHosts()
    run_id = journal.new_run(plan.procedure, plan.cluster_id, plan.title)
    journal.append(run_id, *planned(plan, {}, (), (), "ann@desk"))
    journal.append(run_id, *approved("ann"))
    for _ in range(8):
        control = clock.control = Control()
        fate = Fate(draws, journal, run_id, control)
        policy = Policy(draws.choice(("ask", "undo")), draws.random() < 0.3, frozenset(draws.sample(plan.hosts, 2)))
        parts = Parts(journal, hosts, fate, fate, clock, fate, policy=policy)
        journal.written, journal.kill_at, journal.kill_before = 0, draws.randint(1, 60), draws.random() < 0.5
        with contextlib.suppress(Killed, BadInput):
            _console(Engine(parts, run_id, control), draws)
        view = project(journal.entries(run_id))
        assert fate.unannounced == []
        assert hosts.armed == ()
        if view.state in {RunState.DONE, RunState.UNDONE}:
            assert view.obligations == ()
        if view.state in ENDED:
            assert all(o.obligation.sentence in view.sentence for o in view.obligations)
            break


def _console(engine: Engine, draws: random.Random) -> RunState:
    fate = draws.random()
    if fate < 0.7:
        return engine.run()
    return engine.undo() if fate < 0.85 else engine.leave("by hand") if fate < 0.9 else engine.release()
