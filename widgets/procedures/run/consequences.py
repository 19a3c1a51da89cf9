"""What Undo, Cancel and Leave will do, said before a person confirms: hosts, steps, what stays. Pure."""

from __future__ import annotations

from services.i18n import tr, tr_n
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import MOVES, RunView, StepState, StepView
from widgets.common.look.text import format_count

_MOST_LINES = 8
_MOST_ASKING = 2
_TOUCHED = MOVES | {StepState.DONE, StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.UNDO_FAILED}


def undoable(view: RunView) -> tuple[StepView, ...]:
    """Return the steps that Undo would take back, in the order it does: the newest first."""
    return tuple(s for s in reversed(view.steps) if s.state in _TOUCHED and s.step.undo is not None)


def undo_sentences(view: RunView) -> tuple[str, ...]:
    """Return what Undo does and what it can't do."""
    back = undoable(view)
    hosts = ", ".join(dict.fromkeys(shown.step.host for shown in back if shown.step.host))
    sentences: list[str] = []
    if back:
        sentences.append(
            tr_n(
                "Undo rolls back {n} step on {hosts}, newest first:",
                "Undo rolls back {n} steps on {hosts}, newest first:",
                len(back),
                n=format_count(len(back)),
                hosts=hosts or tr("the console"),
            )
        )
        lines = [f"– {shown.step.host}: {tr(shown.step.undo.title)}" for shown in back if shown.step.undo is not None]
        sentences += lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES - 1]
        if rest := len(lines) - len(sentences) + 1:
            sentences.append(tr_n("– and {n} more", "– and {n} more", rest, n=format_count(rest)))
    else:
        sentences.append(
            tr("No step of this run has anything to roll back; undo ends the run and verifies its guarantees.")
        )
    undos = [(shown.step.host, shown.step.undo) for shown in back]
    asking = [f"{host}: {undo.consent.words}" for host, undo in undos if undo is not None and undo.consent is not None]
    sentences += asking[:_MOST_ASKING]
    if rest := len(asking[_MOST_ASKING:]):
        sentences.append(
            tr_n(
                "{n} more step needs a confirmation.", "{n} more steps need a confirmation.", rest, n=format_count(rest)
            )
        )
    sentences += [
        tr("It releases: {sentence} (on {host}).", sentence=tr(o.obligation.sentence), host=o.obligation.host)
        for o in view.obligations
    ]
    stays = [s for s in view.steps if s.state in _TOUCHED and s.step.risk is Risk.IRREVERSIBLE]
    sentences += [
        tr("It cannot roll back: {title} (on {host}).", title=tr(s.step.title), host=s.step.host) for s in stays
    ]
    return tuple(sentences)


def leave_sentences(view: RunView) -> tuple[str, ...]:
    """Return what Leave does: no step is taken back, what is switched on is switched off where that does no harm."""
    sentences = [
        tr("Nothing is rolled back on {hosts}, and the run cannot be resumed.", hosts=", ".join(view.plan.hosts))
    ]
    if view.obligations:
        on = "; ".join(tr(o.obligation.sentence) for o in view.obligations)
        sentences.append(
            tr(
                "Temporary changes are released: {on}. A change that must not be released yet stays on and is "
                "reported.",
                on=on,
            )
        )
    return tuple(sentences)


def cancel_sentences(view: RunView, current: int) -> tuple[str, ...]:
    """Return what Cancel does to the step that runs."""
    if not 0 <= current < len(view.steps):
        return (tr("No step is running: the run stops before its next step."),)
    step = view.steps[current].step
    where = step.host or tr("all hosts")
    sentences = [tr("The wait in '{title}' on {host} ends now.", title=tr(step.title), host=where)]
    if step.moves:
        sentences.append(tr("{host} may then be out of the cluster until you continue or undo.", host=step.moves))
    sentences.append(tr("Completed steps stay completed; then you choose: try again, undo, or leave the run."))
    return tuple(sentences)


def pause_words(view: RunView, current: int) -> str:
    """Return why the step that runs can't be broken off, '' when it can."""
    if not 0 <= current < len(view.steps):
        return ""
    step = view.steps[current].step
    if step.cancellable:
        return ""
    return tr("'{title}' cannot be interrupted safely; pause after it instead.", title=tr(step.title))
