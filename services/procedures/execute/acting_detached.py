"""Attending detached work: begin it or find it again, tell its progress, outlast a dropped connection, end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from services.errors import TimedOut, Unreachable, UserError
from services.i18n import tr
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting_output import Cancelled, Masks

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.command import Command
    from services.facts.machine.detached_work import Found
    from services.procedures.execute.detached import Work
    from services.procedures.execute.work_progress import WorkProgress

_FIRST_S, _MOST_S = 0.3, 2.0


class Attendant:
    """One act of detached work. `attend` returns its exit code and output when it has ended."""

    def __init__(  # noqa: PLR0913 - all but two by name
        self,
        work: Work,
        command: Command,
        *,
        host: str,
        clock: Clock,
        masks: Masks,
        stop: threading.Event | None,
        said: Callable[[str], None] | None,
        ready: Callable[[], None] | None = None,
        progress: WorkProgress | None = None,
    ) -> None:
        self._work = work
        self._command = command
        self._host = host
        self._clock = clock
        self._masks = masks
        self._stop = stop
        self._said = said or (lambda _: None)
        self._ready = ready or (lambda: None)
        self._progress = progress
        self._begun = False
        self._seen = False

    def attend(self, limit_s: float) -> tuple[int, str]:
        """Return exit code and output.

        Raises:
            Cancelled: `stop` was set, the work was ended and removed. TimedOut: the limit ran out, it goes on.
            Unreachable: no contact until the limit. ActFailed: the work is gone (the host was restarted).
        """
        deadline, wait = self._clock.monotonic() + limit_s, _FIRST_S
        lost: Unreachable | None = None
        while True:
            try:
                found = self._look()
                lost = None
                if found is not None and found.state == "ended":
                    return found.exit_code, self._output(found)
            except Unreachable as problem:
                if not self._begun:
                    raise
                lost = problem
                self._said(tr("no contact ({why}); the work continues on the host", why=problem.sentence))
            except UserError as problem:
                if self._begun:
                    problem.safe = self._goes_on()
                raise
            if self._clock.monotonic() >= deadline:
                raise self._too_long(limit_s, lost)
            self._clock.sleep(wait, self._stop)
            wait = min(_MOST_S, wait * 1.5)

    def _look(self) -> Found | None:
        """Look once; begin the work where there is none. None: it has only just begun."""
        found = self._work.look()
        if found.state == "gone" or (found.state == "absent" and self._seen):
            raise self._gone()
        self._begun = self._begun or found.state != "absent"
        self._seen = self._seen or found.state == "running"
        if self._stop is not None and self._stop.is_set() and found.state != "ended":
            self._cancel()
        if found.state == "absent":
            self._ready()
            self._begun = True  # from here on it may have begun, whatever is heard of it
            self._work.start(self._command)
            return None
        if found.state == "running":
            tail = self._masks.lines(self._work.output(), 1)
            much = self._progress.told(self._clock.monotonic()) if self._progress is not None else ""
            self._said("; ".join(filter(None, (much, *tail))) or tr("{work} runs", work=self._work.name))
        return found

    def _output(self, found: Found) -> str:
        text = self._work.output(whole=True)
        return f"{text}\n{found.detail}" if found.detail not in {"", "success", "exit-code"} else text

    def _cancel(self) -> None:
        if self._begun:
            self._work.stop()
            self._work.remove()
        raise Cancelled(
            tr("{command} was cancelled and ended.", command=self._command.brief),
            host=self._host,
            safe=tr("It no longer runs; what it did until then remains."),
        )

    def _goes_on(self) -> str:
        return tr(
            "The work continues on {host} as {work}; the run reattaches to it.", host=self._host, work=self._work.name
        )

    def _too_long(self, limit_s: float, lost: Unreachable | None) -> UserError:
        sentence = tr("{command} did not end within {limit} s.", command=self._command.brief, limit=f"{limit_s:g}")
        if lost is None:
            return TimedOut(sentence, host=self._host, safe=self._goes_on())
        return Unreachable(f"{sentence} {lost.sentence}", host=self._host, safe=self._goes_on(), try_=lost.try_)

    def _gone(self) -> ActFailed:
        return ActFailed(
            tr("{command} is gone without a result: the host was restarted, or {work} was removed.",
               command=self._command.brief, work=self._work.name),
            host=self._host,
            safe=tr("It no longer runs; its progress is not known."),
        )  # fmt: skip
