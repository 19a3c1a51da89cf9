"""The one facade that the window and the command line steer by. Gathers, drafts, rehearses, runs, reports."""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from services.boundary import foreign, unforeseen
from services.errors import BadInput, UserError
from services.i18n import tr
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.engine.approving import PLAN_BREAKS_RULES, addresses_of, bound_entries, with_binding
from services.procedures.engine.control import Control, Driven
from services.procedures.engine.endings.obligations_look import obligations_now
from services.procedures.engine.engine import Engine
from services.procedures.engine.lock import LockHeld
from services.procedures.engine.parts import Parts, Policy
from services.procedures.engine.rehearsal import Rehearsal, rehearse
from services.procedures.execute.live_hosts import LiveHosts
from services.procedures.gather.gather import gather
from services.procedures.journal.answers import Answers
from services.procedures.journal.entries import approved, note, planned
from services.procedures.journal.finding import (
    Found,
    find_hosts,
    hosts_meant,
    kept_addresses,
    meant,
    nothing_found,
    refuse_shared_hosts,
    with_named,
)
from services.procedures.journal.journal import BoundJournal, StoredJournal
from services.procedures.journal.projection import ENDED, at_work_elsewhere, project
from services.procedures.plan.checks import Check, Override, standing_blocks
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import filled, refuse_secret
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.looks import LOOKED_AT
from services.procedures.plan.run_model import Binding, Listener, OpenObligation, Person, RunState, RunView
from services.procedures.plan.sentences import BLOCKED
from services.procedures.service.offers import refuse_other_kinds
from services.procedures.service.person import person_here
from services.procedures.service.reading import all_obligations, each_run
from services.procedures.service.run_parts import Known, parts_of
from services.procedures.service.ways import tell_holder, with_ways
from services.procedures.verify.prover import RealProver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.clock import Clock
    from services.connections.ssh.host_key_check import HostKeyPolicy
    from services.errors import JournalDamaged
    from services.history.state.store import StateStore
    from services.inventory.model import HostEntry, Inventory
    from services.procedures.engine.ports import Prover
    from services.procedures.journal.heads import Heads
    from services.procedures.journal.seal_key import SealKey
    from services.procedures.plan.model import Plan
    from services.procedures.plan.procedure import About
    from services.secrets import Vault

_logger = logging.getLogger(__name__)
_STORE_ID = "procedures.store_id"
CLOSE_S = 15.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A procedure with its inputs, judged: faults first, then checks and plan where there are no faults."""

    about: About
    facts: Facts
    fields: tuple[Field, ...]
    inputs: Inputs
    faults: tuple[Fault, ...]
    checks: tuple[Check, ...] = ()
    plan: Plan | None = None
    violations: tuple[str, ...] = ()


class ProcedureService:
    """Thread-safe: every method may be called from any thread; those that read hosts take seconds."""

    def __init__(
        self,
        inventory: Inventory,
        vault: Vault,
        state: StateStore,
        clock: Clock,
        key: SealKey,
        heads: Heads | None = None,
        *,
        on_host_key: HostKeyPolicy | None = None,
    ) -> None:
        """Open the journal; no host is contacted yet.

        Args:
            key: this workstation's, by which the journal binds what runs to what was approved here.
            heads: where the journal's ends are kept.
        """
        self._inventory = inventory
        self._vault = vault
        self._state = state
        self._clock = clock
        self._policy = on_host_key
        self.journal = StoredJournal(state, key, heads)
        self.bound = BoundJournal(self.journal)
        self._lock = threading.Lock()
        self._found = nothing_found(inventory)
        self._driven: dict[str, Driven] = {}
        self.answers = Answers()
        self.owner = f"{person_here()} {self._store_id()}"

    def _store_id(self) -> str:
        """Run numbers are small and local: two stores of one person must not take each other's lock for their own."""
        known = self._state.get_setting(_STORE_ID)
        if not known:
            known = secrets.token_hex(3)
            self._state.set_setting(_STORE_ID, known)
        return known

    @property
    def inventory(self) -> Inventory:
        """Return the hosts it knows."""
        return self._inventory

    def use(self, inventory: Inventory) -> None:
        """Know other hosts from now on; runs that are driven keep what they know."""
        with self._lock:
            if inventory != self._inventory:
                self._inventory, self._found = inventory, nothing_found(inventory)

    # -- before a run ------------------------------------------------------------------------------------------------

    def abouts(self) -> tuple[About, ...]:
        """Return the cards."""
        return tuple(procedure.about for procedure in all_procedures())

    def gather(self, cluster: str = "", name: str = "", *, operator: bool = True) -> Facts:
        """Find the hosts and read everything a plan needs. Changes nothing; partial facts carry their problems.

        Args:
            cluster: the cluster's name or state UUID; '' for the only one.
            name: the procedure that it is for; '' for any.
            operator: the account for changes may be used, to read what it may do.
        """
        cards = [procedure_named(name).about] if name else self.abouts()
        hosts = self._hosts()
        try:
            found = find_hosts(self._inventory, self._clock, self._vault, self._policy)
            with self._lock:
                self._found = found
            refuse_shared_hosts(self._inventory, hosts_meant(cluster, self._inventory, found.clusters))
            if name:
                refuse_other_kinds(cards[0], cluster, found.clusters)
            facts = self._gathered(hosts, found, cards, cluster, operator=operator)
            wider = with_named(found, facts)
            if wider is not found:  # files and logs name members that may be asked: then they are
                with self._lock:
                    self._found = wider
                facts = self._gathered(hosts, wider, cards, cluster, operator=operator)
        finally:
            hosts.close()
        refuse_shared_hosts(self._inventory, facts.members)  # who belongs to it besides: by disks, by our history
        return facts

    def _gathered(
        self, hosts: LiveHosts, found: Found, cards: Sequence[About], cluster: str, *, operator: bool
    ) -> Facts:
        cluster_id, cluster_name = meant(cluster, found.clusters)
        return gather(
            hosts,
            found.inventory,
            self._clock,
            cluster_id=cluster_id,
            cluster_name=cluster_name,
            memory=self._state,
            needs=LOOKED_AT.union(*(card.needs for card in cards)),
            fits=lambda kind: any(card.fits(kind) for card in cards),
            operator=operator,
            sought=frozenset(entry.address for entry in found.inventory.hosts if entry.ways_of),
        )

    def draft(self, name: str, facts: Facts, inputs: Inputs) -> Draft:
        """Judge inputs and plan; reads the journal where a lock of this console's own is held.

        Raises BadInput where a host of the plan carries another server too.
        """
        procedure = procedure_named(name)
        fields = procedure.fields(facts, inputs)
        faults = procedure.faults(facts, inputs)
        whole = filled(fields, inputs)
        if faults:
            return Draft(procedure.about, facts, fields, whole, faults)
        plan = procedure.plan(facts, inputs)
        refuse_shared_hosts(self._inventory, plan.hosts)  # a host that comes into the cluster by it, too
        checks = with_ways(procedure.preflight(facts, inputs), facts, self.owner, self.view)
        return Draft(procedure.about, facts, fields, whole, (), checks, plan, violations(plan))

    def rehearse(self, draft: Draft) -> Rehearsal:
        """Make every read of the plan; change nothing."""
        assert draft.plan is not None
        hosts = self._hosts()
        try:
            return rehearse(draft.plan, RealProver(hosts, self._clock, draft.facts))
        finally:
            hosts.close()

    def new_run(self, draft: Draft, overrides: tuple[Override, ...] = ()) -> str:
        """Journal an approved run and return its id; BadInput while faults, violations or blocks stand."""
        plan = draft.plan
        if plan is None or draft.faults:
            raise BadInput(tr("The input is incomplete."), try_=tuple(f.sentence for f in draft.faults))
        if draft.violations:
            raise BadInput(tr(PLAN_BREAKS_RULES), try_=draft.violations)
        refuse_shared_hosts(self._inventory, plan.hosts)  # it may have been written down since
        blocks = standing_blocks(draft.checks, overrides)
        if blocks:
            raise BadInput(
                tr(BLOCKED),
                try_=tuple(f"{c.code}: {c.title} - {c.evidence}" for c in blocks),
            )
        for override in overrides:
            refuse_secret(override.reason)
        run_id = self.journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        known = {c.code for c in draft.checks} | set(draft.about.later_checks)
        used = tuple(o for o in overrides if o.code in known)
        self.journal.append(run_id, *planned(plan, draft.inputs, draft.checks, used, self.owner))
        self.journal.append(run_id, *note("hosts", json.dumps(self._found.addresses())))
        self.journal.append(run_id, *approved(self.owner))
        return run_id

    # -- running -----------------------------------------------------------------------------------------------------

    def start(
        self,
        run_id: str,
        listener: Listener | None = None,
        *,
        policy: Policy | None = None,
        person: Person | None = None,
        way: str = "run",
        key: str = "",
        on_refused: Callable[[UserError], None] | None = None,
    ) -> Control:
        """Drive a run on a thread of its own: 'run' (begin or resume), 'undo', 'leave' (key: the reason), 'release'.

        Args:
            on_refused: told on that thread why it could not be driven (another console's lock, a host unreachable).
        """
        control = Control()
        with self._lock:
            driven = self._driven.get(run_id)
            if driven is not None and driven.thread.is_alive():
                raise BadInput(tr("Run {run} is already running.", run=run_id))

            def work() -> None:
                try:
                    with foreign(partial(unforeseen, what=tr("Run {run}", run=run_id))):
                        self.drive(run_id, listener, policy=policy, person=person, way=way, key=key, control=control)
                except UserError as problem:
                    _logger.info("run %s: %s", run_id, problem)
                    if listener is not None:
                        with contextlib.suppress(UserError):  # the journal can't be read either: `on_refused` tells
                            listener.run_changed(replace(self.view(run_id), sentence=problem.as_text(), live=False))
                    if on_refused is not None:
                        on_refused(problem)

            thread = threading.Thread(target=work, name=f"pilothouse-run-{run_id}", daemon=True)
            self._driven[run_id] = Driven(thread, control)
        thread.start()
        return control

    def drive(
        self,
        run_id: str,
        listener: Listener | None = None,
        *,
        policy: Policy | None = None,
        person: Person | None = None,
        way: str = "run",
        key: str = "",
        control: Control | None = None,
    ) -> RunState:
        """Drive a run on this thread; return the state in which it rests. UserError: nothing was changed."""
        if way == "leave":
            refuse_secret(key)
        self.journal.refuse_other_writer(run_id)
        entries = bound_entries(self.journal, run_id, policy or Policy(by=self.owner), way, key)
        view = project(entries)
        hosts = self._hosts(kept_addresses(entries))
        try:
            engine = Engine(self._parts(view, hosts, listener, policy, person), run_id, control)
            if way == "undo":
                return engine.undo()
            if way == "leave":
                return engine.leave(key)
            if way == "release":
                return engine.release(key)
            return engine.run()
        except LockHeld as held:
            tell_holder(held, self.owner, self.view)
            raise
        finally:
            hosts.close()
            self.journal.let_go(run_id)

    def control(self, run_id: str) -> Control | None:
        """Return the control of a run that this process drives now."""
        with self._lock:
            driven = self._driven.get(run_id)
        return driven.control if driven is not None and driven.thread.is_alive() else None

    def _parts(
        self,
        view: RunView,
        hosts: LiveHosts,
        listener: Listener | None,
        policy: Policy | None,
        person: Person | None,
    ) -> Parts:
        known = Known(self.bound, self._state, self._clock, lambda: self._found.inventory, self.owner)
        return parts_of(known, view, hosts, listener, policy or Policy(by=self.owner), person or self.answers)

    # -- looking back ------------------------------------------------------------------------------------------------

    def view(self, run_id: str) -> RunView:
        """Return a run as its journal tells it; BadInput for an unknown one."""
        live, view = self.control(run_id) is not None, project(self.journal.entries(run_id))
        elsewhere = not live and view.state not in ENDED and self.journal.written_elsewhere(run_id)
        if elsewhere:
            return at_work_elsewhere(view)
        view = replace(view, live=live, driver_unknown=not live and not self.journal.knows_writers)
        return view if live else with_binding(view, self.journal)

    def addresses(self, run_id: str) -> dict[str, str]:
        """Return host -> the address where the run reaches it, as its beginning kept it."""
        return addresses_of(self.journal.entries(run_id))

    def runs(self) -> tuple[RunView, ...]:
        """Return every run that can be read, the newest first."""
        return each_run(self.journal.runs(), self.view)[0]

    def damaged(self) -> tuple[JournalDamaged, ...]:
        """Return what is wrong with the journals of the other runs."""
        return each_run(self.journal.runs(), self.view)[1]

    def unfinished(self) -> tuple[RunView, ...]:
        """Return the runs that are not over, or left their lock on hosts, the newest first."""
        return tuple(view for view in self.runs() if view.state not in ENDED or view.locked)

    def obligations(self) -> tuple[OpenObligation, ...]:
        """Return what is switched on by any run."""
        return all_obligations(self.journal)

    def look_at_obligations(self) -> tuple[OpenObligation, ...]:
        """Look again, by reading sessions, at what runs that nobody drives left on; note what was seen. Takes seconds.

        Where several workstations share the journal nobody knows who drives a run, and nothing is written into it.
        """
        for view in each_run(dict.fromkeys(one.run_id for one in self.obligations()), self.view)[0]:
            strange = view.binding not in {Binding.BOUND, Binding.OLD}  # nothing of it is followed, or written to
            if not (view.live or view.elsewhere or view.driver_unknown or strange):
                self._look_again(view)
        return self.obligations()

    def _look_again(self, view: RunView) -> None:
        entries = self.journal.entries(view.run_id)
        with contextlib.closing(self._hosts(kept_addresses(entries))) as hosts:
            lines = obligations_now(self._eyes(hosts), view, entries)
        # An engine that begins meanwhile reads the journal behind these lines, or they are not written.
        with self._lock:
            if view.run_id not in self._driven or not self._driven[view.run_id].at_work:
                for line in lines:
                    self.journal.append(view.run_id, *line)
                self.journal.let_go(view.run_id)

    def _eyes(self, hosts: LiveHosts) -> Prover:
        return RealProver(hosts, self._clock)

    def close(self) -> bool:
        """Suspend the runs that are driven here (they are resumed by proof) and join; return whether all ended."""
        with self._lock:
            driven = tuple(self._driven.values())
        for one in driven:
            one.control.close()
        for one in driven:
            one.thread.join(CLOSE_S)
        return not any(one.thread.is_alive() for one in driven)

    def _hosts(self, addresses: dict[str, tuple[str, str]] | None = None) -> LiveHosts:
        def entry_of(name: str) -> HostEntry | None:
            return self._found.entry(name, addresses or {})

        return LiveHosts(entry_of, self._vault, self._clock, on_host_key=self._policy)
