"""mongo-rolling-upgrade: every server replaced by a newer one in the order of its release, one at a time.

Domain: MongoDB manual, "Upgrade a Replica Set to ...", "Upgrade a Sharded Cluster to ..." (see order.py). The binaries
are the operator's own step; that it was made is proven by what the server says of itself, that the set bears the next
one by its members' own words.
"""

from __future__ import annotations

from services.facts.mongodb.server import release
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.access import lock_free
from services.procedures.catalogue.mongodb.cards import ELSEWHERE, KINDS, NEED
from services.procedures.catalogue.mongodb.rolling_upgrade import checks as own
from services.procedures.catalogue.mongodb.rolling_upgrade.steps import (
    mirror_steps,
    nobody_else,
    router_steps,
    set_steps,
    set_watches,
)
from services.procedures.catalogue.mongodb.shared import checks as shared
from services.procedures.catalogue.mongodb.shared.balancing import balancer_known, with_it_off
from services.procedures.catalogue.mongodb.shared.checks import same_of
from services.procedures.catalogue.mongodb.shared.only_a_person_knows import confirmed, questions
from services.procedures.catalogue.mongodb.shared.order import Order, half_way, order_of
from services.procedures.catalogue.mongodb.shared.sets import mongo_of, names_of, parts_of
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.instances import standing_on
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.procedure import About

ABOUT = About(
    name="mongo-rolling-upgrade",
    title="Replace the servers by a newer release, one at a time",
    need=NEED,
    what="Guides you from server to server in the right order; you install the binaries, the run verifies each "
    "version.",
    takes="Your time for each server, and the minutes until it has caught up.",
    can_break="Each set runs one member short and elects once, or twice if its primary has the highest priority.",
    for_states=("member",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=210,
    needs=frozenset({MongoRights}),
)
CALM_S = 30.0
_CLUSTER = ("replSetStateChange",)
"""MongoDB manual, "Privilege Actions": what replSetStepDown needs."""


class RollingUpgrade(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: to which version, what only a person knows, how long a set is watched."""
        del facts, inputs
        return (
            Field(
                "version", "The new version", "text", "", help="The complete version, as the server reports it: 3.2.22."
            ),
            *questions(),
            Field("calm", "How long a set must be healthy before the next server", "duration", "30 s", advanced=True),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = super().faults(facts, inputs)
        if not faults and ".".join(map(str, release(inputs["version"]) or ())) != inputs["version"].strip():
            return (Fault("version", "The new version: enter it completely, like 3.2.22."),)
        return faults

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values, order = self.values(facts, inputs), order_of(facts)
        target = release(values["version"]) or (0, 0, 0)
        sets = order.replica_sets(target[:2])
        leading = tuple(one.primary for one in sets if one.primary)
        return (
            own.every_server(facts, order),
            own.one_further(facts, order, target),
            own.nothing_too_old(facts, order, target),
            own.compatibility(facts, order, target),
            own.one_form(facts, order),
            *((same_of(facts, order.mirrors),) if order.mirrors else ()),
            *(c for one in sets for c in (shared.set_whole(one), shared.set_lag(one), own.another_can_lead(one))),
            *((balancer_known(facts, order.routers[0]),) if order.routers else ()),
            shared.may_change(facts, leading, _CLUSTER, ()),
            *confirmed(
                values,
                clients_why="Each set elects once, or twice if its primary has the highest priority, and closes all "
                "connections to it.",
                backup_why="If a release fails on your data, only a backup leads back.",
            ),
            lock_free(facts, order.hosts),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps where every server runs the version, and where config servers are half way
        converted: the checks say so."""
        values, order = self.values(facts, inputs), order_of(facts)
        version = values["version"]
        target = release(version) or (0, 0, 0)
        nothing = _done(facts, order, version) or half_way(facts, order)
        steps = () if nothing else _steps(facts, order, target, values)
        sets = order.replica_sets(target[:2])
        return Plan(
            procedure=ABOUT.name,
            title=f"Replace the servers by {version}, one at a time",
            summary="In the order that the release requires; you install the binaries, the run verifies each server's "
            "version.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=order.hosts,
            quorums=(
                *((*one.hosts, *one.arbiters) for one in sets),
                *((order.mirrors,) if order.mirrors else ()),
            ),
            inputs=tuple(values.items()),
            steps=looked_again(steps),
            watches=tuple(rule for one in sets for rule in set_watches(one, version)) if steps else (),
            charts=tuple(Chart("mongo.lag", host, f"Lag of {host}") for one in sets for host in one.hosts),
            expects=(f"Every server of the plan runs {version}, every set is healthy, and the balancer is as before.",),
            on=standing_on(facts, order.hosts),
            parts=parts_of(sets, order.hosts),
        )


PROCEDURE = RollingUpgrade()


def _cluster_id(facts: Facts, order: Order) -> str:
    views = (mongo_of(facts.host(host)) for host in order.routers)
    return next((m.cluster.id for m in views if m is not None and m.cluster is not None and m.cluster.id), "")


def _shards(facts: Facts, order: Order) -> tuple[str, ...]:
    views = (mongo_of(facts.host(host)) for host in order.routers)
    known = (m.cluster.shards for m in views if m is not None and m.cluster is not None and m.cluster.shards)
    return tuple(shard.name for shard in next(known, ()))


def _done(facts: Facts, order: Order, version: str) -> bool:
    views = (mongo_of(facts.host(host)) for host in order.hosts)
    return all(mongo is not None and mongo.server.version == version for mongo in views)


def _steps(facts: Facts, order: Order, target: tuple[int, int, int], values: Inputs) -> tuple[Step, ...]:
    version, calm = values["version"], seconds_of(values["calm"]) or CALM_S
    router, sets = order.routers[0] if order.routers else "", order.replica_sets(target[:2])
    steps = (
        *(step for one in sets for step in set_steps(one, version, calm, order.routers)),
        *mirror_steps(order.mirrors, version, order.routers),
        *router_steps(order.routers, version, _cluster_id(facts, order)),
    )
    names = tuple(dict.fromkeys(name for host in order.routers for name in names_of(facts.host(host))))
    return (*with_it_off(facts, order.routers, steps), *nobody_else(sets, router, names, _shards(facts, order)))
