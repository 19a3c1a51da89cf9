"""A plan read by node: runs of consecutive steps on one host, in the plan's own order. Pure text, no widget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from services.i18n import tr
from services.procedures.plan.model import Step
from widgets.common.look.text import format_duration, plural

_MOST_TOLD = 2  # so many steps that differ are named; with more of them a group is no likeness of another


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steps `first` to `last` (both in it), all on one host; host '' for steps of the whole cluster.

    Attributes:
        known_s: the sum of the estimates its steps carry, None when none does; open_ended: some step carries none.
        like: the host of the first earlier group whose steps are the same but for the host, '' for none.
        but: the steps that differ from that group's all the same.
    """

    first: int
    last: int
    host: str
    known_s: float | None
    open_ended: bool = False
    like: str = ""
    but: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Return how many steps it has."""
        return self.last - self.first + 1

    def __contains__(self, index: int) -> bool:
        """Return whether a step is one of it."""
        return self.first <= index <= self.last


def grouped(steps: tuple[Step, ...], wording: Mapping[str, tuple[str, ...]]) -> tuple[StepGroup, ...]:
    """Return the plan's steps in groups; put one after the other they are the plan.

    Args:
        wording: step id -> exactly what runs: steps that say the same but run another command are not the same.
    """
    bare = tuple(_bare(step, wording.get(step.step_id, ())) for step in steps)
    found: list[StepGroup] = []
    first = 0
    for index in range(1, len(steps) + 1):
        if index == len(steps) or steps[index].host != steps[first].host:
            found.append(_liken(_group(steps, first, index - 1), bare, found))
            first = index
    return tuple(found)


def _group(steps: tuple[Step, ...], first: int, last: int) -> StepGroup:
    mine = steps[first : last + 1]
    known = [step.estimate_s for step in mine if step.estimate_s is not None]
    return StepGroup(first, last, steps[first].host, sum(known) if known else None, open_ended=len(known) < len(mine))


def _liken(group: StepGroup, bare: tuple[object, ...], before: list[StepGroup]) -> StepGroup:
    """Return the group with the first one before it that does the same on another host."""
    for other in before:
        if not group.host or other.like or other.size != group.size or other.host in {"", group.host}:
            continue
        unlike = tuple(group.first + n for n in range(group.size) if bare[group.first + n] != bare[other.first + n])
        if len(unlike) <= min(_MOST_TOLD, group.size // 4):
            return replace(group, like=other.host, but=unlike)
    return group


def _bare(step: Step, lines: tuple[str, ...]) -> object:
    """Return what a step does and says, its own host's name taken out of it.

    Of what it looks at before and after only the kinds: which others must stay whole follows from the host.
    """
    kinds = tuple(type(part).__name__ for part in (step.action, *step.before, *step.already, *step.proof))
    undo = step.undo.title if step.undo is not None else ""
    duty = step.takes.sentence if step.takes is not None else ""
    said = "\n".join((step.title, step.done, step.why, undo, duty, step.confirm, *lines))
    return kinds, step.risk, re.sub(rf"\b{re.escape(step.host)}\b", "\0", said)


def likeness(group: StepGroup, steps: tuple[Step, ...]) -> str:
    """Return 'the same as for db1', with what differs all the same; '' for a group that is like no other."""
    if not group.like:
        return ""
    if not group.but:
        return tr("the same as for {host}", host=group.like)
    words = "; ".join(tr("step {number}, {title}", number=n + 1, title=tr(steps[n].title)) for n in group.but)
    return tr("as for {host}, but for {steps}", host=group.like, steps=words)


def counted(group: StepGroup) -> str:
    """Return '12 steps'."""
    return plural(group.size, "{n} step", "{n} steps")


def span_words(group: StepGroup) -> str:
    """Return 'about 2 min 20 s' by the estimates that its steps carry, 'at least' where some carry none, else ''."""
    if group.known_s is None:
        return ""
    whole = max(1, round(group.known_s))
    span = f"{whole} s" if whole < 10 else format_duration(round(whole / 10) * 10.0 if whole >= 60 else float(whole))
    return tr("at least {span}", span=span) if group.open_ended else tr("about {span}", span=span)
