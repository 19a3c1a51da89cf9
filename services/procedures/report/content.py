"""What a report of a run tells, in order: how it ended, what changed, every step, every check, every promise. Pure.

Everything is out of the journal (the view is its fold), but the curves, which the history gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from services.discovery.model import ClusterSnapshot
from services.discovery.words import listing
from services.errors import UserError
from services.i18n import tr
from services.procedures.journal.codec import decode
from services.procedures.journal.entries import Around, topology_of
from services.procedures.journal.run_summary import seen_on
from services.procedures.plan.checks import Verdict
from services.procedures.plan.model import Chart, Obligation, Risk
from services.procedures.plan.run_model import Entry, RunView
from services.procedures.report.blocks import Block, Fold, Grid, Heading, Picture, Sentence, moment
from services.procedures.report.change import change_blocks
from services.procedures.report.course import course
from services.procedures.report.first import broken_rules, head, not_known, outcome, positions
from services.procedures.report.plot import Mark, plot_picture
from services.procedures.report.spoken_inputs import spoken_answers
from services.procedures.report.steps import step_table, steps_in_full
from services.procedures.report.time import Axis, axis_of, bars_of, timeline
from services.procedures.report.topology import topology_picture
from services.sampling.change.model import Comparison
from services.series import Series

SeriesOf = Callable[[str, str, float, float], Series]
"""Metric key, host, from, to (UTC epoch seconds): the samples that the history has."""
UnitOf = Callable[[str], str]
"""Metric key: its unit ('' for a count)."""


def report_blocks(
    view: RunView,
    entries: tuple[Entry, ...],
    before: ClusterSnapshot | None = None,
    after: ClusterSnapshot | None = None,
    series: SeriesOf | None = None,
    unit_of: UnitOf | None = None,
    change: Comparison | str | None = None,
) -> tuple[Block, ...]:
    """Return the report of a run, whatever state it is in; snapshots that are not given come from the journal.

    `change`: what was measured around it, or why nothing was; None where there is no history at all.
    """
    return (
        *head(view),
        *outcome(view),
        *not_known(view, entries),
        *positions(view),
        *_time(view, series, unit_of or (lambda _: "")),
        *(change_blocks(change) if change is not None else ()),
        *step_table(view),
        *_topology(entries, before, after),
        *_plan(view),
        *_checks(view),
        *steps_in_full(view),
        *_obligations(entries, view),
        *_breaches(view, entries),
        *_questions(entries),
        *_course(entries),
    )


def _plan(view: RunView) -> Iterator[Block]:
    """What was approved, by whom, on which hosts, with which answers."""
    plan = view.plan
    rows = (
        (tr("Run"), f"{view.run_id}, {plan.procedure}"),
        (tr("Cluster"), f"{plan.cluster_name} ({plan.cluster_id})"),
        (tr("Summary"), plan.summary),
        (tr("Begun"), moment(view.started)),
        (tr("Ended"), moment(view.ended) or tr("not yet; last journal entry {at}", at=moment(view.journal_at))),
        (tr("Approved"), moment(view.approved) or tr("not approved")),
        (tr("By"), view.owner),
        (tr("Hosts"), ", ".join(plan.hosts)),
        (tr("Inputs"), "; ".join(spoken_answers(plan)) or tr("none")),
    )
    yield Fold(tr("What was approved"), (Grid((), rows),))


def _time(view: RunView, series: SeriesOf | None, unit_of: UnitOf) -> Iterator[Block]:
    """One time line of the steps, and under it the curves on the same axis."""
    axis = axis_of(view)
    picture = timeline(view, axis)
    charts = view.plan.charts if series is not None and view.started is not None else ()
    if picture is None and not charts:
        return
    yield Heading(2, tr("Time"))
    if picture is not None:
        yield picture
    if series is not None:
        marks = _marks(view)
        for chart in charts:
            yield _curve(chart, axis, marks, series, unit_of)


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


def _curve(chart: Chart, axis: Axis, marks: tuple[Mark, ...], series: SeriesOf, unit_of: UnitOf) -> Picture | Sentence:
    try:
        found = series(chart.metric, chart.host, axis.start, axis.end)
    except UserError as problem:
        return Sentence(f"{chart.title}: {problem}", "warn")
    return plot_picture(chart, found, axis, marks, unit_of(chart.metric))


def _marks(view: RunView) -> tuple[Mark, ...]:
    """Where each step that changes something began, and each undo."""
    found = (
        (bar.start, f"↶{number}" if bar.undo else str(number))
        for number, shown in enumerate(view.steps, 1)
        for bar in bars_of(number, shown)
        if shown.step.risk not in {Risk.READS, Risk.YOU}
    )
    return tuple(sorted(found))


def _checks(view: RunView) -> Iterator[Block]:
    if not view.checks:
        yield Fold(tr("Checks before the run"), (Sentence(tr("No checks were made.")),))
        return
    headers = (tr("Code"), tr("Result"), tr("Check"), tr("Evidence"), tr("Why"))
    rows = tuple((c.code, c.result, c.title, c.evidence, c.why) for c in view.checks)
    results = Counter(c.result for c in view.checks)
    words = ", ".join(f"{results[word]} {word}" for word in (*(v.value for v in Verdict), "not known") if results[word])
    overrides: Block = Sentence(tr("No block was overridden."))
    if view.overrides:
        overrides = Grid((tr("Overridden"), tr("Reason")), tuple((o.code, o.reason) for o in view.overrides))
    yield Fold(tr("Checks before the run ({counts})", counts=words), (overrides, Grid(headers, rows)))


def _obligations(entries: tuple[Entry, ...], view: RunView) -> Iterator[Block]:
    rows: list[list[str]] = []
    open_rows: dict[str, list[str]] = {}
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "obligation-taken":
            taken = decode(Obligation, data.get("obligation"))
            if taken.key not in open_rows:
                row = [taken.sentence, moment(entry.at), tr("still on"), ""]
                rows.append(row)
                open_rows[taken.key] = row
        elif entry.kind == "obligation-discharged" and str(data.get("key")) in open_rows:
            open_rows.pop(str(data.get("key")))[2:] = [moment(entry.at), str(data.get("evidence", ""))]
    for open_one in view.obligations:
        if open_one.obligation.key in open_rows:
            told = filter(None, (seen_on(open_one, moment), open_one.release_failed))
            open_rows[open_one.obligation.key][3] = "; ".join(told)
    found: Block = Sentence(tr("The run switched nothing on temporarily."))
    if rows:
        headers = (tr("What was switched on"), tr("From"), tr("Until"), tr("Evidence"))
        found = Grid(headers, tuple(tuple(row) for row in rows))
    yield Fold(tr("Obligations"), (found,))


def _breaches(view: RunView, entries: tuple[Entry, ...]) -> Iterator[Block]:
    rules = [rule.code for rule in view.plan.watches]
    broken = tuple(broken_rules(entries))
    if not rules and not broken:
        return
    watched = Sentence(tr("Watched: {rules}.", rules=listing(rules, most=20)))
    yield Fold(tr("Watch rules"), (watched, *(broken or (Sentence(tr("None of them was violated.")),))))


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
        headers = (tr("Asked"), tr("Question"), tr("Answer"), tr("By"), tr("Answered"))
        yield Fold(tr("Questions and answers"), (Grid(headers, tuple(tuple(row) for row in rows)),))


def _asked(data: dict[str, object]) -> str:
    question = data.get("question")
    ask = question.get("ask") if isinstance(question, dict) else None
    return str(ask.get("question", "")) if isinstance(ask, dict) else ""


def _course(entries: tuple[Entry, ...]) -> Iterator[Block]:
    headers = (tr("No."), tr("At (UTC)"), tr("Step"), tr("What"), tr("Said"))
    yield Fold(tr("Course: every entry of the journal"), (Grid(headers, course(entries)),))
