"""What goes to whoever leads a set when it is sent: found by each member's own word, never guessed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.change import SetChange, command
from services.connections.reads import mongo as reads
from services.errors import QueryFailed, Unreachable, UserError
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting import RealActor
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.actions import AtPrimary, Mongo, Reconfigure
from services.procedures.plan.invariants.plans import changes, touched
from services.procedures.plan.run_model import RunState
from services.procedures.plan.wording import wording
from tests.faults.scripted import mongo
from tests.faults.scripted.running import Bench, Killed

BACK = SetChange(6, (("protocolVersion", 0),))
DROP = command("trial", dropDatabase=1)
ACTION = AtPrimary(("m1", "m2", "m3"), (Reconfigure(BACK), Mongo(DROP)))


@dataclass
class _Hosts:
    """Member -> its state by its own word, or why it tells nothing; every change that was sent, with its place."""

    states: dict[str, int | UserError]
    sent: list[tuple[str, object]] = field(default_factory=list)

    def observer(self, host: str) -> Any:
        def ask(read: object, *, limit_s: float) -> Any:
            del limit_s
            assert read is reads.SET_STATUS
            state = self.states[host]
            if isinstance(state, UserError):
                raise state
            members = [{"_id": 1, "name": f"{host}:27018", "self": True, "state": state, "health": 1}]
            return SimpleNamespace(body={"set": "rs0", "members": members})

        return SimpleNamespace(ask=ask)

    def operator(self, host: str) -> Any:
        def sent(what: object, *, limit_s: float) -> None:
            assert limit_s > 0
            if self.states[host] != 1:
                raise QueryFailed("not master", host=host)
            self.sent.append((host, what))

        return SimpleNamespace(reconfigure=sent, change=sent)


def _perform(hosts: _Hosts) -> tuple[str, ...]:
    actor = RealActor(hosts, "47", ManualClock())  # type: ignore[arg-type]
    return actor.perform("protocol-rs0", "m1", ACTION, {}, limit_s=30.0).output


def test_that_it_goes_to_the_member_that_leads_now_and_says_so() -> None:
    hosts = _Hosts({"m1": 2, "m2": 1, "m3": Unreachable("No route to host.", host="m3")})
    assert _perform(hosts)[0] == "// at m2"
    assert hosts.sent == [("m2", BACK), ("m2", DROP)]


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ({"m1": 2, "m2": 2, "m3": 2}, "None of m1, m2, m3 is primary now."),
        ({"m1": 2, "m2": 2, "m3": Unreachable("No route to host.", host="m3")}, "m3: No route to host."),
        ({"m1": 1, "m2": 1, "m3": 2}, "Two members report that they are primary: m1, m2."),
    ],
)
def test_that_nothing_is_sent_where_nobody_leads_or_two_say_so(states: dict[str, int | UserError], told: str) -> None:
    hosts = _Hosts(states)
    with pytest.raises(ActFailed) as failed:
        _perform(hosts)
    assert told in failed.value.sentence
    assert (failed.value.safe, hosts.sent) == ("Nothing was sent.", [])


def test_that_a_plan_shows_it_keeps_it_and_holds_its_members_for_touched() -> None:
    assert wording(ACTION)[:2] == (
        "// at whichever of m1, m2, m3 is primary then",
        "cfg = rs.conf()   // only while cfg.version is 6",
    )
    assert decode(AtPrimary, json.loads(json.dumps(encode(ACTION)))) == ACTION
    assert touched(ACTION) == {"m1", "m2", "m3"}
    assert changes(ACTION)


def _bench(told: Callable[[Bench, str], None]) -> Bench:
    """A run of the three members, and who listens to each entry of its journal."""
    bench = Bench(mongo.replica_set("m1", "m2", "m3"), "mongo-protocol-upgrade", {"clients": "yes", "backup": "yes"})
    bench.begin()
    bench.journal.told = lambda _, what: told(bench, what)
    return bench


def _broken_off(step: str) -> Bench:
    """A run whose console was killed in a step, with the new protocol set."""

    def killed(_: Bench, what: str) -> None:
        if step in what:
            raise Killed

    bench = _bench(killed)
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    assert bench.cluster.replica_set["protocol"] == 1
    return bench


def test_that_the_protocol_is_taken_back_at_whoever_leads_now() -> None:
    """It named the former primary: after an election the undo was refused for ever."""
    bench = _broken_off("steady acting")
    bench.cluster.replica_set["primary"] = "m2"
    before = bench.cluster.hosts["m1"].changes
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.cluster.replica_set["protocol"] == 0
    assert (bench.cluster.hosts["m1"].changes, bench.cluster.hosts["m2"].changes) == (before, 1)


def test_that_a_trial_left_on_a_set_is_dropped_at_whoever_leads_now() -> None:
    bench = _broken_off("majority-rs0 proving")
    bench.cluster.replica_set.update(primary="m3", trial=1)
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.cluster.replica_set["trial"] == 0


def test_that_a_write_by_the_majority_is_tried_where_the_change_made_another_one_lead() -> None:
    def elects(bench: Bench, what: str) -> None:
        if "entries-rs0 acting" in what:
            bench.cluster.replica_set["primary"] = "m2"

    bench = _bench(elects)
    assert bench.run() is RunState.DONE
    assert bench.cluster.replica_set["trial"] == 0
    assert bench.cluster.hosts["m2"].changes == 2
