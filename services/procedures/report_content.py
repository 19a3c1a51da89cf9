"""What a report of a run tells, in order: how it ended, what changed, every step, every check, every promise. Pure.

Everything is out of the journal (the view is its fold), but the curves, which the history gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from services.discovery.model import ClusterSnapshot
from services.discovery.words import listing
from services.errors import UserError
from services.procedures.codec import decode
from services.procedures.journal_entries import Around, topology_of
from services.procedures.model import Chart, Obligation
from services.procedures.report_blocks import Block, Grid, Heading, Lines, Picture, Sentence, hour, moment, took
from services.procedures.report_course import course
from services.procedures.report_plot import Mark, plot_picture
from services.procedures.report_topology import topology_picture
from services.procedures.run_model import Entry, RunState, RunView, StepState, StepView
from services.procedures.wording import wording
from services.series import Series
from services.words import tr

SeriesOf = Callable[[str, str, float, float], Series]
"""Metric key, host, from, to (UTC epoch seconds): the samples that the history has."""
UnitOf = Callable[[str], str]
"""Metric key: its unit ('' for a count)."""
_LEAD_S = 30.0  # what the curves show before the run began and after it ended
_TONES = {
    RunState.DONE: "good",
    RunState.UNDONE: "good",
    RunState.FAILED: "bad",
    RunState.UNDO_FAILED: "bad",
}


def report_blocks(
    view: RunView,
    entries: tuple[Entry, ...],
    before: ClusterSnapshot | None = None,
    after: ClusterSnapshot | None = None,
    series: SeriesOf | None = None,
    unit_of: UnitOf | None = None,
) -> tuple[Block, ...]:
    """Return the report of a run, whatever state it is in; snapshots that are not given come from the journal."""
    return (
        *_head(view),
        *_outcome(view),
        *_topology(entries, before, after),
        *_steps(view),
        *_curves(view, entries, series, unit_of or (lambda _: "")),
        *_checks(view),
        *_obligations(entries, view),
        *_breaches(view),
        *_questions(entries),
        *_course(entries),
    )


def _head(view: RunView) -> Iterator[Block]:
    plan = view.plan
    yield Heading(1, plan.title)
    ends = (view.started, view.ended or view.journal_at)
    yield Grid(
        (),
        (
            (tr("Run"), f"{view.run_id}, {plan.procedure}"),
            (tr("Cluster"), f"{plan.cluster_name} ({plan.cluster_id})"),
            (tr("State"), view.state.value),
            (tr("Begun"), moment(view.started)),
            (tr("Ended"), moment(view.ended) or tr("not yet; last journal entry {at}", at=moment(view.journal_at))),
            (tr("Took"), took(*ends)),
            (tr("Approved"), moment(view.approved) or tr("not approved")),
            (tr("By"), view.owner),
            (tr("Hosts"), ", ".join(plan.hosts)),
            (tr("Inputs"), "; ".join(f"{name} {value}" for name, value in plan.inputs if value) or tr("none")),
        ),
    )


def _outcome(view: RunView) -> Iterator[Block]:
    yield Heading(2, tr("What is true at the end"))
    said = view.sentence or view.plan.summary
    yield Sentence(said, _TONES.get(view.state, "warn"))
    for sentence in view.plan.expects if view.state is RunState.DONE else ():
        if sentence not in said:
            yield Sentence(sentence, "good")
    for shown in view.steps:
        if shown.state in (StepState.ACTING, StepState.UNDOING, StepState.IN_DOUBT, StepState.UNDO_FAILED):
            doubt = tr("Step '{title}' is {state}.", title=shown.step.title, state=shown.state.value)
            yield Sentence(" ".join(filter(None, (doubt, shown.said, shown.error))), "bad")
    for open_one in view.obligations:
        on = tr("Still on since {at}: {what}.", at=moment(open_one.since), what=open_one.obligation.sentence)
        danger = open_one.obligation.danger
        yield Sentence(on + (" " + tr("While it stays: {danger}.", danger=danger) if danger else ""), "bad")
    if not view.obligations:
        yield Sentence(tr("Nothing that the run switched on is left on."))


def _topology(
    entries: tuple[Entry, ...], before: ClusterSnapshot | None, after: ClusterSnapshot | None
) -> Iterator[Block]:
    yield Heading(2, tr("The cluster before and after"))
    around: tuple[tuple[Around, str, ClusterSnapshot | None], ...] = (
        ("before", tr("Before"), before),
        ("after", tr("After"), after),
    )
    for when, title, given in around:
        try:
            snapshot = given or topology_of(entries, when)
        except UserError as problem:
            yield Sentence(f"{title}: {problem}", "warn")
        else:
            yield topology_picture(title, snapshot) if snapshot else Sentence(tr("{when}: not seen.", when=title))


def _steps(view: RunView) -> Iterator[Block]:
    yield Heading(2, tr("Steps"))
    if not view.steps:
        yield Sentence(tr("There was nothing to do."))
        return
    headers = (tr("No."), tr("Step"), tr("Host"), tr("State"), tr("Began (UTC)"), tr("Took"), tr("Expected"))
    rows = tuple(
        (
            str(number),
            shown.step.done if shown.step.done and shown.state is StepState.DONE else shown.step.title,
            shown.step.host,
            shown.state.value,
            hour(shown.started),
            took(shown.started, shown.ended),
            took(0.0, shown.step.estimate_s),
        )
        for number, shown in enumerate(view.steps, 1)
    )
    yield Grid(headers, rows)
    for number, shown in enumerate(view.steps, 1):
        yield from _step(number, shown)


def _step(number: int, shown: StepView) -> Iterator[Block]:
    step = shown.step
    yield Heading(3, f"{number}. {step.title}")
    where = step.host or tr("console")
    about = tr("On {where}; {risk}; {state}.", where=where, risk=step.risk.value, state=shown.state.value)
    yield Sentence(" ".join(filter(None, (about, step.why))))
    yield Lines(tr("Does"), wording(step.action))
    if step.undo is not None:
        yield Lines(tr("Undo: {title}", title=step.undo.title), wording(step.undo.action))
    if shown.said:
        yield Sentence(shown.said)
    if shown.error:
        yield Sentence(shown.error, "bad")
    if shown.evidence:
        yield Lines(tr("Evidence"), shown.evidence)
    if shown.output:
        yield Lines(tr("Output"), shown.output)


def _curves(
    view: RunView, entries: tuple[Entry, ...], series: SeriesOf | None, unit_of: UnitOf
) -> Iterator[Heading | Picture | Sentence]:
    if series is None or not view.plan.charts or view.started is None:
        return
    yield Heading(2, tr("Curves"))
    span = (view.started - _LEAD_S, (view.ended or view.journal_at or view.started) + _LEAD_S)
    marks = _marks(view, entries)
    for chart in view.plan.charts:
        yield _curve(chart, span, marks, series, unit_of)


def _curve(
    chart: Chart, span: tuple[float, float], marks: tuple[Mark, ...], series: SeriesOf, unit_of: UnitOf
) -> Picture | Sentence:
    try:
        found = series(chart.metric, chart.host, *span)
    except UserError as problem:
        return Sentence(f"{chart.title}: {problem}", "warn")
    return plot_picture(chart, found, span, marks, unit_of(chart.metric))


def _marks(view: RunView, entries: tuple[Entry, ...]) -> tuple[Mark, ...]:
    numbers = {shown.step.step_id: str(number) for number, shown in enumerate(view.steps, 1)}
    acting = StepState.ACTING.value
    return tuple(
        (e.at, numbers[e.step_id])
        for e in entries
        if e.kind == "step" and (e.data or {}).get("state") == acting and e.step_id in numbers
    )


def _checks(view: RunView) -> Iterator[Block]:
    yield Heading(2, tr("Checks before the run"))
    if not view.checks:
        yield Sentence(tr("No check was made."))
        return
    headers = (tr("Code"), tr("Result"), tr("Check"), tr("Host"), tr("Evidence"), tr("Why"))
    rows = tuple((c.code, c.verdict.value, c.title, c.host, c.evidence, c.why) for c in view.checks)
    yield Grid(headers, rows)
    yield Heading(3, tr("Overrides"))
    if view.overrides:
        yield Grid((tr("Code"), tr("Reason")), tuple((o.code, o.reason) for o in view.overrides))
    else:
        yield Sentence(tr("No block was overridden."))


def _obligations(entries: tuple[Entry, ...], view: RunView) -> Iterator[Block]:
    rows: list[list[str]] = []
    open_rows: dict[str, list[str]] = {}
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "obligation-taken":
            taken = decode(Obligation, data.get("obligation"))
            if taken.key not in open_rows:
                row = [taken.sentence, taken.host, moment(entry.at), tr("still on"), ""]
                rows.append(row)
                open_rows[taken.key] = row
        elif entry.kind == "obligation-discharged" and str(data.get("key")) in open_rows:
            open_rows.pop(str(data.get("key")))[3:] = [moment(entry.at), str(data.get("evidence", ""))]
    for open_one in view.obligations:
        if open_one.release_failed and open_one.obligation.key in open_rows:
            open_rows[open_one.obligation.key][4] = open_one.release_failed
    yield Heading(2, tr("Obligations"))
    if rows:
        headers = (tr("What was switched on"), tr("Host"), tr("From"), tr("Until"), tr("Evidence"))
        yield Grid(headers, tuple(tuple(row) for row in rows))
    else:
        yield Sentence(tr("The run switched nothing on for a while."))


def _breaches(view: RunView) -> Iterator[Block]:
    rules = [rule.code for rule in view.plan.watches]
    if not rules and not view.breaches:
        return
    yield Heading(2, tr("Watch rules"))
    yield Sentence(tr("Watched: {rules}.", rules=listing(rules, most=20)))
    if not view.breaches:
        yield Sentence(tr("None of them broke."))
    for breach in view.breaches:
        yield Sentence(breach, "bad")


def _questions(entries: tuple[Entry, ...]) -> Iterator[Block]:
    rows: list[list[str]] = []
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "asked":
            rows.append([moment(entry.at), _asked(data), tr("no answer"), "", ""])
        elif entry.kind == "answered":
            if not rows or rows[-1][4]:
                rows.append(["", str(data.get("topic", "")), "", "", ""])
            rows[-1][2:] = [str(data.get("answer", "")), str(data.get("by", "")), moment(entry.at)]
    if rows:
        yield Heading(2, tr("Questions and answers"))
        headers = (tr("Asked"), tr("Question"), tr("Answer"), tr("By"), tr("Answered"))
        yield Grid(headers, tuple(tuple(row) for row in rows))


def _asked(data: dict[str, object]) -> str:
    question = data.get("question")
    ask = question.get("ask") if isinstance(question, dict) else None
    return str(ask.get("question", "")) if isinstance(ask, dict) else ""


def _course(entries: tuple[Entry, ...]) -> Iterator[Block]:
    yield Heading(2, tr("Course"))
    headers = (tr("No."), tr("At (UTC)"), tr("Step"), tr("What"), tr("Said"))
    yield Grid(headers, course(entries))
