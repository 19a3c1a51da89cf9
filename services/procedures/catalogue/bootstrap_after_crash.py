"""bootstrap-after-crash: no Primary Component is left; find the node that has everything, start from it, join the rest.

Two parts: the first finds every node's position (a server must be asked for it), the second is planned from what was
found, shown and approved anew.
"""

from __future__ import annotations

from services.procedures import preflight
from services.procedures.catalogue import crash_checks as own
from services.procedures.catalogue.choices import is_primary, member_hosts
from services.procedures.catalogue.crash_positions import joining_order, most_advanced, standings
from services.procedures.catalogue.crash_steps import bootstrap_and_join, find_positions, make_primary
from services.procedures.checks import Check, Verdict
from services.procedures.facts_model import Facts
from services.procedures.fields import Fault, Field, Inputs
from services.procedures.inputs import field_faults, filled, hosts_of
from services.procedures.model import Chart, Plan, Step
from services.procedures.procedure import About

ABOUT = About(
    name="bootstrap-after-crash",
    title="Start the cluster after all nodes went down",
    need="All nodes are down",
    what="Lets every node recover its position, bootstraps the most advanced one, joins the others one at a time.",
    takes="Crash recovery of each node, then one IST or SST a node.",
    can_break="The bootstrapped node's data becomes everybody's: the wrong choice loses transactions.",
    node_field="bootstrap",
    for_states=("no-primary", "down"),
    later_checks=("CHOSEN-BEHIND",),
)
AUTO = "the most advanced"


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
        )

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults = list(field_faults(self.fields(facts, inputs), inputs))
        values = self._values(facts, inputs)
        gone = hosts_of(values["gone"])
        if values["bootstrap"] not in {AUTO, *hosts_of(values["nodes"])}:
            faults.append(Fault("bootstrap", f"{values['bootstrap']} is not among the nodes."))
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
            own.crash_cause(facts, hosts),
            own.durability(facts, hosts),
            preflight.known_product(facts, hosts),
            *preflight.foreign_provider(facts, hosts),
            *preflight.operator_rights(facts, hosts),
            *preflight.sst_orphans(facts, hosts),
            preflight.lock_free(facts, hosts),
        ]
        if chosen != AUTO:
            checks.insert(3, own.chosen_is_candidate(facts, hosts, chosen))
        return tuple(checks)

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the first part; for servers that are all up without a Primary the whole plan."""
        hosts, gone, chosen = self._asked(facts, inputs)
        if _whole(facts, hosts):
            return self._plan(facts, inputs, ())
        if all(facts.host(name).server_up for name in hosts):
            found = standings(facts, hosts)
            best = most_advanced(found) if chosen == AUTO else next(s for s in found if s.host == chosen)
            if best is not None and best.seqno is not None:
                return self._plan(facts, inputs, make_primary(facts, best.host, best.seqno, hosts, gone))
        return self._plan(facts, inputs, find_positions(facts, hosts, gone))

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the second part from the recovered positions, with the checks of the choice."""
        hosts, gone, asked = self._asked(facts, inputs)
        found = standings(facts, hosts)
        best = most_advanced(found)
        chosen = best if asked == AUTO else next((s for s in found if s.host == asked), None)
        checks: list[Check] = [
            own.primary_exists(facts, (*hosts, *gone)),
            own.positions(facts, hosts),
            own.one_history(facts, hosts),
        ]
        if chosen is None or chosen.seqno is None or chosen.out:
            reason = "; ".join(f"{s.host}: {s.out or s.text}" for s in found)
            checks.append(
                Check(
                    code="NO-CANDIDATE",
                    title="A node can be chosen",
                    verdict=Verdict.BLOCK,
                    evidence=reason,
                    why="A zero UUID, an unknown seqno or another history is never chosen.",
                    try_=("Look into the data folders by hand; copies of the state files were made.",),
                    absolute=True,
                )
            )
            return tuple(checks), so_far
        checks += [own.chosen_is_newest(found, chosen), own.lost(found, gone, facts, chosen)]
        more = bootstrap_and_join(facts, chosen.host, chosen.seqno, joining_order(found, chosen.host), gone)
        return tuple(checks), self._plan(facts, inputs, (*so_far.steps, *more))

    def _plan(self, facts: Facts, inputs: Inputs, steps: tuple[Step, ...]) -> Plan:
        hosts, gone, _ = self._asked(facts, inputs)
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
                f"{', '.join(hosts)} are Synced in one Primary Component with state UUID {facts.cluster_id}.",
                *((f"{', '.join(gone)} stayed off.",) if gone else ()),
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
