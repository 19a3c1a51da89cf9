"""The steps of a run in a report: one table of all, and each whole under its fold. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from services.i18n import tr
from services.procedures.plan.model import RISK_WORDS
from services.procedures.plan.run_model import TAKEN_BACK, RunView, StepState, StepView
from services.procedures.plan.wording import wording
from services.procedures.report.blocks import Block, Fold, Grid, Heading, Lines, Sentence, hour, took

_ILL = frozenset({StepState.FAILED, StepState.UNDO_FAILED, StepState.IN_DOUBT, StepState.CANCELLED})


def step_table(view: RunView) -> Iterator[Block]:
    """Every step by its number, told by its undo where it was taken back, with that undo's time."""
    yield Heading(2, tr("Steps"))
    if not view.steps:
        yield Sentence(tr("There was nothing to do."))
        return
    headers = (tr("No."), tr("Step"), tr("State"), tr("Started (UTC)"), tr("Took"), tr("Expected"))
    yield Grid(headers, tuple(_row(number, shown) for number, shown in enumerate(view.steps, 1)))


def _row(number: int, shown: StepView) -> tuple[str, ...]:
    begun, ended = shown.span
    expected = "" if shown.state in TAKEN_BACK else took(0.0, shown.step.estimate_s)
    return (str(number), _title(shown), shown.state.value, hour(begun), took(begun, ended), expected)


def _title(shown: StepView) -> str:
    title = shown.title
    if shown.state in TAKEN_BACK:
        title = tr("{step} - rolled back: {undo}", step=shown.step.title, undo=shown.title)
    return title if not shown.step.host or shown.step.host in title else f"{shown.step.host}: {title}"


def steps_in_full(view: RunView) -> Iterator[Block]:
    """Commands, evidence and output of every step, the ones that failed unfolded."""
    if view.steps:
        parts = tuple(_fold(number, shown) for number, shown in enumerate(view.steps, 1))
        yield Fold(tr("Commands, evidence and output of each step"), parts)


def _fold(number: int, shown: StepView) -> Fold:
    begun, ended = shown.span
    title = f"{number}. {shown.step.title}"
    facts = " · ".join(filter(None, (shown.state.value, took(begun, ended))))
    return Fold(f"{title} ({facts})", tuple(_step(shown)), level=3, open=shown.state in _ILL)


def _step(shown: StepView) -> Iterator[Block]:
    step, undo = shown.step, shown.undo
    where = step.host or tr("console")
    about = tr("On {where}; {risk}.", where=where, risk=tr(RISK_WORDS[step.risk]))
    times = tr("Started {at} UTC, took {span}.", at=hour(shown.started), span=took(shown.started, shown.ended))
    yield Sentence(" ".join(filter(None, (about, times if shown.started is not None else "", step.why))))
    yield Lines(tr("Does"), wording(step.action))
    said = shown.said if shown.said not in {"", shown.title, step.done} else ""
    if said and shown.state not in TAKEN_BACK:
        yield Sentence(said)
    if shown.failed or (shown.error and shown.state is StepState.FAILED):
        yield Sentence(shown.failed or shown.error, "bad")
    yield from _raw(shown.evidence, shown.output)
    if step.undo is None:
        return
    if undo is None:
        yield Lines(tr("Undo: {title}", title=step.undo.title), wording(step.undo.action))
        return
    span = took(undo.started, undo.ended)
    yield Lines(tr("Rolled back at {at} UTC, took {span}: {title}", at=hour(undo.started), span=span,
                   title=step.undo.title), wording(step.undo.action))  # fmt: skip
    if shown.error:
        yield Sentence(shown.error, "bad")
    yield from _raw(undo.evidence, undo.output)


def _raw(evidence: tuple[str, ...], output: tuple[str, ...]) -> Iterator[Block]:
    if output:
        yield Lines(tr("Output"), output)
    new = tuple(line for line in evidence if line not in output)
    if new:
        yield Lines(tr("Evidence"), new)
