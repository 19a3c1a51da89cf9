"""Where a run stands, in one sentence for the command line."""

from __future__ import annotations

from collections.abc import Callable

from services.discovery.words import moment
from services.i18n import tr
from services.procedures.journal.approval import told
from services.procedures.journal.projection import ENDED
from services.procedures.plan.run_model import REFUSED, OpenObligation, RunState, RunView, StepState


def state_word(state: RunState) -> str:
    """Return what a run's state is called; journals keep 'approved' for one that has not started, approved or not."""
    return tr("not started") if state is RunState.NOT_STARTED else tr(state.value)


def state_words(view: RunView) -> str:
    """Return the state of a run as it is shown: what the journal says last is not true of a console that was killed.

    Whether anybody drives it is read, not guessed: by the lock that the system drops with the process that drives it.
    """
    said = state_word(view.state)
    if view.live or view.elsewhere or view.state not in {RunState.RUNNING, RunState.UNDOING}:
        return said
    if view.driver_unknown:
        return tr("{state}, or interrupted: not known here", state=said)
    return tr("interrupted while {state}", state=said)


def seen_on(one: OpenObligation, told: Callable[[float], str] = moment) -> str:
    """Return when a proof or a later look last showed an obligation on: what it is now is not known by that.

    Args:
        told: how a moment is written (local time, or the report's).
    """
    on = tr("never seen on: it was announced {moment}", moment=told(one.since))
    if one.seen is not None:
        on = tr("last seen on {moment}", moment=told(one.seen))
    if one.seen_off is None:
        return on
    return tr("{on}, no longer at {moment}", on=on, moment=told(one.seen_off))


def where_it_stands(view: RunView) -> str:
    """Return one sentence: where a run stands and how to go on or back, or that nothing of it is done any more."""
    if view.binding in REFUSED:
        return told(view.run_id, view.binding)
    if view.state in ENDED:
        hosts = ", ".join(view.locked)
        return tr("It is over; its lock may still be on {hosts}. Resume {run} removes it.", hosts=hosts,
                  run=view.run_id)  # fmt: skip
    done = sum(s.state.value in {"done", "already so"} for s in view.steps)
    at = next((s for s in view.steps if s.state.value not in {"done", "already so"}), None)
    doing = tr("; next: {title}", title=at.step.title) if at is not None else ""
    if view.state in {RunState.UNDOING, RunState.UNDO_FAILED}:
        back = sum(s.state is StepState.UNDONE for s in view.steps)
        return tr(
            "{back} of its steps are rolled back. Continue the rollback with undo {run}.", back=back, run=view.run_id
        )
    if view.no_return:
        return tr("{done} of {total} steps are done{doing}. Continue with resume {run}: it cannot "
                   "be rolled back any more.",
                  done=done, total=len(view.steps), doing=doing, run=view.run_id)  # fmt: skip
    return tr(
        "{done} of {total} steps are done{doing}. Continue with resume {run}, or roll back with undo {run}.",
        done=done,
        total=len(view.steps),
        doing=doing,
        run=view.run_id,
    )
