"""The run as it is now: what the journal says, and over it what is being waited for this second."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from services.errors import PilothouseError
from services.procedures.journal.entries import Line, step_state, value_kept
from services.procedures.journal.projection import UNFINISHED, Projecting, acts_began
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.plan.run_model import (
    RUN_WAYS,
    STEP_WAYS,
    Entry,
    Journal,
    Listener,
    Question,
    RunState,
    RunView,
    StepState,
    StepView,
)

_logger = logging.getLogger(__name__)


class IllegalWay(PilothouseError):  # noqa: N818 - it says what was tried
    """The engine tried a way that run_model does not know: its own fault, and nothing was written."""


class RunLog:
    """Writes every entry before what it announces, and shows each change. Belongs to the engine's thread."""

    def __init__(self, journal: Journal, run_id: str, listener: Listener | None, armed: tuple[str, ...] = ()) -> None:
        """Read the run's entries so far; raises StoreError when they make no sense, BadInput for an unknown run."""
        self._journal = journal
        self._run_id = run_id
        self._listener = listener
        self._armed = armed
        entries = journal.entries(run_id)
        self._folding = Projecting(entries[0])
        for entry in entries[1:]:
            self._folding.add(entry)
        self._began = acts_began(entries)
        self._live: tuple[str, dict[str, Any]] | None = None
        self._asked: Question | None = None
        self._driven = True
        self._view = self._folding.view()
        # Views are kept with the number of the change that they were made behind: one that was begun in the middle of
        # a change, on another thread, has the number before it and is made anew.
        self._written, self._at_work = 0, (-1, self._view)
        self._changes, self._shown = 0, (-1, self._view)

    @property
    def view(self) -> RunView:
        """Return the run as shown: made once for each change, a step that waits asks for it several times a look."""
        changes, (made, view) = self._changes, self._shown
        if made != changes:
            view = self._made()
            self._shown = changes, view
        return view

    def _made(self) -> RunView:
        view, asked, live = self._as_written(), self._asked, self._live
        if asked is not None and view.question is not None and _same(view.question, asked):
            old, new = view.question.ask.question, asked.ask.question
            said = new if view.sentence == old else view.sentence
            view = replace(view, question=asked, sentence=said)
        if live is None:
            return view
        step_id, changes = live
        return replace(view, steps=tuple(replace(s, **changes) if s.step.step_id == step_id else s for s in view.steps))

    def _as_written(self) -> RunView:
        """Return the run as the journal has it, at work: made once for each entry, a wait asks for it at every look."""
        written, (made, view) = self._written, self._at_work
        if made != written:
            # "It may have happened" is what a killed console leaves; this one is at work.
            steps = tuple(replace(s, said="") if s.state in UNFINISHED else s for s in self._view.steps)
            view = replace(self._view, steps=steps, armed=self._armed, live=self._driven)
            self._at_work = written, view
        return view

    @property
    def past(self) -> Past:
        """Return what conditions may look back to."""
        return Past(dict(self._view.kept), dict(self._began))

    def step(self, step_id: str) -> StepView:
        """Return a step as the journal has it."""
        return next(s for s in self._view.steps if s.step.step_id == step_id)

    def acted(self, step_id: str) -> bool:
        """Return whether the step's act was ever announced, and not refused before it changed anything."""
        return self.step(step_id).acted

    def not_begun(self, step_id: str) -> Line:
        """Return what a step is whose try ended before its act: nothing was done, unless an earlier try had acted."""
        if self.acted(step_id):
            return step_state(
                step_id, StepState.FAILED, error="An earlier attempt had started it; it was not tried again."
            )
        return step_state(step_id, StepState.PENDING)

    def write(self, line: Line) -> None:
        """Append one entry; raises StoreError, and then nothing may follow.

        An entry that could not be followed later is refused before it is written: it would make the run unreadable.
        """
        kind, step_id, data = line
        self._must_follow(kind, step_id, data)
        entry = self._journal.append(self._run_id, kind, step_id, data)
        self._take(entry)

    def armed(self, hosts: tuple[str, ...]) -> None:
        """Show which hosts are armed."""
        self._armed = hosts
        self._written += 1
        self._show()

    def rests(self) -> None:
        """Show that nobody drives the run now, and that nothing is armed."""
        self._armed, self._driven, self._live = (), False, None
        self._written += 1
        self._show()

    def keep(self, step_id: str, kept: tuple[tuple[str, str], ...]) -> None:
        """Keep values that are new or changed."""
        known = dict(self._view.kept)
        for name, value in kept:
            if known.get(name) != value:
                self.write(value_kept(step_id, name, value))

    def waiting(self, step_id: str, answer: Answer, waits_for: str, until: float | None) -> None:
        """Show what a step waits for and how far it is; not journalled: it is true for a second."""
        self._live = (
            step_id,
            {
                "said": answer.evidence,
                "waits_for": waits_for,
                "until": until,
                "done_of": answer.done,
                "total": answer.total,
                "unit": answer.unit,
                "left_s": answer.left_s,
                "evidence": answer.lines or self.step(step_id).evidence,
            },
        )
        self._show()

    def asking(self, question: Question) -> None:
        """Show an open question with what is read now; not journalled: it is true for a few seconds."""
        self._asked = question
        self._show()

    def said(self, step_id: str, line: str) -> None:
        """Show a line of progress of an act."""
        self._live = (step_id, {"said": line})
        self._show()

    def _must_follow(self, kind: str, step_id: str, data: dict[str, object]) -> None:
        now: RunState | StepState
        if kind == "run":
            now, then = self._view.state, RunState(data["state"])
            legal = then is now or then in RUN_WAYS[now]
        elif kind == "step":
            now, next_ = self.step(step_id).state, StepState(data["state"])
            legal = next_ is now or next_ in STEP_WAYS[now]
        else:
            return
        if not legal:
            raise IllegalWay(f"{step_id or 'the run'}: '{now.value}' cannot become '{data['state']}'")

    def _take(self, entry: Entry) -> None:
        self._folding.add(entry)
        if entry.kind == "step" and (entry.data or {}).get("state") == "acting":
            self._began[entry.step_id] = entry.at
        self._live = None
        self._view = self._folding.view()
        self._written += 1
        self._show()

    def _show(self) -> None:
        """Behind every change: from here on the run is shown as it is now."""
        self._changes += 1
        if self._listener is None:
            return
        try:
            self._listener.run_changed(self.view)
        except BaseException:
            _logger.exception("showing run %s failed", self._run_id)


def _same(one: Question, other: Question) -> bool:
    """Return whether both are one question: the words with it may be newer."""
    return (one.topic, one.step_id, one.since) == (other.topic, other.step_id, other.since)
