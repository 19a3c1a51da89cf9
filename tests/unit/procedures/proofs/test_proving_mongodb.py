"""MongoDB's conditions on scripted sessions: recorded replies of 3.2.5, changed where a case needs it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Document, Reply, Stamp
from services.connections.reads.mongo import MongoRead
from services.errors import QueryFailed, Unreachable, UserError
from services.procedures.conditions.mongodb.database import NoDatabase
from services.procedures.conditions.mongodb.follows import SuccessorFollows
from services.procedures.conditions.mongodb.protocol import NobodyElected, OptimesOf, ProtocolIs
from services.procedures.conditions.mongodb.steady import LedForGood, SetSteady
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.condition import Answer
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, ScriptedSession

HOSTS = ("m1", "m2", "m3")
STATES = {"PRIMARY": 1, "SECONDARY": 2, "RECOVERING": 3, "ARBITER": 7, "DOWN": 8}
NOW = 1_700_000_000


class Member(ScriptedSession):
    """A member that tells of its set."""

    def __init__(self, number: int) -> None:
        super().__init__(f"m{number}")
        self.kind = "mongodb"
        self.told: dict[str, Document | UserError] = {
            "replica-set-status": {
                "set": "rs0",
                "term": 1,
                "members": [
                    {"_id": n, "name": f"m{n}:27018", "health": 1.0, "state": 1 if n == 1 else 2,
                     "optime": {"ts": Stamp(NOW, 1), "t": 1}, **({"self": True} if n == number else {})}
                    for n in (1, 2, 3)
                ],
            },
            "replica-set-config": {
                "config": {
                    "_id": "rs0",
                    "version": 4,
                    "protocolVersion": 1,
                    "members": [{"_id": n, "host": f"m{n}:27018"} for n in (1, 2, 3)],
                }
            },
            "databases": {"databases": [{"name": "shop"}, {"name": "admin"}]},
        }  # fmt: skip

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del limit_s
        found = self.told.get(read.name, QueryFailed("No such command.", host=self.host, errno=59))
        if isinstance(found, UserError):
            raise found
        return Reply(copy.deepcopy(found))


class Set(ScriptedHosts):
    def __init__(self) -> None:
        super().__init__()
        self.members = {f"m{n}": Member(n) for n in (1, 2, 3)}
        self.sessions.update(self.members)

    def says(self, host: str, number: int, **more: Any) -> None:
        """Let one member say something of a member."""
        status = self.members[host].told["replica-set-status"]
        assert isinstance(status, dict)
        rows = status["members"]
        assert isinstance(rows, list)
        row = rows[number - 1]
        assert isinstance(row, dict)
        row.update(more)

    def everybody(self, part: str, **more: Any) -> None:
        """Let every member say something of the set: part 'status' or 'config'."""
        for member in self.members.values():
            told = member.told[f"replica-set-{part}"]
            assert isinstance(told, dict)
            inner = told["config"] if part == "config" else told
            assert isinstance(inner, dict)
            inner.update(more)

    def old(self) -> None:
        """protocolVersion 0: no term, an optime is a bare timestamp."""
        self.everybody("config", protocolVersion=0)
        self.everybody("status", term=-1)
        for host in HOSTS:
            for number in (1, 2, 3):
                self.says(host, number, optime=Stamp(NOW, 1))


@pytest.fixture
def hosts() -> Set:
    return Set()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def prover(hosts: Set, clock: ManualClock) -> Attempt:
    return Attempt(hosts, clock)


def test_that_a_set_is_whole_only_by_every_members_own_word(prover: Attempt, hosts: Set) -> None:
    assert prover.look(SetWhole(HOSTS), NOTHING).holds is True
    assert prover.look(SetWhole(HOSTS, primary="m1"), NOTHING).holds is True
    assert prover.look(SetWhole(HOSTS, primary="m2"), NOTHING).holds is False
    hosts.says("m3", 3, state=STATES["RECOVERING"])
    answer = prover.look(SetWhole(HOSTS), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "m3 is RECOVERING")


@pytest.mark.parametrize("errno", [76, 94])
def test_that_a_server_which_is_in_no_set_says_so_and_was_read(prover: Attempt, hosts: Set, errno: int) -> None:
    """As a read that failed it made every rehearsal end with 'could not be read' where a set is made in the run."""
    hosts.members["m1"].told["replica-set-status"] = QueryFailed("not running with --replSet", host="m1", errno=errno)
    answer = prover.look(SetWhole(HOSTS), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "m1 is in no replica set")
    hosts.members["m2"].told["replica-set-status"] = Unreachable("No answer.", host="m2")
    assert prover.look(SetWhole(HOSTS), NOTHING).holds is None


def test_that_two_primaries_or_none_are_no_whole_set(prover: Attempt, hosts: Set) -> None:
    hosts.says("m2", 2, state=STATES["PRIMARY"])
    answer = prover.look(SetWhole(HOSTS), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "primary is m1 and m2")
    hosts.says("m1", 1, state=STATES["SECONDARY"])
    hosts.says("m2", 2, state=STATES["SECONDARY"])
    assert prover.look(SetWhole(HOSTS), NOTHING).evidence == "primary is nobody"


def test_that_a_member_that_only_the_primary_can_tell_of_counts_too(prover: Attempt, hosts: Set) -> None:
    hosts.says("m1", 3, health=0.0, state=STATES["DOWN"])
    answer = prover.look(SetWhole(("m1", "m2")), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "m1 sees m3:27018 as DOWN")


@pytest.mark.parametrize(
    "condition",
    [SetWhole(HOSTS), ProtocolIs(HOSTS, 1), OptimesOf(HOSTS, 1), SetSteady(HOSTS, 5.0)],
    ids=lambda c: c.tag,
)
def test_that_what_a_silent_member_hides_is_not_known(prover: Attempt, hosts: Set, condition: Any) -> None:
    hosts.members["m2"].told["replica-set-status"] = Unreachable("It does not answer.", host="m2")
    answer = prover.look(condition, NOTHING)
    assert (answer.holds, answer.evidence) == (None, "m2: It does not answer.")
    hosts.members["m2"].told["replica-set-status"] = {"set": "rs0", "members": []}
    assert prover.look(condition, NOTHING).holds is None


def test_that_a_protocol_runs_where_every_member_has_it_and_its_terms(prover: Attempt, hosts: Set) -> None:
    assert prover.look(ProtocolIs(HOSTS, 1), NOTHING).holds is True
    assert prover.look(ProtocolIs(HOSTS, 0), NOTHING).holds is False
    hosts.old()
    assert prover.look(ProtocolIs(HOSTS, 0), NOTHING).holds is True
    hosts.everybody("config", protocolVersion=1)  # written, and not yet in use
    answer = prover.look(ProtocolIs(HOSTS, 1), NOTHING)
    assert (answer.holds, "m1 has protocolVersion 1 and term -1" in answer.evidence) == (False, True)


def test_that_entries_of_a_protocol_are_told_by_the_form_of_the_optime(prover: Attempt, hosts: Set) -> None:
    assert prover.look(OptimesOf(HOSTS, 1), NOTHING).holds is True
    hosts.says("m3", 3, optime=Stamp(NOW, 1))
    answer = prover.look(OptimesOf(HOSTS, 1), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "not yet: m3 (t: -1)")
    hosts.says("m3", 3, optime="nothing of the kind")
    assert prover.look(OptimesOf(HOSTS, 1), NOTHING).holds is None
    hosts.old()
    assert prover.look(OptimesOf(HOSTS, 0), NOTHING).holds is True


def test_that_a_set_is_steady_after_so_long_without_a_fault(prover: Attempt, hosts: Set, clock: ManualClock) -> None:
    steady = SetSteady(HOSTS, 6.0)
    for _ in range(3):
        assert prover.look(steady, NOTHING).holds is False
        clock.sleep(2.0)
    assert prover.look(steady, NOTHING).holds is True


def test_that_a_member_behind_what_the_primary_had_before_breaks_it(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    steady = SetSteady(HOSTS, 6.0)
    prover.look(steady, NOTHING)
    hosts.says("m2", 2, optime={"ts": Stamp(NOW - 30, 1), "t": 1})
    clock.sleep(2.0)
    answer = prover.look(steady, NOTHING)
    assert (answer.holds, answer.evidence) == (False, "m2 is 30 s behind")


def test_that_the_first_write_after_a_pause_is_no_lag(prover: Attempt, hosts: Set, clock: ManualClock) -> None:
    steady = SetSteady(HOSTS, 6.0)
    prover.look(steady, NOTHING)
    hosts.says("m1", 1, optime={"ts": Stamp(NOW + 600, 1), "t": 1})  # made while the others had been asked already
    clock.sleep(2.0)
    assert "behind" in (answer := prover.look(steady, NOTHING)).evidence
    assert answer.evidence.startswith("m1 is primary, no member is 10 s behind, for 2 of 6 s")
    clock.sleep(2.0)  # it is one now, if they never get it
    assert prover.look(steady, NOTHING).evidence.startswith("m2 is 600 s behind")


def test_that_a_member_that_lets_the_majority_wait_is_behind_though_nothing_newer_is_written(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    """fsyncLock on 3.2.5: every write with w: "majority" hangs, and the entries stay a second apart for ever."""
    steady = SetSteady(HOSTS, 6.0)
    hosts.everybody("status", date=NOW + 1.0)
    hosts.says("m3", 3, optime={"ts": Stamp(NOW - 1, 1), "t": 1})
    prover.look(steady, NOTHING)
    clock.sleep(2.0)
    hosts.everybody("status", date=NOW + 40.0)
    answer = prover.look(steady, NOTHING)
    assert (answer.holds, answer.evidence) == (False, "m3 is 39 s behind")


def test_that_an_election_by_terms_is_told_by_the_term(prover: Attempt, hosts: Set) -> None:
    hosts.everybody("status", term=0)
    assert prover.look(NobodyElected(HOSTS), NOTHING).holds is True
    hosts.everybody("status", term=3)
    answer = prover.look(NobodyElected(HOSTS), NOTHING)
    assert (answer.holds, answer.evidence) == (False, "an election by terms took place: the term is 3")


def test_that_a_successor_has_the_newest_entry_of_the_same_term(prover: Attempt, hosts: Set) -> None:
    follows = SuccessorFollows(HOSTS)
    assert prover.look(follows, NOTHING).holds is False  # nothing to compare with yet
    assert prover.look(follows, NOTHING).holds is True
    hosts.says("m1", 1, optime={"ts": Stamp(NOW, 2), "t": 2})  # elected anew: the others have entries to roll back
    for number in (2, 3):
        hosts.says(f"m{number}", number, optime={"ts": Stamp(NOW + 5, 1), "t": 1})
    prover.look(follows, NOTHING)
    answer = prover.look(follows, NOTHING)
    assert (answer.holds, answer.evidence) == (False, "no electable member has the newest entry of the primary")


def test_that_a_set_that_elects_again_and_again_ends_the_wait(prover: Attempt, hosts: Set, clock: ManualClock) -> None:
    steady = SetSteady(HOSTS, 60.0)
    prover.look(steady, NOTHING)
    hosts.everybody("status", term=3)
    assert prover.look(steady, NOTHING).final is False
    hosts.everybody("status", term=4)
    clock.sleep(1.0)
    answer = prover.look(steady, NOTHING)
    assert (answer.holds, answer.final, "from 1 to 4" in answer.evidence) == (False, True, True)


def _led_by(hosts: Set, leading: int, **priorities: int) -> None:
    for number in (1, 2, 3):
        hosts.says(f"m{number}", number, state=1 if number == leading else 2)
    members = [{"_id": n, "host": f"m{n}:27018", "priority": priorities.get(f"m{n}", 1)} for n in (1, 2, 3)]
    hosts.everybody("config", members=members)


def _looked_for(prover: Attempt, clock: ManualClock, seconds: int) -> Answer:
    for _ in range(seconds // 2):
        answer = prover.look(LedForGood(HOSTS, 4.0), NOTHING)
        clock.sleep(2.0)
    return answer


def test_that_a_set_is_led_for_good_once_the_preferred_member_leads(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    _led_by(hosts, 2, m1=2)
    told = _looked_for(prover, clock, 20)
    assert (told.holds, told.evidence.startswith("m1 may become primary by priority")) == (False, True), told
    _led_by(hosts, 1, m1=2)
    assert _looked_for(prover, clock, 4).holds is False
    assert _looked_for(prover, clock, 2).holds is True


def test_that_a_preferred_member_that_does_not_take_the_lead_is_not_waited_for_for_ever(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    _led_by(hosts, 2, m1=2)
    assert _looked_for(prover, clock, 30).holds is False
    assert _looked_for(prover, clock, 2).holds is True


def test_that_a_longer_election_timeout_is_a_longer_wait_for_the_preferred_member(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    _led_by(hosts, 2, m1=2)
    hosts.everybody("config", settings={"electionTimeoutMillis": 30_000})
    assert _looked_for(prover, clock, 90).holds is False
    assert _looked_for(prover, clock, 2).holds is True


def test_that_where_nobody_is_preferred_any_primary_leads_for_good(
    prover: Attempt, hosts: Set, clock: ManualClock
) -> None:
    _led_by(hosts, 2)
    assert _looked_for(prover, clock, 6).holds is True


def test_that_a_database_is_gone_only_where_the_names_were_told(prover: Attempt, hosts: Set) -> None:
    assert prover.look(NoDatabase("m1", "trial"), NOTHING).holds is True
    assert prover.look(NoDatabase("m1", "shop"), NOTHING).holds is False
    hosts.members["m1"].told["databases"] = {"ok": 1.0}
    assert prover.look(NoDatabase("m1", "trial"), NOTHING).holds is None
