"""The console as a person or a script runs it: a process of its own, killed where a test says, its journal read after.

The command line tells people what happened; what is asserted of a run is read from its journal.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from services.history.state.store import StateStore
from services.procedures.journal.journal import StoredJournal
from services.procedures.journal.obligations import open_obligations
from services.procedures.journal.projection import project
from services.procedures.plan.run_model import Entry, RunState, RunView
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine
from tests.lab.procedures.console.shifted_console import shift_to

ROOT = Path(__file__).resolve().parents[4]
KILLED = -signal.SIGKILL
RUN_LIMIT_S = 240.0
_LONGEST_S = 600.0
"""On the busiest machine: below the limit of a test of the lab."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A console that has ended: exit code (-9: killed) and what it printed."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """The last JSON document it printed."""
        return json.loads(self.out.strip().splitlines()[-1] if "\n{" not in self.out.strip() else _last(self.out))

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.out[-6000:]}\n{self.err[-3000:]}"


def _last(text: str) -> str:
    return text[text.rindex("\n{") + 1 :]


class Console:
    """One workstation: its inventory and its data folder."""

    def __init__(self, estate: Estate, data: Path, inventory: Path | None = None) -> None:
        self.estate = estate
        self.data = data
        self.inventory = inventory or estate.client_dir / "inventory-all.toml"

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.estate.environment(), "PYTHONPATH": str(ROOT)}

    def _argv(self, words: Sequence[str], module: Sequence[str] = ("app",)) -> list[str]:
        options = ["--inventory", str(self.inventory), "--data", str(self.data), "--language", "en"]
        return [sys.executable, "-m", *module, words[0], *options, *words[1:]]

    # -- running it ---------------------------------------------------------------------------------------------------

    def __call__(self, *words: str, limit_s: float = RUN_LIMIT_S) -> Ran:
        """Run a command to its end."""
        return self._wait(subprocess.Popen(self._argv(words), **self._how()), limit_s)

    def run(self, procedure: str, *more: str, **inputs: object) -> Ran:
        """`run PROCEDURE --yes` with inputs."""
        return self("run", procedure, *more, *_inputs(inputs), "--yes")

    def assert_nothing_to_do(self, procedure: str, *more: str, **inputs: object) -> None:
        """Assert that a run of it finds the cluster as it would leave it, and begins nothing."""
        before = self.runs()
        ran = self.run(procedure, "--json", *more, **inputs)
        assert ran.code == 0, ran
        assert ran.document()["nothing_to_do"] is True, ran
        assert self.runs() == before

    def killed(self, when: int | str, *words: str) -> Ran:
        """Run a command that kills itself right after the journal's `when`-th entry, or after 'STEP=STATE'."""
        argv = self._argv(words, ("tests.lab.procedures.console.killed_console", str(when)))
        return self._wait(subprocess.Popen(argv, **self._how()), RUN_LIMIT_S)

    def killed_run(self, when: int | str, procedure: str, *more: str, **inputs: object) -> Ran:
        """`run PROCEDURE --yes` that kills itself so."""
        return self.killed(when, "run", procedure, *more, *_inputs(inputs), "--yes")

    @contextmanager
    def running(
        self, *words: str, limit_s: float = RUN_LIMIT_S, clocks: Path | None = None, attended: bool = False
    ) -> Iterator[Running]:
        """A command that goes on while the test does something to it; ended at the end.

        Args:
            clocks: a file by which its clocks are shifted (shifted_console.py).
            attended: somebody sits there, so that it waits at its questions, and types nothing.
        """
        module = ("tests.lab.procedures.console.shifted_console", str(clocks)) if clocks is not None else ("app",)
        terminal = PseudoTerminal() if attended else None
        how = self._how() | (terminal.ends if terminal is not None else {})
        process = subprocess.Popen(self._argv(words, module), **how)
        running = Running(self, process, limit_s, terminal)
        try:
            yield running
        finally:
            if process.poll() is None:
                process.kill()
            # Also of one that ended while the test broke off: its open pipes would fail the next test.
            process.communicate(timeout=10)
            if terminal is not None:
                terminal.close()

    def _how(self) -> dict[str, Any]:
        return {
            "cwd": ROOT,
            "env": self._environment(),
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }

    @staticmethod
    def _wait(process: subprocess.Popen[str], limit_s: float) -> Ran:
        try:
            out, err = process.communicate(timeout=(limit := _as_busy_as_now(limit_s)))
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate(timeout=10)
            raise AssertionError(f"no end within {limit:.0f} s\n{out[-6000:]}\n{err[-3000:]}") from None
        return Ran(process.returncode, out or "", err or "")

    # -- what its journal says ----------------------------------------------------------------------------------------

    @contextmanager
    def journal(self) -> Iterator[StoredJournal]:
        """The journal of this workstation, opened beside whoever writes it."""
        store = StateStore.open(self.data / "state.sqlite")
        try:
            yield StoredJournal(store)
        finally:
            store.close()

    def runs(self) -> tuple[str, ...]:
        """Run ids, newest first."""
        if not (self.data / "state.sqlite").exists():
            return ()
        with self.journal() as journal:
            return journal.runs()

    def entries(self, run_id: str = "") -> tuple[Entry, ...]:
        """The entries of a run (the newest one)."""
        with self.journal() as journal:
            return journal.entries(run_id or journal.runs()[0])

    def view(self, run_id: str = "") -> RunView:
        """The newest run as its journal tells it."""
        return project(self.entries(run_id))

    def open_obligations(self) -> tuple[str, ...]:
        """Keys of what is still on, of all runs."""
        with self.journal() as journal:
            return tuple(o.obligation.key for o in open_obligations(journal.obligation_entries()))

    def assert_ended(self, state: RunState, ran: Ran | None = None) -> RunView:
        """Assert that the newest run ended so and left no obligation on."""
        view = self.view()
        assert view.state is state, f"{view.state}: {view.sentence}\n{_steps(view)}\n{ran}"
        assert self.open_obligations() == (), ran
        return view


class PseudoTerminal:
    """A terminal at which somebody sits who reads all and types nothing."""

    def __init__(self) -> None:
        self._ours, self._theirs = os.openpty()
        self._heard: list[bytes] = []
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    @property
    def ends(self) -> dict[str, int]:
        """What a process is begun with to be at it."""
        return {"stdin": self._theirs, "stdout": self._theirs}

    @property
    def text(self) -> str:
        """What was printed on it so far."""
        return b"".join(self._heard).decode(errors="replace")

    def close(self) -> None:
        """Close it; the reader ends with it."""
        os.close(self._theirs)
        self._reader.join(10)
        os.close(self._ours)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # nobody is at its other end any more
            while more := os.read(self._ours, 65_536):
                self._heard.append(more)


class Running:
    """A console that runs now."""

    def __init__(
        self,
        console: Console,
        process: subprocess.Popen[Any],
        limit_s: float,
        terminal: PseudoTerminal | None = None,
    ) -> None:
        self.console = console
        self.process = process
        self.terminal = terminal
        self._limit_s = limit_s

    def wait_for_step(self, step_id: str, state: str = "acting", limit_s: float = 240.0) -> None:
        """Wait until the journal says that a step has come to `state`."""
        self._wait_for(lambda e: e.kind == "step" and e.step_id == step_id and _state(e) == state, step_id, limit_s)

    def wait_for_run(self, state: str, limit_s: float = 240.0) -> None:
        """Wait until the journal says that the run is in `state`."""
        self._wait_for(lambda e: e.kind == "run" and _state(e) == state, state, limit_s)

    def _wait_for(self, wanted: Any, what: str, limit_s: float) -> None:
        limit = _as_busy_as_now(limit_s)
        deadline = time.monotonic() + limit
        while not (self.console.runs() and any(wanted(entry) for entry in self.console.entries())):
            ended = self.process.poll()
            assert ended is None, f"ended before {what}: {self.end()}"
            assert time.monotonic() < deadline, f"{what} did not come within {limit:.0f} s"
            time.sleep(0.1)

    def freeze(self) -> None:
        """Let it stand still where it is, alive and connected, until it is killed: what it holds stays held."""
        self.process.send_signal(signal.SIGSTOP)

    def sleeps(self, clocks: Path, hours: float) -> None:
        """Stand still for a moment that its clocks call hours; its sessions are gone when it wakes."""
        self.process.send_signal(signal.SIGSTOP)
        for name in (host.name for host in self.console.estate.hosts):
            self.console.estate.host(name).sh("pkill -f '[s]shd: dba'; true")
        shift_to(clocks, hours * 3600, hours * 3600)
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> Ran:
        """kill -9, as a laptop dies."""
        self.process.kill()
        return self.end()

    def end(self, heal: Callable[[], None] | None = None, heal_after_s: float = 45.0) -> Ran:
        """Wait for its end; what made it wait is healed after a while, so that a run that waits it out ends too."""
        if heal is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(heal_after_s)
            if self.process.poll() is None:
                heal()
        ran = Console._wait(self.process, self._limit_s)
        return ran if self.terminal is None else replace(ran, out=self.terminal.text)


def _as_busy_as_now(limit_s: float) -> float:
    """Return the limit of what a console does meanwhile: a run of 90 s took 250 s beside twenty other programs."""
    return min(max(limit_s, _LONGEST_S), on_this_machine(limit_s))


def _inputs(inputs: dict[str, object]) -> tuple[str, ...]:
    return tuple(word for name, value in inputs.items() for word in ("--input", f"{name}={value}"))


def _state(entry: Entry) -> str:
    return str((entry.data or {}).get("state", ""))


def _steps(view: RunView) -> str:
    return "\n".join(f"{s.state.value:12} {s.step.step_id:24} {s.said} {s.error}" for s in view.steps)
