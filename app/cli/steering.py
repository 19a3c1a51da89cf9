"""What the steering commands share: the service over the inventory and the local store, a person at a terminal."""

from __future__ import annotations

import contextlib
import re
import select
import shlex
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from types import FrameType

from app.cli.arguments import FAILED_UNDONE, FINDINGS, GOOD, NEEDS_PERSON
from app.cli.procedure_text import (
    back_lines,
    breach_lines,
    checklist_lines,
    interrupted_lines,
    rest_lines,
    step_line,
)
from app.compose import open_state
from app.places import data_folder, other_journals, state_file
from app.written_estate import read_inventory
from services.clock import SystemClock
from services.discovery.words import clock
from services.errors import BadInput
from services.i18n import tr
from services.procedures.engine.control import Control
from services.procedures.journal.heads import HeadFiles
from services.procedures.journal.journal import UnknownRun
from services.procedures.journal.seal_key import WorkstationKey
from services.procedures.plan.looks import not_back
from services.procedures.plan.run_model import (
    RESTS_AT,
    Broken,
    Question,
    RunState,
    RunView,
    StepState,
)
from services.procedures.plan.sentences import APPROVAL_NEEDED
from services.procedures.service.service import ProcedureService
from services.secrets import SystemVault

_DIGITS = re.compile(r"\d+")
_EVERY_S, _SAME_S = 5.0, 60.0
"""So often at most is a line printed again of which only a number changed: one a second tells nobody more."""
EXIT = {
    RunState.DONE: GOOD,
    RunState.UNDONE: FAILED_UNDONE,
    RunState.LEFT: FINDINGS,
}


@contextlib.contextmanager
def open_service(options: Namespace) -> Iterator[ProcedureService]:
    """Give the service; store and sessions are closed after it."""
    inventory = read_inventory(options)
    folder = data_folder(options)
    state = open_state(state_file(options), inventory)
    try:
        service = ProcedureService(
            inventory, SystemVault(), state, SystemClock(), WorkstationKey(folder), HeadFiles(folder)
        )
        try:
            yield service
        except UnknownRun as unknown:
            unknown.try_ = (*unknown.try_, *elsewhere_lines(options))
            raise
        finally:
            service.close()
    finally:
        state.close()


def elsewhere_lines(options: Namespace) -> tuple[str, ...]:
    """Return where else runs may be kept, and how such a folder is named."""
    others = other_journals(options)
    known = tuple(
        tr("There is another journal in {folder}: pilothouse procedures --runs --data {name}",
           folder=folder, name=shlex.quote(str(folder)))
        for folder in others
    )  # fmt: skip
    return known or (tr("A run is stored in the data folder it was started with. To use another one: --data DIR"),)


def exit_code(view: RunView, asked: str = "run") -> int:
    """Return the contract's code for where a run rests; what was asked for on purpose is good.

    A release is good when nothing is switched on any more, wherever the run itself stands.
    """
    if view.state is RunState.UNDONE and not_back(view.kept):
        return NEEDS_PERSON
    if asked in {"undo", "leave"} and view.state in {RunState.UNDONE, RunState.LEFT}:
        return NEEDS_PERSON if view.obligations else GOOD
    if asked == "release":
        return NEEDS_PERSON if view.obligations else GOOD
    return EXIT.get(view.state, NEEDS_PERSON)


class Terminal:
    """Shows a run line by line, and asks a person who sits there (stdin is a terminal)."""

    def __init__(
        self,
        *,
        machine: bool,
        attended: bool,
        given: str = "",
        given_for: str | None = None,
        yes: bool = False,
        gone: Callable[[], None] | None = None,
        whole: bool = False,
    ) -> None:
        """Begin.

        Args:
            machine: nothing is printed while it runs; the end is one document.
            given: an answer given on the command line, used for the first question and no other.
            given_for: the step whose question stood when it was given (''  for one of the run itself): where that came
                true meanwhile, the answer is no other question's. None: nothing was asked yet.
            yes: what a plan lets a run answer without a person is answered so, after `given`.
            gone: called when nobody will answer any more (nobody sits there; Ctrl+D; a closed terminal).
            whole: what passed is told in full, and each step of the rest of a plan with its commands.
        """
        self._machine = machine
        self._attended = attended
        self._given = given
        self._given_for = given_for
        self._yes = yes
        self._gone = gone
        self._whole = whole
        self._shown: dict[str, StepState] = {}
        self._said: dict[str, str] = {}
        self._last_said = 0.0
        self._consented: Question | None = None
        self._asked: Question | None = None
        self._told: dict[tuple[str, float], Broken] | None = None
        self.refused = ""
        """The answer given on the command line, where it was none."""
        self._view: RunView | None = None
        self._planned = 0

    def run_changed(self, view: RunView) -> None:
        """Print what changed."""
        if self._machine:
            return
        self._view = view
        self._tell_breaches(view)
        self._tell_checks(view)
        self._tell_consent(view)
        for number, step in enumerate(view.steps, 1):
            key = step.step.step_id
            if step.state is StepState.PENDING:
                continue
            news = self._shown.get(key) is not step.state and step.state not in {StepState.CHECKING, StepState.PROVING}
            said = step.said if step.state in {StepState.ACTING, StepState.PROVING, StepState.UNDOING} else ""
            if news:
                sys.stdout.write(step_line(step, number) + "\n")
                self._last_said = time.monotonic()
            elif said and self._is_news(key, said):
                sys.stdout.write(f"        {clock(time.time())} {said}\n")
            else:
                said = self._said.get(key, "") if said else said
            self._shown[key], self._said[key] = step.state, said
        sys.stdout.flush()

    def _tell_consent(self, view: RunView) -> None:
        """Print what an undo asks for, once, where the word was given beforehand: what it costs stands nowhere else."""
        question = view.question
        if view.state is RunState.UNDOING and question is not None and question != self._consented:
            self._consented = question
            sys.stdout.write(f"        {tr('asks')}: {question.ask.question}\n")

    def _is_news(self, key: str, said: str) -> bool:
        """Return whether a line is to be printed: one of which only a number changed, as a countdown, now and then.

        One that stays as it is is said again each minute, with the time at which it was true.
        """
        old, now = self._said.get(key, ""), time.monotonic()
        alike = _DIGITS.sub("", said) == _DIGITS.sub("", old)
        if alike and now < self._last_said + (_SAME_S if said == old else _EVERY_S):
            return False
        self._last_said = now
        return True

    def _tell_checks(self, view: RunView) -> None:
        """Print what the rest of a plan rests on where nobody is asked to approve it: a question has it with it."""
        steps, self._planned = self._planned, len(view.plan.steps)
        if steps and steps < self._planned and not self._attended:
            lines = checklist_lines(view.fresh_checks, view.overrides, whole=self._whole)
            sys.stdout.write("\n" + "\n".join(lines) + "\n\n")

    def _tell_breaches(self, view: RunView) -> None:
        """Print each watch rule that breaks, or holds again, at once and with a bell: a person may sit for hours."""
        now = {(one.code, one.at): one for one in view.broken}
        news = [one for key, one in now.items() if self._told is not None and self._told.get(key) != one]
        if news:
            going_back = view.state is RunState.UNDOING
            lines = [line for one in news for line in breach_lines(one, going_back=going_back)]
            bell = "\a" if sys.stdout.isatty() else ""
            sys.stdout.write(bell + "\n" + "\n".join(lines) + "\n")
            self._asked = None  # what was asked stands above it: it is asked once more
        self._told = now

    def answer(self, run_id: str, question: Question) -> str | None:
        """Return what was typed, None while nothing was that is an answer to this question."""
        del run_id
        if self._given:
            given, self._given = self._given, ""
            fit = fitting(question, given) if self._is_meant(question, given) else ""
            if fit is None:
                self.refused = given
                words = tr(
                    "{text!r} is not a valid answer to: {question}", text=given, question=question_text(question)
                )
                sys.stderr.write(f"{words}\n{no_answer(question, given)}\n")
            elif fit:
                return fit
        if not self._attended:
            if self._yes and question.topic in {"step", "continued"} and question.ask.unattended:
                return question.ask.unattended
            self._hang_up()
            return None
        if self._asked != question:
            self._asked = question
            view = self._view
            rest = "".join(f"{line}\n" for line in _known(view, whole=self._whole)) if view is not None else ""
            asked = tr("(asked at {time})", time=clock(question.since)) + "\n" if question.since else ""
            sys.stdout.write(f"\n{rest}{question_text(question)}\n{asked}> ")
            sys.stdout.flush()
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        if not ready:
            return None
        line = sys.stdin.readline()
        if not line:
            self._attended = False
            self._hang_up()
            return None
        self._asked = None  # what is no answer is asked for again
        fit = fitting(question, line)
        if fit is None:
            sys.stdout.write(no_answer(question, line.strip()) + "\n")
        return fit

    def _is_meant(self, question: Question, given: str) -> bool:
        """Return whether a given answer is one to this question; say that it is not."""
        if self._given_for in {None, question.step_id}:
            return True
        sentence = tr("The question that {text!r} answers is already settled; this is another question.", text=given)
        sys.stderr.write(f"{sentence}\n")
        return False

    def _hang_up(self) -> None:
        if self._gone is not None:
            self._gone()


def _known(view: RunView, *, whole: bool) -> Iterator[str]:
    """Yield what is to be read before a question is answered."""
    yield from rest_lines(view, commands=whole)
    yield from interrupted_lines(view)
    yield from back_lines(view)


def fitting(question: Question, text: str) -> str | None:
    """Return the answer that a typed text is, None when it is none: a slip of the pen must not be a yes."""
    ask, word = question.ask, text.strip()
    if ask.kind == "typed":
        return word if word in {ask.expect, "stop"} else None
    if ask.kind == "choice":
        allowed = {value for value, _ in ask.choices}
        return word if word in (allowed if question.topic in RESTS_AT else allowed | {"stop"}) else None
    low = word.casefold()
    if low in {"stop", "no", "n", tr("no").casefold()}:
        return "stop"
    if question.topic == "continued":
        return "approve" if low in {"approve", tr("approve").casefold()} else None
    return "yes" if low in {"yes", "y", "done", tr("yes").casefold()} else None


def answers_of(question: Question) -> tuple[str, ...]:
    """Return the answers that `fitting` takes, as they are typed."""
    ask = question.ask
    if ask.kind == "typed":
        return ask.expect, "stop"
    if ask.kind == "choice":
        allowed = tuple(value for value, _ in ask.choices)
        return allowed if question.topic in RESTS_AT or "stop" in allowed else (*allowed, "stop")
    return ("approve", "stop") if question.topic == "continued" else ("yes", "stop")


def no_answer(question: Question, text: str) -> str:
    """Return what to tell of a typed text that is no answer, with the ones that are."""
    legal = ", ".join(answers_of(question))
    return tr("{text!r} is not a valid answer here and was ignored. The answers are: {answers}.", text=text,
              answers=legal)  # fmt: skip


def question_text(question: Question) -> str:
    """Return a question with its answers."""
    ask = question.ask
    lines = [ask.question]
    if ask.kind == "typed":
        lines.append(tr("Type {text} to confirm, or stop.", text=ask.expect))
    elif ask.kind == "choice":
        lines += [f"  {value}: {meaning}" for value, meaning in ask.choices]
    elif question.topic == "continued":
        lines.append(tr("Answer approve or stop."))
    else:
        lines.append(tr("Answer yes if it is true, or stop."))
    return "\n".join(lines)


@contextlib.contextmanager
def interruptible(control: Control) -> Iterator[None]:
    """Ctrl+C suspends the run: nothing of it is changed, and resume goes on."""

    def asked(number: int, frame: FrameType | None) -> None:
        del number, frame
        control.close()

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def attended() -> bool:
    """Return whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def need_word(options: Namespace, what: str) -> None:
    """Refuse to change anything where nobody approves; a program that reads JSON can't be asked."""
    if not options.yes and (getattr(options, "json", False) or not attended()):
        raise BadInput(
            tr(APPROVAL_NEEDED),
            try_=(tr("Approve it with --yes, or {what}.", what=what),),
        )
