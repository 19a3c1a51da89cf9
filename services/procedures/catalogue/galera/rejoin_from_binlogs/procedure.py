"""rejoin-from-binlogs: a backup that is too old for IST, the binary logs behind it, then IST: no SST.

Plan B of the specification (page 06), tried by hand and by run on MariaDB 10.11.18 with Galera 26.4. With Galera 4 a
hand-written grastate.dat is not enough: the server reads its position from InnoDB. The backup and the binary logs lie
in folders on the joiner; the first part only reads them, the rest is planned from what they hold, shown and approved.
"""

from __future__ import annotations

from services.facts.binlog.chain import Wrong
from services.facts.plain_names import is_folder
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.old_data import old_data
from services.procedures.catalogue.checks.old_linked import old_linked
from services.procedures.catalogue.checks.one_folder import one_folder
from services.procedures.catalogue.checks.own_place import own_place
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.rejoin_from_binlogs import checks as own
from services.procedures.catalogue.galera.rejoin_from_binlogs import filtering
from services.procedures.catalogue.galera.rejoin_from_binlogs.forecast import reaches
from services.procedures.catalogue.galera.rejoin_from_binlogs.judging import judged, unusable
from services.procedures.catalogue.galera.rejoin_from_binlogs.steps import progress_path, rejoining, surveyed
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import Survey, survey_of
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps.choices import down_members, member_hosts
from services.procedures.catalogue.steps.restored import restoring
from services.procedures.catalogue.steps.watches import disk
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.transfer.replay_race import ReplayRace
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.elsewhere import Elsewhere
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.own_place import OwnPlace
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.reader import Reader
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.socket_login import SocketLogin
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import About

ABOUT = About(
    name="rejoin-from-binlogs",
    title="Bring a node back from a backup and binary logs, without SST",
    need="A node is gone",
    what="Restores a copy of a backup, replays the later binary logs, sets the position, and joins by IST.",
    takes="Copying the backup twice, the replay (one thread), and the IST.",
    can_break="A wrong position would lose or repeat rows, so each is verified; the old data are kept until you "
    "remove them.",
    node_field="joiner",
    for_states=("spare", "down"),
    later_checks=("FILTERS-THEN", "HOLES", "IST-REACHES", "RACE"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=14,
    needs=frozenset(
        {DataFolder, DataSize, Elsewhere, Gcache, Links, LogFilters, Options, OwnPlace, Processes, Program, Provider,
         Reader, Rights, RootLogin, Sessions, SocketLogin, Starting, Tools, Traces, Unit, Variables, WriteRate}
    ),
)  # fmt: skip


class RejoinFromBinlogs(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: which node, where backup and binary logs lie, whom it joins, what is compared."""
        down = tuple((name, _words(facts, name)) for name in down_members(facts))
        present = tuple((name, "is already a member") for name in member_hosts(facts))
        joiner = inputs.get("joiner") or (down[0][0] if down else "")
        donors = _donors(facts, joiner)
        return (
            Field("joiner", "Node to bring back", "host", down[0][0] if down else "", down + present),
            Field(
                "backup",
                "Folder of the backup on that node",
                "text",
                help="A full backup by mariadb-backup with --galera-info, neither compressed nor prepared. It is "
                "copied, never changed. Copy a backup from another host to the node first; the run takes none from a "
                "donor.",
            ),
            Field(
                "binlogs",
                "Folder of the binary logs on that node",
                "text",
                help="From any one member with log_slave_updates, without a gap since the backup. The node's own data "
                "folder is sufficient; copy those of another member to the node first.",
            ),
            Field("donor", "Donor", "host", donors[0][0] if donors else "", donors),
            *comparing.fields(),
            Field(
                "past_unknown",
                "Accept that no member's binary log confirms the history of these files",
                "flag",
                "no",
                help="Evidence against it in a log is never accepted.",
                advanced=True,
            ),
            Field("settle", "How long the receive queue must stay short", "duration", "30 s", advanced=True),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        values = self.values(facts, inputs)
        faults = [*super().faults(facts, inputs), *comparing.faults(values)]
        if values["joiner"] in member_hosts(facts):
            return tuple(fault for fault in faults if fault.field not in {"backup", "binlogs"})
        folder = restoring.folder_of(facts.host(values["joiner"]))
        for field in ("backup", "binlogs"):
            path = values[field].rstrip("/")
            if path and not is_folder(path):
                faults.append(Fault(field, "Enter the absolute path of a folder, in plain characters."))
            elif path.startswith(f"{folder}/") or (path == folder and field == "backup"):
                faults.append(Fault(field, f"It is in the data folder {folder}, which the run moves."))
        if values["joiner"] and values["joiner"] == values["donor"]:
            faults.append(Fault("donor", "The donor and the node that comes back must be different hosts."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; for a node that is a full member already only what shows that nothing is open."""
        values = self.values(facts, inputs)
        joiner, members = values["joiner"], member_hosts(facts)
        if joiner in members:
            return preflight.there_already(facts, joiner, members)
        host = facts.host(joiner)
        return (
            *self._again(facts, joiner),
            own.own_reach(facts, joiner),
            own.own_log(facts, joiner),
            filtering.filters(facts, (joiner, *members)),
            own.gtid_mode(facts, joiner, members),
            own.streaming(facts, joiner, members),
            own.tools(facts, joiner),
            own.private_login(facts, members),
            own.freeze(facts, members),
            own.compared(facts, values),
            preflight.no_transfer_or_ddl(facts, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            preflight.versions(facts, joiner, members),
            preflight.provider_protocol(facts, joiner, members),
            *preflight.ports(facts, joiner, members),
            restoring.aside_possible(host),
            own_place(host),
            old_linked(host),
            preflight.sst_section(facts, (joiner, values["donor"])),
            preflight.clocks(facts, (*members, joiner), blocks=False),
            *preflight.joins_others(facts, (joiner,)),
            *preflight.names_known(facts, (joiner,)),
            *preflight.temporary_space(facts, (joiner,)),
            *preflight.innodb_as_usual(facts, (joiner,)),
            *preflight.donor_names(facts, (*members, joiner)),
            *preflight.config_valid(facts, (joiner,)),
            *preflight.operator_rights(facts, (joiner,)),
            *preflight.sst_orphans(facts, (joiner,)),
            *preflight.rows_left_out(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, (joiner, *members)),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the first part, which only reads; without steps for a node that is a full member already."""
        values = self.values(facts, inputs)
        if values["joiner"] in member_hosts(facts):
            return _plan(facts, values, ())
        return _plan(facts, values, surveyed(facts.host(values["joiner"]), values))

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the rest from what the backup and the binary logs hold, with the checks of that."""
        values = self.values(facts, inputs)
        joiner = values["joiner"]
        found, again = survey_of(facts, joiner), self._again(facts, joiner)
        if isinstance(found, Wrong):
            folder = values["binlogs" if found.code == "BINLOGS-ABSENT" else "backup"]
            return (*again, unusable(found, facts.host(joiner).address or joiner, folder)), so_far
        checks = (*again, *judged(facts, joiner, found))
        if not found.whole:
            return checks, so_far
        able = [one.host for one in reaches(facts, joiner, found.chain.target or 0) if one.able]
        if not able:
            return checks, so_far
        donor = values["donor"] if values["donor"] in able else able[0]
        more = rejoining(facts, facts.host(joiner), values, found, donor)
        return checks, _plan(facts, values, (*so_far.steps, *more), found)

    def _again(self, facts: Facts, joiner: str) -> tuple[Check, ...]:
        """Return what is judged before each part."""
        members = member_hosts(facts)
        return (
            preflight.health_gate(facts, members, size=len(members) + arbitrators(facts)),
            own.way(facts, joiner, members),
            own.stopped(facts, joiner),
            *preflight.stops_at_once(facts, (joiner,)),
            one_folder(facts.host(joiner)),
            old_data(facts, joiner),
        )


PROCEDURE = RejoinFromBinlogs()


def _plan(facts: Facts, values: Inputs, steps: tuple[Step, ...], found: Survey | None = None) -> Plan:
    joiner, members = values["joiner"], tuple(m for m in member_hosts(facts) if m != values["joiner"])
    everyone = tuple(sorted({*members, joiner}))
    return Plan(
        procedure=ABOUT.name,
        title=f"Bring {joiner or 'no node'} back from a backup and binary logs",
        summary="The run restores a copy of the backup, replays the binary logs up to a seqno from which a donor still "
        "caches, and gets the rest by IST.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=everyone,
        quorums=(everyone,),
        inputs=tuple(values.items()),
        steps=looked_again(steps),
        watches=_watches(facts, joiner, members, found) if found is not None else (),
        charts=tuple(
            Chart("galera.recv_queue", name, f"Receive queue of {name}") for name in (joiner, values["donor"])
        ),
        expects=(
            f"{joiner} is Synced and joined by IST.",
            f"Its old data are kept in {restoring.aside_path(facts.host(joiner))} until you remove them.",
        ),
    )


def _watches(facts: Facts, joiner: str, members: tuple[str, ...], found: Survey) -> tuple[WatchRule, ...]:
    target = found.chain.target or 0
    full = f"The data disk of {joiner} is nearly full: the restore will fail."
    race = ReplayRace(joiner, members, target, progress_path(target))
    return (
        WatchRule(
            code="QUORUM",
            condition=StillPrimary(members, len(members), facts.cluster_id),
            sentence=f"One of {', '.join(members)} is no longer a full member.",
        ),
        WatchRule(
            code="RACE-LOST",
            condition=race,
            sentence="The donors purge their caches faster than the replay proceeds: at its end no member caches the "
            "next write sets.",
            from_step=f"replay-{joiner}",
            to_step=f"replay-{joiner}",
        ),
        disk(facts.host(joiner), "DISK-JOINER", full, f"prepare-{joiner}", f"start-{joiner}"),
    )


def _donors(facts: Facts, joiner: str) -> tuple[tuple[str, str], ...]:
    """Return the members by how far back they cache, the deepest first."""
    names = [name for name in member_hosts(facts) if name != joiner]
    lows = {name: _cached_from(facts, name) for name in names}
    ordered = sorted(names, key=lambda name: (lows[name] or 2**63, name))
    return tuple((name, f"caches from {lows[name]}" if lows[name] else "cached range not known") for name in ordered)


def _cached_from(facts: Facts, name: str) -> int | None:
    node = facts.host(name).node
    return node.galera.cached_downto if node is not None and node.galera is not None else None


def _words(facts: Facts, name: str) -> str:
    host = facts.host(name)
    if host.server_up is not False:
        return "member, its server runs or its state is not known"
    state = host[DataFolder].grastate
    return f"member, down, at seqno {state.seqno}" if state is not None else "member, down"
