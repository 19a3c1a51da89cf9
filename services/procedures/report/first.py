"""The first screen of a report: how the run ended, what was lost or is not known, the positions that decided. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.i18n import tr
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.journal.run_summary import seen_on, state_word
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.checks import Verdict
from services.procedures.plan.inside import declared
from services.procedures.plan.looks import LEFT, TWO_PRIMARIES, UNEXPECTED, not_back
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.run_model import Entry, RunState, RunView, StepState
from services.procedures.report.blocks import Block, Grid, Heading, Sentence, hour, moment, took

_TONES = {
    RunState.DONE: "good",
    RunState.UNDONE: "good",
    RunState.FAILED: "bad",
    RunState.UNDO_FAILED: "bad",
}
_UNKNOWN_END = (StepState.ACTING, StepState.UNDOING, StepState.IN_DOUBT, StepState.UNDO_FAILED)
LOSS = frozenset({
    "LOST-TRANSACTIONS", "CHOSEN-BEHIND", "UNREACHABLE-MEMBERS", "UUID-MISMATCH", "NULL-UUID", "EMPTY-NODE",
    "NO-CANDIDATE", "RECOVERED-HISTORY", "DATADIR-FOREIGN", "KEEP-DATA", "DURABILITY", "DATA-COPIES", "HISTORY",
})  # fmt: skip
"""Checks whose warning tells of transactions that are lost, or of which it is not known."""
_POSITION = re.compile(r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:)?-?\d+|none")
_KEPT = (
    ("recovered-", "recovered"),
    ("binlog-", "last Xid in the binary log"),
    ("position-", "stopped at"),
    ("stopped_at", "stopped at"),
    ("frozen_at", "frozen at"),
    ("cached_from", "first cached"),
    ("first_cached", "first cached"),
)
"""What a kept value is, by its name or the beginning of it; a host's name follows the dash."""


def head(view: RunView) -> Iterator[Block]:
    """Title, and one line of what, where, when and who."""
    plan = view.plan
    yield Heading(1, plan.title)
    begun, span = moment(view.started), took(view.started, view.ended or view.journal_at)
    parts = [
        tr("Run {run}", run=view.run_id),
        plan.procedure,
        plan.cluster_name,
        state_word(view.state),
        tr("{at}, took {span}", at=begun, span=span) if view.ended else tr("{at}, {span} so far", at=begun, span=span),
        view.owner,
    ]
    yield Sentence(" · ".join(filter(None, parts)), "quiet")


def outcome(view: RunView) -> Iterator[Block]:
    """What is true at the end, why it was not what was planned, and what is still on."""
    said = view.sentence or view.plan.summary
    yield Sentence(said, "warn" if not_back(view.kept) else _TONES.get(view.state, "warn"))
    for sentence in view.plan.expects if view.state is RunState.DONE else ():
        if sentence not in said:
            yield Sentence(sentence, "good")
    for number, shown in enumerate(view.steps, 1):
        why = shown.failed or (shown.error if shown.state is StepState.FAILED else "")
        if why and shown.state not in _UNKNOWN_END and why not in said:
            text = tr("Step {number}, '{title}', did not succeed: {why}", number=number, title=shown.step.title,
                      why=without_host(why, shown.step.host))  # fmt: skip
            yield Sentence(text, "warn")
    for host in _left_down(view):
        yield Sentence(
            tr("The run stopped the server of {host}, and did not see it in service again.", host=host), "bad"
        )
    for open_one in view.obligations:
        on = tr("Still on since {at}: {what}; {seen}.", at=moment(open_one.since), what=open_one.obligation.sentence,
                seen=seen_on(open_one, moment))  # fmt: skip
        danger = open_one.obligation.danger
        yield Sentence(on + (" " + tr("While it stays: {danger}.", danger=danger) if danger else ""), "bad")
    if not view.obligations:
        yield Sentence(tr("Everything that the run switched on is off again."))


def _left_down(view: RunView) -> tuple[str, ...]:
    """Return the hosts whose server the run stopped and no step of it, nor an undo, brought back."""
    down: dict[str, None] = {}
    for shown in view.steps:
        proof = tuple(declared(shown.step.proof))
        if shown.state in {StepState.DONE, StepState.UNDOING, StepState.UNDO_FAILED}:
            down |= dict.fromkeys(host for one in proof for host in sorted(one.stops))
        if shown.state in {StepState.DONE, StepState.ALREADY}:
            for host in (host for one in proof for host in one.joins):
                down.pop(host, None)
    return tuple(down)


def not_known(view: RunView, entries: tuple[Entry, ...]) -> Iterator[Block]:
    """What was lost, or may be: steps in doubt, accepted blocks, warnings about transactions, rules that broke."""
    yield Heading(2, tr("Lost, or not known"))
    told = False
    known = (*_not_back(view), *_split(view), *_uncounted(view), *_given_up(view), *_doubts(view), *_losses(view))
    for sentence in (*known, *broken_rules(entries)):
        told = True
        yield sentence
    if not told:
        yield Sentence(
            tr("The run knows of no data loss: no check warned of one, none was accepted, and no step is in doubt.")
        )


def _not_back(view: RunView) -> Iterator[Sentence]:
    """What an undo could not take back, and a person has to see to; then what it only left."""
    for said in not_back(view.kept).values():
        yield Sentence(f"{said.rstrip('.')}.", "bad")
    for name, said in view.kept:
        if name.startswith(LEFT):
            yield Sentence(f"{said.rstrip('.')}.", "warn")


def _split(view: RunView) -> Iterator[Sentence]:
    """Two Primary Components that the run saw: both may have taken rows, and one side's are lost when it is settled."""
    seen = dict(view.kept).get(TWO_PRIMARIES)
    if seen is not None:
        yield Sentence(tr("{seen}: rows of one side may be lost.", seen=seen), "bad")


def _uncounted(view: RunView) -> Iterator[Sentence]:
    """A member that the plan did not count, and whose past nothing in the run has compared."""
    seen = dict(view.kept).get(UNEXPECTED)
    if seen is not None:
        yield Sentence(seen, "bad")


def _given_up(view: RunView) -> Iterator[Sentence]:
    """What a person gave up by a typed word: the count, the tables and the file stand in what was asked."""
    for shown in view.steps:
        step, action = shown.step, shown.step.action
        if shown.state is not StepState.DONE:
            continue
        if isinstance(action, Ask) and action.kind == "typed":
            yield Sentence(tr("Typed '{word}': {asked}", word=action.expect, asked=action.question), "bad")
        elif step.confirm and step.risk is Risk.IRREVERSIBLE and not step.serves:
            yield Sentence(tr("Typed '{word}': {asked}", word=step.confirm, asked=f"{step.title}."), "bad")


def _doubts(view: RunView) -> Iterator[Sentence]:
    for number, shown in enumerate(view.steps, 1):
        if shown.state in _UNKNOWN_END:
            doubt = tr("Step {number}, {title}: {state}.", number=number, title=shown.title, state=shown.state.value)
            said = shown.said if shown.said != shown.title else ""
            yield Sentence(" ".join(filter(None, (doubt, said, shown.error))), "bad")


def _losses(view: RunView) -> Iterator[Sentence]:
    reasons = {o.code: o.reason for o in view.overrides}
    last = {(c.code, c.host): c for c in view.checks}
    for check in last.values():
        accepted = check.verdict is Verdict.BLOCK and check.code in reasons
        if accepted:
            text = tr("Accepted, {code}: {evidence}. The reason given: {reason}", code=check.code,
                      evidence=check.evidence, reason=reasons[check.code])  # fmt: skip
            yield Sentence(text, "warn")
        elif check.code in LOSS and check.verdict is Verdict.WARN:
            yield Sentence(tr("{code}: {evidence}.", code=check.code, evidence=check.evidence.rstrip(".")), "warn")


def broken_rules(entries: tuple[Entry, ...]) -> Iterator[Sentence]:
    """What broke while the run went on, each with its moment: it is past."""
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "breach":
            evidence = f" ({data.get('evidence')})" if data.get("evidence") else ""
            text = tr("At {at} UTC the watch rule {code} was violated: {sentence}", at=hour(entry.at),
                      code=str(data.get("code")), sentence=f"{data.get('sentence')}{evidence}")  # fmt: skip
            yield Sentence(text, "warn")
        elif entry.kind == "note" and data.get("about") == "mended":
            yield Sentence(tr("At {at} UTC the watch rule {code} held again: {evidence}", at=hour(entry.at),
                              code=str(data.get("key")), evidence=str(data.get("text"))))  # fmt: skip


def positions(view: RunView) -> Iterator[Block]:
    """The numbers that the run went by, a row for each host; nothing where it went by none."""
    found = (*_kept(view), *_chosen(view), *_transfers(view))
    if not found:
        return
    kinds = tuple(dict.fromkeys(what for what, _, _ in found))
    hosts = tuple(dict.fromkeys(host for _, host, _ in found))
    told = {(host, what): _seqno(value, view.plan.cluster_id) for what, host, value in found}
    yield Heading(2, tr("Decisive positions"))
    yield Grid((tr("Host"), *kinds), tuple((host, *(told.get((host, what), "") for what in kinds)) for host in hosts))


def _seqno(value: str, cluster_id: str) -> str:
    """Return a position without the UUID that is the cluster's own; another one stays, it is another history."""
    return value.removeprefix(f"{cluster_id}:") if cluster_id else value


def _kept(view: RunView) -> Iterator[tuple[str, str, str]]:
    for name, value in view.kept:
        known = next(((start, what) for start, what in _KEPT if name.startswith(start)), None)
        if known is not None and _POSITION.fullmatch(value.strip()):
            start, what = known
            yield tr(what), name[len(start) :] if start.endswith("-") else _keeper(view, name), value.strip()


def _keeper(view: RunView, name: str) -> str:
    """Return the host whose step keeps a value of this name."""
    for shown in view.steps:
        parts = (shown.step.action, *shown.step.proof)
        if any(getattr(part, "keep", "") == name for part in parts):
            return shown.step.host
    return ""


def _chosen(view: RunView) -> Iterator[tuple[str, str, str]]:
    for shown in view.steps:
        at = next((c.at_least for c in shown.step.proof if isinstance(c, Position)), None)
        if shown.step.serves and shown.step.confirm and at is not None:
            yield tr("chosen"), shown.step.host, f"{at} ({shown.state.value})"


def _transfers(view: RunView) -> Iterator[tuple[str, str, str]]:
    for shown in view.steps:
        if _is_transfer(shown.step) and shown.evidence and shown.state is StepState.DONE:
            yield tr("came back"), shown.step.host, without_host(shown.evidence[0], shown.step.host)


def _is_transfer(step: Step) -> bool:
    return isinstance(step.action, WaitFor) and any(isinstance(c, TransferWas) for c in step.action.conditions)


def without_host(text: str, host: str) -> str:
    """Return a sentence without the host's name before it: its row names the host already."""
    for start in (f"{host}: ", f"{host} "):
        if host and text.startswith(start):
            return text[len(start) :]
    return text
