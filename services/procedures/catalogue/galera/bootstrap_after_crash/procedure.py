"""bootstrap-after-crash: no Primary Component is left; find the node that has everything, start from it, join the rest.

Two parts: the first finds every node's position (a server must be asked for it), the second is planned from what was
found, shown and approved anew.
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks.parts import ssh_silent, state_file
from services.procedures.catalogue.galera.bootstrap_after_crash import by_itself, safety
from services.procedures.catalogue.galera.bootstrap_after_crash import checks as own
from services.procedures.catalogue.galera.bootstrap_after_crash.found_again import finds_the_first
from services.procedures.catalogue.galera.bootstrap_after_crash.history import (
    extracted,
    forked_from,
    history,
    strangers_to,
)
from services.procedures.catalogue.galera.bootstrap_after_crash.identity import one_cluster
from services.procedures.catalogue.galera.bootstrap_after_crash.joining import JOIN_LIMIT_S, bootstrap_and_join, closing
from services.procedures.catalogue.galera.bootstrap_after_crash.losses import accepted, lost, trusted
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party, party
from services.procedures.catalogue.galera.bootstrap_after_crash.steps import find_positions, make_primary, stopped
from services.procedures.catalogue.galera.bootstrap_after_crash.unmoved import looked_at, recovered
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.shared.positions import (
    NodePosition,
    behind,
    chosen_by_word,
    joining_order,
    most_advanced,
    standings,
)
from services.procedures.catalogue.galera.shared.stale import innodb_counts
from services.procedures.catalogue.steps.choices import is_primary, member_hosts
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import flag_of, hosts_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.error_log import ErrorLog
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.pasts.positions import not_recovered
from services.procedures.plan.procedure import About

ABOUT = About(
    name="bootstrap-after-crash",
    title="Start the cluster after all nodes went down",
    need="All nodes are down",
    what="Lets every node recover its position, bootstraps the most advanced one, joins the others one at a time.",
    takes="Crash recovery of each node, then one IST or SST per node.",
    can_break="The data of the bootstrapped node replaces all others: the wrong choice loses transactions.",
    node_field="",  # the node that was clicked is not the one to bootstrap: the positions tell that
    for_states=("no-primary", "down"),
    later_checks=("CHOSEN-BEHIND", "JOINS-FIRST"),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=40,
    # The last two are no matter of the plan: they tell how far an SST of a node that joins has come (Joined).
    needs=frozenset(
        {
            Balancers,
            DataFolder,
            ErrorLog,
            Links,
            LogFilters,
            Options,
            Processes,
            Program,
            Provider,
            Rights,
            Starting,
            Traces,
            Unit,
            Variables,
            DataSize,
            Gcache,
        }
    ),
)
AUTO = "the most advanced"
COPIES = (
    ("none", "no copies: the run continues at once"),
    ("wait", "the run waits for you while every server is stopped"),
    ("made", "already made while the servers were stopped"),
)


class BootstrapAfterCrash(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: all nodes, those that are off for good, and which to bootstrap."""
        del inputs
        every = tuple((name, _state(facts, name)) for name in facts.members)
        named = tuple((one.name, f"named by {one.by[0]}, not queried") for one in facts.named if not one.retired)
        return (
            Field("nodes", "All nodes of the cluster", "hosts", ", ".join(facts.members), every),
            Field(
                "gone",
                "Nodes that are certainly powered off or fenced",
                "hosts",
                required=False,
                choices=(*every, *named),
                help="An unreachable node may still run: name a node only if you have verified that it is off.",
            ),
            Field("bootstrap", "Node to bootstrap", "choice", AUTO, ((AUTO, "chosen from the positions"), *every)),
            Field(
                "copies",
                "Copies or snapshots of the data folders",
                "choice",
                "none",
                COPIES,
                help="Crash recovery and an SST change data files. Only a copy made before can restore them.",
            ),
            Field(
                "itself",
                "Let the nodes restore their last cluster automatically if possible",
                "flag",
                "yes",
                help="Galera's own recovery (pc.recovery): tried for five minutes before a node is bootstrapped.",
                advanced=True,
            ),
            Field(
                "left_out",
                "Let members that are left out recover their positions as well",
                "flag",
                "yes",
                help="Only on stopped servers, and only that: it shows which of their transactions would be lost.",
                advanced=True,
            ),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(super().faults(facts, inputs))
        values = self.values(facts, inputs)
        gone = hosts_of(values["gone"])
        if values["bootstrap"] in gone:
            faults.append(Fault("bootstrap", f"You confirmed that {values['bootstrap']} is powered off."))
        elif values["bootstrap"] not in {AUTO, *hosts_of(values["nodes"])}:
            faults.append(Fault("bootstrap", f"{values['bootstrap']} is not one of the given nodes."))
        if not [n for n in hosts_of(values["nodes"]) if n not in gone]:
            faults.append(Fault("nodes", "No node is left to start."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; a whole cluster passes it, because then nothing is to do."""
        asked, chosen = self._asked(facts, inputs)
        hosts = asked.hosts
        if _whole(facts, hosts):
            return (preflight.health_gate(facts, hosts),)
        checks = [
            own.primary_exists(facts, asked.everyone),
            own.unaccounted(asked),
            preflight.named_members(facts, gone=asked.gone, blocks=True),
            own.positions(facts, asked.known),
            one_cluster(asked),
            history(asked, side_chosen=chosen != AUTO),
            own.candidate_exists(facts, hosts, chosen),
            safety.crash_cause(facts, hosts),
            safety.durability(facts, hosts),
            safety.clients_away(facts),
            *self._by_the_way(facts, inputs),
            preflight.known_product(facts, hosts),
            *preflight.foreign_provider(facts, hosts),
            *preflight.rows_left_out(facts, hosts),
            *preflight.operator_rights(facts, hosts),
            *preflight.sst_orphans(facts, hosts),
            *preflight.joins_others(facts, hosts),
            *preflight.names_known(facts, hosts),
            preflight.clocks(facts, asked.known, blocks=False),
            *preflight.stops_at_once(facts, hosts),
            *preflight.temporary_space(facts, hosts),
            *preflight.innodb_as_usual(facts, asked.known),
            preflight.lock_free(facts, asked.known),
        ]
        if chosen != AUTO:
            checks.insert(4, own.chosen_is_candidate(facts, hosts, chosen))
        return tuple(checks)

    def _by_the_way(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checks of the way that the plan takes: by one statement, or with every server stopped first."""
        asked, chosen = self._asked(facts, inputs)
        found = standings(facts, asked.hosts)
        best = _chosen(found, chosen)
        checks: tuple[Check, ...] = ()
        if _parted(found) and best is not None:
            newest = own.chosen_is_newest(found, best, forked_from(asked, best.host))
            checks = (safety.network_first(facts, asked.hosts), newest, lost(asked, best))
        elif chosen != AUTO and best is not None and behind(found, best):
            checks = (own.chosen_is_behind_so_far(facts, found, best),)
        if _by_one_statement(asked, found, best):
            return checks
        copied = safety.copies(asked.hosts, self.values(facts, inputs)["copies"])
        return (*checks, safety.ways_closed(facts, asked.hosts), copied)

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the first part; for servers that all answer without a Primary the whole plan."""
        asked, chosen = self._asked(facts, inputs)
        if _whole(facts, asked.hosts):
            return self._plan(asked, inputs, ())
        found = standings(facts, asked.hosts)
        best = _chosen(found, chosen)
        if _by_one_statement(asked, found, best) and best is not None and best.seqno is not None:
            steps = make_primary(asked, best.host, best.seqno, found)
            return self._plan(asked, inputs, (*accepted(asked, best), *steps))
        values = self.values(facts, inputs)
        first = find_positions(
            asked, wait_for_copies=values["copies"] == "wait", ask_left=flag_of(values["left_out"]) is True
        )
        return self._plan(asked, inputs, first)

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the rest from the recovered positions, with the checks of the choice.

        After Galera's own recovery was tried it is either the end, or the bootstrap by hand.
        """
        members = tuple(dict.fromkeys((*so_far.hosts, *hosts_of(inputs.get("gone", "")))))
        facts = replace(facts, members=members)  # those that were left out are hosts of the plan too
        asked, wish = self._asked(facts, inputs)
        asked = looked_at(so_far, asked)
        hosts = asked.hosts
        tried = so_far.steps[-1].step_id == by_itself.FORMED
        found = standings(facts, hosts)
        if tried and _whole(facts, hosts):
            formed = (*so_far.steps, *closing(facts, hosts, limit_s=JOIN_LIMIT_S))
            return (own.positions(facts, hosts),), self._plan(asked, inputs, formed)
        chosen = _chosen(found, wish)
        checks: list[Check] = [
            own.primary_exists(facts, asked.everyone),
            preflight.named_members(facts, gone=asked.gone, blocks=True),
            own.positions(facts, asked.known),
            one_cluster(asked),
            history(asked, side_chosen=wish != AUTO),
            *preflight.innodb_as_usual(facts, asked.known),
            *(preflight.stops_at_once(facts, hosts) if tried else ()),  # they wait for each other still
        ]
        if chosen is None or chosen.seqno is None or chosen.out:
            return (*checks, _no_candidate(found)), so_far
        checks += [own.chosen_is_newest(found, chosen, forked_from(asked, chosen.host)), lost(asked, chosen)]
        joins = joining_order(found, chosen, _apart(asked, found, chosen))
        checks.append(finds_the_first(asked, chosen.host, joins))
        more: tuple[Step, ...] = () if tried else (*extracted(asked, chosen.host), *accepted(asked, chosen))
        if not tried:
            reason = by_itself.in_the_way(asked, found)
            wanted = wish == AUTO and flag_of(self.values(facts, inputs)["itself"]) is True
            checks.append(by_itself.told(reason, wanted=wanted))
            if wanted and not reason:
                more += (*innodb_counts(facts, found), *by_itself.form_again(asked))
                return tuple(checks), self._plan(asked, inputs, (*so_far.steps, *more))
        return tuple(checks), self._by_hand(asked, inputs, so_far, chosen, more, tried=tried)

    def _by_hand(
        self, asked: Party, inputs: Inputs, so_far: Plan, chosen: NodePosition, more: tuple[Step, ...], *, tried: bool
    ) -> Plan:
        """Return the whole plan with one node bootstrapped; nodes that are ahead or of another past stay stopped."""
        assert chosen.seqno is not None
        again = "again-" if tried else ""
        found = standings(asked.facts, asked.hosts)
        if tried:
            more += tuple(stopped(asked.host(name), asked, again) for name in asked.hosts)
            more += tuple(recovered(asked.host(name), again) for name in asked.hosts)
        apart = _apart(asked, found, chosen)
        joining = tuple(s for s in found if s.host not in apart)
        if chosen.by_word:
            more += (trusted(chosen),)
        more += innodb_counts(asked.facts, joining, again)
        order = joining_order(found, chosen, apart)
        more += bootstrap_and_join(asked, chosen.host, chosen.seqno, order, apart, prefix=again)
        return self._plan(asked, inputs, (*so_far.steps, *more), apart)

    def _plan(self, asked: Party, inputs: Inputs, steps: tuple[Step, ...], apart: tuple[str, ...] = ()) -> Plan:
        facts, hosts = asked.facts, asked.hosts
        back = [name for name in hosts if name not in apart]
        return Plan(
            procedure=ABOUT.name,
            title=f"Start {facts.cluster_name or 'the cluster'} after all nodes went down",
            summary="Positions first; then the most advanced node alone; then the others, one at a time.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=asked.known,
            quorums=(hosts,),
            inputs=tuple(self.values(facts, inputs).items()),
            steps=looked_again(steps),
            charts=tuple(Chart("galera.recv_queue", name, f"Receive queue of {name}") for name in hosts[:2]),
            expects=(
                f"{', '.join(back)} are Synced in one Primary Component with state UUID {facts.cluster_id}.",
                *((f"{', '.join(asked.gone)} stayed off.",) if asked.gone else ()),
                *((f"{', '.join(asked.left)} was left out and not started.",) if asked.left else ()),
                *(_stays(facts, name) for name in apart),
            ),
        )

    def _asked(self, facts: Facts, inputs: Inputs) -> tuple[Party, str]:
        values = self.values(facts, inputs)
        return party(facts, hosts_of(values["nodes"]), hosts_of(values["gone"])), values["bootstrap"]


PROCEDURE = BootstrapAfterCrash()


def _stays(facts: Facts, name: str) -> str:
    if not_recovered(facts, name):
        return (
            f"{name} stays stopped: its server could not recover its position. Move its data away, leave an empty "
            "folder, and bring it back by SST with add-node."
        )
    return f"{name} stays stopped, with transactions that no other node has; bring it back with add-node."


def _apart(asked: Party, found: tuple[NodePosition, ...], chosen: NodePosition) -> tuple[str, ...]:
    """Return the nodes that stay stopped: of another past than the chosen one, ahead of it, or not recovered."""
    strange = tuple(name for name in strangers_to(asked, chosen.host) if name in asked.hosts)
    broken = tuple(s.host for s in found if not_recovered(asked.facts, s.host))
    return tuple(dict.fromkeys((*strange, *(s.host for s, _ in behind(found, chosen)), *broken)))


def _whole(facts: Facts, hosts: tuple[str, ...]) -> bool:
    return bool(hosts) and set(hosts) <= set(member_hosts(facts))


def _state(facts: Facts, name: str) -> str:
    host = facts.host(name)
    if is_primary(facts, host):
        return "Primary"
    if host.server_up:
        return "up, not Primary"
    if ssh_silent(host) and not host.server_up:
        return "no answer"
    state = host[DataFolder].grastate
    return f"down, grastate seqno {state.seqno}" if state is not None else f"down, grastate {state_file(host)}"


def _chosen(found: tuple[NodePosition, ...], asked: str) -> NodePosition | None:
    if asked == AUTO:
        return most_advanced(found)
    return next((chosen_by_word(s) for s in found if s.host == asked), None)


def _parted(found: tuple[NodePosition, ...]) -> bool:
    """Return whether every server answers with its position: one that hangs on its way up may be ahead of all."""
    return bool(found) and all(s.source == "running" and s.seqno is not None and not s.out for s in found)


def _by_one_statement(asked: Party, found: tuple[NodePosition, ...], best: NodePosition | None) -> bool:
    """Return whether pc.bootstrap may do: it takes every node along that is connected, so all must share one past."""
    return _parted(found) and best is not None and not strangers_to(asked, best.host)


def _no_candidate(found: tuple[NodePosition, ...]) -> Check:
    return Check(
        code="NO-CANDIDATE",
        title="A node can be chosen",
        verdict=Verdict.BLOCK,
        evidence="; ".join(f"{s.host}: {s.out or s.text}" for s in found),
        why="A node with a zero UUID, an unknown seqno or another history is never chosen.",
        try_=("Inspect the data folders yourself; the state files were copied.",),
        answers=own.by_your_word(found),
        absolute=True,
    )
