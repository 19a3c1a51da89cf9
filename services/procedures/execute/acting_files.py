"""Files on a host, changed so that they can be put back: the original is kept until the run is over (kept_files.py).

It is kept once, before the first change, and never again: a repeat after a crash would keep the changed file as the
original. What the run writes is kept too, before it is written: by it an undo knows whether somebody else changed the
file since. It stays on the host, as the file itself may hold a secret.

What is judged, kept and written is one and the same file, with its owner and mode (FileSeen): who may exchange it
between two words of root's would have root's own files written into his.
"""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.connections.command import Command
from services.connections.operator import files as operator_files
from services.connections.operator.files import NotWritten
from services.errors import BadInput, Unreachable, UserError
from services.facts.masking import masked
from services.facts.yaml_files.edit import Settings, edit_yaml
from services.i18n import tr
from services.procedures.engine.ports import ActFailed, Untouched
from services.procedures.execute.kept_files import NONE, WROTE, Kept
from services.procedures.execute.option_edit import edit_options
from services.procedures.looking.files import byte_digest
from services.procedures.looking.own_lines import Back, own_lines, without_own
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.ports import FileSeen, OperatorSession, Output

_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of a file that was to be put back or removed.

    Attributes:
        said: a line of output; stays: why it was not taken back; digest: of what the run had put there.
    """

    said: str = ""
    stays: str = ""
    digest: str = ""


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
        old = self._look(path)
        before = old.text or ""
        try:
            after = edited(before)
        except BadInput as problem:
            raise self._refused(path, before, names, problem) from problem
        if after == before:
            return False
        kept = self._keep(path, old)
        owner, mode = (old.owner, old.mode) if old.there else made
        self._write(path, kept, Secret(after), mode=mode, owner=owner)
        return True

    def _refused(self, path: str, text: str, names: tuple[str, ...], problem: BadInput) -> Untouched:
        """Return the refusal of an edit, with the file and the line that holds the first of the settings."""
        host, at = self._session.host, _line_with(text, names)
        words = (
            tr("{path}, line {line}: {why}", path=path, line=at, why=problem.sentence)
            if at
            else tr("{path}: {why}", path=path, why=problem.sentence)
        )
        return Untouched(words, host=host, safe=tr("Nothing was written."), try_=problem.try_)

    def put(self, path: str, content: Secret, mode: str, owner: str) -> None:
        """Make or replace a file; what is the server's is never written through a symbolic link.

        Who controls the server's account may lay one there: root would replace what it points to (/etc/passwd).
        """
        follow = owner.startswith("root:")
        with self._refusing():
            kept = self._keep(path, self._look(path, follow=follow), of_account=not follow)
            self._write(path, kept, content, mode=mode, owner=owner, follow=follow)

    def remove(self, path: str) -> None:
        """Remove a file; no error when it is missing."""
        self._done(operator_files.removed(path), path)

    def withdraw(self, path: str, wrote: str) -> Restored:
        """Remove a file that says what the run wrote; of one that somebody else changed since only these lines go."""
        stands = self._look(path)
        if stands.text is None or stands.text == wrote:
            self.remove(path)
            return Restored()
        back = without_own(None, wrote, stands.text)
        own = "; ".join(masked(line.strip()) for line in own_lines(None, wrote, stands.text))
        if own and (back is None or own_lines(None, wrote, back.text or "")):
            return Restored(
                stays=tr("Not restored: {path} on {host} was changed by someone else since. It still contains "
                         "lines of the run: {lines}", path=path, host=self._session.host, lines=own)
            )  # fmt: skip
        if own and back is not None:
            self._become(path, back, stands)
        return _only_own(path, own)

    def keep_digest(self, path: str, content: Secret) -> None:
        """Keep the digest of a new file before it is written: no second copy of a key lies anywhere.

        Raises Untouched where a file lies there that this run has not put: it is somebody else's.
        """
        with self._refusing():
            kept = self._kept(path, of_account=True)
            if not kept.is_there():
                if self._look(path, follow=False).there:
                    raise Untouched(
                        tr("{path} already exists, and this run did not create it.", path=path),
                        host=self._session.host,
                        safe=tr("Nothing was written."),
                        try_=(tr("Check what it is; move it away if it is not needed."),),
                    )
                kept.write(NONE, Secret(""))
            put = byte_digest(content.reveal().encode("utf-8", "surrogateescape"))
            kept.write(WROTE, Secret(" ".join((*self._digests(kept), put))))

    def digest_of(self, path: str) -> str:
        """Return the digest that `keep_digest` kept last, '' for none."""
        return next(reversed(self._digests(self._kept(path, of_account=True))), "")

    def _digests(self, kept: Kept) -> list[str]:
        """Return the digests of all that was put there: of tries that were cut off too."""
        return (kept.seen(WROTE).text or "").split()

    def withdraw_put(self, path: str) -> Restored:
        """Remove a file of which `keep_digest` knows what the run put there; one that says something else is kept."""
        put = self._digests(self._kept(path, of_account=True))
        last = next(reversed(put), "")
        try:
            stands = self._look(path, follow=False)
        except operator_files.NotRead as problem:  # a link, a pipe, a folder: nothing that was put
            return Restored(said=_kept_for_others(path, problem.sentence), digest=last)
        if stands.there and byte_digest(stands.content) not in put:
            return Restored(said=_kept_for_others(path, ""), digest=last)
        if stands.there:
            self.remove(path)
        return Restored(digest=last)

    def wrote(self, path: str) -> str:
        """Return what this run wrote into a file last, '' for nothing."""
        return self._kept(path).seen(WROTE).text or ""

    def restore(self, path: str, *, whole: bool) -> Restored:
        """Put back content, owner and mode as kept; of a file that somebody else changed only the run's own lines go.

        Args:
            whole: put it back whatever stands there: a file that the server itself writes.
        """
        kept = self._kept(path)
        if not kept.is_there():
            return Restored(said=tr("nothing to restore: this run has not changed the file"))
        original = kept.seen()
        wrote = None if whole else kept.seen(WROTE).text
        now = self._look(path) if wrote is not None else None
        if wrote is None or now is None or now.text == wrote:
            self._back(path, kept, original)
            return Restored()
        if now.text == original.text:
            return Restored(said=tr("nothing to restore: {path} already has its original content", path=path))
        return self._without_own(path, kept, (original, wrote, now))

    def _without_own(self, path: str, kept: Kept, texts: tuple[FileSeen, str, FileSeen]) -> Restored:
        """Take the run's own lines out of a file that is not as the run wrote it, where that is certain."""
        host, (before, wrote, stands) = self._session.host, texts
        original, now = before.text, stands.text
        lies = kept.base if before.there else tr("no file: it did not exist")
        if now is None:
            return Restored(
                stays=tr("Not restored: {path} on {host} was removed after the run changed it. The original is in "
                         "{kept}", path=path, host=host, kept=lies)
            )  # fmt: skip
        back = without_own(original, wrote, now) if _may_be_merged(kept, before, stands) else None
        own = "; ".join(masked(line.strip()) for line in own_lines(original, wrote, now))
        if back is None:
            return Restored(
                stays=tr("Not restored: {path} on {host} was changed by someone else since. It still contains "
                         "lines of the run: {lines}. The original is in {kept}", path=path, host=host,
                         lines=own or tr("none that match exactly"), kept=lies)
            )  # fmt: skip
        self._become(path, back, stands)
        return _only_own(path, own)

    def _become(self, path: str, back: Back, stands: FileSeen) -> None:
        if back.text is None:
            self.remove(path)
        elif back.text != stands.text:
            self._put(path, Secret(back.text), mode=stands.mode, owner=stands.owner)

    def _back(self, path: str, kept: Kept, original: FileSeen) -> None:
        if not original.there:
            self.remove(path)
        elif kept.alone and not kept.is_apart:
            self._done(operator_files.copied(kept.base, path), path)
        else:
            self._put(path, Secret(original.text or ""), mode=original.mode, owner=original.owner)

    def forget(self, paths: tuple[str, ...]) -> None:
        """Remove what was kept of these files, and a folder that was made for one of them, if it is empty now."""
        for path in paths:
            kept = self._kept(path)
            made = kept.seen(NONE).text
            self._done(operator_files.removed(*(f"{kept.base}{end}" for end in ("", NONE, WROTE))), kept.base)
            if made and made == (folder := posixpath.dirname(path)):
                self._need("rmdir", "--ignore-fail-on-non-empty", "--", folder)

    def _write(self, path: str, kept: Kept, content: Secret, *, mode: str, owner: str, follow: bool = True) -> None:
        """Write a file; what is written is kept first, for root alone, so that no kill leaves it unknown."""
        kept.write(WROTE, content)
        self._put(path, content, mode=mode, owner=owner, follow=follow)

    def _put(self, path: str, content: Secret, *, mode: str, owner: str, follow: bool = True) -> None:
        self._session.write_file(path, content, mode=mode, owner=owner, follow=follow, limit_s=_LIMIT_S)

    def _look(self, path: str, *, follow: bool = True) -> FileSeen:
        return self._session.look_file(path, follow=follow, limit_s=_LIMIT_S)

    def _kept(self, path: str, *, of_account: bool = False) -> Kept:
        return Kept(self._session, path, self._run_id, of_account=of_account)

    def _keep(self, path: str, now: FileSeen, *, of_account: bool = False) -> Kept:
        """Keep a file as it is now, or that there is none, unless this run has kept it before."""
        kept, folder = self._kept(path, of_account=of_account), posixpath.dirname(path)
        if kept.is_there():
            return kept
        if now.there and kept.alone and not kept.is_apart:
            self._done(operator_files.copied(path, kept.base), kept.base)
        elif now.there:
            kept.write("", Secret(now.text or ""), mode=now.mode, owner=now.owner)
        else:
            made = "" if self._is_there(folder) else folder
            self._done(operator_files.folder_made(folder), folder)
            kept.write(NONE, Secret(made))
        return kept

    def _done(self, command: Command, path: str) -> None:
        operator_files.need_done(self._session.run(command, limit_s=_LIMIT_S), path, self._session.host)

    def _is_there(self, path: str) -> bool:
        return self._run("test", "-e", path).exit_code == 0

    def _need(self, *argv: str) -> None:
        output = self._run(*argv)
        if output.exit_code:
            why = output.error_text
            raise ActFailed(
                tr("{command} ended with exit code {code}: {why}", command=str(Command(argv)), code=output.exit_code,
                   why=why),
                host=self._session.host,
                safe=tr("The file is unchanged, or completely rewritten; its kept copy still exists."),
            )  # fmt: skip

    def _run(self, *argv: str) -> Output:
        return self._session.run(Command(argv, sudo=True), limit_s=_LIMIT_S)


def _kept_for_others(path: str, why: str) -> str:
    words = tr("{path} is not the file that this run created: it was changed later and is kept", path=path)
    return f"{words} ({why})" if why else words


def _only_own(path: str, own: str) -> Restored:
    return Restored(
        said=tr("{path} was changed by someone else since: only the lines of this run were removed ({lines}), the "
                "rest is kept", path=path, lines=own or tr("it contained none"))
    )  # fmt: skip


def _may_be_merged(kept: Kept, original: FileSeen, now: FileSeen) -> bool:
    """Return whether lines of the original may come into the file that stands there.

    Who may exchange the file may have had another one of root's stand there before: nobody else may read its lines.
    """
    same = (original.owner, original.mode) == (now.owner, now.mode)
    return kept.alone or not original.there or (kept.is_apart and same)


def _names(settings: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    return tuple(name for name, _ in settings)


def _line_with(text: str, names: tuple[str, ...]) -> int:
    """Return the number (from 1) of the first line in which one of the settings stands by its own name, 0 for none."""
    own = [name.rpartition(".")[2] for name in names]
    return next((at for at, line in enumerate(text.split("\n"), 1) if any(name in line for name in own)), 0)
