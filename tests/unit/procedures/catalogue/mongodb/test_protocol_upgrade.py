"""mongo-protocol-upgrade: what is asked, what is refused, and the plan as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from services.discovery.families.mongodb.claims import set_id
from services.facts.model import NodeFacts
from services.facts.mongodb.replica_set import ReplicaSet, SetMember
from services.facts.mongodb.sharding import Shard, ShardedCluster
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.mongodb.shared.scratch import scratch_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.parts.mongodb.last_vote import NEVER, LastVote
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.wording import wording
from tests.unit.discovery.mongo_scenes import NOW, hosts, member, router, row, view

PROCEDURE = procedure_named("mongo-protocol-upgrade")
FREE = MongoRights(logged_in=False)


def _old(*rows: SetMember) -> tuple[SetMember, ...]:
    return tuple(replace(one, optime_term=-1) for one in rows)


THREE = _old(row(1, "PRIMARY"), row(2), row(3))


def _node(number: int, members: tuple[SetMember, ...] = THREE, **more: Any) -> NodeFacts:
    seen: ReplicaSet = view(number, members, **{"protocol": 0, "term": -1, "version": 5, **more})
    return member(number, seen)


def facts(*nodes: NodeFacts, terms: Mapping[str, int | None] = MappingProxyType({}), **parts: MongoRights) -> Facts:
    nodes = nodes or tuple(_node(n) for n in (1, 2, 3))
    hosts = tuple(
        HostFacts(n.host, n.host, n, parts=(parts.get(n.host, FREE), LastVote(terms.get(n.host, NEVER)))) for n in nodes
    )
    return Facts(float(NOW), "5f00", "shop", members=tuple(h.host for h in hosts), hosts=hosts)


def check(code: str, known: Facts, **inputs: str) -> Check:
    return next(one for one in PROCEDURE.preflight(known, inputs) if one.code == code)


def test_that_a_set_is_changed_at_its_primary_proven_everywhere_and_tried_by_a_write() -> None:
    plan = PROCEDURE.plan(facts(), {"steady": "90 s"})
    assert violations(plan) == ()
    assert [(s.step_id, s.host) for s in plan.steps] == [
        ("protocol-rs0", "m1"), ("entries-rs0", ""), ("majority-rs0", "m1"), ("steady", ""), ("last-look", "")
    ]  # fmt: skip
    assert (plan.hosts, plan.quorums) == (("m1", "m2", "m3"), (("m1", "m2", "m3"),))
    assert wording(plan.steps[0].action) == (
        "cfg = rs.conf()   // only while cfg.version is 5", "cfg.protocolVersion = 1", "rs.reconfig(cfg)"
    )  # fmt: skip
    undo = plan.steps[0].undo
    assert undo is not None
    assert wording(undo.action)[:3] == (
        "// at whichever of m1, m2, m3 is primary then",
        "cfg = rs.conf()   // only while cfg.version is 6 or newer",
        "cfg.protocolVersion = 0",
    )
    assert plan.steps[3].title == "Verify that every set stays healthy for 1 min 30 s"


def test_that_a_delayed_members_delay_is_no_lag() -> None:
    late = (row(1, "PRIMARY"), row(2, behind=3600, delay_s=3600, priority=0.0, hidden=True), row(3))
    assert check("SET-LAG", facts(*(_node(n, _old(*late)) for n in (1, 2, 3)))).verdict is Verdict.PASS


def test_that_every_set_is_done_one_after_the_other_or_the_one_that_is_named() -> None:
    other = _old(row(1, "PRIMARY", prefix="k"), row(2, prefix="k"))
    more = tuple(member(n, view(n, other, name="rs1", id="77", protocol=0, term=-1, version=2)) for n in (1, 2))
    known = facts(*(_node(n) for n in (1, 2, 3)), *more)
    assert [s.step_id for s in PROCEDURE.plan(known, {}).steps if s.step_id.startswith("protocol")] == [
        "protocol-rs0", "protocol-rs1"
    ]  # fmt: skip
    alone = PROCEDURE.plan(known, {"sets": "rs1"})
    assert (alone.hosts, violations(alone)) == (("k1", "k2"), ())
    assert PROCEDURE.faults(known, {"sets": "rs9"}) != ()


def test_that_there_is_nothing_to_do_where_every_set_has_the_new_protocol() -> None:
    known = facts(*(_node(n, protocol=1, term=3) for n in (1, 2, 3)))
    assert PROCEDURE.plan(known, {}).nothing_to_do


def test_that_a_whole_set_passes_and_what_only_a_person_knows_is_asked() -> None:
    told = {one.code: one.verdict for one in PROCEDURE.preflight(facts(), {})}
    assert {code for code, verdict in told.items() if verdict is Verdict.BLOCK} == set()
    assert {code for code, verdict in told.items() if verdict is Verdict.WARN} >= {"CLIENTS", "BACKUP", "BURN-IN"}
    sure = {one.code: one.verdict for one in PROCEDURE.preflight(facts(), {"clients": "yes", "backup": "yes"})}
    assert (sure["CLIENTS"], sure["BACKUP"]) == (Verdict.PASS, Verdict.PASS)


@pytest.mark.parametrize(
    ("code", "rows", "told"),
    [
        ("SET-WHOLE", (row(1, "PRIMARY"), row(2, "RECOVERING"), row(3)), "m2 is RECOVERING"),
        ("SET-WHOLE", (row(1), row(2), row(3)), "primary is none"),
        ("SET-LAG", (row(1, "PRIMARY"), row(2, behind=40), row(3)), "m2 is 40 s behind"),
        ("SET-LAG", (row(1, "PRIMARY"), row(2, optime=None), row(3)), "the lag of m2 is not known"),
    ],
)
def test_that_a_set_that_is_not_whole_or_lags_is_refused_because_the_lab_never_lags(
    code: str, rows: tuple[SetMember, ...], told: str
) -> None:
    assert code in {"SET-WHOLE", "SET-LAG"}
    known = facts(*(_node(n, _old(*rows)) for n in (1, 2, 3)))
    found = check(code, known)
    assert found.verdict is Verdict.BLOCK
    assert told in found.evidence


def test_that_a_member_nobody_asked_and_entries_that_because_the_lab_is_quicker_are_invented_are_refused() -> None:
    assert "m3:27018 is not in the inventory" in check("SET-WHOLE", facts(_node(1), _node(2))).evidence
    mixed = (replace(THREE[0]), replace(THREE[1], optime_term=2), THREE[2])
    found = check("OLD-ENTRIES", facts(*(_node(n, mixed) for n in (1, 2, 3))))
    assert (found.verdict, "m2 has the term 2" in found.evidence) == (Verdict.BLOCK, True)
    differ = facts(_node(1), _node(2, protocol=1), _node(3))
    assert "differ" in check("OLD-ENTRIES", differ).evidence


def test_that_several_releases_are_refused_on_invented_facts_because_the_lab_has_one_release() -> None:
    def of(number: int, version: str) -> NodeFacts:
        node = _node(number)
        assert node.mongo is not None
        return replace(node, mongo=replace(node.mongo, server=replace(node.mongo.server, version=version)))

    found = check("SET-VERSIONS", facts(of(1, "3.2.5"), of(2, "3.4.1"), of(3, "3.2.5")))
    assert (found.verdict, "several versions" in found.evidence) == (Verdict.BLOCK, True)
    assert check("SET-VERSIONS", facts(of(1, "3.2.5"), of(2, ""), of(3, "3.2.5"))).verdict is Verdict.BLOCK
    assert check("SET-VERSIONS", facts(*(of(n, "3.0.15") for n in (1, 2, 3)))).verdict is Verdict.BLOCK


def test_that_an_early_release_with_an_arbiter_is_warned_of_and_an_arbiter_that_tells_nobody_is_no_stranger() -> None:
    rows = _old(row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    known = facts(_node(1, rows), _node(2, rows))
    assert check("SET-WHOLE", known).verdict is Verdict.PASS
    found = check("MINOR-VERSION", known)
    assert (found.verdict, "arbiters: m3:27018" in found.evidence) == (Verdict.WARN, True)


def test_that_an_account_that_lacks_a_right_is_refused_before_the_first_step_and_one_not_known_is_told() -> None:
    weak = MongoRights(True, frozenset({"replSetGetStatus"}), frozenset({"find"}))
    found = check("OPERATOR-RIGHTS", facts(m1=weak))
    assert (found.verdict, "replSetConfigure, insert, dropDatabase on m1" in found.evidence) == (Verdict.BLOCK, True)
    assert check("OPERATOR-RIGHTS", facts(m1=MongoRights())).unknown
    strong = MongoRights(True, frozenset({"replSetConfigure"}), frozenset({"insert", "dropDatabase"}))
    assert check("OPERATOR-RIGHTS", facts(m1=strong)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("term", "verdict", "told"),
    [
        (NEVER, Verdict.PASS, "no member with data has a term above 0"),
        (0, Verdict.PASS, "no member with data has a term above 0"),
        (7, Verdict.BLOCK, "m2 has voted in term 7"),
        (None, Verdict.BLOCK, "m2: whether it has voted in a term is not known"),
    ],
)
def test_that_a_set_which_elected_by_terms_before_is_not_moved_once_more(
    term: int | None, verdict: Verdict, told: str
) -> None:
    """Seen on 3.2.5: its primary ends itself at the next step-down, for terms begin at 0 again."""
    found = check("TERMS-BEFORE", facts(terms={"m2": term}))
    assert (found.verdict, told in found.evidence) == (verdict, True), found


@pytest.mark.parametrize(
    ("terms", "verdict", "told"),
    [
        ({"m3": NEVER}, Verdict.PASS, "no member with data has a term above 0"),
        ({"m3": 0}, Verdict.PASS, "no member with data has a term above 0"),
        ({"m3": 7}, Verdict.WARN, "the arbiter m3 has voted in term 7"),
        ({"m3": None}, Verdict.PASS, "the arbiter m3 could not be read"),
        ({"m2": 7, "m3": 7}, Verdict.BLOCK, "m2 has voted in term 7; the arbiter m3 has voted in term 7"),
    ],
)
def test_that_an_arbiters_vote_stops_nothing_and_tells_of_terms_that_others_may_have_followed(
    terms: dict[str, int | None], verdict: Verdict, told: str
) -> None:
    """The change sets back what it keeps of its vote; it has no entries that could be out of order."""
    rows = _old(row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    found = check("TERMS-BEFORE", facts(*(_node(n, rows) for n in (1, 2, 3)), terms=terms))
    assert (found.verdict, told in found.evidence) == (verdict, True), found
    assert bool(found.try_) is (verdict is not Verdict.PASS)


def test_that_an_arbiter_which_tells_nobody_its_set_is_named_as_not_asked() -> None:
    rows = _old(row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    found = check("TERMS-BEFORE", facts(_node(1, rows), _node(2, rows)))
    assert (found.verdict, "the arbiter m3:27018 could not be read" in found.evidence) == (Verdict.PASS, True)


def _arbiter(version: str) -> NodeFacts:
    """An arbiter under access control: it tells its greeting and its version, and nothing of its set."""
    node = _node(3, _old(row(1, "PRIMARY"), row(2), row(3, "ARBITER")))
    assert node.mongo is not None
    return replace(node, mongo=replace(node.mongo, set=None, server=replace(node.mongo.server, version=version)))


@pytest.mark.parametrize(
    ("arbiter", "verdict", "told"),
    [
        (None, Verdict.BLOCK, "m3:27018 runs an unknown release"),
        ("", Verdict.BLOCK, "m3 runs an unknown release"),
        ("3.0.15", Verdict.BLOCK, "m3 runs 3.0.15"),
        ("3.4.1", Verdict.BLOCK, "several versions"),
        ("3.2.5", Verdict.PASS, "m3 3.2.5"),
    ],
)
def test_that_an_arbiter_of_another_release_or_of_none_that_is_known_is_refused_because_the_lab_has_one_release(
    arbiter: str | None, verdict: Verdict, told: str
) -> None:
    """One of 3.0 can't take the new configuration: its vote is gone, and the next member that goes takes the set."""
    rows = _old(row(1, "PRIMARY"), row(2), row(3, "ARBITER"))
    more = () if arbiter is None else (_arbiter(arbiter),)
    found = check("SET-VERSIONS", facts(_node(1, rows), _node(2, rows), *more))
    assert (found.verdict, told in found.evidence) == (verdict, True), found


def test_that_a_delayed_member_is_told_and_waited_for_as_long_as_its_delay() -> None:
    late = _old(row(1, "PRIMARY"), row(2, behind=3600, delay_s=3600, priority=0.0, hidden=True), row(3))
    known = facts(*(_node(n, late) for n in (1, 2, 3)))
    found = check("DELAYED", known)
    assert (found.verdict, "m2:27018 applies entries 1 h late" in found.evidence) == (Verdict.WARN, True), found
    plan = PROCEDURE.plan(known, {})
    assert plan.step("entries-rs0").limit_s == 60.0 + 3600.0
    assert violations(plan) == ()
    assert check("DELAYED", facts()).verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["mongo-protocol-upgrade", "mongo-rolling-upgrade"])
def test_that_where_nobody_was_read_it_is_not_told_that_nothing_is_to_be_done(name: str) -> None:
    """Of two clusters and no name of one there are no members: 'the cluster is as this procedure would leave it'."""
    nobody = Facts(float(NOW), "", "shop")
    checks = procedure_named(name).preflight(nobody, {"version": "3.2.22"})
    blocks = [one for one in checks if one.verdict is Verdict.BLOCK]
    assert [one.code for one in blocks] == ["EVERY-SET" if "protocol" in name else "EVERY-SERVER"]
    assert "no server of a cluster was read" in blocks[0].evidence


def test_that_nothing_to_do_is_not_said_where_no_member_told_its_set() -> None:
    """An arbiter under access control, alone in a cluster of its own, was 'as this procedure would leave it'."""
    node = member(1, view(1, THREE))
    assert node.mongo is not None
    mute = replace(node, mongo=replace(node.mongo, set=None))
    found = check("EVERY-SET", facts(mute))
    assert (found.verdict, found.evidence) == (Verdict.BLOCK, "no member reported its set")
    rolling = procedure_named("mongo-rolling-upgrade").preflight(facts(mute), {"version": "3.2.22"})
    every = next(one for one in rolling if one.code == "EVERY-SERVER")
    assert (every.verdict, "m1 reported no replica set" in every.evidence) == (Verdict.BLOCK, True)


def test_that_a_set_that_only_the_metadata_name_is_not_forgotten() -> None:
    shards = (Shard("rs0", hosts("rs0/m1:27018")), Shard("rs1", hosts("rs1/k1:27018")))
    known = facts(*(_node(n) for n in (1, 2, 3)), router(1, ShardedCluster("77", shards=shards)))
    found = check("EVERY-SET", known)
    assert (found.verdict, found.evidence) == (Verdict.BLOCK, "the shard rs1 is not a replica set that was read")
    assert check("EVERY-SET", known, sets="rs0").verdict is Verdict.PASS
    assert check("EVERY-SET", facts()).verdict is Verdict.PASS


def test_that_a_set_that_is_called_every_is_chosen_alone() -> None:
    other = _old(row(1, "PRIMARY", prefix="k"), row(2, prefix="k"))
    more = tuple(member(n, view(n, other, name="every", id="77", protocol=0, term=-1, version=2)) for n in (1, 2))
    known = facts(*(_node(n) for n in (1, 2, 3)), *more)
    assert PROCEDURE.plan(known, {"sets": "every"}).hosts == ("k1", "k2")
    assert PROCEDURE.plan(known, {}).hosts == ("k1", "k2", "m1", "m2", "m3")


def test_that_a_run_locks_each_set_as_the_cluster_that_it_is_to_an_inventory_without_the_mongos() -> None:
    other = _old(row(1, "PRIMARY", prefix="k"), row(2, prefix="k"))
    more = tuple(member(n, view(n, other, name="rs1", id="77", protocol=0, term=-1, version=2)) for n in (1, 2))
    known = facts(*(_node(n) for n in (1, 2, 3)), *more)
    own = set_id(view(1, THREE))
    assert PROCEDURE.plan(known, {}).parts == ((own, ("m1", "m2", "m3")), ("77", ("k1", "k2")))
    assert PROCEDURE.plan(known, {"sets": "rs1"}).locks == (("5f00", ("k1", "k2")), ("77", ("k1", "k2")))


def test_that_what_is_dropped_is_called_by_the_time_of_the_plan_and_no_persons_own() -> None:
    step = PROCEDURE.plan(facts(), {}).step("majority-rs0")
    assert step.undo is not None
    scratch = scratch_of(facts())
    assert scratch.startswith("pilothouse_trial_20")
    for line in (*wording(step.action)[1:], *wording(step.undo.action)[1:]):
        assert line.startswith(f'db.getSiblingDB("{scratch}")'), line
