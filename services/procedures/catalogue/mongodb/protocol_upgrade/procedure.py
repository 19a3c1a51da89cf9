"""mongo-protocol-upgrade: protocolVersion 1 for replica sets that were made before 3.2, one set at a time.

Domain: protocolVersion 1 elects by terms, not by clocks, and is needed before 4.0 (MongoDB manual, "Replica Set
Protocol Versions", "Upgrade a Replica Set to 3.2"). Tried on 3.2: the primary stays, no client sees an error, the term
goes from -1 to 0, an optime from a bare timestamp to {ts, t}. The way back is the same change with 0 (up to 3.6).
"""

from __future__ import annotations

from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.access import lock_free
from services.procedures.catalogue.mongodb.cards import ELSEWHERE, KINDS, NEED
from services.procedures.catalogue.mongodb.protocol_upgrade import checks as own
from services.procedures.catalogue.mongodb.protocol_upgrade.steps import set_steps, steady_step
from services.procedures.catalogue.mongodb.shared import checks as shared
from services.procedures.catalogue.mongodb.shared.only_a_person_knows import confirmed, questions
from services.procedures.catalogue.mongodb.shared.scratch import scratch_of
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, parts_of, sets_of
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.forms.inputs import seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.instances import standing_on
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan
from services.procedures.plan.parts.mongodb.last_vote import LastVote
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.procedure import About

ABOUT = About(
    name="mongo-protocol-upgrade",
    title="Move replica sets to protocol version 1",
    need=NEED,
    what="Sets protocolVersion 1 in one replica set after the other, and verifies elections and acknowledged writes "
    "in each.",
    takes="Seconds for each set, then the minutes that you watch it.",
    can_break="A primary may step down once: clients that do not retry see an error.",
    for_states=("member",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=200,
    needs=frozenset({LastVote, MongoRights}),
)
EVERY = "every"
STEADY_S = 300.0
_CLUSTER, _DATABASES = ("replSetConfigure",), ("insert", "dropDatabase")
"""MongoDB manual, "Privilege Actions"."""


class ProtocolUpgrade(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: which sets, how long to look, what only a person knows."""
        del inputs
        old = _old(facts)
        names, every = ", ".join(one.name for one in old) or "none", _every(old)
        choices = ((every, f"every set with protocolVersion 0: {names}"), *((o.name, f"{o.name} alone") for o in old))
        return (
            Field("sets", "Replica sets", "choice", every, choices),
            *questions(),
            Field("steady", "How long each set is watched at the end", "duration", "5 min", advanced=True),
        )

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values = self.values(facts, inputs)
        chosen = _chosen(facts, values)
        hosts = _hosts(chosen)
        return (
            own.every_set(facts, all_of_them=values["sets"] == _every(_old(facts))),
            *(check for one in chosen for check in _of_set(facts, one)),
            shared.may_change(facts, tuple(one.primary for one in chosen if one.primary), _CLUSTER, _DATABASES),
            *confirmed(
                values,
                clients_why="The change may make a primary step down, and closes connections.",
                backup_why="Writes that an election rolls back are in a backup, or lost.",
            ),
            lock_free(facts, hosts),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps where no set is of the old protocol."""
        values = self.values(facts, inputs)
        chosen = tuple(one for one in _chosen(facts, values) if one.primary)
        names, hosts = ", ".join(one.name for one in chosen), _hosts(chosen)
        steps = tuple(step for one in chosen for step in set_steps(one, scratch_of(facts)))
        last = (steady_step(chosen, seconds_of(values["steady"]) or STEADY_S),) if chosen else ()
        return Plan(
            procedure=ABOUT.name,
            title=f"Move {names} to protocol version 1" if chosen else "No set has protocol version 0",
            summary="One set after the other: its configuration, its first entries with it, a write by the majority.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=hosts,
            quorums=tuple(one.hosts for one in chosen),
            inputs=tuple(values.items()),
            steps=looked_again((*steps, *last)),
            charts=tuple(Chart("mongo.lag", host, f"Lag of {host}") for host in hosts if host not in _leading(chosen)),
            expects=tuple(
                f"{one.name} runs protocolVersion 1, one member is primary, no member lags." for one in chosen
            ),
            on=standing_on(facts, hosts),
            parts=parts_of(chosen, hosts),
        )


PROCEDURE = ProtocolUpgrade()


def _of_set(facts: Facts, one: GatheredSet) -> tuple[Check, ...]:
    return (
        shared.set_whole(one),
        shared.set_versions(facts, one),
        shared.set_lag(one),
        own.old_entries(one),
        own.no_terms_before(facts, one),
        own.delayed(one),
        own.minor_version(one),
        own.burn_in(one),
        own.election_timeout(one),
    )


def _old(facts: Facts) -> tuple[GatheredSet, ...]:
    """Return the sets that may still be of protocol 0: what is not known is shown, and its checks say so."""
    return tuple(one for one in sets_of(facts) if one.protocol != 1)


def _chosen(facts: Facts, values: Inputs) -> tuple[GatheredSet, ...]:
    old = _old(facts)
    return tuple(one for one in old if values["sets"] in {_every(old), one.name})


def _every(old: tuple[GatheredSet, ...]) -> str:
    """Return the answer that means every set: no name of one, for a set may be called 'every'."""
    return EVERY if all(one.name != EVERY for one in old) else f"{EVERY}-of-{len(old)}"


def _hosts(sets: tuple[GatheredSet, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(host for one in sets for host in one.hosts))


def _leading(sets: tuple[GatheredSet, ...]) -> frozenset[str]:
    return frozenset(one.primary for one in sets)
