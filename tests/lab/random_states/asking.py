"""Procedures run by a careful person at the command line: what the console said, and what had to be typed for it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from tests.lab.procedures.console.steering import Console
from tests.lab.random_states.verbs import MEMBERS, Person

RUN_LIMIT_S = 420.0
END_LIMIT_S = 120.0
_ROUNDS = 5
# The command line's contract (resources/docs/procedures.md): which exit code goes with which end; a run at rest has 4.
_CODES = {
    "done": {0},
    "nothing to do": {0},
    "refused": {1},
    "bad input": {1, 2},
    "undone": {0, 3},
    "left as it is": {0, 1},
}
RETURNS = frozenset({"add-node", "rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node"})
_CAME = frozenset({"done", "undone", "undo failed"})
_UNKNOWN = "not known"
_COUNT = re.compile(r"\b(?:lose )?(\d+) (?:more )?(?:write sets?|transactions?|rows?|of)\b")
_LOSER = re.compile(r"\bof (s\d)\b")
_NODE = re.compile(r"\b(s\d)\b")
_LOSS = re.compile(
    r"\b(lost|loss|lose|loses|missing|only on|discard|discarded|replaced|replaces|not known)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Ended:
    """One command's end: `code` is None where it did not even end when it was asked to."""

    code: int | None
    out: str
    err: str
    cut_short: bool = False  # it still waited at the limit and was asked to end

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON document that it printed; empty without one."""
        for line in reversed(self.out.strip().splitlines()):
            if line.startswith("{"):
                found: Mapping[str, Any] = json.loads(line)
                return found
        return {}


@dataclass(frozen=True, slots=True)
class Asked:
    """One procedure that was asked for.

    Attributes:
        end: 'done', 'refused', 'nothing to do', 'undone', 'bad input', another state of a run, 'waits' (still waiting
            at the limit, ended when asked), 'hang', 'broke' (a traceback, or an exit code that does not fit the end).
        said: codes of the refusal, or the sentence.
        typed: (question, answer) of each question about a loss that the person has answered.
        unknown: it was refused, or asked, because whether nodes share their past was not known.
        finished: why it took a node that it had brought back to Synced away again by itself; '' where it did not.
    """

    procedure: str
    host: str
    end: str
    said: str
    typed: tuple[tuple[str, str], ...] = ()
    unknown: bool = False
    finished: str = ""

    @property
    def losses(self) -> Mapping[str, int]:
        """Return by node the largest count that was typed for; '' is a loss of which no node was named."""
        found: dict[str, int] = {}
        for question, answer in self.typed:
            text = f"{question} {answer} of"
            loser = _LOSER.search(text) or _NODE.search(text)
            name = loser.group(1) if loser else ""
            found[name] = max(found.get(name, 0), *(int(n) for n in _COUNT.findall(text)), 0)
        return found

    @property
    def told(self) -> int:
        """Return the count of losses that was typed for, each node's once."""
        return sum(self.losses.values())

    @property
    def unknown_of(self) -> frozenset[str]:
        """Return the nodes of which a person typed that what they have, or their past, is not known."""
        return frozenset(name for question, _ in self.typed if _UNKNOWN in question for name in _NODE.findall(question))

    def __str__(self) -> str:
        typed = "".join(f" [typed {answer!r} to: {question}]" for question, answer in self.typed)
        return f"{self.procedure}{f' {self.host}' if self.host else ''}: {self.end}: {self.said}{typed}"


class Asking:
    """Runs procedures on one workstation as one person would."""

    def __init__(self, console: Console, person: Person) -> None:
        self._console = console
        self._person = person
        self.transcript: list[str] = []

    def look(self) -> None:
        """See the estate once, as the console does while somebody works with it."""
        self._command("topology", "--json", limit_s=60.0)

    def write_down(self, inventory: str) -> None:
        """Go on with this inventory."""
        self._console.inventory.write_text(inventory, encoding="utf-8")

    def run(self, procedure: str, host: str = "", *more: str, **inputs: object) -> Asked:
        """Run a procedure to where it rests, answering as this person does; a run that rests halfway is taken back."""
        words = [w for name, value in inputs.items() for w in ("--input", f"{name}={value}")]
        confirm = self._confirm()
        asked = Asked(procedure, host, "", "")
        unknown = inputs.get("unknown_history", "")
        given = ((f"whether {unknown} shares the cluster's past is not known", str(unknown)),) if unknown else ()
        ended = self._command("run", procedure, "--json", "--yes", *more, *words, *confirm)
        for _ in range(_ROUNDS):
            asked = read_end(asked, ended)
            run_id = str(ended.document.get("run", ""))
            asked = replace(asked, typed=(*given, *self._typed(run_id)))
            if asked.end in {"done", "undone", "refused", "nothing to do", "bad input", "hang", "broke"}:
                break
            question = ended.document.get("question")
            answer = self._answer(question) if asked.end == "waiting for you" and question else ""
            if not answer:
                return self._taken_back(asked, run_id or self._newest())
            ended = self._command("resume", run_id, "--json", "--yes", "--answer", answer, *confirm)
        return asked

    def _typed(self, run_id: str) -> tuple[tuple[str, str], ...]:
        """Return the questions about a loss that the journal says were answered, by words typed before it too."""
        found: list[tuple[str, str]] = []
        question = ""
        for entry in self._console.entries(run_id) if run_id else ():
            if entry.kind == "asked" and entry.data is not None:
                question = _text(cast("Mapping[str, Any]", entry.data["question"]))
            elif entry.kind == "answered" and entry.data is not None and _LOSS.search(question):
                found.append((question, str(entry.data["answer"])))
        return tuple(dict.fromkeys(found))

    def _confirm(self) -> list[str]:
        hosts = MEMBERS if self._person.confirms else ()
        return [word for host in hosts for word in ("--confirm", host)]

    def _answer(self, question: Mapping[str, Any]) -> str:
        """Return what this person types; '' is no."""
        ask = question["ask"]
        if question.get("topic") in {"failed", "breach"}:
            return ""
        about_loss = _LOSS.search(_text(question)) is not None
        if not (self._person.accepts if about_loss else self._person.confirms):
            return ""
        if ask["kind"] == "typed":
            return str(ask["expect"])
        if question.get("topic") == "continued":
            return "approve"
        return "yes" if ask["kind"] == "confirm" else ""

    def _taken_back(self, asked: Asked, run_id: str) -> Asked:
        ended = self._command("undo", run_id, "--json", "--yes")
        back = read_end(asked, ended)
        return replace(asked, said=f"{asked.said} Taken back: {back.end}.") if back.end != "broke" else back

    def _newest(self) -> str:
        runs = self._console.runs()
        return runs[0] if runs else ""

    def _command(self, *words: str, limit_s: float = RUN_LIMIT_S) -> Ended:
        began = time.monotonic()
        with self._console.running(*words) as running:
            ended = _wait(running.process, limit_s)
        took = time.monotonic() - began
        self.transcript.append(f"$ {' '.join(words)}    ({took:.0f} s)\n{ended.out[-400000:]}\n{ended.err[-4000:]}\n")
        return ended


def _wait(process: subprocess.Popen[str], limit_s: float) -> Ended:
    """Wait for the end; at the limit ask it to end as Ctrl+C does. What does not answer that hangs."""
    try:
        out, err = process.communicate(timeout=limit_s)
        return Ended(process.returncode, out, err)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=END_LIMIT_S)
        return Ended(process.returncode, out, err, cut_short=True)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate(timeout=10)
        return Ended(None, out, err)


def read_end(asked: Asked, ended: Ended) -> Asked:
    """Return where a procedure rests, as its document and its exit code say together."""
    document = ended.document
    if ended.code is None:
        return replace(asked, end="hang", said="no end, not even when it was asked to end")
    if "Traceback" in ended.err or ended.code not in {0, 1, 2, 3, 4, 130} or not document:
        return replace(asked, end="broke", said=(ended.err.strip() or ended.out.strip())[-400:])
    return _by_contract(_told_by(asked, ended), ended)


def _told_by(asked: Asked, ended: Ended) -> Asked:
    """Return what the document says of the run's end."""
    document = ended.document
    if "error" in document:
        return replace(asked, end="bad input", said=_short(document.get("message") or json.dumps(document)))
    if "refused" in document:
        nothing, told = document["nothing_to_do"] and not document["refused"], _refusal(document)
        unknown = asked.unknown or _UNKNOWN in told
        return replace(asked, end="nothing to do" if nothing else "refused", said=_short(told), unknown=unknown)
    question = document.get("question")
    told = _text(question) if question else _told(document)
    unknown = asked.unknown or (question is not None and _UNKNOWN in told and ("past" in told or "history" in told))
    end = "waits" if ended.cut_short else str(document["state"])
    finished = _finished(asked.procedure, document) if end in {"undone", "undo failed"} else ""
    return replace(asked, end=end, said=_short(told), unknown=unknown, finished=finished)


def _finished(procedure: str, document: Mapping[str, Any]) -> str:
    """Return what a return failed with that was undone although its node had come to Synced; '' for another run."""
    steps = document["steps"] if procedure in RETURNS else ()
    came = any(s["id"].startswith("start-") and s["state"] in _CAME and not s["failed"] for s in steps)
    return _short(next((s["error"] for s in steps if s["error"]), "no step says why")) if came else ""


def _by_contract(asked: Asked, ended: Ended) -> Asked:
    if ended.cut_short or ended.code in _CODES.get(asked.end, {4}):
        return asked
    return replace(asked, end="broke", said=_short(f"exit code {ended.code} for {asked.end!r}: {asked.said}"))


def _refusal(document: Mapping[str, Any]) -> str:
    """Return the codes of a refusal; of histories what was said of them too."""
    pasts = [c["evidence"] for c in document["checks"] if c["code"] == "HISTORY" and "HISTORY" in document["refused"]]
    return "; ".join((", ".join(dict.fromkeys(document["refused"])), *pasts))


def _told(document: Mapping[str, Any]) -> str:
    """Return the run's sentence, or of one that did not go through the first error."""
    errors = [f"{s['id']}: {s['error']}" for s in document["steps"] if s["error"]]
    return errors[0] if errors and document["state"] != "done" else str(document["sentence"])


def _text(question: Mapping[str, Any] | None) -> str:
    return str(question["ask"]["question"]) if question else ""


def _short(text: object) -> str:
    words: Sequence[str] = str(text).split()
    told = " ".join(words)
    return told if len(told) <= 300 else f"{told[:297]}..."
