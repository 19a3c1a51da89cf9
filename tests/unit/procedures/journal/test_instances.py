"""Steps address servers, two of them on one host: planned, rehearsed, run, killed, resumed over scripted sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.connections.operator.session import HostOperator
from services.connections.sql.statement import set_global
from services.errors import BadInput, Refused
from services.inventory.model import HostEntry, Instance, Inventory, SqlAccess, SshAccess
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.engine.lock import LOCK_FOLDER, LockHeld, LockNotTaken, lock_path
from services.procedures.engine.rehearsal import rehearse
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.journal import codec
from services.procedures.journal.codec import decode, encode
from services.procedures.journal.finding import nothing_found
from services.procedures.journal.projection import project
from services.procedures.plan.finding import conditions_of, procedures_of
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Entry, RunState
from services.procedures.verify.prover import RealProver
from services.secrets import MemoryVault
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.running import Bench, Killed
from tests.unit.procedures.toys import catalogue as toy_catalogue
from tests.unit.procedures.toys import conditions as toy_conditions
from tests.unit.procedures.toys.conditions.toy.flag import PATH
from tests.unit.procedures.two_on_one_host import CLUSTER, ON, Desk, Estate, Roads, another_lock, facts

KEYS = tuple(ON)
RECORDED = Path(__file__).parents[1] / "recorded" / "before_instances.jsonl"


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for tag, kind in conditions_of(toy_conditions).items():
        monkeypatch.setitem(codec.REGISTRY, tag, kind)


def _plan(*keys: str) -> Plan:
    procedure = next(one for one in procedures_of(toy_catalogue) if one.about.name == "raise-ceiling")
    return procedure.plan(facts(*(keys or KEYS)), {})


def _died(desk: Desk, number: int, *, before: bool) -> bool:
    desk.journal.dies_at, desk.journal.before = number, before
    try:
        desk.engine().run()
    except Killed:
        return True
    finally:
        desk.journal.dies_at = 0
    return False


def test_that_a_plan_says_on_which_host_an_instance_stands_and_is_kept_so() -> None:
    plan = _plan()
    assert violations(plan, begun=True) == ()
    assert plan.hosts == KEYS
    assert plan.on == (("n1:3307", "n1"),)
    assert (plan.machines, plan.roads) == (("n1", "n2"), {"n1": "n1", "n2": "n2"})
    assert decode(Plan, json.loads(json.dumps(encode(plan)))) == plan


def _before_instances() -> tuple[Entry, ...]:
    lines = map(json.loads, RECORDED.read_text().splitlines())
    return tuple(Entry("1", one["seq"], one["at"], one["kind"], one["step"], one["data"]) for one in lines)


def test_that_a_run_journalled_before_instances_reads_each_key_as_a_host() -> None:
    entries = _before_instances()
    assert "on" not in (entries[0].data or {})["plan"]
    assert "on" not in encode(decode(Plan, (entries[0].data or {})["plan"]))  # type: ignore[operator]
    view = project(entries)
    assert view.state is RunState.DONE
    assert view.plan.on == ()
    assert view.plan.machines == view.plan.hosts == ("n1", "n2", "n3")
    assert violations(view.plan, begun=True) == ()


def test_that_a_run_begun_before_instances_is_resumed_to_its_end() -> None:
    bench = Bench(whole("n1", "n2", "n3"), "desync-for-backup", {}, run_id="1")
    bench.journal.filled("1", _before_instances()[:3])
    assert bench.run() is RunState.DONE


def test_that_a_rehearsal_reads_each_server_and_changes_none() -> None:
    estate = Estate()
    rehearsal = rehearse(_plan(), RealProver(Roads(estate), ManualClock()))
    assert [step.would for step in rehearsal.steps] == ["act"] * 5
    assert estate.state() == Estate().state()


def test_that_a_statement_goes_to_its_server_and_a_file_to_the_host_of_it() -> None:
    desk = Desk()
    desk.begin(_plan())
    assert desk.engine().run() is RunState.DONE
    assert {key: found["max_connections"] for key, found in desk.estate.settings.items()} == dict.fromkeys(KEYS, "400")
    assert [line for line in desk.estate.done if "max_connections" in line] == [
        f"{key}: max_connections=400" for key in KEYS
    ]
    assert desk.estate.files == {host: {PATH: b"flag = red\n"} for host in ("n1", "n2")}


def test_that_the_lock_is_taken_once_on_a_host_with_two_servers_of_the_plan() -> None:
    desk = Desk()
    desk.begin(_plan())
    desk.engine().run()
    made = [line for line in desk.estate.done if LOCK_FOLDER in line]
    assert made == [f"{host}: ln {lock_path(CLUSTER)}" for host in ("n1", "n2")]
    told = [(e.data or {})["hosts"] for e in desk.journal.entries(desk.run_id) if e.kind == "lock"]
    assert told == [["n1", "n2"]] * 3


def test_that_another_console_meets_the_lock_by_the_other_server_of_the_host() -> None:
    estate, clock = Estate(), ManualClock()
    ours, lock = another_lock(estate, clock)
    ours.arm("9", ("n1",))
    lock.take(_plan("n1"))
    desk = Desk(estate)
    desk.begin(_plan("n1:3307"))
    with pytest.raises(LockHeld) as held:
        desk.engine().run()
    assert held.value.held_on == "n1"
    assert desk.roads.was_armed == {"n1:3307"}
    assert estate.settings["n1:3307"]["max_connections"] == "151"


def test_that_two_servers_of_one_host_make_no_majority_of_two_hosts() -> None:
    desk = Desk()
    desk.roads.away = "n2"
    desk.begin(_plan())
    with pytest.raises(LockNotTaken, match="Only 1 of the plan's 2 hosts could be locked"):
        desk.engine().run()
    assert desk.estate.state() == Estate().state()


@pytest.mark.parametrize("before", [True, False])
def test_that_a_run_that_was_killed_at_any_entry_is_resumed_to_its_end(before: bool) -> None:
    unbroken = Desk()
    unbroken.begin(_plan())
    unbroken.engine().run()
    last = len(unbroken.journal.entries(unbroken.run_id))
    for number in range(3, last + 1):
        desk = Desk()
        desk.begin(_plan())
        assert _died(desk, number, before=before), number
        desk.clock.advance(60.0)
        assert desk.engine().run() is RunState.DONE, number
        assert desk.estate.state() == unbroken.estate.state(), number


def test_that_a_run_that_was_killed_in_the_middle_is_taken_back_on_each_server_and_host() -> None:
    desk = Desk()
    desk.begin(_plan())
    assert _died(desk, 18, before=False)
    assert desk.estate.state() != Estate().state()
    desk.clock.advance(60.0)
    assert desk.engine().undo() is RunState.UNDONE
    assert desk.estate.state() == Estate().state()


def test_that_two_servers_of_a_quorum_on_one_host_count_as_two_in_motion() -> None:
    plan = _plan()
    first, second = (plan.step(f"raise-{key}") for key in ("n1", "n1:3307"))
    both = replace(plan, steps=(replace(first, settles=()), second, replace(first, step_id="back", settles=("n1",))))
    assert violations(both, begun=True) == ("Step 'raise-n1:3307' moves n1:3307 while n1 has not settled.",)
    stopped = replace(second, moves="", settles=(), proof=(Stopped("n1:3307", "mysqld@3307.service"),))
    unsettled = replace(plan, steps=(replace(first, settles=()), stopped))
    assert "Step 'raise-n1:3307' moves n1:3307 while n1 has not settled." in violations(unsettled, begun=True)


@pytest.mark.parametrize(
    ("on", "told"),
    [
        ((("n1:3308", "n1"),), "n1:3308 is on n1 and is not a host of the plan."),
        ((("n1:3307", ""),), "n1:3307 is on '', which is not a host."),
        ((("n1:3307", "n2"), ("n2", "n1")), "n1:3307 is on 'n2', which is not a host."),
        ((("n1:3307", "n1"), ("n1:3307", "n2")), "The plan says 2 times on which host n1:3307 is."),
    ],
)
def test_that_what_carries_an_instance_is_one_host(on: tuple[tuple[str, str], ...], told: str) -> None:
    assert told in violations(replace(_plan(), on=on), begun=True)


FIRST = HostEntry(
    "n1", "10.0.0.1", SshAccess("dba"), SqlAccess("watch", operator_user="pilot"),
    beside=(Instance("n1", "mysql", 3307, SqlAccess("archive", port=3307)),),
)  # fmt: skip


def test_that_a_run_reaches_an_instance_as_the_inventory_says_now_or_not_at_all() -> None:
    found = nothing_found(Inventory(hosts=(FIRST,)))
    remembered = found.addresses()
    assert remembered == {"n1": ("10.0.0.1", "n1"), "n1:3307": ("10.0.0.1", "n1:3307")}
    entry = found.entry("n1:3307", remembered)
    assert entry is not None
    assert (entry.on, entry.ssh, entry.sql) == ("n1", FIRST.ssh, FIRST.beside[0].access)
    without = nothing_found(Inventory(hosts=(replace(FIRST, beside=()),), also=("10.0.0.0/24",)))
    assert without.entry("n1:3307", remembered) is None


def test_that_armed_for_one_server_of_a_host_is_not_armed_for_the_other() -> None:
    found = nothing_found(Inventory(hosts=(FIRST,)))
    hosts = LiveHosts(lambda key: found.entry(key, {}), MemoryVault({}), ManualClock())
    hosts.arm("1", ("n1:3307",))
    try:
        assert hosts.operator("n1:3307").host == "n1:3307"
        assert hosts.accounts("n1:3307") == {"archive"}
        with pytest.raises(Refused):
            hosts.operator("n1")
        with pytest.raises(BadInput, match="n1:3308"):
            hosts.operator("n1:3308")
    finally:
        hosts.close()


@pytest.mark.parametrize("entry", [replace(FIRST, sql=None), replace(FIRST.of_instance(FIRST.beside[0]), sql=None)])
def test_that_root_sends_nothing_to_the_default_socket_of_a_host_with_two_servers(entry: HostEntry) -> None:
    operator = HostOperator(entry, MemoryVault({}))
    with pytest.raises(BadInput, match="names no socket for this server") as refused:
        operator.execute(set_global("max_connections", 400))
    assert refused.value.safe == "Nothing was sent to any server."
    operator.close()
