"""Which node is bootstrapped, by which way, and which never: each rule of the page on facts of three nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bootstrap_after_crash.checks import chosen_is_newest, positions
from services.procedures.catalogue.galera.bootstrap_after_crash.safety import (
    clients_away,
    copies,
    crash_cause,
    durability,
    network_first,
    ways_closed,
)
from services.procedures.catalogue.galera.shared.positions import joining_order, most_advanced, standings
from services.procedures.catalogue.steps.restored.state_kept import SAVE_STATE
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Run
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Risk
from services.procedures.plan.parts.galera.links import Link
from services.procedures.plan.parts.galera.traces import Trace
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, UUID, WARN, down, facts, galera, gone, host
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("bootstrap-after-crash")
VIEW = ("c0ffee00-0000-0000-0000-000000000000:7", ("a", "b", "c"))


def crashed(*changed: HostFacts, **seqnos: int) -> Facts:
    """Three servers that were killed; those named have recovered a position."""
    own = {h.host: h for h in changed}
    kept = tuple((f"recovered-{name}", f"{UUID}:{seqno}") for name, seqno in seqnos.items())
    return facts(*(own.get(name) or down(name, grastate=Grastate(UUID, -1, False)) for name in NAMES), kept=kept)


def parted(**last: int | None) -> Facts:
    """Three servers that are up; those without a number hang on their way up and answer nothing."""

    def one(name: str) -> HostFacts:
        if last.get(name) is None:
            return replace(down(name, grastate=Grastate(UUID, -1, False)), server_up=True)
        return host(name, group=galera(name, cluster_status="non-Primary", last_committed=last[name]))

    return facts(*(one(name) for name in NAMES))


def rest_of(seen: Facts, **inputs: str) -> Plan:
    given: Inputs = dict(inputs)
    first = PROCEDURE.plan(replace(seen, kept=()), given)
    _, plan = PROCEDURE.continued(seen, given, first)
    assert violations(plan) == ()
    return plan


def ids(plan: Plan) -> list[str]:
    return [step.step_id for step in plan.steps]


# -- the choice --------------------------------------------------------------------------------------------------------


def test_that_a_node_that_gave_its_state_up_is_never_chosen_though_innodb_recovers_a_position() -> None:
    given_up = down("n3", grastate=Grastate(ZERO_UUID, -1, safe_to_bootstrap=False))
    found = standings(crashed(given_up, n1=10, n2=12, n3=99), NAMES)
    best = most_advanced(found)
    assert best is not None
    assert (best.host, "zero" in found[2].out) == ("n2", True)


@pytest.mark.parametrize("tablespace", [True, False])
@pytest.mark.parametrize("state", ["absent", "damaged", "zero"])
def test_that_a_node_into_which_a_transfer_broke_off_is_never_chosen_whatever_innodb_recovers(
    state: str, *, tablespace: bool
) -> None:
    """A part of the donor's files may tell the donor's own position."""
    zero = Grastate(ZERO_UUID, -1, safe_to_bootstrap=False)
    torn = down(
        "n3", grastate=zero if state == "zero" else None, grastate_absent=state == "absent",
        grastate_damaged=state == "damaged", sst_in_progress=True, tablespace=tablespace,
    )  # fmt: skip
    found = standings(crashed(torn, n1=10, n2=12, n3=99), NAMES)
    best = most_advanced(found)
    assert best is not None
    assert (best.host, found[2].out) == ("n2", "a state transfer into it was not finished")


def test_that_a_node_whose_state_still_stands_beside_a_scripts_file_may_be_chosen() -> None:
    joining = down("n3", grastate=Grastate(UUID, -1, safe_to_bootstrap=False), sst_in_progress=True, tablespace=True)
    best = most_advanced(standings(crashed(joining, n1=10, n2=12, n3=99), NAMES))
    assert best is not None
    assert best.host == "n3"


def test_that_the_node_that_was_stopped_last_wins_a_tie() -> None:
    last = down("n2", grastate=Grastate(UUID, 7, safe_to_bootstrap=True))
    others = (down(name, grastate=Grastate(UUID, 7, safe_to_bootstrap=False)) for name in ("n1", "n3"))
    best = most_advanced(standings(facts(last, *others), NAMES))
    assert best is not None
    assert best.host == "n2"


def test_that_a_state_file_that_innodb_contradicts_is_told_as_stale() -> None:
    stale = down("n1", grastate=Grastate(UUID, 5, safe_to_bootstrap=False))
    check = positions(crashed(stale, n1=9, n2=9, n3=9), NAMES)
    assert (check.verdict, "grastate.dat does not match InnoDB" in check.evidence) == (WARN, True)


def test_that_a_node_ahead_of_an_accepted_choice_is_left_stopped_with_its_data() -> None:
    seen = crashed(n1=10, n2=10, n3=15)
    found = standings(seen, NAMES)
    check = chosen_is_newest(found, found[0])
    assert (check.verdict, check.absolute, "n3 has 5 more write sets" in check.evidence) == (BLOCK, False, True)
    assert joining_order(found, found[0]) == ("n2",)
    plan = rest_of(seen, bootstrap="n1")
    assert "start-n2" in ids(plan)
    assert "start-n3" not in ids(plan)
    assert "restart-on-n3" in ids(plan)
    assert any("n3 stays stopped" in sentence for sentence in plan.expects)


def test_that_the_end_of_a_binary_log_is_read_before_the_recovery_begins_a_new_one() -> None:
    logging = [down(n, options_given=(("mysqld", "log_bin", "/logs/mysql-bin.log"),)) for n in NAMES]
    plan = PROCEDURE.plan(facts(*logging), {})
    assert ids(plan)[-3:] == ["binlog-n3", "recover-n3", "choose"]
    assert "/logs/mysql-bin" in str(plan.step("binlog-n3").action)
    assert "mysql-bin.log" not in str(plan.step("binlog-n3").action)
    unknown = [down(n, options_given=(("mysqld", "log_bin", ""),)) for n in NAMES]
    assert "binlog-n3" not in ids(PROCEDURE.plan(facts(*unknown), {}))


# -- the order of the steps --------------------------------------------------------------------------------------------


def test_that_every_node_is_kept_down_before_any_data_changes() -> None:
    order = ids(PROCEDURE.plan(crashed(), {"copies": "wait"}))
    kinds = [step_id.rpartition("-")[0] or step_id for step_id in order]
    assert kinds == ["restart-off"] * 3 + ["down"] * 3 + ["save"] * 3 + ["copies"] + ["recover"] * 3 + ["choose"]


def test_that_without_copies_the_person_is_told_loudly() -> None:
    check = copies(NAMES, "none")
    assert (check.verdict, "NO COPY" in check.evidence) == (WARN, True)
    assert copies(NAMES, "made").verdict is copies(NAMES, "wait").verdict is PASS


def test_that_pxc_goes_back_to_its_own_unit_when_others_have_joined() -> None:
    nodes = [down(name, unit_name="mysql.service", program_text="mysqld Ver 8.0.36") for name in NAMES]
    plan = rest_of(crashed(*nodes, n1=10, n2=10, n3=11))
    order = ids(plan)
    assert order.index("start-n2") < order.index("normal:stop-n3") < order.index("normal:start-n3")
    stop, start = plan.step("normal:stop-n3"), plan.step("normal:start-n3")
    assert "mysql@bootstrap.service" in str(stop.action)
    assert stop.undo is None
    assert [(c.host, c.unit) for c in start.proof if isinstance(c, Joined)] == [("n3", "mysql.service")]
    alone = rest_of(crashed(*nodes, n3=11), nodes="n3")
    assert "normal:stop-n3" not in ids(alone)


# -- Galera's own recovery ---------------------------------------------------------------------------------------------


def test_that_nodes_of_one_last_view_are_all_started_before_anybody_is_bootstrapped() -> None:
    nodes = [down(name, gvwstate=VIEW, grastate=Grastate(UUID, -1, safe_to_bootstrap=False)) for name in NAMES]
    plan = rest_of(crashed(*nodes, n1=10, n2=12, n3=12))
    assert ids(plan)[-6:] == ["still-none", "form-n1", "form-n2", "form-n3", "find-each-other", "formed"]
    assert all(step.risk is not Risk.IRREVERSIBLE for step in plan.steps)


@pytest.mark.parametrize(
    ("inputs", "known"),
    [
        ({"itself": "no"}, {}),
        ({"bootstrap": "n2"}, {}),
        ({"gone": "n3"}, {}),
        ({}, {"gvwstate": None}),
        ({}, {"gvwstate": ("other:7", ("a", "b", "c"))}),
        ({}, {"gvwstate": (VIEW[0], ("a", "b"))}),
        ({}, {"provider_options": (("pc.recovery", "no"),)}),
    ],
)
def test_that_it_is_not_tried_where_it_can_not_come_about_or_is_not_wanted(
    inputs: dict[str, str], known: dict[str, object]
) -> None:
    state = Grastate(UUID, -1, safe_to_bootstrap=False)
    nodes = [down(name, gvwstate=VIEW, grastate=state) for name in NAMES]
    nodes[0] = changed(nodes[0], **known)
    if known.get("gvwstate") == (VIEW[0], ("a", "b")):
        nodes = [changed(node, gvwstate=(VIEW[0], ("a", "b"))) for node in nodes]
    assert "bootstrap" in ids(rest_of(crashed(*nodes, n1=10, n2=12, n3=12), **inputs))


def test_that_after_a_vain_try_all_are_stopped_again_and_one_is_bootstrapped_and_after_a_good_one_nobody_is() -> None:
    state = Grastate(UUID, -1, safe_to_bootstrap=False)
    nodes = [down(name, gvwstate=VIEW, grastate=state) for name in NAMES]
    seen = crashed(*nodes, n1=10, n2=12, n3=12)
    tried = rest_of(seen)
    _, by_hand = PROCEDURE.continued(seen, {}, tried)
    assert violations(by_hand) == ()
    after = ids(by_hand)[len(tried.steps) :]
    assert after[:3] == ["again-down-n1", "again-down-n2", "again-down-n3"]
    assert after[3:8] == ["again-recover-n1", "again-recover-n2", "again-recover-n3", "safe", "bootstrap"]
    _, formed = PROCEDURE.continued(replace(facts(), kept=seen.kept), {}, tried)
    assert ids(formed)[len(tried.steps) :] == [*(f"restart-on-{name}" for name in NAMES), "whole"]


def test_that_a_bootstrap_is_not_done_by_an_innodb_that_reads_past_damage_or_takes_no_write() -> None:
    proof = rest_of(crashed(n1=10, n2=10, n3=10)).step("bootstrap").proof
    wanted = {c.variable: c.value for c in proof if isinstance(c, VariableIs) and c.fixed and c.if_there}
    assert wanted == {"innodb_force_recovery": "0", "innodb_read_only": "OFF"}
    left = down("n2", options_given=(("mysqld", "innodb_force_recovery", "4"),))
    seen = crashed(left, n1=10, n2=10, n3=10)
    checks, _ = PROCEDURE.continued(seen, {}, PROCEDURE.plan(replace(seen, kept=()), {}))
    found = {check.host: check.verdict for check in checks if check.code == "FORCED-RECOVERY"}
    assert found == {"n1": PASS, "n2": BLOCK, "n3": PASS}  # somebody wrote it while the positions were recovered


# -- servers that are up -----------------------------------------------------------------------------------------------


def test_that_a_statement_makes_a_primary_only_where_every_server_tells_its_position() -> None:
    assert "make-primary" in ids(PROCEDURE.plan(parted(n1=10, n2=11, n3=11), {}))
    assert "make-primary" not in ids(PROCEDURE.plan(parted(n1=10, n2=None, n3=None), {}))


def test_that_every_node_that_the_statement_takes_along_is_held_against_the_chosen_one_right_before() -> None:
    plan = PROCEDURE.plan(parted(n1=10, n2=11, n3=11), {})
    step = next(s for s in plan.steps if s.step_id == "make-primary")
    proofs = [c for c in step.before if isinstance(c, SameHistory)]
    assert {(proof.host, proof.hosts, proof.up) for proof in proofs} == {("n1", ("n2",), True), ("n3", ("n2",), True)}
    assert violations(plan) == ()
    bare = replace(plan, steps=tuple(replace(s, before=()) if s is step else s for s in plan.steps))
    assert any("takes n1, n3 along" in told for told in violations(bare))


def test_that_no_statement_takes_a_node_along_whose_past_is_another_or_not_known() -> None:
    seen = parted(n1=10, n2=11, n3=11)
    blind = replace(seen, hosts=tuple(changed(h, trace=None) for h in seen.hosts))
    order = ids(PROCEDURE.plan(blind, {}))
    assert "make-primary" not in order
    assert order[-1] == "choose"


def test_that_a_node_behind_is_not_made_primary_without_a_word() -> None:
    checks = PROCEDURE.preflight(parted(n1=10, n2=11, n3=11), {"bootstrap": "n1"})
    assert next(c for c in checks if c.code == "CHOSEN-BEHIND").verdict is BLOCK


def all_tried(seen: Facts) -> Facts:
    """The same hosts, each of which was seen to reach the group's port of each other."""
    ways = {a: tuple(Link(b, f"10.0.0.{b[1:]}", 4567, "open") for b in NAMES if b != a) for a in NAMES}
    return replace(seen, hosts=tuple(changed(one, links_tried=ways[one.host]) for one in seen.hosts))


def test_that_a_broken_network_is_healed_first() -> None:
    seen = parted(n1=10, n2=11, n3=11)
    cut = changed(seen.host("n1"), links_tried=(Link("n2", "10.0.0.2", 4567, "filtered"),))
    seen = replace(seen, hosts=(cut, *seen.hosts[1:]))
    assert network_first(seen, NAMES).verdict is BLOCK
    assert network_first(all_tried(parted(n1=1, n2=1, n3=1)), NAMES).verdict is PASS


def test_that_stopped_nodes_that_do_not_reach_each_other_are_not_started_and_a_refusal_is_no_closed_way() -> None:
    """Seen on the lab: such a node waits without end, and heeds no SIGTERM."""
    seen = parted(n1=10, n2=11, n3=11)
    ways = (Link("n2", "10.0.0.2", 4567, "refused"), Link("n3", "10.0.0.3", 4567, "filtered", "no answer within 3 s"))
    cut = replace(seen, hosts=(changed(seen.host("n1"), links_tried=ways), *seen.hosts[1:]))
    check = ways_closed(cut, NAMES)
    assert (check.code, check.verdict) == ("PORTS", BLOCK)
    assert check.evidence == "n1 to n3 (10.0.0.3) port 4567: no answer within 3 s"
    assert ways_closed(all_tried(seen), ("n1", "n2")).verdict is PASS


@pytest.mark.parametrize("judged", [network_first, ways_closed])
def test_that_ways_that_nobody_tried_are_not_said_to_be_open(judged: Callable[..., Check]) -> None:
    tried = all_tried(parted(n1=10, n2=11, n3=11))
    one_way = replace(tried, hosts=(changed(tried.host("n1"), links_tried=()), *tried.hosts[1:]))
    check = judged(one_way, NAMES)
    assert check.unknown
    assert check.evidence == "n1 to n2 port 4567: not tested; n1 to n3 port 4567: not tested"


# -- what no position tells --------------------------------------------------------------------------------------------


def test_that_a_disk_that_has_room_again_is_told_and_one_without_blocks() -> None:
    line = ("[ERROR] mariadbd: Error writing file (Errcode: 28 No space left on device)",)
    assert crash_cause(crashed(down("n1", error_log_errors=line, data_folder_disk_free=10**10)), NAMES).verdict is WARN
    assert crash_cause(crashed(down("n1", error_log_errors=line, data_folder_disk_free=10**8)), NAMES).verdict is BLOCK
    assert (
        crash_cause(crashed(down("n1", error_log_errors=("[ERROR] InnoDB: corrupted page",))), NAMES).verdict is BLOCK
    )
    assert crash_cause(crashed(down("n1", unit_result="oom-kill")), NAMES).verdict is BLOCK


def test_that_no_cause_found_is_said_of_the_lines_that_were_read_and_not_of_a_log_that_was_not() -> None:
    read = crash_cause(crashed(down("n1", error_log_lines=12, error_log_newest="2026-11-20  1:02:03")), NAMES)
    assert (read.result, read.not_known) == ("pass", False)
    assert "n1 (12 lines, the last of 2026-11-20  1:02:03)" in read.evidence
    for lines, told in ((None, "the log of n1 could not be read"), (0, "the log of n1 is empty")):
        blind = crash_cause(crashed(down("n1", error_log_lines=lines)), NAMES)
        assert (blind.result, blind.evidence) == ("not known", told)
    asserted = crash_cause(crashed(down("n1", error_log_errors=("InnoDB: Failing assertion: x == y",))), NAMES)
    assert (asserted.verdict, asserted.not_known) == (WARN, False)


def test_that_the_durability_of_servers_that_are_down_is_read_in_their_option_files() -> None:
    loose = down("n1", options_given=(("mysqld", "innodb_flush_log_at_trx_commit", "2"),))
    check = durability(crashed(loose), NAMES)
    assert check.verdict is WARN
    assert check.evidence == "n1: innodb_flush_log_at_trx_commit = 2, sync_binlog = 0"
    assert durability(crashed(), NAMES).verdict is PASS
    assert durability(facts(gone("n1")), ("n1",)).verdict is WARN


def test_that_a_balancer_that_sends_clients_to_the_first_node_is_told() -> None:
    assert clients_away(crashed()).verdict is PASS
    assert clients_away(crashed(down("n1", balancers_found=("haproxy",)))).verdict is WARN


# -- a state file that InnoDB contradicts ------------------------------------------------------------------------------


def test_that_a_seqno_that_innodb_contradicts_is_taken_out_before_the_node_starts() -> None:
    lying = down("n2", grastate=Grastate(UUID, 3, safe_to_bootstrap=False))
    plan = rest_of(crashed(lying, n1=20, n2=20, n3=20), bootstrap="n1")
    order = ids(plan)
    assert order.index("stale-n2") < order.index("bootstrap") < order.index("start-n2")
    step = plan.step("stale-n2")
    assert "seqno 3" in step.title
    assert "InnoDB recovered 20" in step.title
    assert [i for i in order if i.startswith("stale-")] == ["stale-n2"]


def test_that_nodes_form_again_by_themselves_from_the_positions_that_innodb_has() -> None:
    killed = tuple(
        down(name, grastate=Grastate(UUID, 3 if name == "n1" else -1, safe_to_bootstrap=False), gvwstate=VIEW)
        for name in NAMES
    )
    order = ids(rest_of(crashed(*killed, n1=20, n2=20, n3=20)))
    assert order.index("stale-n1") < order.index("form-n1")


def test_that_a_seqno_that_innodb_confirms_stays_where_it_is() -> None:
    clean = down("n1", grastate=Grastate(UUID, 20, safe_to_bootstrap=True))
    assert not [i for i in ids(rest_of(crashed(clean, n1=20, n2=20, n3=20))) if "stale" in i]


def test_that_the_state_files_are_saved_as_the_account_of_the_data_folder() -> None:
    saved = next(step for step in PROCEDURE.plan(crashed(), {}).steps if step.step_id == "save-n1")
    assert isinstance(saved.action, Run)
    kept = "/var/lib/pilothouse/before-bootstrap"
    words = ("pilothouse", "mysql", "/var/lib/mysql", kept, "grastate.dat", "gvwstate.dat")
    assert saved.action.command.argv == ("bash", "-c", SAVE_STATE, *words)


def test_that_a_choice_behind_by_the_state_files_is_told_in_the_plan_already() -> None:
    def told(**more: object) -> tuple[str, str]:
        first = down("n1", grastate=Grastate(UUID, 100))
        third = down("n3", grastate=Grastate(UUID, 102), **more)
        seen = facts(first, down("n2", grastate=Grastate(UUID, 100)), third)
        checks = PROCEDURE.preflight(seen, {"bootstrap": "n1"})
        (check,) = (c for c in checks if c.code == "CHOSEN-BEHIND")
        assert check.verdict is WARN
        assert check.answers[0].values == ("n3",)
        assert not [c for c in PROCEDURE.preflight(seen, {"bootstrap": "n3"}) if c.code == "CHOSEN-BEHIND"]
        assert not [c for c in PROCEDURE.preflight(seen, {}) if c.code == "CHOSEN-BEHIND"]
        return check.evidence.partition(": ")[0], check.evidence.partition(": ")[2]

    positions_, nature = told()
    assert positions_ == "n3 is at 102 by its grastate.dat, n1 at 100 by its grastate.dat"
    assert nature == "2 more, it is not known whether they are write sets of users"
    views = tuple(PrimaryView(UUID, seqno, (("c", "n3"),)) for seqno in (101, 102))
    assert told(trace=Trace(views=views))[1].endswith("none is a user's write")
    assert told(trace=Trace(views=views[:1]))[1].endswith("the others may be users' writes")
