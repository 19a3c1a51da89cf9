"""What an engine drives one run with: hands, eyes, lock and journal of the real hosts, and how facts are read anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.facts.server.holding_up import read_holders
from services.procedures.catalogue import procedure_named
from services.procedures.engine.lock import ClusterLock
from services.procedures.engine.parts import Parts, Policy
from services.procedures.execute.acting import RealActor
from services.procedures.gather.gather import gather
from services.procedures.journal.kept_positions import RememberingJournal
from services.procedures.plan.invariants.plans import declared_off
from services.procedures.plan.looks import LOOKED_AT
from services.procedures.plan.parts.galera.links import Links
from services.procedures.verify.prover import RealProver

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.clock import Clock
    from services.discovery.model import ClusterSnapshot
    from services.history.state.store import StateStore
    from services.inventory.model import Inventory
    from services.procedures.execute.live_hosts import LiveHosts
    from services.procedures.journal.journal import BoundJournal
    from services.procedures.plan.checks import Check
    from services.procedures.plan.host_facts import Facts
    from services.procedures.plan.model import Plan
    from services.procedures.plan.part import Part
    from services.procedures.plan.run_model import Listener, Person, RunView


@dataclass(frozen=True, slots=True)
class Known:
    """What a service hands to each run: where it is written down, the hosts as they are known now, who drives it."""

    journal: BoundJournal
    state: StateStore
    clock: Clock
    inventory: Callable[[], Inventory]
    owner: str


def parts_of(
    known: Known, view: RunView, hosts: LiveHosts, listener: Listener | None, policy: Policy, person: Person
) -> Parts:
    """Return the parts for a run; its hosts are looked at once, by reading sessions. Takes seconds."""
    actor = RealActor(hosts, view.run_id, known.clock)
    prover = RealProver(hosts, known.clock, _look(known, hosts, view, LOOKED_AT, also=declared_off(view.plan)))
    return Parts(
        journal=RememberingJournal(known.journal, known.state, view.plan),
        hosts=hosts,
        actor=actor,
        prover=prover,
        clock=known.clock,
        person=person,
        lock=ClusterLock(hosts, view.run_id, known.owner, known.clock),
        listener=listener,
        continuing=lambda now: _continued(known, hosts, prover, now),
        snapshot=lambda: _snapshot(known, hosts, view),
        cleanup=actor.cleanup,
        holders=lambda host: read_holders(hosts.observer(host), host, hosts.accounts(host)),
        policy=policy,
    )


def _look(
    known: Known,
    hosts: LiveHosts,
    view: RunView,
    needs: frozenset[type[Part]],
    kept: tuple[tuple[str, str], ...] = (),
    also: tuple[str, ...] = (),
) -> Facts:
    plan = view.plan
    return gather(
        hosts,
        known.inventory(),
        known.clock,
        cluster_id=plan.cluster_id,
        cluster_name=plan.cluster_name,
        names=tuple(dict.fromkeys((*plan.hosts, *also))),
        memory=known.state,
        needs=needs,
        fits=procedure_named(plan.procedure).about.fits,
        kept=kept,
        by=f"run {view.run_id}",
    )


def _snapshot(known: Known, hosts: LiveHosts, view: RunView) -> ClusterSnapshot | None:
    return _look(known, hosts, view, frozenset()).cluster


def _continued(known: Known, hosts: LiveHosts, prover: RealProver, view: RunView) -> tuple[tuple[Check, ...], Plan]:
    # A host that was declared off is asked all the same: it may answer, and our history may know it.
    off = declared_off(view.plan)
    procedure = procedure_named(view.plan.procedure)
    needs = LOOKED_AT | (procedure.about.needs - {Links})  # the ways between hosts were tried before it began
    facts = _look(known, hosts, view, needs, view.kept, off)
    prover.facts = facts
    # The hosts of the plan are its members, whatever the crashed servers say of themselves.
    facts = replace(facts, members=view.plan.voters, candidates=())
    return procedure.continued(facts, dict(view.plan.inputs), view.plan)
