"""A joiner whose past is another one: refused, or written out and given up; what is not known is accepted by name."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared.estimate import donor_ranking
from services.procedures.catalogue.steps.extraction import extracted_name
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.plan.actions import Detached, Run
from services.procedures.plan.checks import Check, Override, Verdict, standing_blocks
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.pasts.positions import kept_name
from tests.faults.scripted.cluster import Cluster, parted, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed

ADD = procedure_named("add-node")
COUNTED = ((extracted_name("n3"), "5 transactions, 0 statements, tables: shop.orders (5 rows)"),)


def values(facts: Facts, **inputs: str) -> dict[str, str]:
    given = {"joiner": "n3", "keep_data": "no", **inputs}
    return filled(ADD.fields(facts, given), given)


def checked(facts: Facts, **inputs: str) -> dict[str, Check]:
    return {check.code: check for check in ADD.preflight(facts, values(facts, **inputs))}


def away() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    return cluster


def without_traces(facts: Facts) -> Facts:
    blind = Trace(unread=("the log of n3 could not be read",))
    return replace(facts, hosts=tuple(changed(h, trace=blind) for h in facts.hosts))


def known(facts: Facts, position: str = "") -> Facts:
    """Return the facts of a run that had n3's server recover its position: where its file says, unless given."""
    state = facts.host("n3")[DataFolder].grastate
    told = position or (f"{state.uuid}:{state.seqno}" if state is not None else "")
    return replace(facts, kept=((kept_name("n3"), told),))


def started(steps: tuple[Step, ...]) -> Step:
    return next(step for step in steps if step.step_id == "start-n3")


def test_that_a_fork_is_refused_by_ist_whatever_a_person_overrides_and_the_way_back_is_named() -> None:
    facts = facts_of(parted("n1", "n2", "n3"))
    check = checked(facts)["HISTORY"]
    assert standing_blocks((check,), (Override("HISTORY", "I know better"),)) == (check,)
    assert [(a.field, a.values) for a in check.answers] == [("loser", ("n3",))]
    assert not any(donor.ist for donor in donor_ranking(facts, "n3"))
    assert "have diverged" in checked(facts)["TRANSFER"].evidence


def test_that_the_loser_is_written_out_first_and_its_count_is_confirmed_by_name() -> None:
    facts = known(facts_of(parted("n1", "n2", "n3")))
    given = values(facts, loser="n3")
    told = checked(facts, loser="n3")["HISTORY"]
    assert (told.verdict, told.title) == (Verdict.WARN, "Discard the transactions that only n3 has")
    first = ADD.plan(facts, given)
    assert [s.step_id for s in first.steps] == ["restart-off-n3", "down-n3", "extract-n3", "loss-known"]
    extract = first.steps[2].action
    assert isinstance(extract, Detached)
    assert extract.command.argv[-2] == "999"  # the last seqno that both have
    assert violations(first) == ()
    now = replace(facts, kept=(*facts.kept, *COUNTED))
    checks, plan = ADD.continued(now, given, first)
    assert not standing_blocks(checks, ())
    assert violations(plan) == ()
    given_up = next(s for s in plan.steps if s.step_id == "only-sst-n3")
    assert (given_up.risk, given_up.confirm) == (Risk.IRREVERSIBLE, "n3")
    assert "5 transactions of n3 (shop.orders (5 rows))" in given_up.title
    assert "/var/lib/pilothouse/forks/" in given_up.title
    assert "that it joined by SST" in next(s for s in plan.steps if s.step_id == "transfer-n3").title


def test_that_without_a_binary_log_the_count_is_not_known_and_said_so() -> None:
    facts = known(facts_of(parted("n1", "n2", "n3")))
    facts = replace(
        facts, hosts=tuple(changed(h, trace=replace(h[Traces].trace or Trace(), index="")) for h in facts.hosts)
    )
    plan = ADD.plan(facts, values(facts, loser="n3"))
    given_up = next(s for s in plan.steps if s.step_id == "only-sst-n3")
    assert "an unknown number of transactions that only n3 has; no file contains them" in given_up.title
    assert given_up.confirm == "n3"


def test_that_a_loser_named_where_nothing_has_parted_loses_nothing() -> None:
    facts = facts_of(away())
    plan = ADD.plan(facts, values(facts, loser="n3"))
    assert not [s for s in plan.steps if s.confirm or s.step_id.startswith(("extract", "only-sst"))]
    assert checked(facts, loser="n3")["HISTORY"].verdict is Verdict.PASS


def test_that_a_past_that_is_not_known_is_accepted_by_its_name_only() -> None:
    facts = without_traces(facts_of(away()))
    assert checked(facts)["HISTORY"].verdict is Verdict.WARN  # its server is asked first
    facts = known(facts)
    check = checked(facts)["HISTORY"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, True)
    assert "the log of n3 could not be read" in check.evidence
    assert checked(facts, unknown_history="n3")["HISTORY"].verdict is Verdict.WARN
    assert not any(donor.ist for donor in donor_ranking(facts, "n3"))
    for accepted in ("", "n3"):
        start = started(ADD.plan(facts, values(facts, unknown_history=accepted)).steps)
        proof = next(c for c in start.before if isinstance(c, SameHistory))
        assert (proof.host, proof.hosts, proof.accepted) == ("n3", ("n1", "n2"), bool(accepted))


def test_that_a_spare_without_a_state_needs_no_past() -> None:
    facts = facts_of(whole("n1", "n2", "n3", spare="new"))
    assert checked(facts, joiner="new")["HISTORY"].verdict is Verdict.PASS


def test_that_every_start_and_every_start_of_an_undo_of_each_procedure_has_its_proof() -> None:
    facts = facts_of(whole("n1", "n2", "n3"))
    for name in ("rolling-restart", "freeze-gcache"):
        procedure = procedure_named(name)
        plan = procedure.plan(facts, filled(procedure.fields(facts, {}), {}))
        starts = [s for s in plan.steps if isinstance(s.action, Run) and "start" in s.action.command.argv]
        assert starts
        for step in starts:
            proof = next(c for c in step.before if isinstance(c, SameHistory))
            assert proof.stopped_at is not None  # where nothing moved since this run stopped it nothing more is read
        bare = tuple(replace(s, before=()) if s in starts else s for s in plan.steps)
        assert any("nothing proves its history" in told for told in violations(replace(plan, steps=bare)))
