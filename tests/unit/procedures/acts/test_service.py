"""The service over a real store, with hosts of the tiny world: threads, refusals, what is told after a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot
from services.errors import BadInput, StoreError, UserError
from services.history.state.store import StateStore
from services.inventory.model import Inventory
from services.procedures.catalogue import all_procedures
from services.procedures.engine.parts import Parts, Policy
from services.procedures.engine.ports import Prover
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.journal.finding import meant
from services.procedures.journal.journal import DrivenElsewhere
from services.procedures.journal.run_summary import where_it_stands
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.forms.fields import Fault
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Listener, Person, RunState, RunView
from services.procedures.service.service import Draft, ProcedureService
from services.secrets import MemoryVault
from tests.unit.procedures.engine_world import (
    FixedKey,
    World,
    WorldActor,
    WorldHosts,
    WorldLock,
    WorldProver,
    borrow,
    give_back,
    plan_of,
    switch,
    wait,
)

BLOCK = Check("DISK-FREE", "Free disk", Verdict.BLOCK, "2 GB on n1")
ABSOLUTE = replace(BLOCK, code="PRIMARY-EXISTS", absolute=True)
LONG = plan_of(borrow("n1", "frozen"), wait("n2", "ready", limit_s=600.0), give_back("n1", "frozen"))
SHORT = plan_of(switch("n1", "a"))


class WorldService(ProcedureService):
    """The real service, journal, engine and threads; hosts, acts and proofs are the tiny world's."""

    world: World
    lock: WorldLock

    def _parts(
        self,
        view: RunView,
        hosts: LiveHosts,
        listener: Listener | None,
        policy: Policy | None,
        person: Person | None,
    ) -> Parts:
        return Parts(
            journal=self.bound,
            hosts=WorldHosts(),
            actor=WorldActor(self.world),
            prover=WorldProver(self.world),
            clock=SystemClock(),
            person=person or self.answers,
            lock=self.lock,
            listener=listener,
            policy=policy or Policy(by="ann"),
        )

    def _eyes(self, hosts: LiveHosts) -> Prover:
        return WorldProver(self.world)


class Seen:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.views: list[RunView] = []

    def run_changed(self, view: RunView) -> None:
        """Remember it."""
        self.views.append(view)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StateStore]:
    opened = StateStore.open(tmp_path / "state.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def service(store: StateStore) -> Iterator[WorldService]:
    made = _service(store)
    yield made
    assert made.close()


def _service(store: StateStore, world: World | None = None) -> WorldService:
    made = WorldService(Inventory(), MemoryVault(), store, SystemClock(), FixedKey())
    made.world, made.lock = world or World(), WorldLock()
    return made


def draft_of(plan: Plan | None, **more: object) -> Draft:
    about, facts = all_procedures()[0].about, Facts(0.0, "uuid", "c1")
    return replace(Draft(about, facts, (), {}, (), (), plan), **more)  # type: ignore[arg-type]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def _threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("pilothouse-run-")]


def test_that_a_run_is_driven_on_a_thread_of_its_own_that_ends_with_it(service: WorldService) -> None:
    seen, run_id = Seen(), service.new_run(draft_of(SHORT))
    service.start(run_id, seen)
    until(lambda: not _threads())
    assert service.view(run_id).state is RunState.DONE
    assert service.control(run_id) is None
    assert not seen.views[-1].live
    assert service.unfinished() == ()


def test_that_closing_the_service_suspends_its_runs_and_joins_their_threads(store: StateStore) -> None:
    first = _service(store)
    run_id = first.new_run(draft_of(LONG))
    first.start(run_id)
    until(lambda: first.view(run_id).steps[1].state.value == "acting")
    assert first.view(run_id).live
    assert first.close()
    assert _threads() == []
    second = _service(store, first.world)
    (view,) = second.unfinished()
    assert view.state is RunState.RUNNING
    assert not view.live
    assert [o.obligation.key for o in second.obligations()] == ["frozen:n1"]
    assert where_it_stands(view) == (
        f"1 of 3 steps are done; next: Wait for ready of n2. Continue with resume {run_id}, or "
        f"roll back with undo {run_id}."
    )
    first.world.settings["n2", "ready"] = "ON"
    assert second.drive(run_id) is RunState.DONE
    assert second.obligations() == ()


def test_that_what_a_suspended_run_left_on_is_looked_at_again_and_not_while_an_engine_has_it(store: StateStore) -> None:
    service = _service(store)
    run_id = service.new_run(draft_of(LONG))
    service.start(run_id)
    until(lambda: service.view(run_id).steps[1].state.value == "acting")
    (proven,) = service.look_at_obligations()
    assert (proven.seen, proven.seen_off) == (service.view(run_id).steps[0].ended, None)  # only its own proof
    assert service.close()
    (again,) = service.look_at_obligations()
    assert proven.seen is not None
    assert again.seen is not None
    assert (again.seen > proven.seen, again.seen_off) == (True, None)
    service.world.deaf["n1"] = 1
    assert service.look_at_obligations() == (again,)  # no answer: nothing is known anew
    service.world.settings["n1", "frozen"] = "OFF"  # a colleague
    (off,) = service.look_at_obligations()
    assert off.seen == again.seen
    assert off.seen_off is not None
    service.world.settings["n2", "ready"] = "ON"
    assert service.drive(run_id) is RunState.DONE  # what was written meanwhile is no other writer's
    assert service.look_at_obligations() == ()


def test_that_a_run_is_driven_once_at_a_time(service: WorldService) -> None:
    run_id = service.new_run(draft_of(LONG))
    control = service.start(run_id)
    with pytest.raises(BadInput):
        service.start(run_id)
    assert service.control(run_id) is control
    control.undo()
    until(lambda: not _threads())
    assert service.view(run_id).state is RunState.UNDONE
    assert service.world.value("n1", "frozen") == "OFF"


def test_that_an_answer_given_to_the_service_reaches_the_run_that_asks(service: WorldService) -> None:
    service.world.fails["a-n1"] = [UserError("Busy.", host="n1")]
    run_id = service.new_run(draft_of(SHORT))
    service.start(run_id)
    until(lambda: service.view(run_id).question is not None)
    asked = service.view(run_id).question
    assert asked is not None
    service.answers.give(run_id, "again", asked)
    until(lambda: not _threads())
    assert service.view(run_id).state is RunState.DONE


def test_that_one_obligation_of_a_suspended_run_can_be_released_alone(store: StateStore) -> None:
    service = _service(store)
    run_id = service.new_run(draft_of(LONG))
    service.start(run_id)
    until(lambda: service.view(run_id).steps[1].state.value == "acting")
    assert service.close()
    service.drive(run_id, way="release", key="frozen:n1")
    assert service.obligations() == ()
    assert service.world.value("n1", "frozen") == "OFF"
    assert service.view(run_id).state is RunState.RUNNING


def test_that_a_run_is_closed_as_it_stands_with_its_reason(service: WorldService) -> None:
    run_id = service.new_run(draft_of(SHORT))
    assert service.drive(run_id, way="leave", key="not tonight") is RunState.LEFT
    assert "not tonight" in service.view(run_id).sentence
    assert service.world.done == []
    assert service.unfinished() == ()


@pytest.mark.parametrize(
    "draft",
    [
        draft_of(None, faults=(Fault("node", "Say which node."),)),
        draft_of(SHORT, violations=("It touches n9.",)),
        draft_of(SHORT, checks=(BLOCK,)),
    ],
    ids=["faults", "violations", "a block"],
)
def test_that_what_may_not_run_is_not_even_journalled(service: WorldService, draft: Draft) -> None:
    with pytest.raises(BadInput):
        service.new_run(draft)
    assert service.runs() == ()


def test_that_a_block_is_overridden_by_its_name_with_a_reason_and_an_absolute_one_never(service: WorldService) -> None:
    with pytest.raises(BadInput):
        service.new_run(draft_of(SHORT, checks=(BLOCK,)), (Override("DISK-FREE", " "),))
    with pytest.raises(BadInput):
        service.new_run(draft_of(SHORT, checks=(ABSOLUTE,)), (Override("PRIMARY-EXISTS", "I know"),))
    run_id = service.new_run(
        draft_of(SHORT, checks=(BLOCK,)), (Override("DISK-FREE", "a test host"), Override("X", "no"))
    )
    assert service.view(run_id).overrides == (Override("DISK-FREE", "a test host"),)


def test_that_a_run_that_can_not_begin_says_why_to_who_watches(
    service: WorldService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(plan: Plan, *, take_over: bool = False) -> object:
        raise UserError("Another console works there.")

    monkeypatch.setattr(service.lock, "take", refused)
    seen, run_id = Seen(), service.new_run(draft_of(SHORT))
    service.start(run_id, seen)
    until(lambda: not _threads())
    assert "Another console works there." in seen.views[-1].sentence
    assert service.world.done == []
    assert service.view(run_id).state is RunState.NOT_STARTED


def test_that_a_second_service_can_not_write_a_run_that_the_first_one_drives(
    store: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _service(store), _service(store)
    run_id = first.new_run(draft_of(LONG))
    first.start(run_id)
    until(lambda: first.view(run_id).steps[1].state.value == "acting")
    second.world = first.world
    first.world.settings["n2", "ready"] = "ON"
    assert second.view(run_id).elsewhere
    with pytest.raises(DrivenElsewhere):
        second.drive(run_id)
    # Where a run can't be held (a server's database) the numbers of the entries let only one go on.
    monkeypatch.setattr(second.journal, "refuse_other_writer", lambda _run_id: None)
    second.drive(run_id, policy=Policy("undo", unattended=True))
    assert first.close()
    acts = [line for line in first.world.done if line == "n1: frozen=ON"]
    assert acts == ["n1: frozen=ON"]


def test_that_two_stores_of_one_person_have_owners_that_differ(store: StateStore, tmp_path: Path) -> None:
    other = StateStore.open(tmp_path / "other.sqlite")
    try:
        assert _service(store).owner == _service(store).owner
        assert _service(store).owner != _service(other).owner
    finally:
        other.close()


def test_that_an_unknown_run_is_told_as_such(service: WorldService) -> None:
    with pytest.raises(BadInput):
        service.view("4711")


def test_that_a_store_that_fails_ends_the_run_before_its_act(
    service: WorldService, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = service.new_run(draft_of(SHORT))

    def full(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(service.journal, "append", full)
    with pytest.raises(StoreError):
        service.drive(run_id)
    assert service.world.done == []


def test_that_a_cluster_is_meant_by_its_name_or_its_state_uuid_even_while_no_server_shows_it() -> None:
    uuid = "8f21c0de-0000-11ee-9999-0242ac120002"
    shown = ClusterSnapshot(uuid, GALERA, "shop", 0.0)
    assert meant("shop", (shown,)) == (uuid, "")
    assert meant(uuid, (shown,)) == (uuid, "")
    assert meant(uuid, ()) == (uuid, "")
    assert meant("shop", ()) == ("", "shop")
    assert meant("", (shown,)) == ("", "")
