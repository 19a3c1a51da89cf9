"""What a resume or an undo is about to do; and a whole run that is to be approved here anew, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from app.cli.procedure_text import consent_lines, plan_lines, step_lines
from services.i18n import tr
from services.procedures.plan.actions import Action
from services.procedures.plan.model import Consent, Step, with_addresses
from services.procedures.plan.run_model import REFUSED, RunState, RunView, StepState
from services.procedures.plan.wording import wording

_OVER = frozenset({StepState.DONE, StepState.ALREADY, StepState.UNDONE})
_NOT_BEGUN = frozenset({StepState.PENDING, StepState.CHECKING, StepState.ALREADY, StepState.UNDONE})
_ENDED = frozenset({RunState.DONE, RunState.UNDONE, RunState.LEFT})
_GOING_BACK = frozenset({RunState.UNDOING, RunState.UNDO_FAILED})


Way = Literal["on", "back", "close"]


def coming_lines(view: RunView, way: Way, *, commands: bool = False) -> Iterator[str]:
    """Yield what runs from here, as it was approved; nothing of a run whose journal was changed.

    Args:
        way: on to its end, back, or close: what is on is switched off, and no step is taken back.
        commands: word for word too; else each step and each undo by its title.
    """
    if view.binding in REFUSED:
        return
    if view.state in _ENDED or way == "close":
        yield from _release_lines(view, commands=commands)
    elif way == "back" or view.state in _GOING_BACK:
        yield tr("What a rollback does, newest step first, as approved:")
        done = [shown.step for shown in reversed(view.steps) if shown.state not in _NOT_BEGUN]
        undos = [(step.host, step.undo) for step in done if step.undo is not None]
        for host, undo in undos:
            yield from _act_lines(host, undo.title, undo.action, commands=commands)
            yield from consent_lines(undo)
        yield from _release_lines(view, tuple(undo.action for _, undo in undos), commands=commands)
        yield ""
    else:
        yield tr("Steps still to run, as approved:")
        for number, shown in enumerate(view.steps, 1):
            if shown.state not in _OVER:
                yield from step_lines(number, shown.step, commands=commands)
        yield ""


def coming_consents(view: RunView) -> tuple[tuple[Step, Consent], ...]:
    """Return what an undo of the run may ask for from here, in the order in which it goes back."""
    done = [shown.step for shown in reversed(view.steps) if shown.state not in _NOT_BEGUN]
    return tuple((step, step.undo.consent) for step in done if step.undo is not None and step.undo.consent is not None)


def again_lines(view: RunView, addresses: Mapping[str, str]) -> Iterator[str]:
    """Yield the whole run for a new approval: the plan, where its hosts are, its undos and releases, its values.

    Args:
        addresses: host -> address, as the run's beginning kept them.
    """
    yield from plan_lines(view.plan, addresses)
    undos = [(step.host, step.undo) for step in reversed(view.plan.steps) if step.undo is not None]
    if undos:
        yield tr("How it would be rolled back, newest step first:")
    for host, undo in undos:
        yield from _act_lines(host, undo.title, undo.action)
        yield from consent_lines(undo)
    yield from _release_lines(view)
    others = [host for host in addresses if host not in view.plan.hosts]
    if others:
        yield tr("Other hosts in the approval: {hosts}", hosts=with_addresses(others, addresses))
    if view.kept:
        yield tr("Values that the run has read and will use:")
        yield from (f"  {name} = {value}" for name, value in view.kept)


def _release_lines(view: RunView, told: tuple[Action, ...] = (), *, commands: bool = True) -> Iterator[str]:
    releases = [one for one in view.obligations if one.obligation.release not in told]
    if releases:
        yield tr("How temporary changes are switched off:")
    for one in releases:
        yield from _act_lines(one.obligation.host, one.obligation.sentence, one.obligation.release, commands=commands)


def _act_lines(host: str, title: str, action: Action, *, commands: bool = True) -> Iterator[str]:
    yield f"  {host or '-':<8} {title}"
    if commands:
        yield from (f"        $ {line}" for line in wording(action, host))
