"""Which commands apply to a run that rests, and which to the run whose lock refuses another one: codes, not sentences.

What a command may do is the engine's word (Engine.run, undo, release, leave) and run_model.RUN_WAYS; the words of each
are those of the command line (pilothouse resume, pilothouse undo).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from services.errors import UserError
from services.facts.reading import count
from services.i18n import tr
from services.procedures.engine.lock import LockHeld
from services.procedures.journal.projection import ENDED
from services.procedures.journal.run_summary import state_words
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, LockSeen
from services.procedures.plan.run_model import REFUSED, RunState, RunView

ViewOf = Callable[[str], RunView]
"""Returns a run of this console's journal by its id; raises UserError for one that it does not know."""
_GOING_BACK = frozenset({RunState.UNDOING, RunState.UNDO_FAILED})


class WayCode(Enum):
    """What a command does with a run."""

    RESUME = "resume"
    UNDO = "undo"
    RELEASE = "release"
    LEAVE = "leave"
    CLEAR = "clear"  # of a run that is over: remove its lock


@dataclass(frozen=True, slots=True)
class Way:
    """One way on for one run: `words` is what is typed behind 'pilothouse'."""

    code: WayCode
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """Return it as it is typed."""
        return shlex.join(("pilothouse", *self.words))

    @property
    def does(self) -> str:
        """Return what it does, for a person."""
        return {
            WayCode.RESUME: tr("continue"),
            WayCode.UNDO: tr("roll it back"),
            WayCode.RELEASE: tr("only switch off what is still on"),
            WayCode.LEAVE: tr("close it as it is, with your reason"),
            WayCode.CLEAR: tr("remove its lock"),
        }[self.code]


def ways_of(view: RunView) -> tuple[Way, ...]:
    """Return the commands that apply to a run as it rests; none while it is driven, or when nothing of it is left.

    None either for one whose journal was changed: nothing of it is done any more.
    """
    if at_work(view) or view.binding in REFUSED:
        return ()
    on = (WayCode.RELEASE,) if view.obligations else ()
    codes: tuple[WayCode, ...]
    if view.state in ENDED:
        codes = on or ((WayCode.CLEAR,) if view.locked else ())
    elif view.state is RunState.NOT_STARTED:
        codes = (WayCode.RESUME, WayCode.LEAVE)
    else:
        forward = () if view.state in _GOING_BACK else (WayCode.RESUME,)
        back = () if view.no_return else (WayCode.UNDO,)
        codes = (*forward, *back, *on, WayCode.LEAVE)
    return tuple(_way(code, view) for code in codes)


def at_work(view: RunView) -> bool:
    """Return whether a program of this workstation is known to drive it now: it is steered there only."""
    return view.live or view.elsewhere


def own_run(seen: LockSeen, owner: str, view_of: ViewOf) -> RunView | None:
    """Return the run of this console that holds a lock; None for another console's, and for one that left no way."""
    if seen.owner != owner:
        return None
    try:
        view = view_of(seen.run_id)
    except UserError:
        return None
    return view if at_work(view) or ways_of(view) else None


def tell_holder(held: LockHeld, owner: str, view_of: ViewOf) -> None:
    """Let a refusal by a lock of this same console name the way out of the run that holds it."""
    held.own = own_run(held.holder, owner, view_of)
    if held.own is not None:
        held.try_ = (_told(held.own), *(f"{way.command}  ({way.does})" for way in ways_of(held.own)))


def with_ways(checks: tuple[Check, ...], facts: Facts, owner: str, view_of: ViewOf) -> tuple[Check, ...]:
    """Let a LOCK-FREE that blocks name the commands for the run that holds the lock, and where they are typed."""
    locks = {(h.lock.owner, h.lock.run_id): h.lock for h in facts.hosts if h.lock is not None}
    if not locks:
        return checks
    told, commands = list[str](), list[str]()
    for seen in locks.values():
        own = own_run(seen, owner, view_of)
        if own is not None:
            told.append(_told(own))
            commands += [way.command for way in ways_of(own)]
        elif seen.owner != owner and count(seen.run_id) is not None:
            told.append(tr("At the console of {owner}: pilothouse resume {run}, or pilothouse undo {run}.",
                           owner=seen.owner, run=seen.run_id))  # fmt: skip
    foreign = any(own_run(seen, owner, view_of) is None for seen in locks.values())
    return tuple(
        replace(check, try_=(*(check.try_ if foreign else ()), *told), commands=(*check.commands, *commands))
        if check.code == "LOCK-FREE" and check.verdict is Verdict.BLOCK
        else check
        for check in checks
    )


def _way(code: WayCode, view: RunView) -> Way:
    run = view.run_id
    never = code is WayCode.RESUME and view.approved is None and view.state is RunState.NOT_STARTED
    ask = view.question.ask if view.question is not None else None
    # What it would stop for at once is named: a script, and a person who copies it, are to see what they confirm.
    typed = ("--confirm", ask.expect) if ask is not None and ask.kind == "typed" else ()
    words: dict[WayCode, tuple[str, ...]] = {
        WayCode.RESUME: ("resume", run, "--yes") if never else ("resume", run, *typed),
        WayCode.UNDO: ("undo", run),
        WayCode.RELEASE: ("undo", run, "--release"),
        WayCode.LEAVE: ("undo", run, "--leave", "REASON"),
        WayCode.CLEAR: ("resume", run),
    }
    return Way(code, words[code])


def _told(view: RunView) -> str:
    """Say what holds the lock, and what is to be done with it before another run begins."""
    if at_work(view):
        return tr("Run {run} of this console is not over: control it where it runs. It may wait for you there.",
                  run=view.run_id)  # fmt: skip
    if view.driver_unknown:
        return tr("Run {run} of this console holds the lock ({state}). Whether it is running is not known here: "
                  "check first, then finish it.", run=view.run_id, state=state_words(view))  # fmt: skip
    return tr("Run {run} of this console holds the lock ({state}): finish it first.", run=view.run_id,
              state=state_words(view))  # fmt: skip
