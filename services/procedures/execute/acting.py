"""Acts on real hosts: `Actor` (ports.py) over Operator sessions. Plans name secrets; only here are they fetched."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from services.connections.command import Command
from services.connections.ports import Rows, text
from services.errors import Unreachable, UserError
from services.facts.server.harmless_options import normal
from services.facts.server.option_files import printed
from services.i18n import tr
from services.procedures.engine.ports import Acted, ActFailed, Untouched
from services.procedures.execute.acting_detached import Attendant
from services.procedures.execute.acting_files import Files
from services.procedures.execute.acting_mongodb import acted_on_mongodb, primary_of, router_of
from services.procedures.execute.acting_output import MOST_LINES, Cancelled, Masks, judged
from services.procedures.execute.acting_pairs import put_pair
from services.procedures.execute.detached import Work
from services.procedures.execute.option_edit import option_value
from services.procedures.execute.work_progress import WorkProgress
from services.procedures.looking.files import digest, wrote_name
from services.procedures.plan.actions import (
    Action,
    AtPrimary,
    AtRouter,
    CopiedSecret,
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
from services.procedures.plan.wording import wording
from services.secrets import Secret

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ports import Output
    from services.procedures.engine.ports import Hosts
    from services.procedures.plan.model import Plan

_MOST_ROWS = 20
_READ_S = 15.0
_FILE_ACTS = (EditOptions, EditYaml, PutFile, RemoveFile, RestoreFile)


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
                files.setdefault(host, set()).update((action.ca, action.cert, action.key))
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
                    left.append(tr("{host}: what the run kept there could not be removed: {why}", host=host,
                                   why=problem.sentence))  # fmt: skip
                    if isinstance(problem, Unreachable):
                        break
        return tuple(left)

    def _forget(self, host: str, path: str) -> None:
        Files(self._hosts.operator(host), self._run_id).forget((path,))

    # ------------------------------------------------------------------------------------------------------------------
    def _one(self, host: str, action: Action, limit_s: float) -> Acted:
        if isinstance(action, Sql):
            rows = self._hosts.operator(host).execute(action.statement, limit_s=limit_s)
            return Acted((*wording(action), *self._masks.lines(_table(rows))))
        if isinstance(action, Mongo | Reconfigure | TryMetadata):
            return acted_on_mongodb(self._hosts.operator, self._clock, host, action, limit_s)
        if isinstance(action, Run):
            output = self._hosts.operator(host).run(action.command, limit_s=limit_s)
            return judged(
                action.command.brief,
                _parts(output),
                host=host,
                ok=action.ok,
                keep=action.keep,
                pattern=action.pattern,
                masks=self._masks,
            )
        if isinstance(action, _FILE_ACTS):
            return self._file(host, action)
        if isinstance(action, PutPair):
            files = Files(self._hosts.operator(host), self._run_id)
            put_pair(action, self._hosts.operator, host, self._clock.wall(), files.keep_digest)
            paths = (action.ca, action.cert, action.key)
            return Acted(wording(action), tuple((wrote_name(host, path), files.digest_of(path)) for path in paths))
        message = f"no act on a host: {type(action).__name__}"
        raise TypeError(message)

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

    def _file(self, host: str, action: EditOptions | EditYaml | PutFile | RemoveFile | RestoreFile) -> Acted:
        files, said = Files(self._hosts.operator(host), self._run_id), wording(action)
        if isinstance(action, EditOptions | EditYaml):
            secret = False
            if isinstance(action, EditYaml):
                try:
                    changed = files.edit_yaml(action.path, action.settings)
                except Untouched as problem:
                    if action.needed:
                        raise
                    return Acted((*said, tr("it stays as it stands: {why}", why=problem.sentence)))
            else:
                options = tuple((name, self._revealed(value)) for name, value in action.options)
                secret = any(isinstance(value, CopiedSecret) for _, value in action.options)
                changed = files.edit(action.path, action.section, options, secret=secret)
            if not changed:
                said = (*said, tr("nothing to change: the file says so already"))
            wrote = "" if secret else files.wrote(action.path)
            kept = ((wrote_name(host, action.path), digest(wrote)),) if wrote else ()
            return Acted(said, kept)
        if isinstance(action, PutFile):
            files.put(action.path, self._content(action), action.mode, action.owner)
        elif isinstance(action, RemoveFile) and not action.wrote and not action.put:
            files.remove(action.path)
        else:
            if isinstance(action, RestoreFile):
                found = files.restore(action.path, whole=action.whole)
            else:
                found = files.withdraw(action.path, action.wrote) if action.wrote else files.withdraw_put(action.path)
            kept = ((wrote_name(host, action.path), found.digest),) if found.digest else ()
            return Acted((*said, *filter(None, (found.said, found.stays))), kept, found.stays)
        return Acted(said)

    def _work(self, host: str, name: str) -> Work:
        return Work(lambda: self._hosts.operator(host), self._run_id, name)

    # -- secrets -------------------------------------------------------------------------------------------------------
    def _content(self, action: PutFile) -> Secret:
        """Return a file's content; in an option file a secret is quoted as the file's grammar wants."""
        parts = []
        for part in action.content:
            found = self._revealed(part)
            assert found is not None
            quoted = isinstance(part, CopiedSecret) and action.path.endswith(".cnf")
            parts.append(option_value(found) if quoted else found)
        return Secret("".join(parts))

    def _revealed(self, value: str | CopiedSecret | None) -> str | None:
        if not isinstance(value, CopiedSecret):
            return value
        session = self._hosts.operator(value.host)
        wanted = normal(value.option)
        # --mysqld: all groups that the server itself reads (man my_print_defaults(1)); MySQL's has no such option.
        asked = (("--mysqld",), ("mysqld", "server")) if value.section == "mysqld" else ((value.section,),)
        for groups in asked:
            for show in (
                (),
                ("--show",),
            ):  # MySQL's masks passwords unless told to show them; MariaDB's knows no --show
                output = session.run(Command(("my_print_defaults", *show, *groups), sudo=True), limit_s=_READ_S)
                found = printed(output.text).get(wanted) if output.exit_code == 0 else None
                if found and set(found) != {"*"}:
                    self._masks.learn(found)
                    return found
        raise ActFailed(
            tr("The option files of {host} have no {option} in [{section}] to copy.", host=value.host,
               option=value.option, section=value.section),
            host=value.host,
        )  # fmt: skip


def _parts(output: Output) -> tuple[int, str, str]:
    return output.exit_code, output.text, output.stderr.decode("utf-8", "replace")


def _table(rows: Rows) -> str:
    return "\n".join("\t".join(text(value) for value in row) for row in (rows.columns, *rows.rows)[: _MOST_ROWS + 1])


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
