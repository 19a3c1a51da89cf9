"""Every server is down: one real obstacle for each check that may forbid to bootstrap; nothing is started, ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states import obstacles_after_crash as obstacles
from tests.lab.procedures.states.obstacles import (
    GRASTATE,
    OTHER_UUID,
    ZERO_UUID,
    Obstacle,
    Refusal,
    assert_refused,
    disk_nearly_full,
    grastate,
    no_way,
    nothing,
    option_file,
)
from tests.lab.procedures.whole import Whole, members
from tests.sample import sampled

PROCEDURE = "bootstrap-after-crash"
pytestmark = pytest.mark.slow


def _crash(code: str, obstacle: Obstacle, *, final: bool = True, **inputs: object) -> Refusal:
    return Refusal(code, obstacle, ((PROCEDURE, inputs),), final=final)


NO_HISTORY = obstacles.states_replaced(s1=ZERO_UUID, s2=ZERO_UUID, s3=ZERO_UUID)
REFUSALS = (
    _crash("UNREACHABLE-MEMBERS", obstacles.unseen_primary),
    _crash("UUID-MISMATCH", obstacles.states_replaced(s2=OTHER_UUID)),
    _crash("NULL-UUID", NO_HISTORY),
    _crash("EMPTY-NODE", obstacles.data_disk_missing("s3"), bootstrap="s3"),
    _crash("FORCED-RECOVERY", option_file("s3", "[mysqld]\ninnodb_force_recovery = 6\n")),
    _crash("CRASH-CAUSE", disk_nearly_full("s2"), final=False),
    _crash("PORTS", no_way("s2", "s1"), final=False),
)

QUICK = ("UUID-MISMATCH",)


@pytest.fixture(scope="module")
def all_stopped(steer_estate: Estate, steer_before: Whole) -> Iterator[Estate]:
    """Every server was stopped: s1 some write sets before s2, s3 as the last one."""
    first, second, third = members(steer_estate)
    steer_estate.sql(first, "CREATE TABLE IF NOT EXISTS sbtest.crash (id BIGINT PRIMARY KEY AUTO_INCREMENT)")
    steer_estate.stop(first)
    for _ in range(5):
        steer_estate.sql(second, "INSERT INTO sbtest.crash VALUES ()")
    steer_estate.stop(second)
    steer_estate.stop(third)
    yield steer_estate
    steer_before.restore()


def _states(estate: Estate) -> dict[str, tuple[int | None, str]]:
    """Each member's server process and state file."""
    return {
        name: (database.pid(estate.spec, name), estate.host(name).sh(f"cat {GRASTATE}", check=False).out)
        for name in members(estate)
    }


@pytest.mark.parametrize("refusal", sampled(REFUSALS, lambda refusal: refusal.code not in QUICK))
def test_that_no_node_is_bootstrapped_while_this_stands_in_the_way(
    all_stopped: Estate, steer_before: Whole, tmp_path: Path, refusal: Refusal
) -> None:
    ((procedure, inputs),) = refusal.procedures
    more = ("--override", f"{refusal.code}=I know better") if refusal.final else ()
    console = Console(all_stopped, tmp_path / "data")
    with refusal.obstacle(all_stopped):
        before = _states(all_stopped)
        assert_refused(console.run(procedure, "--json", *more, **inputs), refusal.code)
        assert console.runs() == ()
        assert _states(all_stopped) == before
    steer_before.assert_files_as_before()


@pytest.mark.long
def test_that_no_node_is_bootstrapped_while_members_are_not_in_the_inventory_and_may_not_be_asked(
    all_stopped: Estate, steer_before: Whole, tmp_path: Path
) -> None:
    text = (all_stopped.client_dir / "inventory.toml").read_text(encoding="utf-8")
    alone = tmp_path / "alone.toml"
    kept = (line for line in text.splitlines() if not line.startswith("networks ="))
    alone.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    console = Console(all_stopped, tmp_path / "data", alone)
    before = _states(all_stopped)
    check = assert_refused(console.run(PROCEDURE, "--json"), "NAMED-MEMBERS")
    assert {all_stopped.addresses[name] in check["evidence"] for name in ("s2", "s3")} == {True}, check
    assert _states(all_stopped) == before
    steer_before.assert_files_as_before()


@pytest.mark.long
def test_that_a_node_that_looks_for_nobody_but_itself_is_told_before_any_server_is_started(
    all_stopped: Estate, steer_before: Whole, tmp_path: Path
) -> None:
    console = Console(all_stopped, tmp_path / "data")
    with obstacles.looks_for_itself("s1")(all_stopped):
        ran = console.run(PROCEDURE, bootstrap="s3")
        assert ran.code == 3, ran
        assert "JOINS-FIRST" in ran.out + ran.err, ran
        assert {pid for pid, _ in _states(all_stopped).values()} == {None}
    steer_before.assert_files_as_before()


@pytest.mark.long
def test_that_members_that_are_not_in_the_inventory_are_asked_where_a_network_covers_them(
    all_stopped: Estate, tmp_path: Path
) -> None:
    console = Console(all_stopped, tmp_path / "data", all_stopped.client_dir / "inventory.toml")
    planned = console("plan", PROCEDURE, "--json").document()
    assert planned["refused"] == [], planned
    hosts = {step["host"] for step in planned["plan"]["steps"]} - {""}
    assert len(hosts) == 3, hosts


@pytest.mark.parametrize(
    ("code", "obstacle", "chosen", "told"),
    [
        pytest.param("CHOSEN-BEHIND", nothing, "s1", "s2 has", marks=pytest.mark.long),
        pytest.param(
            "NO-CANDIDATE",
            obstacles.data_disk_missing("s1", "s2", "s3", state=grastate(OTHER_UUID, -1)),
            "the most advanced",
            "its UUID is zero",
            marks=pytest.mark.long,
        ),
    ],
)
def test_that_what_only_the_recovered_positions_tell_ends_the_run_before_any_bootstrap(
    all_stopped: Estate, steer_before: Whole, tmp_path: Path, code: str, obstacle: Obstacle, chosen: str, told: str
) -> None:
    console = Console(all_stopped, tmp_path / "data")
    with obstacle(all_stopped):
        before = _states(all_stopped)
        ran = console.run(PROCEDURE, *CONFIRM, bootstrap=chosen)
        assert ran.code == 3, ran
        view = console.assert_ended(RunState.UNDONE, ran)
        (failed,) = [step for step in view.steps if step.state is StepState.FAILED]
        assert failed.step.step_id == "choose", ran
        assert code in failed.error, failed
        assert told in failed.error, failed
        assert "bootstrap" not in {step.step.step_id for step in view.steps}
        assert _states(all_stopped) == before
    steer_before.assert_files_as_before()
