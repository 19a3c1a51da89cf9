"""Which nodes runs move now, as the estate is told: from the stop until the proof that the node is back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from app.window.planned_moves import PlannedMoves
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import UNKNOWN
from services.discovery.judgement.on_purpose import OnPurpose
from services.discovery.model import SPARE
from services.errors import NothingListens
from services.facts.model import Problem
from services.procedures.catalogue.galera.rolling_restart.procedure import ABOUT
from services.procedures.journal.taken_down import taken_down
from services.procedures.plan.run_model import RunState, RunView, StepState
from services.procedures.service.offers import can_be_retried, situations, why_none_fits
from services.types import Health, Reach
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.fake_sources import FakeLiveSource, open_window
from widgets.bridge.standing import Standing
from widgets.inventory.tree_model import node_entry
from widgets.topology.wording import card_text

STOP, START, STEPS = 4, 7, 11


def at(number: int, state: StepState = StepState.PROVING, run: RunState = RunState.RUNNING) -> RunView:
    """Return the run with the steps before `number` (from 1) done and that one in `state`."""
    made = p.run(number - 1, run)
    steps = list(made.steps)
    steps[number - 1] = replace(steps[number - 1], state=state, started=p.NOW)
    return replace(made, steps=tuple(steps))


@pytest.mark.parametrize(
    ("run", "step", "starts"),
    [
        (at(STOP - 1), 0, False),
        (at(STOP, StepState.CHECKING), 0, False),
        (at(STOP, StepState.ACTING), STOP, False),
        (at(STOP + 1, StepState.ACTING, RunState.WAITING), STOP, False),
        (at(STOP + 1, run=RunState.PAUSED), STOP, False),
        (at(START, StepState.ACTING), START, True),
        (at(START + 1), 0, False),
        (at(START, StepState.FAILED, RunState.FAILED), 0, False),
        (at(START, StepState.FAILED), 0, False),
        (at(START, StepState.IN_DOUBT, RunState.WAITING), 0, False),
        (at(START, StepState.UNDOING, RunState.UNDOING), START, False),
        (at(STOP, StepState.UNDOING, RunState.UNDOING), STOP, True),
        (at(STOP, StepState.UNDONE, RunState.UNDOING), 0, False),
        (at(STOP + 1, StepState.PENDING, RunState.LEFT), 0, False),
    ],
)
def test_that_a_node_is_moved_from_the_act_to_the_proof(run: RunView, step: int, starts: bool) -> None:
    expected = (OnPurpose("db2", "47", step, STEPS, starts),) if step else ()
    assert taken_down((run,)) == expected


def test_that_the_estate_is_told_once_of_each_change_and_of_runs_of_a_terminal(qapp: QApplication) -> None:
    told: list[tuple[OnPurpose, ...]] = []
    source = FakeLiveSource()
    source.on_purpose = told.append  # type: ignore[attr-defined]
    with open_window(qapp, source) as window:
        moves = PlannedMoves(window.controller)
        moves.saw(at(STOP, StepState.ACTING))
        moves.saw(at(STOP))
        moves.stood(Standing((at(STOP - 1),)), ("47",))  # what the journal told a moment ago is older
        assert told == [(OnPurpose("db2", "47", STOP, STEPS),)]
        moves.stood(Standing((p.failed(),)), ())
        moves.stood(Standing((replace(at(STOP), live=False, elsewhere=True),)), ())
        assert told[1:] == [(), (OnPurpose("db2", "47", STOP, STEPS),)]


def test_that_a_spare_host_beside_its_cluster_is_offered_what_brings_it_in() -> None:
    cluster = b.healthy()
    waiting = replace(b.killed().nodes[-1], node_id="spare", name="spare", role=SPARE, reach=Reach.SSH_ONLY)
    down = next(n for n in b.killed().nodes if n.health is Health.BAD)
    assert down.facts is not None
    assert down.facts.machine is not None
    spare = replace(
        waiting, facts=replace(down.facts, galera=None, machine=replace(down.facts.machine, process_state=""))
    )
    assert situations(cluster, spare) == {"spare"}
    assert node_entry(cluster, spare, b.AT).detail.endswith("spare")
    assert card_text(spare, b.AT).role == "spare"
    assert situations(replace(cluster, components=()), spare) == frozenset()
    tree = replace(cluster, kind=ASYNC, components=())
    assert situations(tree, spare) == frozenset()
    assert why_none_fits(replace(tree, kind=UNKNOWN), ABOUT)


def test_that_another_try_is_offered_where_it_may_find_something() -> None:
    node = b.healthy().nodes[0]
    assert node.facts is not None
    assert node.facts.machine is not None
    refused = replace(node.facts, problems=(Problem("sql", "Refused.", NothingListens.code),))
    off = replace(refused, machine=replace(node.facts.machine, process_state=""))
    told = [
        (Reach.FULL, node.facts), (Reach.NONE, refused), (Reach.NONE, None), (Reach.SSH_ONLY, refused),
        (Reach.SSH_ONLY, off), (Reach.SSH_ONLY, node.facts),
    ]  # fmt: skip
    found = [can_be_retried(replace(node, reach=reach, facts=facts)) for reach, facts in told]
    assert found == [False, True, True, True, False, False]


def test_that_the_procedures_of_a_group_without_any_ssh_way_say_what_one_would_give() -> None:
    cluster = b.healthy()
    assert why_none_fits(cluster, ABOUT) == ""
    facts = [node.facts for node in cluster.nodes]
    bare = tuple(
        replace(node, facts=replace(known, no_way=("ssh",)))
        for node, known in zip(cluster.nodes, facts, strict=True)
        if known is not None
    )
    assert why_none_fits(replace(cluster, nodes=bare), ABOUT).endswith("These procedures require it.")
    assert why_none_fits(replace(cluster, nodes=(cluster.nodes[0], *bare[1:])), ABOUT) == ""
