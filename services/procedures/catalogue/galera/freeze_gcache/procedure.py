"""freeze-gcache: one member keeps its write-set cache while a node is away, so that the node returns by IST.

Source: Percona XtraDB Cluster manual, "gcache.freeze_purge_at_seqno"; the option exists in Percona's provider only.
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.freeze_gcache import checks as own
from services.procedures.catalogue.galera.freeze_gcache.checks import RELEASE_MODE
from services.procedures.catalogue.galera.freeze_gcache.steps import freeze_plan, release_plan
from services.procedures.catalogue.galera.shared.cache_arithmetic import (
    Cache,
    cache_of,
    floor_default,
    is_frozen,
    seqno_proposed,
)
from services.procedures.catalogue.galera.shared.order import segment_of
from services.procedures.catalogue.steps import set_before
from services.procedures.catalogue.steps.choices import member_choices, member_hosts
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts, can_drain
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import bytes_of, flag_of, number_of, seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import About

ABOUT = About(
    name="freeze-gcache",
    title="Take a node down without SST",
    need="A node must go down",
    what="A donor keeps its gcache while the node is away; the node returns by IST; then the cache is released.",
    takes="Your maintenance, and the time of one IST.",
    can_break="The donor's disk fills while the cache is frozen: the cache is released before, and an SST follows.",
    node_field="node",
    for_states=("synced",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=20,
    needs=frozenset(
        {
            Balancers,
            DataFolder,
            Gcache,
            LogFilters,
            Options,
            Processes,
            Program,
            Provider,
            Rights,
            RootLogin,
            Sessions,
            Starting,
            Unit,
            Variables,
            WriteRate,
        }
    ),
)


class FreezeGcache(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions; the donor's default follows the node, the floor's the donor."""
        members = member_choices(facts)
        node = inputs.get("node") or (members[-1][0] if members else "")
        only_release = inputs.get("mode") == RELEASE_MODE
        donors = tuple((name, _donor_words(facts, name)) for name, _ in members if name != node or only_release)
        frozen = next((name for name, _ in members if is_frozen(facts, name)), "") if only_release else ""
        donor = inputs.get("donor") or frozen or _best_donor(facts, node)
        cache = cache_of(facts.host(donor))
        away = seconds_of(inputs.get("away") or "30 min") or 1_800.0
        proposal = seqno_proposed(cache, cache.last or 0, away)
        modes = (
            ("now", f"keep everything from the oldest cached seqno, {cache.downto}, on"),
            ("seqno", f"keep from a seqno on; {proposal[1]}" if proposal is not None else "keep from a seqno on"),
            (RELEASE_MODE, "only end a freeze that was left on the donor; no node goes down"),
        )
        return (
            Field("node", "Node that goes down", "host", node, members),
            Field("away", "How long it will be away", "duration", "30 min"),
            Field("donor", "Donor that keeps its cache", "host", donor, donors),
            Field("donor_stays", "The donor stays up", "flag", "yes", help="A restart of the donor ends the freeze."),
            Field("mode", "Freeze at", "choice", "now", modes, advanced=True),
            Field(
                "seqno",
                "Seqno to freeze at",
                "number",
                str(proposal[0]) if proposal is not None else "",
                required=inputs.get("mode") == "seqno",
                advanced=True,
                help="c: oldest seqno in the cache; S: the node's seqno when it stops; L_end: the cluster's seqno at "
                "its return.",
            ),
            Field(
                "floor",
                "Release the cache below this much free disk",
                "bytes",
                f"{floor_default(cache) / 1e9:.2f} GB",
                advanced=True,
            ),
            Field(
                "peak",
                "Highest write rate per second during the absence",
                "bytes",
                required=False,
                help="Empty: the rate measured over two seconds. A later batch or load job may write more.",
                advanced=True,
            ),
            *set_before.drained_field(facts, (node,)),
            Field("drain", "Drain the node first", "flag", "yes", help=_drain_words(facts, node)),
            Field(
                "guard",
                "Set a guard on the donor as well",
                "flag",
                "yes",
                help="A unit on the donor releases the cache an hour after the planned end, or at the floor.",
                advanced=True,
            ),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = super().faults(facts, inputs)
        values = self.values(facts, inputs)
        if values["donor"] and values["donor"] == values["node"] and values["mode"] != RELEASE_MODE:
            faults += (Fault("donor", "The donor and the node that goes down must be different."),)
        return faults

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist. A foreign provider can be overridden here: nothing is desynced or unloaded."""
        values = self.values(facts, inputs)
        node, donor = values["node"], values["donor"]
        away = seconds_of(values["away"]) or 0.0
        members, guard = member_hosts(facts), flag_of(values["guard"]) is True
        foreign = tuple(replace(check, absolute=False) for check in preflight.foreign_provider(facts, members))
        if values["mode"] == RELEASE_MODE:
            return (
                preflight.known_product(facts, members),
                *foreign,
                own.capability(facts, donor, node, away),
                own.left_frozen(facts, donor),
                *preflight.operator_rights(facts, (donor,)),
                preflight.lock_free(facts, members),
            )
        return (
            preflight.health_gate(facts, members),
            preflight.one_past(facts, (node,), members),
            preflight.no_transfer_or_ddl(facts, members),
            preflight.known_product(facts, members),
            *foreign,
            own.capability(facts, donor, node, away),
            own.frozen_already(facts, donor),
            own.seqno_in_cache(facts, donor, values["mode"], number_of(values["seqno"]), away),
            own.disk(facts, donor, away, bytes_of(values["floor"]) or 0, bytes_of(values["peak"]) or 0, guard=guard),
            own.guard_login(facts, donor, guard=guard),
            own.needed(facts, donor, node, away),
            own.donor_stays(donor, away, promised=flag_of(values["donor_stays"]) is True),
            own.segments(facts, donor, node),
            own.stale_pages(facts, donor),
            set_before.drained_before(facts, (node,), values),
            *preflight.donor_names(facts, members),
            preflight.named_donor(facts, node, donor),
            *preflight.operator_rights(facts, (node, donor)),
            *preflight.config_valid(facts, (node,)),
            *preflight.joins_others(facts, (node,)),
            *preflight.names_known(facts, (node,)),
            preflight.clocks(facts, members, blocks=False),
            *preflight.temporary_space(facts, (node,)),
            *preflight.innodb_as_usual(facts, (node,)),
            *preflight.sst_orphans(facts, (node,)),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, members),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan."""
        values = self.values(facts, inputs)
        return release_plan(facts, values) if values["mode"] == RELEASE_MODE else freeze_plan(facts, values)


PROCEDURE = FreezeGcache()


def _drain_words(facts: Facts, node: str) -> str:
    if not can_drain(facts, node):
        return "By wsrep_reject_queries on the node."
    return f"In HAProxy on {', '.join(balancer_hosts(facts, (node,)))}, then by wsrep_reject_queries on the node."


def _best_donor(facts: Facts, node: str) -> str:
    """Return the member that can freeze, is in the node's segment, reaches back furthest, and has the most room."""
    caches = [cache_of(facts.host(name)) for name in member_hosts(facts) if name != node]
    if not caches:
        return ""
    newest = max((c.last or 0) for c in caches)
    home = segment_of(facts, node)

    def worth(cache: Cache) -> tuple[bool, bool, int, int, str]:
        near = segment_of(facts, cache.host) == home
        return (cache.frozen_at is not None, near, newest - (cache.downto or newest), cache.free or 0, cache.host)

    return max(caches, key=worth).host


def _donor_words(facts: Facts, name: str) -> str:
    cache = cache_of(facts.host(name))
    able = "can freeze" if cache.frozen_at is not None else "has no freeze option"
    free = f", {cache.free / 1e9:.1f} GB free" if cache.free is not None else ""
    return f"{able}, cached from {cache.downto}{free}"
