"""desync-for-backup: take a donor out of flow control for a backup and bring it back when its queue is empty.

Domain: a node with wsrep_desync=ON may fall behind without slowing the cluster (Donor/Desynced); it must be put back
only when its receive queue is empty, or it would send flow control at once (MariaDB KB "wsrep_desync"; Percona XtraDB
Cluster manual "wsrep_desync"). A node that is desynced already, by a backup or a donor's work, is refused: ending our
desync would end theirs.
"""

from __future__ import annotations

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.haproxy import haproxy_checks
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.shared import desync as own
from services.procedures.catalogue.steps.choices import member_choices, member_hosts
from services.procedures.catalogue.steps.haproxy import drain_steps, return_steps
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts, can_drain, open_places
from services.procedures.catalogue.steps.server import whole_again
from services.procedures.catalogue.steps.traffic import catch_up, desync, desync_key, resync
from services.procedures.conditions.galera.membership.still_desynced import StillDesynced
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.forms.inputs import bytes_of, seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Breach, Chart, Plan, Risk, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.procedure import About

ABOUT = About(
    name="desync-for-backup",
    title="Take a node out of flow control for a backup",
    need="A node must do other work",
    what="Desyncs a node, waits while you make the backup, and returns it to flow control once its receive queue is "
    "empty.",
    takes="Seconds, your backup, and the time the node needs to catch up.",
    can_break="During the backup the node may serve old data and cannot be a donor; it still votes.",
    node_field="node",
    for_states=("synced",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=50,
    needs=frozenset({Balancers, DataFolder, Options, Processes, Rights, Sessions}),
)
QUEUE_LIMIT_S = 4 * 3_600.0
DRAIN_LIMIT_S = 120.0


class DesyncForBackup(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: which node, how the backup is made, the least free disk."""
        chosen = inputs.get("node") or self._default_node(facts)
        disk = facts.host(chosen)[DataFolder].disk.size or 0
        floor = max(disk // 20, 10**9)
        return (
            Field("node", "Node", "host", self._default_node(facts), member_choices(facts)),
            Field(
                "longest",
                "Longest time for the backup",
                "duration",
                "4 h",
                help="The time that the node needs to catch up afterwards has the same limit.",
            ),
            Field(
                "drain",
                "Its clients",
                "choice",
                "haproxy" if can_drain(facts, chosen) else "none",
                _ways(facts),
                help="A desynced node falls behind: clients read old data from it.",
            ),
            Field("drain_limit", "Longest drain", "duration", "2 min", advanced=True),
            Field(
                "floor",
                "Bring the node back below this much free disk",
                "bytes",
                f"{floor / 1e9:.1f} GB",
                help="The receive queue and a backup on the node's own disk both need space.",
                advanced=True,
            ),
            *preflight.gone_fields(facts),
        )

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values = self.values(facts, inputs)
        node, members = values["node"], member_hosts(facts)
        return (
            preflight.health_gate(facts, members),
            preflight.one_past(facts, (node,), members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            *preflight.operator_rights(facts, (node,)),
            preflight.no_transfer_or_ddl(facts, members),
            own.others_stay(facts, node),
            preflight.clocks(facts, members, blocks=False),
            own.clients(facts, node, drained=_drains(facts, values)),
            own.long_statements(facts, node),
            *(haproxy_checks(facts, (node,)) if values["drain"] == "haproxy" else ()),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, members),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan."""
        values = self.values(facts, inputs)
        node = values["node"]
        members = member_hosts(facts)
        longest = seconds_of(values["longest"]) or QUEUE_LIMIT_S
        floor = bytes_of(values["floor"]) or 0
        return Plan(
            procedure=ABOUT.name,
            title=f"Take {node} out of flow control for a backup",
            summary=f"{node} is desynced while the backup runs, then catches up and is a full member again.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=tuple(dict.fromkeys((*members, *(balancer_hosts(facts, (node,)) if _drains(facts, values) else ())))),
            quorums=(members,),
            inputs=tuple(values.items()),
            steps=looked_again(_steps(facts, values, members, longest)),
            watches=_watches(facts, node, members, floor),
            charts=(
                Chart("galera.recv_queue", node, f"Receive queue of {node}"),
                Chart(
                    "disk.data_free",
                    node,
                    f"Free disk on {node}",
                    float(floor),
                    "below this the node returns to flow control",
                ),
            ),
            expects=(f"{node} is Synced, wsrep_desync is OFF, its receive queue is empty.",),
        )

    def _default_node(self, facts: Facts) -> str:
        """Return the member with the fewest clients: a backup belongs where it disturbs least."""
        members = member_hosts(facts)
        return min(members, key=lambda h: (facts.host(h)[Sessions].clients or 0, h), default="")


PROCEDURE = DesyncForBackup()


def _drains(facts: Facts, values: Inputs) -> bool:
    return values["drain"] == "haproxy" and bool(open_places(facts, values["node"]))


def _steps(facts: Facts, values: Inputs, members: tuple[str, ...], longest: float) -> tuple[Step, ...]:
    node, drains = values["node"], _drains(facts, values)
    limit = seconds_of(values["drain_limit"]) or DRAIN_LIMIT_S
    return (
        *(drain_steps(facts, node, limit, patient=True) if drains else ()),
        desync(node, before=(ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id),)),
        Step(
            step_id="backup",
            host="",
            title=f"Make the backup on {node}, then confirm that it is done",
            done="You confirmed that the backup is done",
            action=Ask(f"Is the backup on {node} done?", unattended="done"),
            risk=Risk.YOU,
            limit_s=longest,
            repeatable=True,
        ),
        catch_up(node, max(QUEUE_LIMIT_S, longest)),
        resync(node),
        *(return_steps(facts, node) if drains else ()),
        whole_again(facts, members),
    )


def _watches(facts: Facts, node: str, members: tuple[str, ...], floor: int) -> tuple[WatchRule, ...]:
    others = tuple(h for h in members if h != node)
    datadir = facts.host(node)[DataFolder].path or "/"
    return (
        WatchRule(
            code="QUORUM",
            condition=StillPrimary(others, len(others), facts.cluster_id),
            sentence=f"One of {', '.join(others)} is no longer a full member; {node} may be needed as a donor.",
            releases=desync_key(node),
            breach=Breach.RELEASE,
            from_step="backup",
            to_step="catch-up",
        ),
        WatchRule(
            code="DESYNC-LOST",
            condition=StillDesynced(node),
            releases=desync_key(node),
            sentence=f"{node} is back in flow control, but not by this run: the backup may slow the whole cluster "
            "down.",
            from_step="backup",
            to_step="catch-up",
        ),
        WatchRule(
            code="DISK-FLOOR",
            condition=FreeDisk(node, datadir, floor),
            sentence=f"The disk of {node} is nearly full; {node} was returned to flow control and may slow the "
            "cluster down until it has caught up.",
            releases=desync_key(node),
            breach=Breach.RELEASE,
            from_step="backup",
            to_step="catch-up",
        ),
    )


def _ways(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return what may become of the node's clients; HAProxy where one runs on a host of the inventory."""
    seen = [host.host for host in facts.hosts if "haproxy" in host[Balancers].found]
    by_haproxy = (("haproxy", f"HAProxy on {', '.join(seen)} sends new ones to the other nodes"),) if seen else ()
    return (*by_haproxy, ("none", "they stay, and read the node's old data"))
