"""rejoin-from-incrementals: a node's data come from its own backups, and IST brings what was written since.

Preferred over replaying binary logs: the position travels inside InnoDB, so data and position agree by construction.
Tried with MariaDB 10.11.18 and mariadb-backup of the same version: a prepare of a full backup and each incremental
recovers its own position; with seqno -1 in grastate.dat the server takes it, and asks for the next write set.

A frozen donor answers no status (Percona's provider, tried), so nothing here depends on one: freezing is advised where
reach is short, and the reach is read again before the data are put aside and before the start.
"""

from __future__ import annotations

from services.facts.plain_names import is_folder
from services.i18n import tr
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.old_data import old_data
from services.procedures.catalogue.checks.old_linked import old_linked
from services.procedures.catalogue.checks.own_place import own_place
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.rejoin_from_incrementals import backup_checks
from services.procedures.catalogue.galera.rejoin_from_incrementals import checks as own
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain, best_chain, chain_of
from services.procedures.catalogue.galera.rejoin_from_incrementals.forecast import reaches
from services.procedures.catalogue.galera.rejoin_from_incrementals.steps import rejoin_plan
from services.procedures.catalogue.galera.shared import joining
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps.choices import down_members, member_hosts
from services.procedures.catalogue.steps.restored import restoring
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import hosts_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.elsewhere import Elsewhere
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.galera.traffic_files import TrafficFiles
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.own_place import OwnPlace
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.reader import Reader
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import About

ABOUT = About(
    name="rejoin-from-incrementals",
    title="Bring a node back from its backups, then IST",
    need="A node is gone",
    what="Prepares copies of a full backup and its incrementals, restores them, and gets the rest by IST.",
    takes="As long as copying the backups twice, and the IST.",
    can_break="The old data are kept. If IST is not possible, the node is not started.",
    node_field="joiner",
    for_states=("spare", "down"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=12,
    needs=frozenset(
        {
            Backups,
            DataFolder,
            DataSize,
            Elsewhere,
            Links,
            LogFilters,
            Options,
            OwnPlace,
            Processes,
            Program,
            Provider,
            Reader,
            Rights,
            RootLogin,
            Sessions,
            Starting,
            Tools,
            Traces,
            TrafficFiles,
            Unit,
            Variables,
            Volumes,
            WriteRate,
        }
    ),
)
NONE = "none"
SCRATCH = "/var/lib/pilothouse/restore"
_MEMORY_LEAST, _MEMORY_MOST = 128 * 2**20, 2**30


class RejoinFromIncrementals(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions; the chain that reaches furthest is proposed."""
        away = down_members(facts)
        joiner = inputs.get("joiner") or (away[0] if away else "")
        there = tuple((name, "is already a member") for name in member_hosts(facts))
        found = facts.host(joiner)[Backups].found or ()
        best = best_chain(found, inputs.get("full", "").strip().rstrip("/"))
        full = (
            best[0].path if best else next((one.path for one in found if not one.is_incremental and one.is_guarded), "")
        )
        rest = ",".join(one.path for one in best[1:]) or NONE
        chain = self._chain(facts, {"joiner": joiner, "full": inputs.get("full") or full,
                                    "incrementals": inputs.get("incrementals") or rest})  # fmt: skip
        donors = reaches(facts, joiner, chain.last.seqno if chain.last is not None else None)
        return (
            Field("joiner", "Node that comes back", "host", joiner,
                  (*((name, "member, down") for name in away), *there)),
            Field("full", "Full backup", "text", full,
                  help="An unprepared backup in a folder on the node's own disks. A folder to which accounts other "
                  "than root can write is not proposed: enter it here if you know its owner.", required=False),
            Field("incrementals", "Incrementals, from the oldest to the newest", "text", rest,
                  help=f"Folders separated by commas, or '{NONE}'. The proposed ones reach furthest.", required=False),
            Field("donor", "Donor", "host", donors[0].host if donors else "",
                  tuple((one.host, one.words) for one in donors)),
            *comparing.fields(),
            *self._finer(facts, joiner),
        )  # fmt: skip

    @staticmethod
    def _finer(facts: Facts, joiner: str) -> tuple[Field, ...]:
        return (
            Field("scratch", "Folder for the copies", "text", SCRATCH,
                  help="On any volume of the node with space for all backups; never the data folder.", advanced=True),
            Field("memory", "Memory for the prepare", "bytes", f"{_memory(facts.host(joiner)) / 2**20:.0f} MiB",
                  advanced=True),
            Field("settle", "How long the receive queue must stay short", "duration", "30 s", advanced=True),
            Field(
                "unknown_history",
                "Hosts whose backup history may remain unknown",
                "hosts",
                "",
                tuple((name, "its history is not proven") for name in (joiner,) if name),
                help="Only if the members' binary logs cannot show it. An IST between diverged nodes leaves different "
                "data.",
                required=False,
                advanced=True,
            ),
            *preflight.gone_fields(facts),
        )  # fmt: skip

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(super().faults(facts, inputs))
        values = self.values(facts, inputs)
        faults += comparing.faults(values)
        scratch, folder = values["scratch"].rstrip("/"), restoring.folder_of(facts.host(values["joiner"]))
        inside = (folder, *(one for one in self._paths(values)))
        if not is_folder(scratch):
            faults.append(Fault("scratch", tr("Enter an absolute path of plain characters, not the root folder.")))
        elif near := next((one for one in inside if _overlap(scratch, one)), ""):
            faults.append(Fault("scratch", tr("The copies cannot be in {folder} or above it.", folder=near)))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; for a host that is a full member already only what shows that nothing is open."""
        values = self.values(facts, inputs)
        joiner, donor, members = values["joiner"], values["donor"], member_hosts(facts)
        if joiner in members:
            return preflight.there_already(facts, joiner, members)
        gate = preflight.health_gate(facts, members, size=len(members) + arbitrators(facts))
        chain, host = self._chain(facts, values), facts.host(joiner)
        return (
            gate,
            preflight.one_past(facts, members, members),
            backup_checks.found(facts, joiner, chain),
            *backup_checks.whole(chain),
            *backup_checks.chain_checks(facts, joiner, chain),
            own.ist_reach(facts, joiner, chain),
            own.donor_synced(facts, donor),
            own.sst_instead(facts, joiner, donor, chain),
            own.room(facts, joiner, chain, values["scratch"]),
            *own.joiner_ready(facts, joiner),
            restoring.aside_possible(host),
            own_place(host),
            old_data(facts, joiner),
            old_linked(host),
            comparing.chosen(facts, values),
            preflight.no_transfer_or_ddl(facts, members),
            preflight.versions(facts, joiner, members),
            preflight.provider_protocol(facts, joiner, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            preflight.provider_library(facts, joiner, donor),
            preflight.traffic_alike(facts, joiner, donor, fresh=False),
            preflight.traffic_files(facts, joiner, donor, fresh=False),
            *preflight.ports(facts, joiner, members),
            *preflight.stops_at_once(facts, (joiner,)),
            joining.runs_outside(facts, joiner),
            joining.own_cluster(facts, joiner, members),
            preflight.datadir_foreign(facts, joiner),
            *preflight.joins_others(facts, (joiner,)),
            *preflight.names_known(facts, (joiner,)),
            *preflight.temporary_space(facts, (joiner, donor)),
            *preflight.innodb_as_usual(facts, (joiner,)),
            *preflight.sst_orphans(facts, (joiner,)),
            preflight.named_donor(facts, joiner, donor),
            *preflight.donor_names(facts, (*members, joiner)),
            preflight.clocks(facts, (*members, joiner)),
            *preflight.config_valid(facts, (joiner,)),
            *preflight.operator_rights(facts, (joiner, *members)),
            *preflight.rows_left_out(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, (joiner, *members)),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps for a host that is a full member already."""
        values = self.values(facts, inputs)
        return rejoin_plan(facts, values, self._chain(facts, values))

    @staticmethod
    def _paths(values: Inputs) -> tuple[str, ...]:
        incrementals = values.get("incrementals", "")
        named = () if incrementals.strip() == NONE else hosts_of(incrementals)
        return tuple(path.rstrip("/") for path in (values.get("full", ""), *named) if path)

    def _chain(self, facts: Facts, values: Inputs) -> Chain:
        full, *rest = self._paths(values) or ("",)
        return chain_of(facts.host(values["joiner"])[Backups].found or (), full, tuple(rest))


PROCEDURE = RejoinFromIncrementals()


def _memory(host: HostFacts) -> int:
    """Return a quarter of the host's memory for InnoDB while no server runs, within bounds."""
    machine = host.node.machine if host.node is not None else None
    whole = machine.memory if machine is not None else None
    return min(max((whole or 0) // 4, _MEMORY_LEAST), _MEMORY_MOST)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
