"""The only place where the service of procedures becomes Qt: work on workers, runs as newest views, errors as signals.

Engines call their listener on threads of their own; here it only lays the view down, and a timer of the window takes
the newest ten times a second. No widget and no QObject is known to any thread but the window's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from services.errors import UserError
from services.i18n import tr
from widgets.bridge.duty_watch import DutyWatch
from widgets.bridge.ops import Ops
from widgets.bridge.run_watch import RunWatch
from widgets.bridge.standing import Standing, read_standing

if TYPE_CHECKING:  # what stands behind these is imported on a worker, when the service is opened
    from services.procedures.engine.parts import Policy
    from services.procedures.engine.rehearsal import Rehearsal
    from services.procedures.plan.checks import Override
    from services.procedures.plan.forms.fields import Inputs
    from services.procedures.plan.host_facts import Facts
    from services.procedures.plan.procedure import About
    from services.procedures.plan.run_model import Question, RunView
    from services.procedures.service.service import Draft, ProcedureService

PACE_MS = 100


class Door(Protocol):
    """Opens the service; every method is called on a worker."""

    def open(self) -> ProcedureService:
        """Return the service of this workstation's inventory and store; raise UserError."""

    def refresh(self, service: ProcedureService) -> None:
        """Let the service know the inventory as it is now."""


class _Newest:
    """The newest view of each run, laid down by engines, taken by the window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._views: dict[str, RunView] = {}
        self._refused: dict[str, UserError] = {}

    def run_changed(self, view: RunView) -> None:
        """Listener: take a view on the engine's thread."""
        with self._lock:
            self._views[view.run_id] = view

    def refused(self, run_id: str, problem: UserError) -> None:
        """Take the reason why a run could not be driven."""
        with self._lock:
            self._refused[run_id] = problem

    def take(self) -> tuple[tuple[RunView, ...], tuple[tuple[str, UserError], ...]]:
        """Return what is new since the last call."""
        with self._lock:
            views, self._views = tuple(self._views.values()), {}
            refused, self._refused = tuple(self._refused.items()), {}
        return views, refused


class Runs(QObject):
    """One per window. Every method returns at once; what it led to arrives as a signal or at the given function.

    Signals:
        opened(tuple[About, ...]): the service is open. standing_changed(Standing): runs or obligations changed.
        run_shown(RunView): the newest view of a run that is driven here. begun(str), rested(str): a run's engine here.
        refused(str, UserError): a run could not be driven, nothing was changed. failed(UserError): anything else.
    """

    opened = Signal(object)
    standing_changed = Signal(object)
    run_shown = Signal(object)
    begun = Signal(str)
    rested = Signal(str)
    refused = Signal(str, object)
    failed = Signal(object)

    def __init__(self, door: Door, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._door = door
        self._service: ProcedureService | None = None
        self._newest = _Newest()
        self._driven: dict[str, None] = {}
        self._starting: dict[str, tuple[str, ...]] = {}
        """Runs whose engine a worker is starting, with what was wanted of it meanwhile ('undo', or 'leave' and why)."""
        self._seen: dict[str, RunView] = {}
        """The newest view taken of each run that is driven here: what a worker read of it may be older."""
        self._ended = 0
        self._kept: dict[str, RunView] = {}
        self._told: set[str] = set()
        # Hosts may take their time: the journal's lane must not wait behind them.
        self._hosts, self._journal = Ops(self), Ops(self)
        for ops in (self._hosts, self._journal):
            ops.failed.connect(self.failed)
        self._duties = DutyWatch(self._hosts, self.look, self)
        self._watch = RunWatch(self._journal, self._driven, self.look, self)
        self._timer = QTimer(self)
        self._timer.setInterval(PACE_MS)
        self._timer.timeout.connect(self._take)

    # -- the service --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Open the service on a worker, tell its procedures and where runs stand."""
        door = self._door

        def work() -> tuple[ProcedureService, tuple[About, ...]]:
            service = door.open()
            return service, service.abouts()

        self._journal.run("open", work, self._opened)

    def _opened(self, result: tuple[ProcedureService, tuple[About, ...]]) -> None:
        self._service, abouts = result
        self._watch.begin(self._service.journal)
        self.opened.emit(abouts)
        self.look()

    @property
    def is_open(self) -> bool:
        """Return whether the service stands."""
        return self._service is not None

    @property
    def driven(self) -> tuple[str, ...]:
        """Return the runs that are driven here now, or will be in a moment."""
        return tuple(dict.fromkeys((*self._driven, *self._starting)))

    def busy(self) -> bool:
        """Return whether anything is asked of hosts or journal now."""
        return self._hosts.busy() or self._journal.busy()

    def look(self) -> None:
        """Read where runs stand and what is switched on."""
        if (service := self._service) is None:
            return
        kept = dict(self._kept)
        self._journal.run("look", lambda: read_standing(service, kept), self._stood)

    def _stood(self, standing: Standing) -> None:
        self._watch.read(standing.marks, tuple(view.run_id for view in standing.runs if view.elsewhere))
        for problem in standing.damaged:
            if problem.sentence not in self._told:  # once: the journal is looked at every few seconds
                self._told.add(problem.sentence)
                self.failed.emit(problem)
        owing = {duty.run_id for duty in standing.obligations}
        self._kept = {view.run_id: view for view in standing.over if view.run_id not in {*owing, *self._driven}}
        self.standing_changed.emit(standing)
        if self._service is not None:
            self._duties.saw(self._service, standing.obligations)

    # -- before a run -------------------------------------------------------------------------------------------------

    def gather(
        self,
        cluster: str,
        name: str,
        success: Callable[[Facts], None],
        failure: Callable[[UserError], None] | None = None,
    ) -> None:
        """Read everything a plan of this procedure needs of a cluster; of several calls only the newest answers."""
        if (service := self._service) is None:
            return
        door = self._door

        def work() -> Facts:
            door.refresh(service)
            return service.gather(cluster, name)

        self._hosts.run("gather", work, success, failure)

    def draft(self, name: str, facts: Facts, inputs: Inputs, success: Callable[[Draft], None]) -> None:
        """Judge inputs and plan; of several calls only the newest answers."""
        if (service := self._service) is not None:
            given = dict(inputs)
            self._journal.run("draft", lambda: service.draft(name, facts, given), success)

    def rehearse(
        self, draft: Draft, success: Callable[[Rehearsal], None], failure: Callable[[UserError], None] | None = None
    ) -> None:
        """Make every read of a plan."""
        if (service := self._service) is not None:
            self._hosts.run("rehearse", lambda: service.rehearse(draft), success, failure)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def begin(
        self,
        draft: Draft,
        overrides: tuple[Override, ...],
        confirmed: tuple[str, ...],
        success: Callable[[RunView], None],
        failure: Callable[[UserError], None],
    ) -> None:
        """Journal an approved run and drive it; `confirmed`: what was typed for steps that can't be undone."""
        if (service := self._service) is None:
            return

        def work() -> RunView:
            run_id = service.new_run(draft, overrides)
            return self._start(service, run_id, "run", "", _policy(service, confirmed=frozenset(confirmed)))

        self._journal.run("begin", work, lambda view: self._begun(view, success), failure)

    def drive(
        self, run_id: str, way: str = "run", key: str = "", *, take_over: bool = False, approved: str = ""
    ) -> None:
        """Resume ('run'), 'undo', 'leave' (key: the reason) or 'release' (key: the obligation) a run that rests.

        One engine is started for a run, however often that is asked: a second click, or an answer to the question that
        stands on the page of a run that is just being resumed, is no second start.

        Args:
            approved: the code of a run that could not be verified here (NotBound), once a person approved it again.
        """
        if (service := self._service) is None:
            return
        if run_id in self._driven:
            self._take()  # its engine may have ended since the last look
        if run_id in self._driven or run_id in self._starting:
            self._drive_also(run_id, way, key)
            return

        def work() -> RunView:
            return self._start(service, run_id, way, key, _policy(service, take_over=take_over, approved=approved))

        def success(view: RunView) -> None:
            wanted = self._starting.pop(run_id, ())
            self._begun(view, None)
            if wanted:
                self._control(run_id, *wanted)

        def failure(problem: UserError) -> None:
            self._starting.pop(run_id, None)
            self.refused.emit(run_id, problem)

        self._starting[run_id] = ()
        self._journal.run(f"drive {run_id}", work, success, failure)

    def _drive_also(self, run_id: str, way: str, key: str) -> None:
        """See to a way that is wanted of a run which an engine here is at, or is about to be."""
        if way == "run":
            return  # so it does
        if way == "release":
            busy = tr("Run {run} is running: it switches off what it switched on.", run=run_id)
            self.failed.emit(UserError(busy, try_=(tr("Wait for its end, or undo it on its page."),)))
            return
        wanted = (way, key) if way == "leave" else (way,)
        if run_id in self._starting:
            self._starting[run_id] = wanted
        else:
            self._control(run_id, *wanted)

    def _start(self, service: ProcedureService, run_id: str, way: str, key: str, policy: Policy) -> RunView:
        """On a worker."""
        newest = self._newest
        service.start(
            run_id,
            newest,
            policy=policy,
            way=way,
            key=key,
            on_refused=lambda problem: newest.refused(run_id, problem),
        )
        return service.view(run_id)

    def _begun(self, view: RunView, success: Callable[[RunView], None] | None) -> None:
        view = self._seen.setdefault(view.run_id, view)
        self._driven[view.run_id] = None
        self._kept.pop(view.run_id, None)
        self._timer.start()
        if success is not None:
            success(view)
        self.begun.emit(view.run_id)
        self.run_shown.emit(view)

    def view(self, run_id: str, success: Callable[[RunView], None]) -> None:
        """Read a run from the journal; what was shown of it meanwhile is never taken back."""
        if (service := self._service) is None:
            return
        ended = self._ended

        def read(view: RunView) -> None:
            if run_id in self._seen:
                success(self._seen[run_id])
            elif ended == self._ended:
                success(view)
            else:  # it may have been this one, and read before it came to rest: nobody would tell of it again
                self.view(run_id, success)

        self._journal.run("view", lambda: service.view(run_id), read)

    def read(self, key: str, work: Callable[[ProcedureService], Any], success: Callable[[Any], None]) -> None:
        """Do something with the service on a worker (a report)."""
        if (service := self._service) is not None:
            self._journal.run(key, lambda: work(service), success)

    # -- a run that is driven here ------------------------------------------------------------------------------------

    def pause(self, run_id: str) -> None:
        """Stop before the next act."""
        self._control(run_id, "pause")

    def go_on(self, run_id: str) -> None:
        """Take a pause back; resume a run that rests."""
        if not self._control(run_id, "go_on"):
            self.drive(run_id)

    def cancel(self, run_id: str) -> None:
        """Break the running step off."""
        self._control(run_id, "cancel")

    def undo(self, run_id: str) -> None:
        """Take the run back."""
        if not self._control(run_id, "undo"):
            self.drive(run_id, "undo")

    def leave(self, run_id: str, reason: str) -> None:
        """Close the run as it stands."""
        if not self._control(run_id, "leave", reason):
            self.drive(run_id, "leave", reason)

    def answer(self, run_id: str, text: str, to: Question) -> None:
        """Answer the question that was shown; a run that rests is gone on with, and the answer waits until it asks."""
        if (service := self._service) is None:
            return
        service.answers.give(run_id, text, to)
        self.drive(run_id)

    def _control(self, run_id: str, what: str, *given: str) -> bool:
        control = self._service.control(run_id) if self._service is not None else None
        if control is None:
            return False
        getattr(control, what)(*given)
        return True

    def _take(self) -> None:
        service = self._service
        # Looked at first: an engine that has ended by now has laid down everything it had to show.
        ended = [run_id for run_id in self._driven if service is None or service.control(run_id) is None]
        views, refused = self._newest.take()
        for view in views:
            self._seen[view.run_id] = view
            self.run_shown.emit(view)
        for run_id in ended:
            del self._driven[run_id]
            self._seen.pop(run_id, None)
        self._ended += len(ended)
        for run_id, problem in refused:
            self.refused.emit(run_id, problem)
        if not ended:
            return
        if not self._driven:
            self._timer.stop()
        for run_id in ended:
            self.rested.emit(run_id)
        self.look()

    # -- the end ------------------------------------------------------------------------------------------------------

    def suspend(self, then: Callable[[bool], None]) -> None:
        """End the engines here (runs are resumed by proof); `then` hears whether all ended in time."""
        if (service := self._service) is None:
            then(True)
            return
        self._journal.run("suspend", service.close, then)

    def close(self) -> None:
        """Suspend what is driven and wait for every worker; nothing is told afterwards."""
        self._timer.stop()
        self._watch.stop()
        self._journal.shutdown()
        self._hosts.shutdown()
        if self._service is not None:
            self._service.close()
            self._service = None


def _policy(
    service: ProcedureService, *, confirmed: frozenset[str] = frozenset(), take_over: bool = False, approved: str = ""
) -> Policy:
    """On a worker."""
    from services.procedures.engine.parts import Policy

    return Policy(confirmed=confirmed, take_over=take_over, by=service.owner, approved=approved)
