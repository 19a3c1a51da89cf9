"""snapshot-node: give a node its data by a snapshot of a donor's volume, or by a copy, and close the gap by IST.

The operator's own commands take the snapshot, bring it and remove it: LVM, Ceph, a cloud's disks, a plain copy. The
console gives them their moment: a read lock on a desynced donor that ends by itself (hold.py), and proves what came of
it: the position, the past, the IST behind it.

What differs from the page disk-snapshot-node: no fsfreeze (LVM freezes a file system itself; sync(1) writes it out
before), so nothing can stay frozen; several volumes are refused, a group snapshot too; MariaDB only.
"""

from __future__ import annotations

from datetime import UTC, datetime

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.haproxy import haproxy_checks
from services.procedures.catalogue.checks.old_data import old_data
from services.procedures.catalogue.checks.old_linked import old_linked
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.shared import joining
from services.procedures.catalogue.galera.snapshot_node import checks as own
from services.procedures.catalogue.galera.snapshot_node import newcomer_part
from services.procedures.catalogue.galera.snapshot_node.commands import command_faults
from services.procedures.catalogue.galera.snapshot_node.donor_part import QUIET_S, donor_steps, removal, seconds
from services.procedures.catalogue.galera.snapshot_node.hold import COPY, VOLUME
from services.procedures.catalogue.galera.snapshot_node.joiner_part import (
    before_the_lock,
    copy_seconds,
    joiner_steps,
)
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps.choices import (
    down_members,
    member_choices,
    member_hosts,
    why_no_spare,
)
from services.procedures.catalogue.steps.haproxy import drain_steps, return_steps
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts, can_drain, open_places
from services.procedures.catalogue.steps.restored import restoring
from services.procedures.catalogue.steps.traffic import desync_key
from services.procedures.catalogue.steps.watches import disk, flow_control
from services.procedures.conditions.galera.membership.still_desynced import StillDesynced
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Breach, Chart, Plan, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.elsewhere import Elsewhere
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.galera.traffic_files import TrafficFiles
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.unit import Unit
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
    name="snapshot-node",
    title="Bring a node back by a snapshot of another node's volume",
    need="A node is gone, or a new one is added",
    what="Takes a snapshot of a donor with your own command, brings it to the node, and closes the gap by IST.",
    takes="A lock of seconds on the donor, and the time that your storage needs to copy the data.",
    can_break="While the lock is held, writes on the donor wait; it cannot be a donor until it has caught up.",
    node_field="joiner",
    for_states=("spare", "down"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=16,
    needs=frozenset(
        {
            Balancers,
            DataFolder,
            DataSize,
            Elsewhere,
            Gcache,
            Links,
            LogFilters,
            Options,
            Processes,
            Program,
            Provider,
            Reader,
            Rights,
            RootLogin,
            Sessions,
            Starting,
            Traces,
            TrafficFiles,
            Unit,
            Variables,
            WriteRate,
        }
    ),
)
DRAIN_S = 120.0
START_S = 60.0
LONGEST_LOCK_S = 3_600.0


class SnapshotNode(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: which node, from whom, and the operator's own commands."""
        fit = tuple(name for name in facts.candidates if not why_no_spare(facts, name))
        away = (*down_members(facts), *fit)
        joiner = inputs.get("joiner") or (away[0] if away else "")
        donor = _default_donor(facts, joiner)
        chosen = inputs.get("donor") or donor
        choices = tuple((name, "down" if name in facts.members else "a spare host") for name in away)
        others = tuple((name, why_no_spare(facts, name)) for name in facts.candidates if name not in fit)
        present = (*((name, "is already a member") for name in member_hosts(facts)), *others)
        return (
            Field("joiner", "Joiner", "host", joiner, (*choices, *present)),
            Field("donor", "Donor", "host", donor, member_choices(facts)),
            *_command_fields(facts, joiner),
            *newcomer_part.fields(facts, joiner),
            *comparing.fields(),
            *_finer_fields(facts, chosen),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        found = super().faults(facts, inputs)
        if found:
            return found
        values = self.values(facts, inputs)
        faults = [*command_faults(facts, values), *newcomer_part.faults(facts, values), *comparing.faults(values)]
        if values["joiner"] == values["donor"]:
            faults.append(Fault("donor", "Donor and joiner must be different hosts."))
        if (seconds_of(values["take_limit"]) or 0) > LONGEST_LOCK_S:
            faults.append(Fault("take_limit", "A read lock can be held for at most one hour."))
        if (seconds_of(values["wait"]) or 0) > LONGEST_LOCK_S:
            faults.append(Fault("wait", "The run can wait at most one hour for a read lock."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; for a host that is a full member already only what shows that nothing is open."""
        values = self.values(facts, inputs)
        joiner, donor, members = values["joiner"], values["donor"], member_hosts(facts)
        if joiner in members:
            return preflight.there_already(facts, joiner, members)
        gate = preflight.health_gate(facts, members, size=len(members) + arbitrators(facts))
        span = seconds(values, "take_limit") + copy_seconds(facts, values) + START_S
        return (
            gate,
            preflight.one_past(facts, (donor,), members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            preflight.no_transfer_or_ddl(facts, members),
            *_of_the_donor(facts, values),
            *_of_the_joiner(facts, values, members),
            own.one_volume(facts, donor, joiner),
            own.stays_its_own(facts, donor, joiner),
            own.room(facts, donor, joiner, copies=values["way"] == COPY),
            own.reach(facts, members, span),
            own.mount_detached(facts, joiner, detach=bool(values["detach"])),
            comparing.chosen(facts, values),
            preflight.clocks(facts, (*members, joiner)),
            *preflight.operator_rights(facts, (joiner, *members)),
            *preflight.rows_left_out(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, (joiner, *members)),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps for a host that is a full member already."""
        values = self.values(facts, inputs)
        joiner, donor, members = values["joiner"], values["donor"], member_hosts(facts)
        balancers = balancer_hosts(facts, (donor,)) if _drains(facts, values) else ()
        stays = (
            () if values["remove"] else (f"The snapshot {values['snapshot']} stays on {donor}: remove it yourself.",)
        )
        boots = (
            (f"Add the volume that your command mounts on {joiner} to its /etc/fstab: the run does not.",)
            if values["detach"]
            else ()
        )
        kept = restoring.aside_path(facts.host(joiner))
        found = _steps(facts, values) if joiner not in members else ()
        return Plan(
            procedure=ABOUT.name,
            title=f"Bring {joiner} back by a snapshot of {donor}",
            summary=f"{donor} is locked for a moment by a read lock, {joiner} gets its data and joins by IST.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=tuple(dict.fromkeys((*members, joiner, *balancers))),
            quorums=(tuple(dict.fromkeys((*members, joiner))),),
            inputs=tuple(values.items()),
            steps=looked_again(found),
            watches=_watches(facts, values, members) if found else (),
            charts=(
                Chart("galera.recv_queue", donor, f"Receive queue of {donor}"),
                Chart("galera.recv_queue", joiner, f"Receive queue of {joiner}"),
            ),
            expects=(
                f"{joiner} is Synced with the data of {donor} and joined by IST.",
                f"The old data of {joiner} are kept as {kept} until you remove them.",
                *stays,
                *boots,
            ),
        )


PROCEDURE = SnapshotNode()


def _default_donor(facts: Facts, joiner: str) -> str:
    """Return the member with the fewest clients: under the lock it stands still."""
    members = [name for name in member_hosts(facts) if name != joiner]
    return min(members, key=lambda name: (facts.host(name)[Sessions].clients or 0, name), default="")


def _command_fields(facts: Facts, joiner: str) -> tuple[Field, ...]:
    named = f"pilothouse_{''.join(c if c.isalnum() else '_' for c in joiner)}"
    at = datetime.fromtimestamp(facts.at, UTC).strftime("%Y%m%d_%H%M%S")
    names = "{donor}, {joiner}, {donor_address}, {joiner_address}, {datadir}, {snapshot}"
    return (
        Field(
            "way",
            "Kind of snapshot",
            "choice",
            COPY,
            (
                (COPY, "files one after another (cp, rsync, tar): InnoDB must not write to them meanwhile"),
                (VOLUME, "one moment of the whole volume (LVM, ZFS, btrfs, Ceph, a cloud's disk)"),
            ),
        ),
        Field(
            "take",
            "Command on the donor, under the lock",
            "text",
            help=f"Run as root, word by word and without a shell unless you write sh -c '...'. It can use {names}. "
            "Example: lvcreate -s -n {snapshot} -L 20G vg/mysql",
        ),
        Field(
            "offer",
            "Command on the donor after the lock",
            "text",
            help="Makes it available to the joiner: mounts or serves it. Processes that it leaves running end once "
            "the joiner has the data.",
            required=False,
        ),
        Field(
            "bring",
            "Command on the joiner that attaches or copies it",
            "text",
            help="Afterwards {datadir} must contain ibdata1 and grastate.dat at its top. Before "
            "it is an empty folder, except for old data kept inside a mount point.",
        ),
        Field(
            "remove",
            "Command on the donor that removes the snapshot",
            "text",
            help="Run at the end and on undo. It must also succeed if the snapshot is half "
            "made. Without this command the snapshot stays.",
            required=False,
        ),
        Field("snapshot", "Name of the snapshot", "text", f"{named[:40]}_{at}", advanced=True),
        Field(
            "detach",
            "Command on the joiner that detaches it again on undo",
            "text",
            help="Required if the attach command mounts something. It must also succeed if nothing is "
            "attached: sh -c '! mountpoint -q {datadir} || umount {datadir}'",
            required=False,
            advanced=True,
        ),
    )


def _finer_fields(facts: Facts, donor: str) -> tuple[Field, ...]:
    ways = [("none", "stay as they are")]
    if can_drain(facts, donor):
        ways.insert(0, ("haproxy", "HAProxy sends them to other nodes meanwhile"))
    return (
        Field("drain", "The donor's clients", "choice", ways[0][0], tuple(ways)),
        Field("wait", "Longest wait for the lock", "duration", "30 s", advanced=True),
        Field(
            "take_limit",
            "Longest time under the lock",
            "duration",
            "5 min",
            help=f"Then the command is ended and the lock is released. A copy of files waits up to {QUIET_S} s for "
            "InnoDB.",
            advanced=True,
        ),
        Field("bring_limit", "Longest time for the joiner's command", "duration", "4 h", advanced=True),
        Field("settle", "How long the receive queue must stay short", "duration", "60 s", advanced=True),
    )


def _of_the_donor(facts: Facts, values: Inputs) -> tuple[Check, ...]:
    donor, drained = values["donor"], _drains(facts, values)
    return (
        own.others_stay(facts, donor),
        own.not_the_writer(facts, donor),
        own.out_of_the_pool(facts, donor, drained=drained),
        own.long_statements(facts, donor),
        own.root_logs_in(facts, donor),
        own.comes_to_rest(facts, donor, copies=values["way"] == COPY),
        *(haproxy_checks(facts, (donor,)) if drained else ()),
    )


def _of_the_joiner(facts: Facts, values: Inputs, members: tuple[str, ...]) -> tuple[Check, ...]:
    joiner, donor = values["joiner"], values["donor"]
    return (
        *newcomer_part.checks(facts, values, members),
        preflight.versions(facts, joiner, members),
        own.same_server(facts, donor, joiner),
        preflight.provider_protocol(facts, joiner, members),
        preflight.provider_library(facts, joiner, donor),
        *preflight.ports(facts, joiner, members),
        joining.runs_now(facts, joiner),
        *preflight.stops_at_once(facts, (joiner,)),
        joining.runs_outside(facts, joiner),
        preflight.datadir_foreign(facts, joiner),
        old_data(facts, joiner),
        old_linked(facts.host(joiner)),
        restoring.aside_possible(facts.host(joiner)),
        joining.own_cluster(facts, joiner, members),
        *preflight.temporary_space(facts, (joiner, donor)),
        *preflight.innodb_as_usual(facts, (joiner, donor)),
        preflight.named_donor(facts, joiner, donor),
        *preflight.donor_names(facts, (*members, joiner)),
        *preflight.config_valid(facts, (joiner,)),
        *preflight.sst_orphans(facts, (joiner,)),
    )


def _drains(facts: Facts, values: Inputs) -> bool:
    return values["drain"] == "haproxy" and bool(open_places(facts, values["donor"]))


def _steps(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    donor, drains = values["donor"], _drains(facts, values)
    first, *rest = before_the_lock(facts, values)
    return (
        comparing.comparable(first, donor, values),
        *rest,
        *newcomer_part.before_the_lock(facts, values),
        *(drain_steps(facts, donor, DRAIN_S, patient=True) if drains else ()),
        *donor_steps(facts, values),
        *(return_steps(facts, donor) if drains else ()),
        *joiner_steps(facts, values),
        *removal(facts, values),
    )


def _watches(facts: Facts, values: Inputs, members: tuple[str, ...]) -> tuple[WatchRule, ...]:
    joiner, donor = facts.host(values["joiner"]), facts.host(values["donor"])
    others = tuple(name for name in members if name != donor.host)
    start, settled = f"start-{joiner.host}", f"settle-{joiner.host}"
    return (
        WatchRule(
            code="QUORUM",
            condition=StillPrimary(others, len(others), facts.cluster_id),
            sentence=f"One of {', '.join(others)} is no longer a full member; {donor.host} may be needed as a donor.",
            releases=desync_key(donor.host),
            breach=Breach.RELEASE,
            from_step="snapshot",
            to_step="catch-up",
        ),
        WatchRule(
            code="DESYNC-LOST",
            condition=StillDesynced(donor.host),
            releases=desync_key(donor.host),
            sentence=f"{donor.host} is back in flow control, but not by this run: its lock may stop the whole "
            "cluster's writes.",
            from_step="snapshot",
            to_step="catch-up",
        ),
        disk(donor, "DISK-DONOR", f"The disk of {donor.host} is nearly full.", "snapshot", "catch-up"),
        disk(joiner, "DISK-JOINER", f"The disk of {joiner.host} is nearly full.", f"bring-{joiner.host}", settled),
        *((flow_control(members[0], joiner.host, start, settled),) if members else ()),
    )
