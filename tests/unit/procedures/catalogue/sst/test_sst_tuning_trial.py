"""sst-tuning: the one real SST that its forecast is held against."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from services.facts.replication.write_rate import Rates
from services.procedures.conditions.galera.transfer.sst_took import SstTook
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.plan.actions import WaitFor
from tests.unit.procedures.catalogue.sst_tuning_facts import (
    GIVEN,
    PROCEDURE,
    check_of,
    ids,
    node,
    seen,
    whole,
)
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN


def test_that_a_real_sst_comes_last_to_the_named_node_alone_and_needs_its_name_typed() -> None:
    _, plan = whole(seen(), trial="n2")
    assert ids(plan)[-11:] == [
        "trial:restart-off-n2", "trial:name-donor-n2", "trial:stop-n2", "trial:only-sst-n2", "trial:start-n2",
        "trial:transfer-n2", "trial:compare-n2", "trial:forget-donor-n2", "trial:restart-on-n2", "trial:settle-n2",
        "trial:whole",
    ]  # fmt: skip
    stop = plan.step("trial:stop-n2")  # typed before it goes down: nobody at the keyboard leaves no node down
    assert (stop.confirm, "all its data are then replaced" in stop.title) == ("n2", True)
    assert ids(plan).index("let-n3") < ids(plan).index("trial:restart-off-n2")
    compare = plan.step("trial:compare-n2").action
    assert isinstance(compare, WaitFor)
    took = compare.conditions[0]
    assert isinstance(took, SstTook)
    assert took.forecast_s == pytest.approx(15.0 + 50e9 / (115e6 / 0.4), abs=0.2)


@pytest.mark.parametrize(
    ("took", "says"), [(200.0, "0 % more, within"), (270.0, "35 % more, outside"), (130.0, "35 % less")]
)
def test_that_the_error_of_the_forecast_is_told(took: float, says: str) -> None:
    assert says in SstTook("n2", "start", 200.0, "zstd with 4 threads").sentence(took)


def test_that_the_room_of_the_node_is_watched_while_a_real_sst_comes() -> None:
    _, plan = whole(seen(), trial="n2")
    watch = next(rule for rule in plan.watches if rule.code == "TRIAL-DISK")
    assert isinstance(watch.condition, FreeDisk)
    assert (watch.condition.host, watch.condition.path) == ("n2", "/var/lib/mysql")
    assert (watch.from_step, watch.to_step) == ("trial:start-n2", "trial:start-n2")
    assert not [rule for rule in whole(seen())[1].watches if rule.code == "TRIAL-DISK"]


def test_that_a_real_sst_needs_a_third_member_and_room() -> None:
    checks, _ = whole(seen(node("n2", data_folder_disk_free=10**9)), trial="n2")
    assert (checks["TRIAL-DISK"].verdict, checks["TRIAL-DISK"].absolute) == (BLOCK, True)
    three = seen()
    two = replace(three, members=("n1", "n2"), hosts=tuple(h for h in three.hosts if h.host != "n3"))
    check = next(c for c in PROCEDURE.preflight(two, {**GIVEN, "trial": "n2"}) if c.code == "CLUSTER-SIZE")
    assert check.verdict is BLOCK


@pytest.mark.parametrize("sessions", [1, None])
def test_that_a_node_with_clients_or_unknown_sessions_is_not_copied_anew(sessions: int | None) -> None:
    assert check_of(seen(node("n2", sessions_clients=sessions)), "TRIAL-NODE", trial="n2").verdict is BLOCK
    assert check_of(seen(node("n1", sessions_clients=sessions)), "TRIAL-NODE", trial="n2").verdict is WARN
    assert check_of(seen(), "TRIAL-NODE", trial="n2").verdict is PASS


def test_that_no_real_sst_is_planned_that_would_never_catch_up() -> None:
    busy = seen(*(node(n, rates=Rates(1e6, 5000.0, 2.0)) for n in NAMES))
    checks, plan = whole(busy, trial="n2")
    assert checks["TRIAL-NODE"].verdict is BLOCK
    assert not any(step.step_id.startswith("trial:") for step in plan.steps)
    assert all(math.isfinite(step.limit_s) for step in plan.steps)
