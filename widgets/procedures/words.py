"""States, risks and spans of procedures in words and shapes. Pure text: no widget is needed to test it."""

from __future__ import annotations

from services.i18n import mark, tr
from services.moments import estimate
from services.procedures.plan.actions import Ask, Checkpoint, Continue, WaitFor
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.model import Breach, Risk, Step
from services.procedures.plan.run_model import MOVES, TAKEN_BACK, Broken, RunState, RunView, StepState, StepView
from services.types import Health
from widgets.common.look.text import (
    MIDDLE,
    format_clock,
    format_count,
    format_duration,
    format_moment,
    format_number,
    plural,
)

OVER = frozenset({RunState.DONE, RunState.UNDONE, RunState.LEFT})
"""States that nothing leads out of: everything else is unfinished."""

RUN_WORDS = {
    RunState.NOT_STARTED: mark("not started"),
    RunState.RUNNING: mark("running"),
    RunState.PAUSED: mark("paused"),
    RunState.WAITING: mark("waiting for you"),
    RunState.FAILED: mark("failed"),
    RunState.UNDOING: mark("undoing"),
    RunState.UNDO_FAILED: mark("undo failed"),
    RunState.DONE: mark("done"),
    RunState.UNDONE: mark("undone"),
    RunState.LEFT: mark("left as it is"),
}
_RUN_HEALTH = {
    RunState.NOT_STARTED: Health.UNKNOWN,
    RunState.RUNNING: Health.TRANSFER,
    RunState.PAUSED: Health.WARN,
    RunState.WAITING: Health.WARN,
    RunState.FAILED: Health.BAD,
    RunState.UNDOING: Health.TRANSFER,
    RunState.UNDO_FAILED: Health.BAD,
    RunState.DONE: Health.GOOD,
    RunState.UNDONE: Health.GOOD,
    RunState.LEFT: Health.WARN,
}
STEP_WORDS = {
    StepState.PENDING: mark("not started"),
    StepState.CHECKING: mark("checking"),
    StepState.ACTING: mark("acting"),
    StepState.PROVING: mark("waiting for verification"),
    StepState.DONE: mark("done"),
    StepState.ALREADY: mark("already so"),
    StepState.FAILED: mark("failed"),
    StepState.IN_DOUBT: mark("in doubt"),
    StepState.CANCELLED: mark("cancelled"),
    StepState.UNDOING: mark("undoing"),
    StepState.UNDONE: mark("undone"),
    StepState.UNDO_FAILED: mark("undo failed"),
}
_STEP_HEALTH = {
    StepState.PENDING: Health.UNKNOWN,
    StepState.DONE: Health.GOOD,
    StepState.ALREADY: Health.GOOD,
    StepState.FAILED: Health.BAD,
    StepState.IN_DOUBT: Health.WARN,
    StepState.CANCELLED: Health.WARN,
    StepState.UNDONE: Health.UNKNOWN,
    StepState.UNDO_FAILED: Health.BAD,
}
RISK_TOKEN = {
    Risk.READS: "third",
    Risk.CHANGES: "warn",
    Risk.NODE_DOWN: "bad",
    Risk.IRREVERSIBLE: "bad",
    Risk.YOU: "accent",
}
_ONE_LINE = 100
"""Characters of evidence that have room beside the counts, also in a small window."""
_VERDICT_WORDS = {Verdict.PASS: mark("pass"), Verdict.WARN: mark("warning"), Verdict.BLOCK: mark("block")}
_VERDICT_HEALTH = {Verdict.PASS: Health.GOOD, Verdict.WARN: Health.WARN, Verdict.BLOCK: Health.BAD}


def check_health(check: Check) -> Health:
    """Return the shape of a check: what could not be read is neither a pass nor a warning."""
    return Health.UNKNOWN if check.unknown else _VERDICT_HEALTH[check.verdict]


def check_word(check: Check) -> str:
    """Return the word of a check's outcome."""
    return tr("not known") if check.unknown else tr(_VERDICT_WORDS[check.verdict])


def run_health(state: RunState) -> Health:
    """Return the shape of a run's state."""
    return _RUN_HEALTH[state]


def step_health(state: StepState) -> Health:
    """Return the shape of a step's state; all that move are half circles."""
    return _STEP_HEALTH.get(state, Health.TRANSFER)


def driven(view: RunView) -> bool:
    """Return whether an engine drives the run now, here or in another program of this workstation."""
    return view.live or view.elsewhere


def run_words(view: RunView) -> str:
    """Return the state of a run; a run that no engine drives is 'interrupted', whatever the journal says last."""
    if not driven(view) and view.state in {RunState.RUNNING, RunState.UNDOING}:
        return tr("interrupted while {state}", state=tr(RUN_WORDS[view.state]))
    return tr(RUN_WORDS[view.state])


def about_time(seconds: float | None) -> str:
    """Return an estimate ('about 4 min'), '' when there is none."""
    return "" if seconds is None else tr("about {span}", span=estimate(seconds))


_BACK_WORDS = {
    StepState.UNDOING: mark("Rolling back: {title}"),
    StepState.UNDONE: mark("Rolled back: {title}"),
    StepState.UNDO_FAILED: mark("Could not be rolled back: {title}"),
}


def step_title(view: StepView) -> str:
    """Return what the step says of itself: the past once it is done, its undo's words, else the plan's."""
    if view.state in TAKEN_BACK:
        return tr(_BACK_WORDS[view.state], title=tr(view.title))
    if view.state is StepState.ALREADY:
        return tr("{title}: {state}", title=tr(view.step.title), state=tr(STEP_WORDS[view.state]))
    return tr(view.title)


def waiting_words(view: StepView) -> str:
    """Return 'waits for Synced, at most until 02:44' for a step that waits, else ''."""
    if view.state not in MOVES or not view.waits_for:
        return ""
    if view.until is None:
        return tr("waits for {what}", what=view.waits_for)
    hour = format_clock(view.until, seconds=False)
    return tr("waits for {what}, until {hour} at the latest", what=view.waits_for, hour=hour)


def progress_words(view: StepView) -> str:
    """Return '69 840 of 112 527 write sets · about 33 s left', '' while nothing is known."""
    parts: list[str] = []
    if view.done_of is not None and view.total:
        total = _amount(view.total)
        parts.append(tr("{done} of {total} {unit}", done=_amount(view.done_of), total=total, unit=view.unit))
    elif view.done_of is not None:
        parts.append(f"{_amount(view.done_of)} {view.unit}")
    if view.left_s is not None:
        parts.append(tr("about {span} left", span=estimate(view.left_s)))
    return f" {MIDDLE} ".join(parts)


def _amount(value: float) -> str:
    return format_count(int(value)) if value == int(value) else format_number(value)


def took_words(view: StepView, now: float) -> str:
    """Return how long a step took or takes; before it begins, its estimate."""
    began, ended = view.span
    if began is None:
        return about_time(view.step.estimate_s)
    end = ended if ended is not None else now if view.state in MOVES else began
    return format_duration(max(0.0, end - began)) if end > began or ended is not None else ""


def shows_commands(step: Step) -> bool:
    """Return whether a step's wording is a command; waits, questions and rests are told by their title."""
    return not isinstance(step.action, WaitFor | Ask | Checkpoint | Continue)


def current_step(view: RunView) -> int:
    """Return the index of the step that moves, asks or failed, -1 when none does."""
    asked = view.question.step_id if view.question is not None else ""
    for index, shown in enumerate(view.steps):
        if shown.state in MOVES or (asked and shown.step.step_id == asked):
            return index
    if view.state in OVER:
        return -1
    stopped = {StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.UNDO_FAILED}
    at = [i for i, shown in enumerate(view.steps) if shown.state in stopped]
    return next((i for i in at if not view.steps[i].put_off), at[0] if at else -1)


def asks_for_the_rest(view: RunView) -> bool:
    """Return whether the run has made the rest of its plan and waits for its approval."""
    return view.question is not None and view.question.topic == "continued"


def plan_words(view: RunView) -> str:
    """Return '11 steps · step 7 running' as the plan's line."""
    count = plural(len(view.steps), "{n} step", "{n} steps")
    at = current_step(view)
    if at < 0:
        return f"{count} {MIDDLE} {run_words(view)}"
    state = view.steps[at].state
    word = tr("running") if state in MOVES - {StepState.UNDOING} else tr(STEP_WORDS[state])
    if view.question is not None and state in MOVES | {StepState.PENDING}:
        word = tr(RUN_WORDS[RunState.WAITING])
    return f"{count} {MIDDLE} " + tr("step {number} {state}", number=at + 1, state=word)


def left_s(view: RunView, now: float) -> float | None:
    """Return the seconds that the rest of the run needs by what is known, None when nothing is."""
    known: list[float] = []
    for shown in view.steps:
        if shown.state in MOVES:
            spent = max(0.0, now - shown.started) if shown.started is not None else 0.0
            if shown.left_s is not None:
                known.append(shown.left_s)
            elif shown.step.estimate_s is not None:
                known.append(max(0.0, shown.step.estimate_s - spent))
        elif shown.state is StepState.PENDING and shown.step.estimate_s is not None:
            known.append(shown.step.estimate_s)
    return sum(known) if known else None


def time_words(view: RunView, now: float) -> str:
    """Return '23 min so far, about 4 min left', or how long the whole took."""
    if view.started is None:
        return ""
    if view.ended is not None:
        return tr("took {span}", span=format_duration(view.ended - view.started))
    last = now if driven(view) else (view.journal_at or view.started)
    so_far = tr("{span} so far", span=format_duration(round(max(0.0, last - view.started))))
    rest = left_s(view, now) if driven(view) and view.state is RunState.RUNNING else None
    if rest is None:
        return so_far
    left = tr("about {span} left", span=estimate(rest))
    yours = any(_is_yours(one) for one in view.steps if one.state is StepState.PENDING)
    return f"{so_far}, {tr('{time} without your own work', time=left) if yours else left}"


def _is_yours(view: StepView) -> bool:
    return isinstance(view.step.action, Ask) and view.step.action.deed


def checks_words(checks: tuple[Check, ...], overrides: tuple[Override, ...] = ()) -> str:
    """Return '14 pass · 1 warning: the cache of n3 …' for the one line of the checklist.

    What was read is told where the line has room for it: a position that is cut off in its middle is none.
    """
    of: dict[Health, list[Check]] = {}
    for check in checks:
        of.setdefault(check_health(check), []).append(check)
    warned, blocks, dark = (of.get(health, []) for health in (Health.WARN, Health.BAD, Health.UNKNOWN))
    parts = [plural(len(of.get(Health.GOOD, ())), "{n} pass", "{n} pass")]
    if dark:
        parts.append(plural(len(dark), "{n} not known", "{n} not known"))
    if warned:
        parts.append(plural(len(warned), "{n} warning", "{n} warnings"))
    if blocks:
        parts.append(plural(len(blocks), "{n} block", "{n} blocks"))
    if overrides:
        parts.append(plural(len(overrides), "{n} overridden", "{n} overridden"))
    text = f" {MIDDLE} ".join(parts)
    worst = (blocks or warned or dark)[:1]
    return f"{text}: {_in_one_line(worst[0])}" if worst else text


def _in_one_line(check: Check) -> str:
    evidence = check.evidence
    return evidence if evidence and "\n" not in evidence and len(evidence) <= _ONE_LINE else check.title


def broken_words(one: Broken) -> str:
    """Return a watch rule that broke, with its time and what is safe."""
    evidence = f" ({one.evidence})" if one.evidence else ""
    words = f"{format_clock(one.at)}  {tr(one.sentence)}{evidence}"
    if one.does is Breach.RELEASE:
        return f"{words} " + tr("What it guards is switched off at once; the run asks you before its next action.")
    return f"{words} " + tr("Nothing was changed because of it; the run asks you before its next action.")


def past_words(one: Broken) -> str:
    """Return a watch rule that broke, as it is told where the run's end is read: when, what, until when."""
    evidence = f" ({one.evidence})" if one.evidence else ""
    until = "" if one.over is None else tr("It has held again for 10 s, as of {time}.", time=format_clock(one.over))
    return f"{format_clock(one.at)}  {tr(one.sentence)}{evidence} {until}".rstrip()


def newest_checks(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Return the last word on each code and host: a plan that is continued brings its checks again, read later."""
    return tuple({(check.code, check.host): check for check in checks}.values())


def checks_health(checks: tuple[Check, ...]) -> Health:
    """Return the shape of a whole checklist."""
    found = {check_health(check) for check in checks}
    return next((h for h in (Health.BAD, Health.WARN, Health.UNKNOWN, Health.GOOD) if h in found), Health.UNKNOWN)


def moment_words(at: float, now: float) -> str:
    """Return '02:14', with the day when it was not today."""
    today = format_moment(at)[:10] == format_moment(now)[:10]
    return format_clock(at, seconds=False) if today else format_moment(at)[:16]


def since_words(at: float, now: float) -> str:
    """Return 'since 02:14'."""
    return tr("since {moment}", moment=moment_words(at, now))


def interrupted_words(view: RunView, now: float) -> str:
    """Return what clients can't do since when, '' while they can: 'Since 02:14 nobody reads or writes through r1.'"""
    return " ".join(
        tr("Since {moment} {what}.", moment=moment_words(since, now), what=tr(what)) for since, what in view.interrupted
    )
