"""The balancer of a sharded cluster, switched off for a while: an obligation.

MongoDB manual, "Manage Sharded Cluster Balancer": sh.stopBalancer sets `stopped` of the document 'balancer' in
config.settings through a mongos, and waits until the round that is under way has ended.
"""

from __future__ import annotations

from services.connections.mongo.change import Documents, command, fields
from services.procedures.catalogue.checks.parts import checked
from services.procedures.catalogue.mongodb.shared.sets import mongo_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.mongodb.balancer import BalancerIs, NothingMoves
from services.procedures.plan.actions import AtRouter, Mongo, WaitFor
from services.procedures.plan.checks import Check
from services.procedures.plan.condition import Condition
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step

_WRITTEN_MS = 20_000
_ROUND_S = 1_800.0
_AGAIN_S = 180.0
"""A mongos whose config servers were restarted refuses even a login for some seconds."""
KEY = "balancer"
_ON, _SWITCH_ON = "balancer-on", "Enable the balancer again"


def with_it_off(facts: Facts, routers: tuple[str, ...], steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps with the balancer off meanwhile, where it is on as the first mongos reads it (() for none)."""
    mongo = mongo_of(facts.host(routers[0])) if routers else None
    if mongo is None or mongo.cluster is None or mongo.cluster.balancer is not True:
        return steps
    return (*_stop_steps(routers), *steps, _balancer(routers).off(_ON, _SWITCH_ON, "The balancer is on", 1.0))


def at_rest(routers: tuple[str, ...], config: tuple[str, ...] = ()) -> tuple[Condition, ...]:
    """Return that it is off and nothing on its way, () where there is no mongos: hours lie between two servers, and a
    colleague may have switched it on since, or move a chunk by hand.

    Args:
        config: config servers that tell of the switch where no mongos does.
    """
    return (switched((*routers, *config), on=False), NothingMoves(routers[0], routers[1:])) if routers else ()


def switched(routers: tuple[str, ...], *, on: bool) -> BalancerIs:
    """Return that it is on, or off, as the first of these mongos that answers reads it."""
    return BalancerIs(routers[0], on, routers[1:])


def _stop_steps(routers: tuple[str, ...]) -> tuple[Step, ...]:
    stop = Step(
        step_id="balancer-off",
        host=routers[0],
        title="Disable the balancer",
        done="The balancer is off",
        why="A chunk that moves while servers are replaced is copied again and holds locks of the cluster.",
        action=_switch(routers, stopped=True),
        before=(switched(routers, on=True),),
        proof=(switched(routers, on=False),),
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )
    wait = Step(
        step_id="nothing-moves",
        host="",
        title="Wait until no chunk migration runs",
        done="No chunk migration runs",
        action=WaitFor((NothingMoves(routers[0], routers[1:]),), "the round of the balancer to end"),
        risk=Risk.READS,
        limit_s=_ROUND_S,
        repeatable=True,
        estimate_s=10.0,
    )
    return (_balancer(routers).on(stop, _SWITCH_ON, _AGAIN_S), wait)


def _balancer(routers: tuple[str, ...]) -> Temporary:
    return Temporary(
        key=KEY,
        host=routers[0],
        sentence="the balancer is off",
        danger="shards fill unevenly",
        release=_switch(routers, stopped=False),
        released=(switched(routers, on=True),),
    )


def _switch(routers: tuple[str, ...], *, stopped: bool) -> AtRouter:
    """By whichever mongos answers then: with the one that was asked first gone, an undo would leave it off."""
    change = fields(q=fields(_id="balancer"), u=fields(**{"$set": fields(stopped=stopped)}), upsert=True)
    concern = fields(w="majority", wtimeout=_WRITTEN_MS)
    sent = command("config", update="settings", updates=Documents((change,)), writeConcern=concern)
    return AtRouter(routers, Mongo(sent))


def balancer_known(facts: Facts, router: str) -> Check:
    """Whether the balancer is on has to be known: it is left as it was found."""
    mongo = mongo_of(facts.host(router))
    cluster = mongo.cluster if mongo is not None else None
    on = cluster.balancer if cluster is not None else None
    mode = cluster.balancer_mode if cluster is not None else ""
    unknown = f"its mode is {mode}, which the console does not know" if mode else "its settings could not be read"
    return checked(
        "BALANCER",
        "The state of the balancer is known",
        block=[unknown] if on is None else [],
        good="it is on" if on else "it is off and stays off",
        why="The run disables it while servers are replaced, and restores its state.",
        try_=(f"Let the console's account read the database config through {router}, then check again.",),
    )
