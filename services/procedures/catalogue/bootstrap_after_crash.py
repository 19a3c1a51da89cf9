"""bootstrap-after-crash: no Primary Component is left; find the node that has everything, start from it, join the rest.

Two parts: the first finds every node's position (a server must be asked for it), the second is planned from what was
found, shown and approved anew.
"""

from __future__ import annotations

from services.procedures import preflight
from services.procedures.catalogue import crash_by_itself as by_itself
from services.procedures.catalogue import crash_checks as own
from services.procedures.catalogue import crash_safety as safety
from services.procedures.catalogue.choices import is_primary, member_hosts
from services.procedures.catalogue.crash_joining import JOIN_LIMIT_S, accept_loss, bootstrap_and_join, closing
from services.procedures.catalogue.crash_positions import (
    Standing,
    behind,
    joining_order,
    lost_estimate,
    most_advanced,
    standings,
)
from services.procedures.catalogue.crash_steps import find_positions, make_primary, stopped
from services.procedures.checks import Check, Verdict
from services.procedures.facts_model import Facts
from services.procedures.fields import Fault, Field, Inputs
from services.procedures.inputs import field_faults, filled, flag_of, hosts_of
from services.procedures.model import Chart, Plan, Step
from services.procedures.procedure import About

ABOUT = About(
    name="bootstrap-after-crash",
    title="Start the cluster after all nodes went down",
    need="All nodes are down",
    what="Lets every node recover its position, bootstraps the most advanced one, joins the others one at a time.",
    takes="Crash recovery of each node, then one IST or SST a node.",
    can_break="The bootstrapped node's data becomes everybody's: the wrong choice loses transactions.",
    node_field="",  # the node that was clicked is not the one to bootstrap: the positions tell that
    for_states=("no-primary", "down"),
    later_checks=("CHOSEN-BEHIND",),
)
AUTO = "the most advanced"
COPIES = (
    ("none", "no copies: the run goes on at once"),
    ("wait", "the run waits for you, with every server stopped"),
    ("made", "they are made already, with the servers stopped"),
)


class BootstrapAfterCrash:
    """Procedure (see procedure.py)."""

    @property
    def about(self) -> About:
        """Return the card."""
        return ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: all nodes, those that are off for good, and which to bootstrap."""
        del inputs
        every = tuple((name, _state(facts, name)) for name in facts.members)
        return (
            Field("nodes", "All nodes of the cluster", "hosts", ", ".join(facts.members), every),
            Field(
                "gone",
                "Nodes that are powered off or fenced for sure",
                "hosts",
                required=False,
                choices=every,
                help="A node that can't be seen may still run: name only what you have made sure of.",
            ),
            Field("bootstrap", "Node to bootstrap", "choice", AUTO, ((AUTO, "chosen from the positions"), *every)),
            Field(
                "copies",
                "Copies or snapshots of the data folders",
                "choice",
                "none",
                COPIES,
                help="Crash recovery and an SST change data files. Only a copy made before leads back.",
            ),
            Field(
                "itself",
                "Let the nodes form their last cluster again by themselves, where they can",
                "flag",
                "yes",
                help="Galera's own recovery (pc.recovery): tried for five minutes before a node is bootstrapped.",
                advanced=True,
            ),
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(field_faults(self.fields(facts, inputs), inputs))
        values = self._values(facts, inputs)
        gone = hosts_of(values["gone"])
        if values["bootstrap"] in gone:
            faults.append(Fault("bootstrap", f"{values['bootstrap']} is powered off by your own word."))
        elif values["bootstrap"] not in {AUTO, *hosts_of(values["nodes"])}:
            faults.append(Fault("bootstrap", f"{values['bootstrap']} is not among the nodes named."))
        if not [n for n in hosts_of(values["nodes"]) if n not in gone]:
            faults.append(Fault("nodes", "No node is left to start."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist; a whole cluster passes it, because then nothing is to do."""
        hosts, gone, chosen = self._asked(facts, inputs)
        if _whole(facts, hosts):
            return (preflight.health_gate(facts, hosts),)
        checks = [
            own.primary_exists(facts, (*hosts, *gone)),
            own.unaccounted(facts, hosts, gone),
            own.positions(facts, hosts),
            own.one_history(facts, hosts),
            own.candidate_exists(facts, hosts),
            safety.crash_cause(facts, hosts),
            safety.durability(facts, hosts),
            safety.clients_away(facts),
            *self._by_the_way(facts, inputs),
            preflight.known_product(facts, hosts),
            *preflight.foreign_provider(facts, hosts),
            *preflight.operator_rights(facts, hosts),
            *preflight.sst_orphans(facts, hosts),
            *preflight.joins_others(facts, hosts),
            *preflight.names_known(facts, hosts),
            *preflight.temporary_space(facts, hosts),
            preflight.lock_free(facts, hosts),
        ]
        if chosen != AUTO:
            checks.insert(3, own.chosen_is_candidate(facts, hosts, chosen))
        return tuple(checks)

    def _by_the_way(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checks of the way that the plan takes: by one statement, or with every server stopped first."""
        hosts, gone, chosen = self._asked(facts, inputs)
        found = standings(facts, hosts)
        best = _chosen(found, chosen)
        if _parted(found) and best is not None:
            return (
                safety.network_first(facts, hosts),
                own.chosen_is_newest(found, best),
                own.lost(found, gone, facts, best),
            )
        return (safety.copies(hosts, self._values(facts, inputs)["copies"]),)

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the first part; for servers that all answer without a Primary the whole plan."""
        hosts, gone, chosen = self._asked(facts, inputs)
        if _whole(facts, hosts):
            return self._plan(facts, inputs, ())
        found = standings(facts, hosts)
        best = _chosen(found, chosen)
        if _parted(found) and best is not None and best.seqno is not None:
            steps = make_primary(facts, best.host, best.seqno, hosts, gone)
            return self._plan(facts, inputs, (*_accepted(found, gone, facts, best), *steps))
        wait = self._values(facts, inputs)["copies"] == "wait"
        return self._plan(facts, inputs, find_positions(facts, hosts, gone, wait_for_copies=wait))

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the rest from the recovered positions, with the checks of the choice.

        After Galera's own recovery was tried it is either the end, or the bootstrap by hand.
        """
        hosts, gone, asked = self._asked(facts, inputs)
        tried = so_far.steps[-1].step_id == by_itself.FORMED
        found = standings(facts, hosts)
        if tried and _whole(facts, hosts):
            formed = (*so_far.steps, *closing(facts, hosts, limit_s=JOIN_LIMIT_S))
            return (own.positions(facts, hosts),), self._plan(facts, inputs, formed)
        chosen = _chosen(found, asked)
        checks: list[Check] = [
            own.primary_exists(facts, (*hosts, *gone)),
            own.positions(facts, hosts),
            own.one_history(facts, hosts),
        ]
        if chosen is None or chosen.seqno is None or chosen.out:
            return (*checks, _no_candidate(found)), so_far
        reason = by_itself.in_the_way(facts, hosts, gone, found)
        wanted = asked == AUTO and flag_of(self._values(facts, inputs)["itself"]) is True
        checks += [own.chosen_is_newest(found, chosen), own.lost(found, gone, facts, chosen)]
        more: tuple[Step, ...] = () if tried else _accepted(found, gone, facts, chosen)
        if not tried:
            checks.append(by_itself.told(reason, wanted=wanted))
        if wanted and not reason and not tried:
            more += by_itself.form_again(facts, hosts, gone)
            return tuple(checks), self._plan(facts, inputs, (*so_far.steps, *more))
        if tried:
            more += tuple(stopped(facts.host(name), hosts, gone, "again-") for name in hosts)
        ahead = tuple(s.host for s, _ in behind(found, chosen))
        others = joining_order(found, chosen)
        more += bootstrap_and_join(facts, chosen.host, chosen.seqno, others, gone, ahead)
        return tuple(checks), self._plan(facts, inputs, (*so_far.steps, *more), ahead)

    def _plan(self, facts: Facts, inputs: Inputs, steps: tuple[Step, ...], ahead: tuple[str, ...] = ()) -> Plan:
        hosts, gone, _ = self._asked(facts, inputs)
        back = [name for name in hosts if name not in ahead]
        return Plan(
            procedure=ABOUT.name,
            title=f"Start {facts.cluster_name or 'the cluster'} after all nodes went down",
            summary="Positions first; then the most advanced node alone; then the others, one at a time.",
            cluster_id=facts.cluster_id,
            cluster_name=facts.cluster_name,
            hosts=hosts,
            quorum=hosts,
            inputs=tuple(self._values(facts, inputs).items()),
            steps=steps,
            charts=tuple(Chart("galera.recv_queue", name, f"Receive queue of {name}") for name in hosts[:2]),
            expects=(
                f"{', '.join(back)} are Synced in one Primary Component with state UUID {facts.cluster_id}.",
                *((f"{', '.join(gone)} stayed off.",) if gone else ()),
                *((f"{', '.join(ahead)} stays stopped, with transactions nobody else has.",) if ahead else ()),
            ),
        )

    def _asked(self, facts: Facts, inputs: Inputs) -> tuple[tuple[str, ...], tuple[str, ...], str]:
        values = self._values(facts, inputs)
        gone = hosts_of(values["gone"])
        return tuple(n for n in hosts_of(values["nodes"]) if n not in gone), gone, values["bootstrap"]

    def _values(self, facts: Facts, inputs: Inputs) -> Inputs:
        return filled(self.fields(facts, inputs), inputs)


def _whole(facts: Facts, hosts: tuple[str, ...]) -> bool:
    return bool(hosts) and set(hosts) <= set(member_hosts(facts))


def _state(facts: Facts, name: str) -> str:
    host = facts.host(name)
    if is_primary(facts, host):
        return "Primary"
    if host.server_up:
        return "up, not Primary"
    state = host.grastate
    return f"down, grastate seqno {state.seqno}" if state is not None else "down"


def _chosen(found: tuple[Standing, ...], asked: str) -> Standing | None:
    return most_advanced(found) if asked == AUTO else next((s for s in found if s.host == asked), None)


def _parted(found: tuple[Standing, ...]) -> bool:
    """Return whether every server answers with its position: one that hangs on its way up may be ahead of all."""
    return bool(found) and all(s.source == "running" and s.seqno is not None and not s.out for s in found)


def _accepted(found: tuple[Standing, ...], gone: tuple[str, ...], facts: Facts, chosen: Standing) -> tuple[Step, ...]:
    number, host = lost_estimate(found, gone, facts, chosen)
    said = f"{host} was seen {number} write sets further than {chosen.host} is now"
    return (accept_loss(said),) if number else ()


def _no_candidate(found: tuple[Standing, ...]) -> Check:
    return Check(
        code="NO-CANDIDATE",
        title="A node can be chosen",
        verdict=Verdict.BLOCK,
        evidence="; ".join(f"{s.host}: {s.out or s.text}" for s in found),
        why="A zero UUID, an unknown seqno or another history is never chosen.",
        try_=("Look into the data folders by hand; copies of the state files were made.",),
        absolute=True,
    )
