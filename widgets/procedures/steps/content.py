"""What the row of a step says, block by block, before, in and after a run. Pure: the row only lays it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.i18n import tr, tr_n
from services.procedures.plan.model import RISK_WORDS, Risk
from services.procedures.plan.run_model import MOVES, TAKEN_BACK, StepState, StepView
from services.types import Health
from widgets.common.look.text import MIDDLE, format_count
from widgets.procedures.values import Rehearsed
from widgets.procedures.words import (
    RISK_TOKEN,
    STEP_WORDS,
    progress_words,
    shows_commands,
    step_health,
    step_title,
    took_words,
    waiting_words,
)

SHORT_LINES = 6  # of a long file; Enter shows the whole
_BROKEN = frozenset({StepState.FAILED, StepState.UNDO_FAILED})
Kind = Literal["text", "mono", "bar"]


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of one look: `token` names the theme's colour; a bar has its share 0..1 instead of lines."""

    kind: Kind
    lines: tuple[str, ...] = ()
    token: str = "text"  # noqa: S105 - a colour's name
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class RowContent:
    """Everything a row shows."""

    number: str
    health: Health
    host: str
    risk: str
    risk_token: str
    took: str
    blocks: tuple[Block, ...]
    ground: str = ""  # token of the tint, '' for none

    def spoken(self) -> str:
        """Return the row for a screen reader."""
        said = " ".join(line for block in self.blocks for line in block.lines)
        return " ".join(filter(None, (self.number, self.host, said, self.risk, self.took)))


@dataclass(frozen=True, slots=True)
class RowInput:
    """What a row is made of besides the step's own view."""

    wording: tuple[str, ...] = ()
    rehearsed: Rehearsed | None = None
    expanded: bool = False
    asked: bool = False
    with_evidence: bool = False


def row_content(number: int, view: StepView, given: RowInput, now: float) -> RowContent:
    """Return what the row of a step shows."""
    step = view.step
    return RowContent(
        number=str(number),
        health=Health.WARN if given.asked and view.state not in _BROKEN else step_health(view.state),
        host=step.host or ("" if step.risk is Risk.YOU else tr("all")),
        risk=tr(RISK_WORDS[step.risk]),
        risk_token=RISK_TOKEN[step.risk],
        took=took_words(view, now),
        blocks=(
            *_titles(view, given),
            *_commands(view, given),
            *_duties(view),
            *_live(view),
            *_rehearsal(given.rehearsed),
            *_raw(view, given),
        ),
        ground=_ground(view, given),
    )


def _ground(view: StepView, given: RowInput) -> str:
    if view.state in _BROKEN:
        return "bad_tint"
    if given.asked or view.state is StepState.IN_DOUBT:
        return "warn_tint"
    return "transfer_tint" if view.state in MOVES else ""


def _titles(view: StepView, given: RowInput) -> tuple[Block, ...]:
    title = Block("text", (step_title(view),))
    back = view.state in TAKEN_BACK
    was = (Block("text", (tr("the step: {title}", title=tr(view.step.title)),), "second"),) if back else ()
    failed = (Block("text", (tr("why: {failed}", failed=view.failed),), "second"),) if back and view.failed else ()
    if given.expanded and view.step.why:
        return (title, *was, *failed, Block("text", (tr(view.step.why),), "second"))
    return (title, *was, *failed)


def _commands(view: StepView, given: RowInput) -> tuple[Block, ...]:
    if not given.wording or not (shows_commands(view.step) or view.state in TAKEN_BACK):
        return ()
    lines = tuple(part for line in given.wording for part in line.split("\n"))  # a script is one line with breaks
    if not given.expanded and len(lines) > SHORT_LINES:
        rest = len(lines) - SHORT_LINES
        more = tr_n("… {n} more line: Enter shows all", "… {n} more lines: Enter shows all", rest, n=format_count(rest))
        return (Block("mono", lines[:SHORT_LINES]), Block("text", (more,), "third"))
    return (Block("mono", lines),)


def _duties(view: StepView) -> tuple[Block, ...]:
    if view.step.takes is None or view.state is StepState.UNDONE:
        return ()
    return (Block("text", (tr("obligation: {sentence}", sentence=tr(view.step.takes.sentence)),), "transfer"),)


def _live(view: StepView) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if waiting := waiting_words(view):
        blocks.append(Block("text", (waiting,)))
    if view.said and view.state is not StepState.PENDING and view.said != view.title:
        moving = view.state in MOVES
        blocks.append(Block("text", (tr("now: {said}", said=view.said) if moving else view.said,), "second"))
    if view.state in MOVES and view.done_of is not None and view.total:
        blocks.append(Block("bar", share=min(1.0, max(0.0, view.done_of / view.total))))
    if view.state in MOVES and (progress := progress_words(view)):
        blocks.append(Block("text", (progress,), "second"))
    if view.state in {StepState.IN_DOUBT, StepState.CANCELLED}:
        blocks.append(Block("text", (tr(STEP_WORDS[view.state]),), "warn"))
    if view.error:
        blocks.append(Block("text", (view.error,), "bad"))
    if view.put_off:
        blocks.append(Block("text", (tr("Postponed by the user: it is retried before the run ends."),), "warn"))
    return tuple(blocks)


def _rehearsal(found: Rehearsed | None) -> tuple[Block, ...]:
    if found is None:
        return ()
    word, token = {
        True: (tr("rehearsed"), "good"),
        False: (tr("rehearsed: would stop here"), "bad"),
        None: (tr("rehearsed: not known before the run"), "second"),
    }[found.holds]
    if found.already:
        word = tr("rehearsed: already in this state, nothing would be done")
    blocks = [Block("text", (f"{word} {MIDDLE} {found.sentence}" if found.sentence else word,), token)]
    if found.lines:
        blocks.append(Block("mono", found.lines))
    return tuple(blocks)


def _raw(view: StepView, given: RowInput) -> tuple[Block, ...]:
    """Return the step's own lines; of one that failed they stand open, whatever is looked at."""
    kept = view.raw if given.expanded else view.broken or (view.raw[-3:] if given.with_evidence else ())
    return (Block("mono", kept),) if kept else ()
