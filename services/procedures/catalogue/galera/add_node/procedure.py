"""add-node: a spare host becomes a member, or a member that was away returns, with the least harm to others."""

from __future__ import annotations

from services.facts.machine.system import product_of
from services.facts.plain_names import is_node_name
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.joiner_state import must_recover
from services.procedures.catalogue.checks.parts import arbitrators, login_refused, server_of
from services.procedures.catalogue.galera.add_node.keeping import aside_free, aside_possible
from services.procedures.catalogue.galera.add_node.steps import add_plan
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.shared import joining as own
from services.procedures.catalogue.galera.shared.estimate import donor_ranking, transfer_expected
from services.procedures.catalogue.galera.shared.joiner_config import COPIED, address_of
from services.procedures.catalogue.galera.shared.joiner_secrets import set_by_hand
from services.procedures.catalogue.galera.shared.newcomer import config_path
from services.procedures.catalogue.steps import forked
from services.procedures.catalogue.steps.choices import down_members, is_out_of_reach, member_hosts, why_no_spare
from services.procedures.catalogue.steps.haproxy_places import can_drain
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import flag_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.sst_account import SstAccount
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.galera.traffic_files import TrafficFiles
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
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
    name="add-node",
    title="Add a node, or bring one back",
    need="The cluster grows, or a node is gone",
    what="Configures the host like a member, tests the ports, starts it with the best donor, verifies that it is "
    "Synced.",
    takes="Seconds by IST; by SST as long as copying the data takes.",
    can_break="The donor of an SST is out of flow control during the transfer; the joiner's old data is replaced.",
    node_field="joiner",
    for_states=("spare", "down"),
    later_checks=("RECOVERED-HISTORY", "HISTORY"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=10,
    needs=frozenset(
        {
            Balancers,
            DataFolder,
            DataSize,
            Links,
            LogFilters,
            Options,
            Processes,
            Program,
            Provider,
            Rights,
            Sessions,
            SstAccount,
            Starting,
            Tools,
            Traces,
            TrafficFiles,
            Unit,
            Variables,
            WriteRate,
        }
    ),
)


class AddNode(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions; the donors are ranked with reasons."""
        fit = tuple(name for name in facts.candidates if not why_no_spare(facts, name))
        spare = tuple((name, _candidate_words(facts, name)) for name in (*down_members(facts), *fit))
        joiner = inputs.get("joiner") or (spare[0][0] if spare else "")
        others = tuple((name, why_no_spare(facts, name)) for name in facts.candidates if name not in fit)
        present = (*((n, "is already a member") for n in member_hosts(facts)), *others)
        donors = donor_ranking(facts, joiner)
        donor = inputs.get("donor") or (donors[0].host if donors else "")
        return (
            Field("joiner", "Joiner", "host", joiner, spare + present),
            Field(
                "donor", "Donor", "host", donors[0].host if donors else "", tuple((d.host, d.reason) for d in donors)
            ),
            Field(
                "node_name",
                "Node name of the joiner",
                "text",
                facts.host(joiner)[Options].option("mysqld", "wsrep_node_name") or joiner,
                advanced=True,
            ),
            Field(
                "sst_ok",
                "Accept a full copy (SST)",
                "flag",
                "yes",
                help="No: the node joins only if IST can send the write sets that it missed.",
            ),
            *_finer_fields(facts, joiner, donor),
            *forked.fields(joiner),
            *preflight.gone_fields(facts),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(super().faults(facts, inputs))
        values = self.values(facts, inputs)
        if values["node_name"] and not is_node_name(values["node_name"]):
            faults.append(Fault("node_name", "A node name consists of letters, digits, dots, dashes and underscores."))
        own_name = facts.host(values["joiner"])[Options].option("mysqld", "wsrep_node_name")
        if own.configured(facts, values["joiner"]) and own_name and values["node_name"] != own_name:
            faults.append(Fault("node_name", f"{values['joiner']} is already configured with the name {own_name}."))
        if (why := why_no_spare(facts, values["joiner"])) and is_out_of_reach(facts, values["joiner"]):
            faults.append(Fault("joiner", f"{values['joiner']} cannot join: {why}."))
        if values["joiner"] and values["joiner"] == values["donor"]:
            faults.append(Fault("donor", "Donor and joiner must be different hosts."))
        if values["joiner"] and not address_of(facts.host(values["joiner"])):
            faults.append(Fault("joiner", f"The address of {values['joiner']} is not known."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; for a host that is a full member already only what shows that nothing is open."""
        values = self.values(facts, inputs)
        joiner, donor, members = values["joiner"], values["donor"], member_hosts(facts)
        if joiner in members:
            return preflight.there_already(facts, joiner, members)
        gate = preflight.health_gate(facts, members, size=len(members) + arbitrators(facts))
        both, fresh = (donor, joiner), not own.configured(facts, joiner)
        accepted, given_up = forked.accepted(values, joiner), forked.parted(facts, values)
        expected = transfer_expected(facts, joiner, donor, accepted=accepted)
        keep = flag_of(values["keep_data"]) is True
        return (
            gate,
            preflight.no_transfer_or_ddl(facts, members),
            preflight.versions(facts, joiner, members),
            preflight.provider_protocol(facts, joiner, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            preflight.provider_library(facts, joiner, donor),
            preflight.traffic_alike(facts, joiner, donor, fresh=fresh),
            preflight.traffic_files(facts, joiner, donor, fresh=fresh),
            *preflight.ports(facts, joiner, members),
            own.runs_now(facts, joiner),
            *preflight.stops_at_once(facts, (joiner,)),
            own.runs_outside(facts, joiner),
            preflight.datadir_foreign(facts, joiner),
            forked.history(facts, values, pending=must_recover(facts, joiner, accepted=accepted)),
            own.transfer_kind(facts, joiner, expected, sst_ok=flag_of(values["sst_ok"]) is True, given_up=given_up),
            own.disk(facts, joiner, donor, expected, keep=keep),
            *preflight.sst_tools(facts, both),
            *own.other_tools(facts, donor, tuple(m for m in members if m != joiner)),
            preflight.sst_section(facts, both) if not fresh else own.sst_section_copied(facts, joiner, donor),
            set_by_hand(facts, joiner, donor, COPIED if fresh else ()),
            preflight.sst_account(facts, donor),
            preflight.clocks(facts, (*members, joiner)),
            own.server_uuids(facts, joiner, members),
            own.own_cluster(facts, joiner, members),
            *_joins_others(facts, joiner, fresh=fresh),
            *(() if fresh else preflight.names_known(facts, (joiner,))),
            *preflight.temporary_space(facts, (joiner, donor)),
            *preflight.innodb_as_usual(facts, (joiner,)),
            own.names(facts, joiner, values["node_name"], donor, members),
            aside_free(facts, joiner, expected, keep=keep),
            aside_possible(facts, joiner, expected, keep=keep, given_up=given_up),
            own.options_left(facts, joiner, donor),
            own.donors_stay(facts, donor, expected),
            *preflight.donor_names(facts, (*members, joiner)),
            *preflight.config_valid(facts, (joiner,)),
            *preflight.operator_rights(facts, (joiner, *members)),
            *own.orphans(facts, joiner, end=flag_of(values["end_orphans"]) is True),
            *preflight.rows_left_out(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, (joiner, *members)),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps for a host that is a full member already."""
        return add_plan(facts, self.values(facts, inputs))

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the rest, now that the joiner's position is known: a donor that can send an IST goes first."""
        values = self.values(facts, inputs)
        joiner = values["joiner"]
        able = [d.host for d in donor_ranking(facts, joiner) if d.ist]
        donor = values["donor"] if not able or values["donor"] in able else able[0]
        values["donor"] = donor
        expected, members = transfer_expected(facts, joiner, donor), member_hosts(facts)
        keep, given_up = flag_of(values["keep_data"]) is True, forked.parted(facts, values)
        checks = (
            preflight.health_gate(facts, members, size=len(members) + arbitrators(facts)),
            own.runs_outside(facts, joiner),
            own.recovered_history(facts, joiner),
            forked.history(facts, values, pending=False),
            own.transfer_kind(facts, joiner, expected, sst_ok=flag_of(values["sst_ok"]) is True, given_up=given_up),
            own.disk(facts, joiner, donor, expected, keep=keep),
            aside_free(facts, joiner, expected, keep=keep),
            aside_possible(facts, joiner, expected, keep=keep, given_up=given_up),
            own.donors_stay(facts, donor, expected),
        )
        return checks, add_plan(facts, values, so_far.steps)


PROCEDURE = AddNode()


def _joins_others(facts: Facts, joiner: str, *, fresh: bool) -> tuple[Check, ...]:
    """A new host is judged by what its files will say once ours stands beside them."""
    if fresh:
        return (preflight.joins_others_once_written(facts, joiner, config_path(facts.host(joiner))),)
    return preflight.joins_others(facts, (joiner,))


def _finer_fields(facts: Facts, joiner: str, donor: str) -> tuple[Field, ...]:
    """Return the questions that most people leave as they are."""
    return (
        Field(
            "extend",
            "Add the new address to the other members' files",
            "flag",
            "yes",
            help="The members read it at their next start; none is restarted now.",
            advanced=True,
        ),
        Field(
            "donor_out",
            "Take the donor out of HAProxy while it sends an SST",
            "flag",
            "yes" if can_drain(facts, donor) else "no",
            help="The donor falls behind during the SST and serves old data. Requires an HAProxy that accepts "
            "commands.",
            advanced=True,
        ),
        Field(
            "settle",
            "How long the receive queue must stay short",
            "duration",
            "60 s",
            help="A Synced node that cannot keep up falls behind again at once.",
            advanced=True,
        ),
        Field(
            "end_orphans",
            "End processes of an earlier transfer on the host",
            "flag",
            "no",
            help="The scripts and streams that SST-ORPHANS lists. They are ended only while no server runs there.",
            advanced=True,
        ),
        Field(
            "keep_data",
            "Keep the host's old data folder",
            "flag",
            "no" if own.own_file_system(facts, joiner) else "yes",
            help="An SST erases it, including its binary logs. Undo restores it. A mount point cannot be renamed.",
            advanced=True,
        ),
    )


def _candidate_words(facts: Facts, name: str) -> str:
    host = facts.host(name)
    if name in facts.members:
        if host.server_up is not False:
            return f"member, {_running_words(host)}"
        state = host[DataFolder].grastate
        if state is None:
            return "member, down"
        known = state.seqno is not None and state.seqno >= 0
        return f"member, down, at seqno {state.seqno}" if known else "member, down, position not yet known"
    return f"spare, {product_of(host[Program].text) or 'no server program found'}"


def _running_words(host: HostFacts) -> str:
    """Say of a member that is not seen in the Primary Component, and not seen down, what is known of it."""
    if server_of(host) is not None:
        return "runs, not in the Primary Component"
    refused = login_refused(host)
    state = "not known: the SQL login is refused" if refused else "not known: no answer over SQL"
    return state + ("; its service is active" if host[Unit].active_state == "active" else "")
