"""Procedures as plain text for a terminal: cards, questions, checklists, plans, runs. Stored sentences stay English."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from shlex import quote

from services.discovery.words import clock
from services.i18n import tr, tr_n
from services.moments import duration, estimate
from services.procedures.catalogue import all_procedures
from services.procedures.journal.run_summary import seen_on, state_words
from services.procedures.plan.checks import Check, Override, Remedy, Verdict, standing_blocks
from services.procedures.plan.forms.fields import Fault, Field
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import RISK_WORDS, Breach, Outage, Plan, Step, Undo, with_addresses
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import (
    TAKEN_BACK,
    Broken,
    OpenObligation,
    Question,
    RunView,
    StepState,
    StepView,
)
from services.procedures.plan.way_back import WayBack, way_back
from services.procedures.plan.wording import wording
from services.procedures.service.ways import ways_of

_MARK = {Verdict.PASS: "ok", Verdict.WARN: "warn", Verdict.BLOCK: "BLOCK"}
_STEP_MARK = {
    StepState.PENDING: "○",
    StepState.CHECKING: "◌",
    StepState.ACTING: "◐",
    StepState.PROVING: "◐",
    StepState.DONE: "●",
    StepState.ALREADY: "●",
    StepState.FAILED: "■",
    StepState.IN_DOUBT: "▲",
    StepState.CANCELLED: "▲",
    StepState.UNDOING: "◐",
    StepState.UNDONE: "↶",
    StepState.UNDO_FAILED: "■",
}
WIDTH = 110


def about(seconds: float | None) -> str:
    """Return an estimate, '' for none."""
    return "" if seconds is None else estimate(seconds)


def card_lines(about: About) -> Iterator[str]:
    """Yield one procedure's card."""
    yield f"{about.name}  -  {tr(about.title)}"
    for title, text in ((tr("does"), about.what), (tr("takes"), about.takes), (tr("can break"), about.can_break)):
        yield from wrapped(f"  {title:<10} ", tr(text))


def field_lines(fields: tuple[Field, ...]) -> Iterator[str]:
    """Yield the questions with defaults and choices, as `--input` takes them."""
    for field in fields:
        yield f"  --input {field.name}={field.default or '…'}   {tr(field.title)}"
        for value, meaning in field.choices:
            yield f"        {value}: {meaning}"


def fault_lines(faults: tuple[Fault, ...]) -> Iterator[str]:
    """Yield what is wrong with the inputs."""
    for fault in faults:
        yield f"  --input {fault.field}: {fault.sentence}" if fault.field else f"  {fault.sentence}"


def problem_lines(facts: Facts, hosts: frozenset[str] | None = None) -> Iterator[str]:
    """Yield what could not be read and why, once each: of these hosts, None for every one."""
    found = [problem.sentence for problem in facts.problems]
    for host in facts.hosts:
        if hosts is not None and host.host not in hosts:
            continue
        of_node = host.node.problems if host.node is not None else ()
        found += [f"{host.host}: {problem.sentence}" for problem in (*of_node, *host.problems)]
    yield from dict.fromkeys(found)


def check_lines(checks: tuple[Check, ...], overrides: tuple[Override, ...] = ()) -> Iterator[str]:
    """Yield the checklist: what passed on one line, what did not (or is not known: '?') with why and what to try."""
    accepted = {o.code: o.reason for o in overrides}
    for check in checks:
        sign = "?" if check.unknown else _MARK[check.verdict]
        yield from wrapped(f"  {sign:<6}", f"{check.code}  {check.title}: {check.evidence}")
        if check.verdict is Verdict.PASS:
            continue
        if check.why:
            yield from wrapped("          ", check.why)
        for advice in (*check.try_, *map(_answer, check.answers), *check.commands):
            yield from wrapped(f"          {tr('try')}: ", advice)
        if check.verdict is Verdict.BLOCK and check.absolute:
            yield f"          {tr('This block can not be overridden.')}"
        elif check.verdict is Verdict.BLOCK and check.code in accepted:
            yield from wrapped(f"          {tr('overridden')}: ", accepted[check.code])


def checklist_lines(
    checks: tuple[Check, ...], overrides: tuple[Override, ...] = (), *, whole: bool = False
) -> Iterator[str]:
    """Yield what stands in the way, then what a person reads, then what passed by its code; `whole`: all, in order."""
    if whole:
        yield from check_lines(checks, overrides)
        return
    standing = standing_blocks(checks, overrides)
    told = [check for check in checks if check.verdict is not Verdict.PASS or check.unknown or check.to_read]
    first = [check for check in told if check in standing]
    yield from check_lines((*first, *(check for check in told if check not in standing)), overrides)
    passed = dict.fromkeys(check.code for check in checks if check not in told)
    if passed:
        yield from wrapped("  ok    ", ", ".join(passed))


def _answer(answer: Remedy) -> str:
    """Return an answer as it is typed at a terminal."""
    given = tr(" or ").join(f"--input {quote(f'{answer.field}={value}')}" for value in answer.values)
    return f"{tr(answer.advice)}: {given or f'--input {answer.field}=…'}"


def plan_lines(plan: Plan, addresses: Mapping[str, str], *, commands: bool = True) -> Iterator[str]:
    """Yield the plan: its hosts with where they are, every step; with its commands word for word, or by its title."""
    yield plan.title
    yield from wrapped("  ", plan.summary)
    if plan.nothing_to_do:
        yield f"  {tr('Nothing to do: the cluster is already as this procedure would leave it.')}"
        return
    time = about(plan.estimate_s)
    if time and plan.yours:
        time = tr("{time} without your own work", time=time)
    count = tr_n("{n} step", "{n} steps", len(plan.steps))
    yield f"  {count}{', ' + tr('about {time}', time=time) if time else ''}"
    yield from wrapped("  ", tr("on {hosts}", hosts=with_addresses(plan.hosts, addresses)))
    for one in plan.outages:
        yield from wrapped("  ! ", outage_words(one))
    for number, step in enumerate(plan.steps, 1):
        yield from step_lines(number, step, commands=commands)


def outage_words(one: Outage) -> str:
    """Return what a plan does to clients, and what it asks for meanwhile."""
    if not one.typed:
        return one.words
    typed = ", ".join(one.typed)
    return f"{one.words} " + tr("It lasts until you type {typed}, unless you confirm it in advance.", typed=typed)


def step_lines(number: int, step: Step, *, commands: bool = True) -> Iterator[str]:
    """Yield one step of a plan: its title, what has to be confirmed, and what its undo may ask for.

    Args:
        commands: what it does word for word too, and its undo.
    """
    time = about(step.estimate_s)
    risk = tr(RISK_WORDS[step.risk])
    tail = f"   [{risk}{', ' + time if time else ''}]"
    yield from wrapped(f"  {number:>2}. {step.host or '-':<8} ", step.title + tail)
    if commands:
        yield from _word_for_word(step)
    if step.undo is not None and (commands or step.undo.consent is not None):
        yield f"        {tr('undo')}: {step.undo.title}"
        yield from consent_lines(step.undo)
    if step.confirm:
        yield f"        {tr('to be confirmed with --confirm {host}', host=step.confirm)}"


def _word_for_word(step: Step) -> Iterator[str]:
    for line in wording(step.action, step.host):
        yield f"        $ {line}"
    if step.takes is not None:
        yield f"        {tr('obligation')}: {step.takes.sentence}"


def consent_lines(undo: Undo) -> Iterator[str]:
    """Yield what an undo may ask for, and how a script says it beforehand; nothing of one that never asks."""
    if undo.consent is not None:
        yield from wrapped(f"        {tr('asks')}: ", undo.consent.words)
        yield from wrapped("              ", tr("in a script: --confirm {typed}", typed=quote(undo.consent.expect)))


def step_line(view: StepView, number: int) -> str:
    """Return one step of a run on one line, with what is true of it below; one that is taken back is told by its undo.

    What a failed act had printed stands under its sentence, its first error and its last lines.
    """
    begun, ended = view.span
    took = f"  {duration(ended - begun)}" if begun is not None and ended is not None else ""
    said = view.error or view.said
    back = view.state in TAKEN_BACK
    title = tr("undo: {title}", title=view.title) if back else view.title
    lines = [f"{_STEP_MARK[view.state]} {number:>2}. {view.step.host or '-':<8} {title}  [{_state(view)}]{took}"]
    if said and view.state is not StepState.DONE and said != view.title:
        lines.append(f"        {' '.join(said.splitlines())}")
    lines += [f"        | {line}" for line in view.broken]
    return "\n".join(lines)


def _state(view: StepView) -> str:
    return tr("{state}, postponed", state=tr(view.state.value)) if view.put_off else tr(view.state.value)


def run_title(view: RunView) -> str:
    """Return a run as it is named in a list: its number, what it does, and of which cluster."""
    cluster = view.plan.cluster_name or view.plan.cluster_id
    return f"{tr('run')} {view.run_id}: {view.plan.title}" + (f"  ({cluster})" if cluster else "")


def run_lines(view: RunView, *, commands: bool = False) -> Iterator[str]:
    """Yield where a run stands, step by step, and what is still switched on."""
    yield f"{run_title(view)}  [{state_words(view)}]"
    if view.sentence:
        yield from wrapped("  ", view.sentence)
    for number, step in enumerate(view.steps, 1):
        yield from (f"  {line}" for line in step_line(step, number).splitlines())
    for one in view.broken:
        told = f"{one.sentence} ({one.evidence})" if one.evidence else one.sentence
        over = "" if one.over is None else tr("It has held again for 10 s, as of {time}.", time=clock(one.over))
        yield from wrapped(f"  ▲ {clock(one.at)} ", f"{told} {over}".rstrip())
    yield from rest_lines(view, commands=commands)
    yield from interrupted_lines(view)
    yield from obligation_lines(view.obligations)
    if view.question is not None:
        yield from wrapped(f"  {tr('waits for you')}: ", view.question.ask.question)
        yield f"    {tr('in a script: {answer}', answer=answer_words(view.question))}"


def answer_words(question: Question) -> str:
    """Return how an open question is answered from the command line: '--answer yes', '--confirm n1'."""
    ask = question.ask
    if ask.kind == "typed":
        return f"--confirm {quote(ask.expect)}"
    if ask.kind == "choice":
        return f"--answer {', '.join(quote(value) for value, _ in ask.choices)}"
    return f"--answer {'approve' if question.topic == 'continued' else 'yes'}"


def way_lines(view: RunView) -> Iterator[str]:
    """Yield the commands that apply to a run that rests, with its number; nothing for one that left nothing open."""
    ways = ways_of(view)
    if ways:
        yield f"  {tr('what can be done now')}:"
    width = max((len(way.command) for way in ways), default=0)
    for way in ways:
        yield f"    {way.command:<{width}}   {way.does}"
    yield from back_lines(view)


def back_of(view: RunView) -> WayBack | None:
    """Return what brings back the cluster of a run that rests, as the run saw it last; None where nothing has to."""
    return way_back(view, view.problems, tuple(procedure.about for procedure in all_procedures()))


def back_lines(view: RunView) -> Iterator[str]:
    """Yield what leads on where no member of the cluster serves any more, and its command; nothing otherwise."""
    back = back_of(view)
    if back is not None:
        yield from wrapped("  ! ", back.words)
        yield f"    {back.command}"


def rest_lines(view: RunView, *, commands: bool = False) -> Iterator[str]:
    """Yield the rest of a plan that was made in the middle of its run and waits to be approved: nothing otherwise."""
    if view.question is None or view.question.topic != "continued":
        return
    yield tr("The rest of the plan, for your approval:")
    yield from checklist_lines(view.fresh_checks, view.overrides, whole=commands)
    for number, step in enumerate(view.steps, 1):
        if step.state is StepState.PENDING:
            yield from step_lines(number, step.step, commands=commands)


def interrupted_lines(view: RunView) -> Iterator[str]:
    """Yield what clients can't do since when: an outage that the run has begun and not ended."""
    for since, what in view.interrupted:
        yield f"  ! {tr('since {time} {what}', time=clock(since), what=tr(what))}"


def breach_lines(one: Broken, *, going_back: bool = False) -> Iterator[str]:
    """Yield a watch rule that broke: when, what is true, what is safe, what to try; an undo asks nobody about it."""
    evidence = f" ({one.evidence})" if one.evidence else ""
    yield from wrapped(f"  ▲ {clock(one.at)} {one.code}: ", f"{one.sentence}{evidence}")
    if one.over is not None:
        mended = tr("It has held again for 10 s, as of {time}.", time=clock(one.over))
        yield from wrapped("      ", mended + (f" ({one.holds})" if one.holds else ""))
        return
    if going_back and one.does is not Breach.RELEASE:
        yield from wrapped("      ", tr("The run is being rolled back, and the rollback continues."))
        return
    released = tr("What it guards is switched off at once; the run asks you before its next action.")
    nothing = tr("Nothing was changed because of it; the run asks you before its next action.")
    yield from wrapped("      ", released if one.does is Breach.RELEASE else nothing)
    yield from wrapped(f"      {tr('try')}: ", tr("Check the host now; then answer, or undo the run."))


def place_of(one: OpenObligation, view: RunView, addresses: Mapping[str, str]) -> str:
    """Return where an obligation is on, as a list of several clusters needs it: 'orders, s2 (10.0.0.6)'."""
    host = one.obligation.host
    cluster = view.plan.cluster_name or view.plan.cluster_id
    return ", ".join(
        filter(None, (cluster, with_addresses((host,), {host: addresses.get(view.plan.machine(host), "")})))
    )


def obligation_lines(
    obligations: tuple[OpenObligation, ...], places: Mapping[tuple[str, str], str] | None = None
) -> Iterator[str]:
    """Yield what is switched on and must be switched off again, and when it was seen on last.

    Args:
        places: (run id, key) -> where it is on, for a list of more than one run.
    """
    for one in obligations:
        where = (places or {}).get((one.run_id, one.obligation.key), "")
        danger = f" ({one.obligation.danger})" if one.obligation.danger else ""
        yield f"  ! {f'{where}: ' if where else ''}{one.obligation.sentence}{danger}; {seen_on(one)}"
        if one.release_failed:
            yield from wrapped("      ", one.release_failed)


def wrapped(head: str, text: str) -> Iterator[str]:
    """Yield a text behind its head, as wide as a terminal is; codes, names and UUIDs stay whole."""
    wide = max(40, WIDTH - len(head))
    lines = textwrap.wrap(text, wide, break_on_hyphens=False, break_long_words=False) or [""]
    yield head + lines[0]
    yield from (" " * len(head) + line for line in lines[1:])
