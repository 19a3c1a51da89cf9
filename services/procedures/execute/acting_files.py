"""Files on a host, changed so that they can be put back: the original is kept beside them until the run is over.

The kept copy is PATH.pilothouse-RUN (no *.cnf: the server reads only those of an included folder, MariaDB KB
"Including Option File Directories"); where there was no file, a marker PATH.pilothouse-RUN.none says so. Either is made
once, before the first change, and never again: a repeat after a crash would keep the changed file as the original.
What the run writes is kept too, as PATH.pilothouse-RUN.wrote, before it is written: by it an undo knows whether
somebody else changed the file since. It stays on the host, as the file itself may hold a secret.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.connections import operator_files
from services.connections.command import Command
from services.connections.operator_files import NotWritten
from services.errors import BadInput, Unreachable, UserError
from services.facts.file_answers import owner_and_mode
from services.facts.masking import masked
from services.facts.yaml_edit import Settings, edit_yaml
from services.i18n import tr
from services.procedures.engine.ports import ActFailed, Untouched
from services.procedures.execute.option_edit import edit_options
from services.procedures.execute.own_lines import own_lines, without_own
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.ports import OperatorSession, Output

_LIMIT_S = 20.0


def kept_path(path: str, run_id: str) -> str:
    """Return where a run keeps the file as it was."""
    return f"{path}.pilothouse-{re.sub(r'[^A-Za-z0-9_-]+', '_', run_id)}"


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of a file that was to be put back: `said` a line of output, `stays` why it was not taken back."""

    said: str = ""
    stays: str = ""


class Files:
    """The acts on files of one host in one run. Raises UserError subclasses only."""

    def __init__(self, session: OperatorSession, run_id: str) -> None:
        self._session = session
        self._run_id = run_id

    def edit(self, path: str, section: str, options: tuple[tuple[str, str | None], ...], *, secret: bool) -> bool:
        """Set or remove options; return whether anything had to change.

        Args:
            secret: a value is one: a file that has to be made may then be read by the server's group only.
        """
        made = ("root:mysql", "0640") if secret else ("root:root", "0644")
        return self._edit(path, lambda before: edit_options(before, section, options), _names(options), made)

    def edit_yaml(self, path: str, settings: Settings) -> bool:
        """Set or remove settings of a YAML file; return whether anything had to change."""
        return self._edit(path, lambda before: edit_yaml(before, settings), _names(settings), ("root:root", "0644"))

    def _edit(self, path: str, edited: Callable[[str], str], names: tuple[str, ...], made: tuple[str, str]) -> bool:
        """Write a file as `edited` gives it; owner and mode are its own, `made` where there is no such file yet."""
        with self._refusing():
            return self._edited(path, edited, names, made)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """What ends a change of a file before it is replaced leaves it as it was: the act has touched nothing.

        A broken way says nothing of that, nor a program that was killed.
        """
        try:
            yield
        except (Unreachable, Untouched):
            raise
        except UserError as problem:
            if isinstance(problem, NotWritten) and not problem.sure:
                raise
            told, host = problem.sentence, self._session.host
            raise Untouched(told, host=host, safe=tr("Nothing was written."), try_=problem.try_) from problem

    def _edited(self, path: str, edited: Callable[[str], str], names: tuple[str, ...], made: tuple[str, str]) -> bool:
        old = self._session.read_file(path)
        before = (old or b"").decode("utf-8", "surrogateescape")
        try:
            after = edited(before)
        except BadInput as problem:
            raise self._refused(path, before, names, problem) from problem
        if after == before:
            return False
        self._keep(path)
        owner, mode = made
        if old is not None:
            # A program of root's, linked there meanwhile, may be setuid: the bits above 0777 are left.
            owner, mode = self._owner(path)
        self._write(path, Secret(after), mode, owner)
        return True

    def _refused(self, path: str, text: str, names: tuple[str, ...], problem: BadInput) -> Untouched:
        """Return the refusal of an edit, with the file and the line that holds the first of the settings."""
        host, at = self._session.host, _line_with(text, names)
        told = (
            tr("{path}, line {line}: {why}", path=path, line=at, why=problem.sentence)
            if at
            else tr("{path}: {why}", path=path, why=problem.sentence)
        )
        return Untouched(told, host=host, safe=tr("Nothing was written."), try_=problem.try_)

    def put(self, path: str, content: Secret, mode: str, owner: str) -> None:
        """Make or replace a file; what is the server's is never written through a symbolic link.

        Who controls the server's account may lay one there: root would replace what it points to (/etc/passwd).
        """
        if not owner.startswith("root:") and self._run("test", "-L", path).exit_code == 0:
            raise Untouched(
                tr("{path} is a symbolic link: root writes no file of the server's through one.", path=path),
                host=self._session.host,
                safe=tr("Nothing was written."),
                try_=(tr("Look at where it leads, and who made it; remove it, then plan anew."),),
            )
        with self._refusing():
            self._keep(path)
            self._write(path, content, mode, owner)

    def remove(self, path: str) -> None:
        """Remove a file; no error when it is not there."""
        self._done(operator_files.removed(path), path)

    def wrote(self, path: str) -> str:
        """Return what this run wrote into a file last, '' for nothing."""
        return self._text(f"{kept_path(path, self._run_id)}.wrote") or ""

    def restore(self, path: str, *, whole: bool) -> Restored:
        """Put back content, owner and mode as kept; of a file that somebody else changed only the run's own lines go.

        Args:
            whole: put it back whatever stands there: a file that the server itself writes.
        """
        kept = kept_path(path, self._run_id)
        there = self._is_there(kept)
        if not there and not self._is_there(f"{kept}.none"):
            return Restored(said=tr("nothing to put back: this run has not changed the file"))
        wrote = None if whole else self._text(f"{kept}.wrote")
        now = self._text(path) if wrote is not None else None
        original = self._text(kept) if there and wrote is not None else None
        if wrote is None or now == wrote:
            self._back(path, kept, there=there)
            return Restored()
        if now == original:
            return Restored(said=tr("nothing to put back: somebody else has put {path} back already", path=path))
        return self._without_own(path, (original, wrote, now))

    def _without_own(self, path: str, texts: tuple[str | None, str, str | None]) -> Restored:
        """Take the run's own lines out of a file that is not as the run wrote it, where that is certain."""
        host, (original, wrote, now) = self._session.host, texts
        lies = kept_path(path, self._run_id) if original is not None else tr("nowhere: there was no such file")
        if now is None:
            return Restored(
                stays=tr("Not taken back: {path} on {host} was removed by somebody else since; the original lies at "
                         "{kept}", path=path, host=host, kept=lies)
            )  # fmt: skip
        back = without_own(original, wrote, now)
        own = "; ".join(masked(line.strip()) for line in own_lines(original, wrote, now))
        if back is None:
            return Restored(
                stays=tr("Not taken back: {path} on {host} was changed by somebody else since; what the run wrote "
                         "stands in it: {lines}; the original lies at {kept}", path=path, host=host,
                         lines=own or tr("nothing of it, line for line"), kept=lies)
            )  # fmt: skip
        if back.text is None:
            self.remove(path)
        elif back.text != now:
            owner, mode = self._owner(path)
            self._session.write_file(path, Secret(back.text), mode=mode, owner=owner, limit_s=_LIMIT_S)
        return Restored(
            said=tr("{path} was changed by somebody else since: only what this run wrote was taken out ({lines}), the "
                    "rest was kept", path=path, lines=own or tr("nothing of it stood there"))
        )  # fmt: skip

    def _back(self, path: str, kept: str, *, there: bool) -> None:
        if there:
            self._done(operator_files.copied(kept, path), path)
        else:
            self.remove(path)

    def forget(self, paths: tuple[str, ...]) -> None:
        """Remove what was kept of these files, and a folder that was made for one of them, if it is empty now."""
        for path in paths:
            kept = kept_path(path, self._run_id)
            made = self._session.read_file(f"{kept}.none")
            self._done(operator_files.removed(kept, f"{kept}.none", f"{kept}.wrote"), kept)
            if made and made.decode("utf-8", "replace") == (folder := posixpath.dirname(path)):
                self._need("rmdir", "--ignore-fail-on-non-empty", "--", folder)

    def _write(self, path: str, content: Secret, mode: str, owner: str) -> None:
        """Write a file; what is written is kept first, for root alone, so that no kill leaves it unknown."""
        self._session.write_file(f"{kept_path(path, self._run_id)}.wrote", content, mode="0600", limit_s=_LIMIT_S)
        self._session.write_file(path, content, mode=mode, owner=owner, limit_s=_LIMIT_S)

    def _owner(self, path: str) -> tuple[str, str]:
        found = owner_and_mode(self._need("stat", "-L", "-c", "%u:%g %a", "--", path).text)
        if found is None:
            raise ActFailed(
                tr("Whose {path} is, and its mode, could not be read.", path=path),
                host=self._session.host,
                safe=tr("The file is as it was, or whole and new; what was kept of it is still there."),
            )
        return found

    def _text(self, path: str) -> str | None:
        found = self._session.read_file(path)
        return found.decode("utf-8", "surrogateescape") if found is not None else None

    def _keep(self, path: str) -> None:
        kept, folder = kept_path(path, self._run_id), posixpath.dirname(path)
        if self._is_there(kept) or self._is_there(f"{kept}.none"):
            return
        if self._is_there(path):
            self._done(operator_files.copied(path, kept), kept)
            return
        made = "" if self._is_there(folder) else folder
        self._done(operator_files.folder_made(folder), folder)
        self._session.write_file(f"{kept}.none", Secret(made), mode="0600", limit_s=_LIMIT_S)

    def _done(self, command: Command, path: str) -> None:
        operator_files.need_done(self._session.run(command, limit_s=_LIMIT_S), path, self._session.host)

    def _is_there(self, path: str) -> bool:
        return self._run("test", "-e", path).exit_code == 0

    def _need(self, *argv: str) -> Output:
        output = self._run(*argv)
        if output.exit_code:
            why = output.error_text
            raise ActFailed(
                tr("{command} ended with exit code {code}: {why}", command=str(Command(argv)), code=output.exit_code,
                   why=why),
                host=self._session.host,
                safe=tr("The file is as it was, or whole and new; what was kept of it is still there."),
            )  # fmt: skip
        return output

    def _run(self, *argv: str) -> Output:
        return self._session.run(Command(argv, sudo=True), limit_s=_LIMIT_S)


def _names(settings: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    return tuple(name for name, _ in settings)


def _line_with(text: str, names: tuple[str, ...]) -> int:
    """Return the number (from 1) of the first line in which one of the settings stands by its own name, 0 for none."""
    own = [name.rpartition(".")[2] for name in names]
    return next((at for at, line in enumerate(text.split("\n"), 1) if any(name in line for name in own)), 0)
