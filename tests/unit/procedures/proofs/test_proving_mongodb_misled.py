"""MongoDB's conditions where what is told is not what was asked about: another set, no optimes, lists that are cut."""

from __future__ import annotations

from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Document, Reply, Stamp
from services.connections.reads.mongo import MongoRead
from services.errors import QueryFailed, Unreachable
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.conditions.mongodb.database import NoDatabase
from services.procedures.conditions.mongodb.in_cluster import InCluster
from services.procedures.conditions.mongodb.leads_not import LeadsNot
from services.procedures.conditions.mongodb.others_follow import OthersFollow
from services.procedures.conditions.mongodb.others_hold import OthersHold
from services.procedures.conditions.mongodb.protocol import OptimesOf, ProtocolIs
from services.procedures.conditions.mongodb.spared import Spared
from services.procedures.conditions.mongodb.steady import SetSteady
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads, NeedNotStepDown
from services.procedures.conditions.mongodb.strangers import NoOtherMember
from services.procedures.conditions.mongodb.whole import SetWhole
from tests.unit.procedures.proofs.test_proving_mongodb import HOSTS, NOW, Set
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, ScriptedSession

EVERY_ONE = pytest.mark.parametrize(
    "condition",
    [
        SetWhole(HOSTS),
        AnotherLeads(HOSTS, "m2"),
        ProtocolIs(HOSTS, 1),
        OptimesOf(HOSTS, 1),
        SetSteady(HOSTS, 5.0),
        NoOtherMember(HOSTS, tuple(f"{host}:27018" for host in HOSTS)),
        Spared(HOSTS, "m2:27018"),
    ],
    ids=lambda c: c.tag,
)


@EVERY_ONE
@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"settings": {"replicaSetId": "5f00"}}, "m3 is in rs0, m1 in another set of that name"),
        ({"_id": "rs1"}, "m3 is in rs1, m1 in rs0"),
    ],
)
def test_that_a_host_which_is_in_another_set_by_now_proves_nothing_of_this_one(
    condition: Any, config: Document, words: str
) -> None:
    hosts = Set()
    told = hosts.members["m3"].told
    inner = told["replica-set-config"]
    status = told["replica-set-status"]
    assert isinstance(inner, dict)
    assert isinstance(status, dict)
    assert isinstance(inner["config"], dict)
    inner["config"].update(config)
    status["set"] = config.get("_id", "rs0")
    answer = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    assert (answer.holds, answer.evidence) == (False, words)


@pytest.mark.parametrize("number", [1, 2])
def test_that_a_member_that_tells_no_optime_is_not_said_to_be_up_to_date(number: int) -> None:
    """'Nobody is 10 s behind' was told of a member, and of a whole set, of which no lag could be known."""
    hosts, clock = Set(), ManualClock()
    prover, steady = Attempt(hosts, clock), SetSteady(HOSTS, 6.0)
    hosts.says(f"m{number}", number, optime="odd")
    for _ in range(6):
        answer = prover.look(steady, NOTHING)
        assert (answer.holds, answer.evidence) == (None, f"m{number} reported no optime")
        clock.sleep(2.0)


@pytest.mark.parametrize(
    "listed", [[{"name": "shop"}, "odd"], [{"name": 5}], [{"name": f"d{n}"} for n in range(10_001)]]
)
def test_that_a_list_of_databases_that_is_cut_or_odd_shows_of_none_that_it_is_gone(listed: Any) -> None:
    hosts = Set()
    hosts.members["m1"].told["databases"] = {"databases": listed}
    assert Attempt(hosts, ManualClock()).look(NoDatabase("m1", "trial"), NOTHING).holds is None


class Router(ScriptedSession):
    """A mongos; without a status of its balancer it is one before 3.4."""

    def __init__(self, **told: Any) -> None:
        super().__init__("r1")
        self.kind = "mongodb"
        self.told = told

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del limit_s
        if read.name == "balancer-status":
            if "status" not in self.told:
                raise QueryFailed("no such command", host="r1", errno=59)
            return Reply(self.told["status"])
        return Reply({}, tuple(self.told[read.name.removeprefix("config-")]))


def _looked(condition: Any, **told: Any) -> bool | None:
    hosts = ScriptedHosts()
    hosts.sessions["r1"] = Router(**told)
    holds: bool | None = Attempt(hosts, ManualClock()).look(condition, NOTHING).holds
    return holds


def test_that_the_lock_which_3_4_holds_for_good_is_no_move_on_invented_answers_because_the_lab_has_3_2_alone() -> None:
    """The upgrade from 3.4 waited half an hour for it to be released, and failed."""
    for_good = {"_id": "balancer", "process": "ConfigServer", "state": 2}
    chunk = {"_id": "shop.orders", "process": "ConfigServer", "state": 2, "why": "Migrating chunk(s)"}
    idle, busy = {"mode": "off", "inBalancerRound": False}, {"mode": "off", "inBalancerRound": True}
    assert _looked(NothingMoves("r1"), locks=[for_good], status=idle) is True
    assert _looked(NothingMoves("r1"), locks=[for_good], status=busy) is False
    assert _looked(NothingMoves("r1"), locks=[for_good, chunk], status=idle) is False


def test_that_before_3_4_a_round_of_the_balancer_holds_its_lock() -> None:
    of_a_mongos = {"_id": "balancer", "process": "r1:27017:1:2", "state": 2}
    assert _looked(NothingMoves("r1"), locks=[of_a_mongos]) is False
    assert _looked(NothingMoves("r1"), locks=[]) is True


@pytest.mark.parametrize(("stopped", "on"), [(False, True), (True, False), (0, True), (1.0, False), ("yes", None)])
def test_that_a_switch_of_another_form_is_not_known(stopped: Any, on: bool | None) -> None:
    """A server takes any word for true: at the end the balancer would be on that somebody had stopped."""
    settings = [{"_id": "balancer", "stopped": stopped}]
    found = _looked(BalancerIs("r1", on=True), settings=settings)
    assert found is on


@pytest.mark.parametrize(
    ("version", "holds"), [([{"_id": 1, "clusterId": "77"}], True), ([{"clusterId": "78"}], False), ([], None)]
)
def test_that_a_mongos_that_reads_another_clusters_metadata_is_not_back(version: Any, holds: bool | None) -> None:
    assert _looked(InCluster("r1", "77"), version=version) is holds


def test_that_a_member_which_came_after_the_plan_is_seen_and_what_to_do_is_told() -> None:
    """A fourth member of the old release: the run looked at the three that it knew, and ended with 'every server'."""
    hosts, same = Set(), NoOtherMember(HOSTS, tuple(f"{host}:27018" for host in HOSTS))
    answer = Attempt(hosts, ManualClock()).look(same, NOTHING)
    assert (answer.holds, answer.evidence) == (True, "rs0 consists of m1:27018, m2:27018, m3:27018 only")
    hosts.everybody("config", members=[{"_id": n, "host": f"m{n}:27018"} for n in (1, 2, 3, 4)])
    answer = Attempt(hosts, ManualClock()).look(same, NOTHING)
    assert (answer.holds, answer.evidence) == (
        False,
        "m4:27018 is a member of rs0, and not in the plan: make a new plan",
    )


@pytest.mark.parametrize(
    ("votes", "down", "place", "holds", "words"),
    [
        ((1, 1, 1), 0, "m1:27018", True, "without m1:27018 2 of 3 votes of rs0 are left, 2 are required"),
        ((1, 1, 0), 0, "m3:27018", True, "without m3:27018 2 of 2 votes of rs0 are left, 2 are required"),
        ((1, 1, 0), 0, "m2:27018", False,
         "without m2:27018 1 of 2 votes of rs0 are left, 2 are required: restore votes first"),
        ((1, 1, 1), 3, "m2:27018", False,
         "without m2:27018 1 of 3 votes of rs0 are left, 2 are required: restore votes first"),
        ((1, 1, 1), 0, "m9:27018", False, "m9:27018 is no longer a member of rs0"),
        ((1, 1, 2), 0, "m1:27018", None, "the number of votes of rs0 is not known"),
    ],
)  # fmt: skip
def test_that_the_votes_that_are_left_without_a_member_are_counted_as_they_are_now(
    votes: tuple[int, ...], down: int, place: str, *, holds: bool | None, words: str
) -> None:
    hosts = Set()
    hosts.everybody("config", members=[{"_id": n, "host": f"m{n}:27018", "votes": v} for n, v in enumerate(votes, 1)])
    if down:
        hosts.says("m1", down, health=0.0, state=8)
    answer = Attempt(hosts, ManualClock()).look(Spared(HOSTS, place), NOTHING)
    assert (answer.holds, answer.evidence) == (holds, words)


def test_that_a_primary_is_not_spared_where_nobody_else_may_lead() -> None:
    hosts = Set()
    rows = [{"_id": n, "host": f"m{n}:27018", "priority": 1 if n == 1 else 0} for n in (1, 2, 3)]
    hosts.everybody("config", members=rows)
    answer = Attempt(hosts, ManualClock()).look(Spared(HOSTS, "m1:27018"), NOTHING)
    words = "no other member of rs0 is electable: give one a vote and a priority first"
    assert (answer.holds, answer.evidence) == (False, words)
    assert Attempt(hosts, ManualClock()).look(Spared(HOSTS, "m2:27018"), NOTHING).holds is True
    hosts.says("m2", 2, state=1)
    assert Attempt(hosts, ManualClock()).look(Spared(HOSTS, "m1:27018"), NOTHING).evidence == "primary is m1 and m2"


@pytest.mark.parametrize(
    ("but", "version", "holds", "words"),
    [
        ("m1", "3.2.6", True, "m1 runs 3.2.6"),
        ("m1", "3.2.7", False, "primary is m1"),
        ("m2", "3.2.7", True, "primary is m1"),
    ],
)
def test_that_a_primary_which_runs_the_version_need_not_step_down(
    but: str, version: str, *, holds: bool, words: str
) -> None:
    hosts = Set()
    for one in hosts.members.values():
        one.told["build-info"] = {"version": "3.2.6"}
    answer = Attempt(hosts, ManualClock()).look(NeedNotStepDown(HOSTS, but, version), NOTHING)
    assert (answer.holds, answer.evidence) == (holds, words)


def test_that_the_others_hold_whatever_becomes_of_the_one_in_hand_and_not_without_another() -> None:
    hosts, held = Set(), OthersHold(("m1", "m3"), "m2:27018")

    def look() -> bool | None:
        return Attempt(hosts, ManualClock()).look(held, NOTHING).holds

    assert look() is True
    gone = Unreachable("No route to host.", host="m2")
    hosts.members["m2"].told["replica-set-status"] = gone
    hosts.says("m1", 2, health=0.0, state=8)
    hosts.says("m3", 2, health=0.0, state=8)
    assert look() is True
    hosts.members["m3"].told["replica-set-status"] = gone
    hosts.says("m1", 3, health=0.0, state=8)
    assert look() is False
    hosts.members["m1"].told["replica-set-status"] = gone
    assert look() is None


def test_that_the_others_keep_up_by_what_the_primary_had_a_look_before_and_one_late_look_is_enough() -> None:
    hosts, held = Set(), OthersFollow(("m1", "m3"), "m2:27018", 20)
    asking = Attempt(hosts, ManualClock())
    assert asking.look(held, NOTHING).holds is None, "how far the primary was before is not known"
    assert asking.look(held, NOTHING).holds is True
    for host in ("m1", "m3"):
        hosts.says(host, 1, optime={"ts": Stamp(NOW + 300, 1), "t": 1})  # the first write after a pause
    assert asking.look(held, NOTHING).holds is True, "nobody is behind by the time that nobody wrote"
    late = asking.look(held, NOTHING)
    assert late.holds is False
    assert "1 of 3 votes keep up, 2 are required: m3:27018 is 300 s behind" in late.evidence
    for host in ("m1", "m3"):
        hosts.says(host, 3, optime={"ts": Stamp(NOW + 299, 1), "t": 1})
        hosts.says(host, 2, health=0.0, state=8)  # the one in hand is down by now
    assert asking.look(held, NOTHING).holds is True
    for host in ("m1", "m3"):
        hosts.says(host, 1, state=2, stateStr="SECONDARY")
    assert asking.look(held, NOTHING).holds is None, "nobody leads"


def test_that_the_one_in_hand_must_not_lead_unless_it_was_replaced_and_took_the_lead_back() -> None:
    hosts, leads_not = Set(), LeadsNot("m2", "3.2.22", ("m1", "m3"), "m2:27018")
    asking = Attempt(hosts, ManualClock())
    assert asking.look(leads_not, NOTHING).holds is True
    hosts.says("m2", 2, state=1, stateStr="PRIMARY")
    hosts.members["m2"].told["build-info"] = {"version": "3.2.5"}
    found = asking.look(leads_not, NOTHING)
    assert (found.holds, found.evidence) == (False, "m2 is PRIMARY; m2 runs 3.2.5")
    hosts.members["m2"].told["build-info"] = {"version": "3.2.22"}
    assert asking.look(leads_not, NOTHING).holds is True
    hosts.members["m2"].told["replica-set-status"] = Unreachable("No route to host.", host="m2")
    assert asking.look(leads_not, NOTHING).holds is True, "the others see it as a secondary still"
    hosts.says("m1", 2, state=1, stateStr="PRIMARY")
    found = asking.look(leads_not, NOTHING)
    assert (found.holds, found.evidence) == (False, "m2 is PRIMARY as m1 sees it")
    hosts.says("m1", 2, health=0.0, state=8)
    assert asking.look(leads_not, NOTHING).evidence == "m2 is DOWN as m1 sees it"
    for host in ("m1", "m3"):
        hosts.members[host].told["replica-set-status"] = Unreachable("No route to host.", host=host)
    assert asking.look(leads_not, NOTHING).holds is None, "nobody tells anything"
