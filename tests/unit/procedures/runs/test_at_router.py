"""What any mongos of a cluster may do: the first that answers does it; a run does not hang on the one of its plan."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.change import command
from services.connections.mongo.document import Reply
from services.connections.reads import mongo as reads
from services.errors import Unreachable
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting import RealActor
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.actions import AtRouter, Mongo
from services.procedures.plan.invariants.plans import changes, touched
from services.procedures.plan.run_model import RunState
from services.procedures.plan.wording import wording
from tests.faults.scripted import config_servers
from tests.faults.scripted.running import Bench, Killed
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, ScriptedSession

SENT = command("config", update="settings", ordered=1)
ACTION = AtRouter(("r1", "r2"), Mongo(SENT))


@dataclass
class _Hosts:
    """The mongos that are gone, and what was sent to the others."""

    gone: frozenset[str]
    sent: list[tuple[str, object]] = field(default_factory=list)

    def observer(self, host: str) -> Any:
        def ask(read: object, *, limit_s: float) -> None:
            assert read is reads.CONFIG_SETTINGS
            assert limit_s > 0
            if host in self.gone:
                raise Unreachable("No route to host.", host=host)

        return SimpleNamespace(ask=ask)

    def operator(self, host: str) -> Any:
        def change(what: object, *, limit_s: float) -> None:
            assert limit_s > 0
            self.sent.append((host, what))

        return SimpleNamespace(change=change)


def _perform(hosts: _Hosts) -> tuple[str, ...]:
    actor = RealActor(hosts, "47", ManualClock())  # type: ignore[arg-type]
    return actor.perform("balancer-on", "r1", ACTION, {}, limit_s=30.0).output


@pytest.mark.parametrize(("gone", "at"), [((), "r1"), (("r1",), "r2")])
def test_that_it_goes_once_to_the_first_that_answers(gone: tuple[str, ...], at: str) -> None:
    hosts = _Hosts(frozenset(gone))
    assert _perform(hosts)[0] == f"// at {at}"
    assert hosts.sent == [(at, SENT)]


def test_that_nothing_is_sent_where_none_answers() -> None:
    hosts = _Hosts(frozenset({"r1", "r2"}))
    with pytest.raises(ActFailed) as failed:
        _perform(hosts)
    assert "r1: No route to host. r2: No route to host." in failed.value.sentence
    assert (failed.value.safe, hosts.sent) == ("Nothing was sent.", [])


def test_that_a_plan_shows_it_keeps_it_and_holds_its_mongos_for_touched() -> None:
    assert wording(ACTION)[0] == "// at r1, or r2 where it does not answer"
    assert len(wording(AtRouter(("r1",), Mongo(SENT)))) == 1
    assert decode(AtRouter, json.loads(json.dumps(encode(ACTION)))) == ACTION
    assert touched(ACTION) == {"r1", "r2"}
    assert changes(ACTION)


class _Router(ScriptedSession):
    """A mongos with the balancer off and nothing on its way, or one that is gone."""

    gone = False

    def ask(self, read: Any, *, limit_s: float = 5.0) -> Reply:
        del limit_s
        if self.gone:
            raise Unreachable("No route to host.", host=self.host)
        rows: dict[str, tuple[dict[str, Any], ...]] = {"config-settings": ({"_id": "balancer", "stopped": True},)}
        return Reply({"inBalancerRound": False}, rows.get(read.name, ()))


@pytest.mark.parametrize("condition", [BalancerIs("r1", on=False, others=("r2",)), NothingMoves("r1", ("r2",))])
def test_that_a_look_is_made_through_the_first_that_answers(condition: Any) -> None:
    hosts = ScriptedHosts()
    first, second = _Router("r1"), _Router("r2")
    hosts.sessions.update(r1=first, r2=second)
    look = Attempt(hosts, ManualClock()).look
    first.gone = True
    assert look(condition, NOTHING).holds is True
    second.gone = True
    assert look(condition, NOTHING).holds is None


def test_that_a_condition_of_an_older_journal_still_reads_one_mongos() -> None:
    kept = encode(BalancerIs("r1", on=True))
    assert "others" not in json.dumps(kept)
    assert decode(BalancerIs, kept) == BalancerIs("r1", on=True)


def test_that_an_undo_switches_the_balancer_on_though_the_first_mongos_is_gone() -> None:
    """It stayed off until that one was back."""
    inputs = {"new": "n1,n2", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"}
    bench = Bench(config_servers.sharded("n1", "n2"), "mongo-config-rs", inputs)
    bench.begin()

    def killed(_: object, what: str) -> None:
        if "nothing-moves" in what:
            raise Killed

    bench.journal.told = killed
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    assert bench.cluster.replica_set["balancer"] == 0
    bench.cluster.hosts["r1"].reachable = False
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.cluster.replica_set["balancer"] == 1
