"""The balancer of a sharded cluster, switched off for a while: an obligation.

MongoDB manual, "Manage Sharded Cluster Balancer": sh.stopBalancer sets `stopped` of the document 'balancer' in
config.settings through a mongos, and waits until the round that is under way has ended.
"""

from __future__ import annotations

from services.connections.mongo.change import Documents, MongoCommand, command, fields
from services.procedures.catalogue.mongodb.sets import mongo_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.plan.actions import Mongo, WaitFor
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step

_WRITTEN_MS = 20_000
_ROUND_S = 1_800.0
_AGAIN_S = 180.0
"""A mongos whose config servers were restarted refuses even a login for some seconds."""
KEY = "balancer"


def with_it_off(facts: Facts, router: str, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps with the balancer off meanwhile, where it is on as this mongos reads it ('' for none)."""
    mongo = mongo_of(facts.host(router)) if router else None
    if mongo is None or mongo.cluster is None or mongo.cluster.balancer is not True:
        return steps
    return (*stop_steps(router), *steps, start_step(router))


def stop_steps(router: str) -> tuple[Step, ...]:
    """Return the steps that switch it off and wait until nothing is on its way."""
    stop = Step(
        step_id="balancer-off",
        host=router,
        title="Switch the balancer off",
        done="The balancer is off",
        why="A chunk that moves while servers are replaced is copied anew, and holds locks of the cluster.",
        action=Mongo(_switch(stopped=True)),
        before=(BalancerIs(router, on=True),),
        proof=(BalancerIs(router, on=False),),
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )
    wait = Step(
        step_id="nothing-moves",
        host="",
        title="Wait until no chunk is on its way",
        done="No chunk is on its way",
        action=WaitFor((NothingMoves(router),), "the round of the balancer to end"),
        risk=Risk.READS,
        limit_s=_ROUND_S,
        repeatable=True,
        estimate_s=10.0,
    )
    return (_balancer(router).on(stop, "Switch the balancer on again", _AGAIN_S), wait)


def start_step(router: str) -> Step:
    """Return the step that switches it on again."""
    return _balancer(router).off("balancer-on", "Switch the balancer on again", "The balancer is on", 1.0)


def _balancer(router: str) -> Temporary:
    return Temporary(
        key=KEY,
        host=router,
        sentence="the balancer is off",
        danger="shards fill unevenly",
        release=Mongo(_switch(stopped=False)),
        released=(BalancerIs(router, on=True),),
    )


def _switch(*, stopped: bool) -> MongoCommand:
    change = fields(q=fields(_id="balancer"), u=fields(**{"$set": fields(stopped=stopped)}), upsert=True)
    concern = fields(w="majority", wtimeout=_WRITTEN_MS)
    return command("config", update="settings", updates=Documents((change,)), writeConcern=concern)
