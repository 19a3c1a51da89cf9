"""rolling-restart: restart every Galera member one at a time, or change one option on all of them that way.

Order: members without replicas first, those in other segments, those that serve replicas, the writer last. A node goes
down only while the others are whole and one of them can bring it back by IST; the run stops at the first doubt.
"""

from __future__ import annotations

import re

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.haproxy import balancers, haproxy_checks
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.rolling_restart import checks as own
from services.procedures.catalogue.galera.rolling_restart.option import (
    NOT_GIVEN_HERE,
    as_planned,
    holds_secret,
    option_known,
)
from services.procedures.catalogue.galera.rolling_restart.steps import CONFIG_FILE, rolling_plan
from services.procedures.catalogue.galera.shared.order import donor_for, enough_members, order_of
from services.procedures.catalogue.steps import set_before
from services.procedures.catalogue.steps.choices import member_choices, member_hosts
from services.procedures.catalogue.steps.haproxy_places import all_behind
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import flag_of, hosts_of, seconds_of
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
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import About

ABOUT = About(
    name="rolling-restart",
    title="Restart the nodes one at a time",
    need="A node must go down",
    what="Drains, stops, changes, starts and verifies one node after the other, the writer last.",
    takes="About a minute per node, plus the pauses.",
    can_break="The cluster has one vote fewer while a node is down; a node that missed too much would need an SST.",
    node_field="nodes",
    for_states=("synced",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=30,
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
            Sessions,
            Starting,
            Unit,
            Variables,
            WriteRate,
        }
    ),
)
_DRAINS = (
    ("server", "the node refuses client statements (wsrep_reject_queries)"),
    ("person", "you remove it from the load balancer and confirm"),
    ("none", "the stop disconnects them"),
)
_OPTION = re.compile(r"[a-z][a-z0-9_-]*")


class RollingRestart(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions; the order's default is computed."""
        order, _ = order_of(facts)
        nodes = hosts_of(inputs.get("nodes") or ", ".join(order))
        return (
            Field("nodes", "Nodes, in this order", "hosts", ", ".join(order), member_choices(facts)),
            Field("option", "Server option to change", "text", required=False, help="Empty: only restart."),
            Field("value", "New value", "text", required=False),
            Field("file", "Option file to write it to", "text", CONFIG_FILE, required=False, advanced=True),
            Field(
                "drain",
                "How a node is drained",
                "choice",
                "haproxy" if all_behind(facts, nodes) else "server",
                _drains(facts),
            ),
            *set_before.drained_field(facts, nodes),
            Field("drain_limit", "Longest drain of a node", "duration", "2 min", advanced=True),
            Field(
                "cut",
                "Close the remaining sessions after the drain",
                "flag",
                "no",
                help="In HAProxy, or by wsrep_reject_queries=ALL_KILL. 'No' stops the run if some remain.",
                advanced=True,
            ),
            Field(
                "work",
                "Wait for your work on each node while it is down",
                "flag",
                "no",
                help="Patches, packages, certificates. Its configuration is tested before it starts.",
            ),
            Field("reason", "Why", "text", required=False, help="Kept in the journal and in the report."),
            Field("soak", "Observe a restarted node before clients return to it", "duration", "60 s", advanced=True),
            Field("pause", "Pause between two nodes", "duration", "60 s", advanced=True),
            Field("downtime", "Expected downtime of a node", "duration", "2 min", advanced=True),
            Field(
                "desync",
                "Desync a node before it goes down",
                "flag",
                "no",
                help="A restart does not need it; it prevents flow control during a slow stop.",
                advanced=True,
            ),
            Field(
                "older_than",
                "Only nodes that have run longer than",
                "duration",
                required=False,
                help="Empty: all nodes. A second run with this limit has nothing to do.",
                advanced=True,
            ),
            Field("sst_ok", "Accept an SST if IST is not possible", "flag", "no", advanced=True),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        # Of a value that holds a secret more is told below: how it is given all the same.
        faults = [fault for fault in super().faults(facts, inputs) if fault.field != "value"]
        values = self.values(facts, inputs)
        if values["option"] and not _OPTION.fullmatch(values["option"]):
            faults.append(Fault("option", "An option name consists of letters, digits, dashes and underscores."))
        if bool(values["option"]) != bool(values["value"]):
            faults.append(Fault("value", "Enter both an option and its value, or neither."))
        if values["value"] and holds_secret(values["option"], values["value"]):
            faults.append(Fault("value", NOT_GIVEN_HERE))
        if "\n" in values["value"]:
            faults.append(Fault("value", "A value must be one line."))
        if values["option"].replace("-", "_") in own.REFUSED_OPTIONS:
            faults.append(
                Fault("option", f"{values['option']} cannot be changed this way: it would split or replace data.")
            )
        if values["file"] and not values["file"].startswith("/"):
            faults.append(Fault("file", "Enter the absolute path of the file."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values = self.values(facts, inputs)
        nodes, members = hosts_of(values["nodes"]), member_hosts(facts)
        option, value = values["option"], values["value"]
        later = as_planned(facts, nodes, option, value)
        downtime = seconds_of(values["downtime"]) or 120.0
        drain = seconds_of(values["drain_limit"]) or 120.0
        return (
            preflight.health_gate(facts, members),
            enough_members(facts, members),
            own.order(facts, nodes),
            *own.reach(facts, nodes, downtime, sst_ok=flag_of(values["sst_ok"]) is True),
            preflight.one_past(facts, nodes, members),
            preflight.no_transfer_or_ddl(facts, members),
            preflight.long_transactions(facts, nodes, drain),
            *preflight.config_valid(facts, nodes),
            preflight.sst_section(facts, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            *preflight.operator_rights(facts, nodes),
            *preflight.donor_names(facts, members),
            *(preflight.named_donor(facts, n, donor_for(facts, n, nodes[:i])) for i, n in enumerate(nodes)),
            *preflight.sst_orphans(facts, nodes),
            *own.stop_limits(facts, nodes),
            set_before.drained_before(facts, nodes, values),
            balancers(facts, values["drain"]),
            *(haproxy_checks(facts, nodes) if values["drain"] == "haproxy" else ()),
            own.replicas(facts, nodes),
            own.fast_shutdown(facts, nodes),
            *preflight.joins_others(later, nodes),
            *preflight.names_known(later, nodes),
            preflight.clocks(facts, members, blocks=False),
            *preflight.temporary_space(later, nodes),
            *preflight.data_space(facts, nodes, downtime),
            *preflight.innodb_as_usual(later, nodes),
            option_known(facts, nodes, option, value),
            *preflight.rows_left_out(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, members),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps when an option is to be changed that has the value everywhere."""
        return rolling_plan(facts, self.values(facts, inputs))


PROCEDURE = RollingRestart()


def _drains(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return the ways in which clients may leave a node; HAProxy where one runs on a host of the inventory."""
    seen = [host.host for host in facts.hosts if "haproxy" in host[Balancers].found]
    by_haproxy = (("haproxy", f"HAProxy on {', '.join(seen)} sends them to the other nodes"),) if seen else ()
    return (*by_haproxy, *_DRAINS)
