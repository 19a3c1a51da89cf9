"""Steering from the window: cards, wizard, topology, palette, status line, frame, journal joined with the service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.planned_moves import PlannedMoves
from app.window.split_watch import SplitWatch
from app.window.steering.close import CloseQuestion
from app.window.steering.door import ServiceDoor
from app.window.steering.flow import WizardFlow, plan_wording
from app.window.steering.offers import Offers
from app.window.steering.pages import KEY, SteeringPages
from app.window.steering.reports import ReportSaver
from app.window.steering.side import SideFeed
from services.backup_chunks.fitting import why_not_here
from services.discovery.model import stands_alone
from services.discovery.words import joined
from services.errors import UserError
from services.i18n import tr
from services.procedures.plan.model import Plan, with_addresses
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RunState, RunView
from services.procedures.service.offers import in_order, why_none_fits, why_not
from services.procedures.service.run_events import run_events
from services.types import NOT_KNOWN, Health
from widgets.bridge.ops import Ops
from widgets.bridge.runs import Runs
from widgets.bridge.standing import Standing
from widgets.common.commands.palette import PaletteEntry
from widgets.common.look.text import format_duration
from widgets.frame.armed_frame import ArmedFrame
from widgets.procedures.standing_notice import StandingNotice
from widgets.procedures.words import RUN_WORDS, driven

if TYPE_CHECKING:  # behind it stand drivers and SQLAlchemy: the service's opening imports them
    from services.procedures.journal.approval import NotBound

FIRST_LOOK_MS = 300
"""After the window stands: the service's libraries must not fight with the first chart for the processor."""
_RUN = "show-run:"
_EVENTS_OF_S = 86_400.0


class Steering(QObject):
    """One per live window."""

    def __init__(
        self,
        controller: Controller,
        window: MainWindow,
        pages: SteeringPages,
        door: ServiceDoor,
        ops: Ops,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.runs = Runs(door, self)
        self._door = door
        self._controller = controller
        self._window = window
        self._pages = pages
        self._abouts: tuple[About, ...] = ()
        self._standing = Standing()
        self._shown: RunView | None = None
        self._told: set[str] = set()
        self._moves = PlannedMoves(controller)
        self._armed: dict[str, RunView] = {}
        self._first_look = True
        self._wizard = pages.wizard or pages.make_wizard()
        self._flow = WizardFlow(self.runs, self._wizard, self._run_began, self._planned, door.limits, self)
        self._side = SideFeed(controller, self._wizard, ops, self)
        self._frame = ArmedFrame(window)
        self._notice = StandingNotice()
        self.offers = Offers(controller, window, self.choose, self.show_cards, self)
        self._reports = ReportSaver(self.runs, door, window, self)
        self.close_question = CloseQuestion(self.runs, window, self)
        window.add_notice(self._notice)
        self.splits = SplitWatch(controller, window, door, ops, self)
        window.add_page(KEY, pages)
        self._wire_pages()
        self._wire_window()
        self._wire_runs()

    def begin(self) -> None:
        """Open the service, soon."""
        QTimer.singleShot(FIRST_LOOK_MS, self, self.runs.open)

    def stop(self) -> None:
        """Suspend what is driven, close service and store; the window's parts may be gone after this."""
        self._side.stop()
        self._frame.set_armed(False)
        self._window.removeEventFilter(self._frame)
        self.runs.close()
        self._door.close()

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield what the palette offers of the runs, the newest first."""
        for view in self._standing.runs:
            title = tr("Run {number}: {title}", number=view.run_id, title=view.plan.title)
            detail = joined(view.plan.cluster_name, tr(RUN_WORDS[view.state]))
            yield PaletteEntry(f"{_RUN}{view.run_id}", "run", title, detail, searched=True)

    def take(self, entry_id: str) -> bool:
        """Show the run that was chosen in the palette; return whether it was one."""
        if entry_id.startswith(_RUN):
            self.show_run(entry_id.removeprefix(_RUN))
        return entry_id.startswith(_RUN)

    # -- wiring -------------------------------------------------------------------------------------------------------

    def _wire_pages(self) -> None:
        cards, wizard, runs = self._pages.cards, self._wizard, self.runs
        cards.procedure_chosen.connect(self.choose)
        cards.resume_wanted.connect(self.resume)
        cards.undo_wanted.connect(self._undo)
        cards.leave_wanted.connect(runs.leave)
        cards.release_wanted.connect(self._release)
        cards.run_chosen.connect(self.show_run)
        cards.report_wanted.connect(lambda run_id: self._reports.ask(run_id, "html"))
        wizard.pause_wanted.connect(lambda: self._of_run(runs.pause))
        wizard.go_on_wanted.connect(lambda: self._of_run(runs.go_on))
        wizard.cancel_wanted.connect(lambda: self._of_run(runs.cancel))
        wizard.undo_wanted.connect(lambda: self._of_run(runs.undo))
        wizard.leave_wanted.connect(runs.leave)
        wizard.answered.connect(runs.answer)
        wizard.report_wanted.connect(lambda kind: self._of_run(lambda run_id: self._reports.ask(run_id, kind)))
        wizard.closed.connect(self._left_wizard)
        wizard.back.wanted.connect(self.choose)

    def _wire_window(self) -> None:
        window, controller = self._window, self._controller
        window.page_shown.connect(self._page_shown)
        window.status.release_wanted.connect(self._release)
        window.status.obligations_wanted.connect(self.show_cards)
        self._notice.resume_wanted.connect(self.resume)
        self._notice.undo_wanted.connect(self._ask_undo)
        self._notice.shown_wanted.connect(self.show_run)
        controller.pump.ticked.connect(self._on_tick)

    def _wire_runs(self) -> None:
        runs = self.runs
        runs.opened.connect(self._opened)
        runs.standing_changed.connect(self._stood)
        runs.run_shown.connect(self._run_shown)
        runs.begun.connect(lambda _run: self.runs.look())
        runs.refused.connect(self._refused)
        runs.failed.connect(self._failed)

    # -- choosing -----------------------------------------------------------------------------------------------------

    def choose(self, name: str, host: str = "") -> None:
        """Begin with a procedure on the cluster in sight."""
        about = next((a for a in self._abouts if a.name == name), None)
        if about is None:
            return
        # For a host that was chosen too, it was judged where it was chosen.
        if why := why_none_fits(self._controller.cluster(), about) if host else self._why_not(about):
            self._window.messages.say(Health.WARN, (why,), tr("Dismiss"))
            return
        cluster = self._cluster_in_sight(about)
        self._shown = None
        self._window.show_page(KEY)
        self._pages.show_wizard()
        self._wizard.head.close_button.setFocus()
        self._flow.choose(about, cluster, host)
        self._side.follow(None, None, cluster)

    def _why_not(self, about: About) -> str:
        return why_not(about, self._controller.cluster(), self._controller.estate)

    def _judge_cards(self) -> None:
        """Say on each card why it is not for what is in sight, those for its kind of cluster first; another cluster may
        be chosen beside them."""
        # Refused first: a card that is made with it is dressed once, not a second time for each of its words.
        self._pages.cards.refuse({about.name: self._why_not(about) for about in self._abouts})
        self._pages.cards.set_procedures(in_order(self._abouts, self._controller.cluster()))
        self._pages.cards.refuse_chunks(why_not_here(self._controller.estate))

    def _cluster_in_sight(self, about: About) -> str:
        """Return the cluster that is shown; beside a spare host the only one that it is for, '' for none.

        A cluster that nobody answers for is meant by the name that it is written under, never another one that serves.
        """
        shown = self._controller.cluster()
        if shown is not None and NOT_KNOWN in shown.kind.traits and not stands_alone(shown):
            return shown.name
        if shown is not None and about.fits(shown.kind):
            return shown.cluster_id
        known = [c.cluster_id for c in self._controller.estate.clusters if about.fits(c.kind)]
        return known[0] if len(known) == 1 else ""

    # -- what is shown ------------------------------------------------------------------------------------------------

    def _opened(self, abouts: tuple[About, ...]) -> None:
        self._abouts = abouts
        self._judge_cards()
        self.offers.use(abouts)
        self._side.use(abouts)

    def _page_shown(self, key: str) -> None:
        if key != KEY:
            return
        if not self.runs.is_open:
            self.runs.open()
        self._judge_cards()
        self.runs.look()

    def show_cards(self) -> None:
        """Show procedures, obligations and runs."""
        self._window.show_page(KEY)
        self._pages.show_cards()

    def show_run(self, run_id: str) -> None:
        """Show a run's page."""
        self.runs.view(run_id, self._show_run)

    def _show_run(self, view: RunView) -> None:
        self._flow.leave()
        self._window.show_page(KEY)
        if self._shown is None or self._shown.run_id != view.run_id:
            self._wizard.set_about(self._about_of(view.plan))
        self._run_began(view)

    def _about_of(self, plan: Plan) -> About:
        known = next((a for a in self._abouts if a.name == plan.procedure), None)
        return known or About(plan.procedure, plan.title, "", plan.summary, "", "")

    def _run_began(self, view: RunView) -> None:
        self._shown = view
        self._say_beginning(view)
        self._wizard.set_run(view, plan_wording(view.plan))
        self._pages.show_wizard()
        self._side.follow(view.plan, view, view.plan.cluster_id)

    def _say_beginning(self, view: RunView) -> None:
        """Say what goes on before the first step; afterwards the steps speak."""
        said: tuple[str, ...] = ()
        if view.live and view.state is RunState.NOT_STARTED:
            hosts = ", ".join(view.plan.hosts)
            said = (tr("Opening the operator connections and taking the cluster's lock on {hosts}…", hosts=hosts),)
        self._wizard.say_message(Health.TRANSFER, said)

    def _planned(self, plan: Plan) -> None:
        self._side.follow(plan, None, plan.cluster_id)

    def _left_wizard(self) -> None:
        self._shown = None
        self._flow.leave()
        self._side.follow(None, None, "")
        self.runs.look()

    def _run_shown(self, view: RunView) -> None:
        before = self._shown
        if before is not None and before.run_id == view.run_id:
            self._show_anew(before, view)
        self._arm(view)
        self._moves.saw(view)
        self._tell_events(view)
        known = {duty.obligation.key for duty in self._standing.obligations if duty.run_id == view.run_id}
        if known != {duty.obligation.key for duty in view.obligations}:
            self.runs.look()

    def _arm(self, view: RunView) -> None:
        """Show whether this window may change servers now."""
        armed = {run: v for run, v in {**self._armed, view.run_id: view}.items() if v.armed}
        if not armed and not self._armed:
            return
        self._armed = armed
        status = self._window.status
        if not armed:
            status.show_read_only()
            status.show_journal("")
        else:
            hosts = dict.fromkeys(host for v in armed.values() for host in v.armed)
            status.show_armed(", ".join(armed), tuple(hosts))
        if self._frame.isVisible() != bool(armed):
            self._frame.set_armed(bool(armed))

    def _on_tick(self, _now: float) -> None:
        if self._pages.isVisible():
            self._judge_cards()
        armed = list(self._armed.values())
        if armed and armed[-1].journal_at is not None:
            age = max(0.0, time.time() - armed[-1].journal_at)
            self._window.status.show_journal(tr("journal written {age} ago", age=format_duration(age)))

    def _stood(self, standing: Standing) -> None:
        self._standing = standing
        self._moves.stood(standing, self.runs.driven)
        self._pages.cards.set_runs(standing.runs)
        self._pages.cards.set_obligations(standing.obligations, standing.clusters)
        self._window.status.show_obligations(standing.obligations, time.time(), standing.clusters)
        resting = tuple(v for v in standing.unfinished if v.run_id not in self.runs.driven and not driven(v))
        self._notice.show_runs(resting if self._first_look or self._notice.isVisible() else ())
        self._first_look = False
        self._show_elsewhere(standing)
        for view in reversed(standing.runs):
            # Consoles of several inventories may keep one journal of runs: those of other clusters are not told here.
            known = self._controller.estate.cluster(view.plan.cluster_id) is not None
            if known and view.started is not None and view.started > time.time() - _EVENTS_OF_S:
                self._tell_events(view)

    def _show_elsewhere(self, standing: Standing) -> None:
        """Bring the page of a run that another program drives, or has driven, up to date."""
        before = self._shown
        view = next((v for v in standing.runs if before is not None and v.run_id == before.run_id), None)
        if before is None or view is None or view.live or view.run_id in self.runs.driven:
            return
        if before.elsewhere or view.elsewhere:
            self._show_anew(before, view)

    def _show_anew(self, before: RunView, view: RunView) -> None:
        self._shown = view
        if before.state is RunState.NOT_STARTED or view.state is RunState.NOT_STARTED:
            self._say_beginning(view)
        self._wizard.set_run(view, plan_wording(view.plan) if view.plan != before.plan else None)
        self._side.follow(view.plan, view, view.plan.cluster_id)

    def _tell_events(self, view: RunView) -> None:
        """Put what the run did on the time axis, once."""
        tell = getattr(self._controller.source, "tell", None)
        if tell is None:
            return
        if not self._told:
            self._told = {event.key for event in self._controller.source.events() if event.kind in {"run", "step"}}
        for event in run_events(view):
            if event.key not in self._told:
                self._told.add(event.key)
                tell(event)

    # -- what is wanted of runs ---------------------------------------------------------------------------------------

    def resume(self, run_id: str) -> None:
        """Go on with a run that rests, and show it."""
        self.show_run(run_id)
        self.runs.drive(run_id)

    def _undo(self, run_id: str) -> None:
        self.show_run(run_id)
        self.runs.undo(run_id)

    def _ask_undo(self, run_id: str) -> None:
        """Ask on the page, where everything that it means is said."""
        self.show_cards()
        self._pages.cards.ask_undo(run_id)

    def _release(self, run_id: str, key: str) -> None:
        self.runs.drive(run_id, "release", key)

    def _of_run(self, act: Callable[[str], None]) -> None:
        if self._shown is not None:
            act(self._shown.run_id)

    def _refused(self, run_id: str, problem: UserError) -> None:
        from services.procedures.journal.approval import NotBound  # the service that said it has imported it

        if isinstance(problem, NotBound):
            self.runs.view(run_id, partial(self._approve_again, problem))
            return
        said = tuple(s for s in (str(problem), problem.safe, *problem.try_) if s)
        if self._shown is None or self._shown.run_id != run_id:
            self._window.messages.say_error(problem, tr("Dismiss"))
            self.runs.look()
            return
        self._wizard.say_message(Health.BAD, said)
        from services.procedures.engine.lock import LockHeld  # as above

        if isinstance(problem, LockHeld) and problem.own is None:  # its own run is seen to its end, not overrun
            owner = problem.holder.owner
            title = tr("Take over the lock from {owner}?", owner=owner)
            sentences = (
                tr("Only if that console is permanently gone: two consoles that act at once can destroy the cluster."),
                tr("Type {owner} to confirm.", owner=owner),
            )
            agreed = tr("&Take over and continue")
            take = partial(self.runs.drive, run_id, take_over=True)
            self._wizard.confirm.ask(title, sentences, agreed, lambda _typed: take(), expect=owner)

    def _approve_again(self, problem: NotBound, view: RunView) -> None:
        """Show the run with every act word for word, and ask whether it may go on so; what is shown is what is bound.

        It is the code of the refusal that is approved: what was changed since is refused again.
        """
        self._show_run(view)
        hosts = with_addresses(problem.hosts, problem.hosts)
        title = tr("Approve run {run} again, as shown here?", run=view.run_id)
        sentences = (
            str(problem),
            tr("Read its steps, their undos and its hosts ({hosts}) first.", hosts=hosts or ", ".join(view.plan.hosts)),
        )
        agreed = partial(self.runs.drive, view.run_id, problem.way, problem.key, approved=problem.approve)
        self._wizard.confirm.ask(title, sentences, tr("&Approve and continue"), lambda _typed: agreed())

    def _failed(self, problem: UserError) -> None:
        if not self.runs.is_open:
            self._pages.cards.not_read()
        self._window.messages.say_error(problem, tr("Dismiss"))
