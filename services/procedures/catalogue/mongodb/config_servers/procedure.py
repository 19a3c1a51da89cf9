"""mongo-config-rs: mirrored config servers (SCCC) become a config replica set (CSRS).

Domain: page 04 of the specification of procedures; MongoDB manual 3.2, "Upgrade Config Servers to Replica Set". 3.4 and
newer know no mirrored config servers.
"""

from __future__ import annotations

import string

from services.connections.observer.paths import is_clean
from services.discovery.families.mongodb.kind import SHARDED
from services.facts.mongodb.sharding import parse_hosts
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.access import lock_free
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.mongodb.cards import NEED, NOT_SHARDED
from services.procedures.catalogue.mongodb.config_servers import checks as own
from services.procedures.catalogue.mongodb.config_servers.new_hosts import new_hosts
from services.procedures.catalogue.mongodb.config_servers.ownership import folders
from services.procedures.catalogue.mongodb.config_servers.party import (
    ROLLING,
    WINDOW,
    Party,
    converted,
    default_backup,
    party_of,
    spare_hosts,
)
from services.procedures.catalogue.mongodb.config_servers.rolling import rolling_steps
from services.procedures.catalogue.mongodb.config_servers.room import room
from services.procedures.catalogue.mongodb.config_servers.window import window_steps, window_watches
from services.procedures.catalogue.mongodb.shared import checks as shared
from services.procedures.catalogue.mongodb.shared.balancing import balancer_known, with_it_off
from services.procedures.catalogue.mongodb.shared.order import half_way, order_of
from services.procedures.catalogue.mongodb.shared.sets import parts_of
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.instances import standing_on
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.key_files import KeyFiles
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.parts.mongodb.set_document import SetDocument
from services.procedures.plan.procedure import About

_IN_NAMES = frozenset(string.ascii_letters + string.digits + "_-")
_MOST_NAME = 31
ABOUT = About(
    name="mongo-config-rs",
    title="Convert mirrored config servers to a replica set",
    need=NEED,
    what="Converts the three mirrored config servers of 3.2, as required by 3.4; makes and tests a copy first.",
    takes="Some minutes, and your time for the questions.",
    can_break="The catalog is read-only for about a minute; in a window clients cannot read or write for minutes.",
    for_states=("member",),
    kinds=(SHARDED.code,),
    elsewhere=NOT_SHARDED,
    place=220,
    needs=frozenset({KeyFiles, MongoData, MongoProcess, MongoRights, SetDocument, Volumes}),
)
_CLUSTER = ("replSetConfigure", "replSetStateChange")
_DATABASES = ("dropDatabase", "enableSharding")
_FEWEST = 2


class ConfigServers(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: the way, names, hosts and folders, and what only a person knows."""
        way = inputs.get("way", "") or ROLLING
        servers = tuple(reversed(order_of(facts).mirrors))
        new = (
            Field("new", "Hosts for new config servers", "hosts", "", choices=spare_hosts(facts), required=True,
                  help="Two, or three if the old ones use MMAPv1. Each with MongoDB and an empty folder."),
        )  # fmt: skip
        return (
            Field(
                "way",
                "Way",
                "choice",
                ROLLING,
                choices=(
                    (ROLLING, "no interruption; needs two or three new hosts"),
                    (WINDOW, "every mongos and config server is down during the window; needs no new host"),
                ),
            ),
            *(new if way == ROLLING else ()),
            Field("name", "Name of the new set", "text", "csReplSet"),
            Field("backup", "Folder for the copy of the metadata", "text", default_backup(facts, servers),
                  help="On the last config server; a new folder."),
            Field("no_ddl", "Nobody creates or drops a database or shards a collection meanwhile", "flag", "no"),
            Field("no_others", "Nothing else uses the old string: backup agents, monitoring, scripts", "flag", "no"),
        )  # fmt: skip

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        if converted(facts):
            return ()
        faults = list(super().faults(facts, inputs))
        values = self.values(facts, inputs)
        if not _is_name(values["name"]):
            faults.append(Fault("name", "Name of the new set: use letters, digits, - and _, beginning with a letter."))
        if values["backup"] and (not is_clean(values["backup"]) or " " in values["backup"]):
            faults.append(Fault("backup", "Folder for the copy: enter an absolute path of plain characters."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values = self.values(facts, inputs)
        if converted(facts):
            return (lock_free(facts, order_of(facts).hosts),)
        party = party_of(facts, values)
        if not party.servers or not party.routers:
            return (_no_mirrors(party), lock_free(facts, party.everyone))
        changed = (*party.servers, *party.routers)
        return (
            own.form(party),
            own.versions(party),
            own.protocols(party),
            own.same(party),
            own.one_string(party),
            own.every_mongos(party),
            own.files(party),
            folders(party),
            own.explicit(party),
            own.engine(party),
            *((new_hosts(party),) if party.way == ROLLING else ()),
            room(party),
            *(check for one in party.shards for check in (shared.set_whole(one),)),
            balancer_known(facts, party.routers[0]),
            shared.may_change(facts, changed, _CLUSTER, _DATABASES),
            own.nobody_changes(values),
            own.nobody_else(values),
            lock_free(facts, party.everyone),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps where the config servers are a set and every mongos knows it, where so few of
        them answer that there is nothing to compare with, and where they are half way: the checks say so."""
        values = self.values(facts, inputs)
        party = party_of(facts, values)
        begun = half_way(facts, order_of(facts))
        done = converted(facts) or len(party.servers) < _FEWEST or not party.routers or bool(begun)
        hosts = order_of(facts).hosts if done else party.everyone
        return Plan(
            procedure=ABOUT.name,
            title=f"Convert the mirrored config servers to the replica set {party.name}",
            summary="First a tested copy; then the set, the mongos one by one, and the balancer as before.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=hosts,
            quorums=() if done else (party.lasting, *(one.hosts for one in party.shards)),
            inputs=tuple(values.items()),
            steps=() if done else looked_again(_steps(party)),
            watches=() if done or party.way == ROLLING else window_watches(party),
            charts=tuple(Chart("mongo.query", host, f"Queries through {host}") for host in party.routers)[:4],
            expects=() if done else (_expected(party),),
            on=standing_on(facts, hosts),
            parts=parts_of((*party.shards, *order_of(facts).config), hosts),
        )


PROCEDURE = ConfigServers()


def _steps(party: Party) -> tuple[Step, ...]:
    steps = rolling_steps(party) if party.way == ROLLING else window_steps(party)
    return with_it_off(party.facts, party.routers, steps)


def _expected(party: Party) -> str:
    outcome = (
        f"Every mongos uses {party.new_string}, all members have the same metadata, and the balancer is as before."
    )
    old = ", ".join(host for host in party.servers if host not in party.lasting)
    return f"{outcome} No longer used, remove from the inventory: {old}." if old else outcome


def _no_mirrors(party: Party) -> Check:
    place = parse_hosts(party.string)
    seen = f"every mongos uses {place.set_name}" if place.set_name else "none was found"
    return Check(
        code="CONFIG-FORM",
        title="There are three mirrored config servers, as named by every mongos",
        verdict=verdict((seen,)),
        evidence=f"mirrored config servers: {seen}; mongos: {', '.join(party.routers) or 'none was found'}",
        why="This procedure is for a sharded cluster of 3.2 with mirrored config servers.",
        try_=(
            "There is nothing to convert: it is already a set."
            if place.set_name
            else "Add the config servers and every mongos to the inventory, then check again.",
        ),
    )


def _is_name(text: str) -> bool:
    return text[:1].isalpha() and set(text) <= _IN_NAMES and len(text) <= _MOST_NAME
