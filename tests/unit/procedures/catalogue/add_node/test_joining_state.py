"""What lies in a joiner's data folder: a lost state file says nothing of the data, and a seqno in it is a claim."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.connections.operator import folders_of_others
from services.facts.binlog.marks import Mark
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.ran_alone import RanAlone
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks.joiner_state import (
    beyond,
    lies_in,
    must_recover,
    position_of,
    seen_beyond,
)
from services.procedures.catalogue.steps import forked
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.plan.actions import Run
from services.procedures.plan.checks import Check, Override, Verdict, standing_blocks
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Trace
from services.procedures.plan.pasts.histories import claim_is_confirmed
from services.procedures.plan.pasts.positions import kept_name
from tests.faults.scripted.cluster import CLUSTER, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed

ADD = procedure_named("add-node")
AT = 1000
LOST = {
    "absent": {"grastate": None, "grastate_absent": True},
    "damaged": {"grastate": None, "grastate_absent": False, "grastate_damaged": True},
    "zero": {"grastate": Grastate(ZERO_UUID, -1)},
}


def away(**more: object) -> Facts:
    """n3 was stopped cleanly; more: of n3."""
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    return with_n3(facts_of(cluster), **more)


def with_n3(facts: Facts, **more: object) -> Facts:
    return replace(facts, hosts=tuple(changed(h, **more) if h.host == "n3" else h for h in facts.hosts))


def recovered(facts: Facts, seqno: int | None) -> Facts:
    words = f"{CLUSTER}:{seqno}" if seqno is not None else f"{ZERO_UUID}:-1"
    return replace(facts, kept=((kept_name("n3"), words),))


def n3(facts: Facts) -> HostFacts:
    return facts.host("n3")


def newest(facts: Facts) -> int:
    galera = facts.host("n1").node.galera  # type: ignore[union-attr]
    assert galera is not None
    assert galera.last_committed is not None
    return galera.last_committed


def planned(facts: Facts, **inputs: str) -> tuple[dict[str, Check], Plan]:
    """Return the checks and the plan of a run that knows what the facts say of a recovered position."""
    given = {"joiner": "n3", "keep_data": "no", **inputs}
    values = filled(ADD.fields(facts, given), given)
    first = ADD.plan(replace(facts, kept=()), values)
    if not facts.kept:
        return {c.code: c for c in ADD.preflight(facts, values)}, first
    checks, plan = ADD.continued(facts, values, first)
    return {c.code: c for c in checks}, plan


def step(plan: Plan, step_id: str) -> Step:
    return next(s for s in plan.steps if s.step_id == step_id)


# -- a lost state file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", LOST)
def test_that_a_lost_state_file_has_the_server_asked_before_an_sst_may_erase_what_it_holds(how: str) -> None:
    facts = away(**LOST[how])
    assert lies_in(facts, "n3") == "state lost"
    checks, plan = planned(facts)
    assert checks["HISTORY"].verdict is Verdict.WARN
    assert f"grastate.dat of n3 is {how}" in checks["HISTORY"].evidence
    assert [s.step_id for s in plan.steps] == ["restart-off-n3", "down-n3", "recover-n3", "transfer-known"]


@pytest.mark.parametrize("how", LOST)
def test_that_one_that_has_nothing_of_its_own_comes_by_sst_without_a_word_and_its_files_go_first(how: str) -> None:
    facts = away(**LOST[how])
    facts = recovered(facts, newest(facts))
    checks, plan = planned(facts)
    assert checks["HISTORY"].verdict is Verdict.PASS
    assert not standing_blocks(checks.values(), ())
    assert not [s for s in plan.steps if s.confirm]
    assert step(plan, "only-sst-n3").risk is Risk.CHANGES  # a damaged file may still name the cluster
    start = next(c for c in step(plan, "start-n3").before if isinstance(c, SameHistory))
    assert start.by_sst
    assert violations(plan) == ()


def test_that_one_that_is_beyond_every_member_is_the_loser_whose_count_is_typed() -> None:
    facts = away(**LOST["absent"])
    facts = recovered(facts, newest(facts) + 25)
    checks, _ = planned(facts)
    assert standing_blocks((checks["HISTORY"],), (Override("HISTORY", "I know better"),))
    assert "25 write sets in InnoDB or its binary log that no member" in checks["HISTORY"].evidence
    assert [(a.field, a.values) for a in checks["HISTORY"].answers] == [("loser", ("n3",))]
    _, plan = planned(facts, loser="n3")
    assert "extract-n3" in [s.step_id for s in plan.steps]
    blind = with_n3(facts, trace=Trace())
    _, plan = planned(blind, loser="n3")
    given_up = step(plan, "only-sst-n3")
    assert (given_up.risk, given_up.confirm) == (Risk.IRREVERSIBLE, "n3")
    assert "at least 25 write sets that only n3 has; no file contains them" in given_up.title


def test_that_what_only_the_binary_log_still_has_counts_too() -> None:
    facts = away()
    mark = Mark("0-1-9", 1, "261122 6:00:00", newest(facts) + 4)
    facts = recovered(with_n3(facts, trace=Trace(marks=(mark,))), newest(facts))
    assert beyond(facts, "n3") == 4


def test_that_a_position_that_is_not_known_is_accepted_by_the_host_s_name_only() -> None:
    facts = with_n3(away(**LOST["zero"]), program_text="")  # nobody can be asked
    checks, _ = planned(facts)
    assert standing_blocks((checks["HISTORY"],), (Override("HISTORY", "I know better"),))
    checks, plan = planned(away(**LOST["zero"]), unknown_history="n3")
    assert checks["HISTORY"].verdict is Verdict.WARN
    assert "recover-n3" not in [s.step_id for s in plan.steps]  # its InnoDB may be what is damaged
    assert step(plan, "only-sst-n3").confirm == ""


def test_that_an_innodb_without_a_position_and_a_log_without_a_transaction_have_nothing_to_lose() -> None:
    facts = recovered(away(**LOST["zero"], trace=Trace(log_told=True)), None)
    assert planned(facts)[0]["HISTORY"].verdict is Verdict.PASS
    for trace in (Trace(), Trace(marks=(Mark("0-1-9", 1, "261122 6:00:00", 7),), log_told=True), None):
        facts = recovered(away(**LOST["zero"], trace=trace), None)
        assert planned(facts)[0]["HISTORY"].verdict is Verdict.BLOCK, trace


def test_that_an_empty_folder_and_one_whose_sst_was_not_finished_are_erased_unasked() -> None:
    for more in ({"data_folder_entries": 0}, {"sst_in_progress": True}):
        facts = away(**LOST["absent"], **more)
        assert lies_in(facts, "n3") == "nothing"
        assert planned(facts)[0]["HISTORY"].verdict is Verdict.PASS
    assert lies_in(away(**LOST["absent"], data_folder_entries=None), "n3") == "state lost"  # not read is not empty


def test_that_a_scripts_file_beside_a_named_state_or_a_tablespace_erases_nothing() -> None:
    """The joiner's script leaves it before IST or SST is decided, and before the provider zeroes grastate.dat."""
    named = away(sst_in_progress=True)
    assert lies_in(named, "n3") == "this cluster's"
    assert position_of(named, "n3") == position_of(away(), "n3")
    for more in ({"tablespace": True}, {"tablespace": True, "sst_in_progress": True}):
        assert lies_in(away(**LOST["zero"], **more), "n3") == "state lost"
    for tablespace in (False, None):
        assert lies_in(away(**LOST["zero"], sst_in_progress=True, tablespace=tablespace), "n3") == "nothing"


# -- a seqno is a claim ------------------------------------------------------------------------------------------------


def test_that_a_seqno_that_its_own_traces_account_for_is_believed_and_any_other_recovered_first() -> None:
    facts = away()
    state = n3(facts)[DataFolder].grastate
    assert state is not None
    assert state.seqno is not None
    assert not must_recover(facts, "n3")
    for wrong in (3, state.seqno - 1, state.seqno + 1, None):
        edited = with_n3(facts, grastate=replace(state, seqno=wrong))
        assert must_recover(edited, "n3")
        assert planned(edited)[0]["TRANSFER"].title == "The node joins by IST or SST"


def test_that_views_and_statements_of_the_whole_cluster_take_a_seqno_too() -> None:
    marks = (Mark("0-1-1", 1, "261122 6:00:00", 10), Mark("0-1-2", 1, "261122 6:00:01"))
    views = tuple(PrimaryView(CLUSTER, seqno, (("u", "n3"),)) for seqno in (4, 12))
    trace = Trace(views, marks)
    assert [s for s in range(20) if claim_is_confirmed(Grastate(CLUSTER, s), trace)] == [11, 12]
    back = (Mark("0-1-1", 1, "261122 6:00:00", 30), *marks)
    assert not any(claim_is_confirmed(Grastate(CLUSTER, s), Trace(views, back)) for s in range(40))
    assert not claim_is_confirmed(Grastate(CLUSTER, 12), Trace(views))


def test_that_a_seqno_that_innodb_contradicts_is_taken_out_before_the_start() -> None:
    facts = away()
    edited = recovered(with_n3(facts, grastate=Grastate(CLUSTER, 3)), newest(facts))
    _, plan = planned(edited, sst_ok="no")
    order = [s.step_id for s in plan.steps]
    assert order.index("stale-n3") < order.index("start-n3")
    assert violations(plan) == ()


def test_that_a_state_whose_data_hold_no_position_is_never_joined_by_ist() -> None:
    facts = recovered(away(), None)
    assert position_of(facts, "n3") == ("", None)
    assert planned(facts)[0]["HISTORY"].verdict is Verdict.BLOCK
    _, plan = planned(facts, unknown_history="n3")
    assert "only-sst-n3" in [s.step_id for s in plan.steps]


# -- what was seen before ----------------------------------------------------------------------------------------------


def test_that_a_position_seen_beyond_all_that_is_there_now_is_not_one_past_without_a_word() -> None:
    facts = away()
    seen = Remembered(CLUSTER, newest(facts) + 40, 1.0, "running", "watch")
    facts = recovered(with_n3(facts, remembered=(seen,)), newest(facts))
    assert seen_beyond(facts, "n3") == seen
    check = planned(facts)[0]["HISTORY"]
    assert check.verdict is Verdict.BLOCK
    assert f"n3 was last seen at {newest(facts) + 40} (running, watch), it is at {newest(facts)}" in check.evidence
    assert planned(facts, unknown_history="n3")[0]["HISTORY"].verdict is Verdict.WARN
    older = replace(seen, seqno=newest(facts), top=newest(facts) + 40)  # it went back since, and was seen doing so
    assert seen_beyond(with_n3(facts, remembered=(older,)), "n3") is None


def test_that_a_seqno_that_only_a_state_file_claims_gives_way_to_what_innodb_told() -> None:
    facts = away()
    claim = Remembered(CLUSTER, 99_999, 1.0, "grastate", "plan")
    claimed = with_n3(facts, remembered=(claim,))
    assert seen_beyond(claimed, "n3") == claim  # nobody has asked InnoDB yet
    told = recovered(claimed, newest(facts))
    assert seen_beyond(told, "n3") is None
    assert "last seen" not in planned(told)[0]["HISTORY"].evidence


def test_that_a_server_outside_the_cluster_blocks_at_once_though_the_position_is_recovered_first() -> None:
    """The run began, recovered the position, and ended there: no position tells what that server wrote."""
    facts = away(grastate=Grastate(CLUSTER, -1), trace=Trace(other_server=RanAlone(" at noon")))
    assert must_recover(facts, "n3")
    check = planned(facts)[0]["HISTORY"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, True)
    assert "n3: a server ran on its data without the cluster at noon" in check.evidence
    assert [answer.field for answer in check.answers] == ["unknown_history"]
    named = planned(facts, unknown_history="n3")[0]["HISTORY"]
    assert named.verdict is Verdict.WARN
    without = away(grastate=Grastate(CLUSTER, -1), trace=Trace())
    pending = planned(without)[0]["HISTORY"]
    assert pending.verdict is Verdict.WARN
    assert pending.evidence.endswith("checked again when its position is known")


def test_that_what_is_kept_aside_is_a_whole_data_folder() -> None:
    facts = away(**LOST["zero"])
    _, plan = planned(recovered(facts, newest(facts)), keep_data="yes")
    order = [s.step_id for s in plan.steps]
    assert order.index("keep-data-n3") < order.index("new-data-n3") < order.index("only-sst-n3")
    assert forked.history_of(facts, "n3", "n1").outcome != "forked"


def test_that_a_link_in_place_of_the_new_data_folder_gives_nobody_the_folder_it_leads_to() -> None:
    facts = away(**LOST["zero"])
    _, plan = planned(recovered(facts, newest(facts)), keep_data="yes")
    assert step(plan, "new-data-n3").action == Run(folders_of_others.made("/var/lib/mysql", "106", "0755"))
    assert step(plan, "keep-data-n3").action == Run(
        folders_of_others.renamed("/var/lib/mysql", "/var/lib/mysql.pilothouse-before", "106")
    )
