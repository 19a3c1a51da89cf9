"""Acts on real hosts: `Actor` (ports.py) over Operator sessions."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from services.errors import Unreachable, UserError
from services.i18n import tr
from services.procedures.engine.ports import Acted, ActFailed, Untouched
from services.procedures.execute.acting_commands import execute_sql, run_command
from services.procedures.execute.acting_detached import Attendant
from services.procedures.execute.acting_files import Files
from services.procedures.execute.acting_mongodb import compare_metadata, primary_of, reconfigure, router_of, send
from services.procedures.execute.acting_on_files import (
    edit_options,
    edit_yaml,
    put_file,
    put_pair_files,
    remove_file,
    restore_file,
)
from services.procedures.execute.acting_output import MOST_LINES, Cancelled, Masks, judged
from services.procedures.execute.detached import Work
from services.procedures.execute.site import Site
from services.procedures.execute.work_progress import WorkProgress
from services.procedures.plan.actions import (
    Action,
    AtPrimary,
    AtRouter,
    Detached,
    EditOptions,
    EditYaml,
    Mongo,
    PutFile,
    PutPair,
    Reconfigure,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
    TryMetadata,
)

if TYPE_CHECKING:
    from services.clock import Clock
    from services.procedures.engine.ports import Hosts
    from services.procedures.plan.model import Plan

_ACTS: Mapping[type[Action], Callable[[Site, Any], Acted]] = {
    Sql: execute_sql,
    Run: run_command,
    Mongo: send,
    Reconfigure: reconfigure,
    TryMetadata: compare_metadata,
    EditOptions: edit_options,
    EditYaml: edit_yaml,
    PutFile: put_file,
    PutPair: put_pair_files,
    RemoveFile: remove_file,
    RestoreFile: restore_file,
}
"""How one act on one host is done."""


class RealActor:
    """`Actor` of one run. Its hosts must be armed; one thread at a time."""

    def __init__(self, hosts: Hosts, run_id: str, clock: Clock) -> None:
        self._hosts = hosts
        self._run_id = run_id
        self._clock = clock
        self._masks = Masks()
        self._told: set[tuple[str, str]] = set()  # detached work whose end this actor has told

    def perform(
        self,
        step_id: str,
        host: str,
        action: Action,
        kept: Mapping[str, str],
        *,
        limit_s: float,
        stop: threading.Event | None = None,
        said: Callable[[str], None] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Acted:
        """Do it; see Actor.

        Detached work that a former console began is attended to its end and its result told; asked for once more by
        the same actor, or once it is discarded, it begins anew.

        Raises:
            ActFailed, Cancelled, TimedOut and other UserErrors; `safe` says what is true then.
        """
        del step_id, kept  # no action names a kept value: a plan that needs one is continued with it
        if stop is not None and stop.is_set():
            raise Cancelled(tr("It was cancelled before anything was sent."), host=host)
        if isinstance(action, Several):
            return self._several(host, action.actions, limit_s)
        if isinstance(action, AtPrimary):
            leading = primary_of(self._hosts.observer, action, host)
            acted = self._several(leading, action.actions, limit_s)
            return replace(acted, output=(f"// at {leading}", *acted.output))
        if isinstance(action, AtRouter):
            serving = router_of(self._hosts.observer, action, host)
            acted = self._one(serving, action.action, limit_s)
            return replace(acted, output=(f"// at {serving}", *acted.output))
        if isinstance(action, Detached):
            return self._detached(host, action, limit_s, stop, said, ready)
        return self._one(host, action, limit_s)

    def discard(self, host: str, name: str) -> None:
        """Begin detached work anew that has ended; see Actor."""
        self._told.add((host, name))

    def end(self, host: str, name: str) -> bool:
        """End detached work that still runs, and return whether it did; see Actor."""
        work = self._work(host, name)
        if work.look().state != "running":
            return False
        work.stop()
        work.remove()
        return True

    def cleanup(self, plan: Plan, stays: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Remove what the run left on its hosts (kept copies of files, ended detached work), when it is over for good.

        Hosts must be armed. Returns one sentence for each host where something could not be removed.

        Args:
            stays: ids of steps that were not taken back: the originals of their files are kept for a person.
        """
        files: dict[str, set[str]] = {}
        works: dict[str, set[str]] = {}
        for host, action in _acts(plan, stays):
            if isinstance(action, EditOptions | EditYaml | PutFile):
                files.setdefault(host, set()).add(action.path)
            elif isinstance(action, PutPair):
                files.setdefault(host, set()).update(action.paths)
            elif isinstance(action, Detached):
                works.setdefault(host, set()).add(action.name)
        left = []
        for host in sorted({*files, *works}):
            removals: tuple[Callable[[], None], ...] = (
                *(functools.partial(self._forget, host, path) for path in sorted(files.get(host, ()))),
                *(self._work(host, name).remove for name in sorted(works.get(host, ()))),
            )
            for remove in removals:
                try:
                    remove()
                except UserError as problem:
                    left.append(tr("{host}: the files that the run kept there could not be removed: {why}", host=host,
                                   why=problem.sentence))  # fmt: skip
                    if isinstance(problem, Unreachable):
                        break
        return tuple(left)

    def _forget(self, host: str, path: str) -> None:
        Files(self._hosts.operator(host), self._run_id).forget((path,))

    # ------------------------------------------------------------------------------------------------------------------
    def _one(self, host: str, action: Action, limit_s: float) -> Acted:
        """Do an act of one host; what a plan has the engine do itself (WaitFor, Ask ...) is none."""
        act = _ACTS.get(type(action))
        if act is None:
            message = f"no act on a host: {type(action).__name__}"
            raise TypeError(message)
        return act(Site(self._hosts, self._run_id, self._clock, self._masks, host, limit_s), action)

    def _several(self, host: str, actions: tuple[Action, ...], limit_s: float) -> Acted:
        deadline = self._clock.monotonic() + limit_s
        output, stays = list[str](), list[str]()
        for part in actions:
            try:
                acted = self._one(host, part, max(1.0, deadline - self._clock.monotonic()))
            except Untouched as problem:
                if part is actions[0]:
                    raise
                raise ActFailed(
                    problem.sentence, host=problem.host, output=tuple(output), try_=problem.try_
                ) from problem
            except ActFailed as problem:
                problem.output = (*output, *problem.output)[-MOST_LINES:]
                raise
            output += acted.output
            stays.append(acted.stays)
        return Acted(tuple(output), stays="; ".join(filter(None, stays)))

    def _detached(
        self,
        host: str,
        action: Detached,
        limit_s: float,
        stop: threading.Event | None,
        said: Callable[[str], None] | None,
        ready: Callable[[], None] | None,
    ) -> Acted:
        work = self._work(host, action.name)
        if (host, action.name) in self._told:
            work.remove()
            self._told.discard((host, action.name))
        attendant = Attendant(
            work,
            action.command,
            host=host,
            clock=self._clock,
            masks=self._masks,
            stop=stop,
            said=said,
            ready=ready,
            progress=WorkProgress(lambda: self._hosts.operator(host), action.grows, action.total, action.apart)
            if action.grows
            else None,
        )
        code, output = attendant.attend(limit_s)
        self._told.add((host, action.name))
        return judged(
            action.command.brief,
            (code, output, ""),
            host=host,
            ok=action.ok,
            keep=action.keep,
            pattern=action.pattern,
            masks=self._masks,
        )

    def _work(self, host: str, name: str) -> Work:
        return Work(lambda: self._hosts.operator(host), self._run_id, name)


def _acts(plan: Plan, but: frozenset[str]) -> Iterator[tuple[str, Action]]:
    """Yield every act that the run may have performed, with its host: steps, their undo, obligations' release."""
    for step in plan.steps:
        if step.step_id in but:
            continue
        found = [(step.host, step.action)]
        if step.undo is not None:
            found.append((step.host, step.undo.action))
        if step.takes is not None:
            found.append((step.takes.host, step.takes.release))
        for host, action in found:
            for part in action.actions if isinstance(action, Several) else (action,):
                yield host, part
