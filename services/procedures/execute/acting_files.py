"""Files on a host, changed so that they can be put back: the original is kept beside them until the run is over.

The kept copy is PATH.pilothouse-RUN (no *.cnf: the server reads only those of an included folder, MariaDB KB
"Including Option File Directories"); where there was no file, a marker PATH.pilothouse-RUN.none says so. Either is made
once, before the first change, and never again: a repeat after a crash would keep the changed file as the original.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from services.connections import operator_files
from services.connections.command import Command
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.option_edit import edit_options
from services.secrets import Secret
from services.words import tr

if TYPE_CHECKING:
    from services.connections.ports import OperatorSession, Output

_LIMIT_S = 20.0


def kept_path(path: str, run_id: str) -> str:
    """Return where a run keeps the file as it was."""
    return f"{path}.pilothouse-{re.sub(r'[^A-Za-z0-9_-]+', '_', run_id)}"


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
        old = self._session.read_file(path)
        before = (old or b"").decode("utf-8", "surrogateescape")
        after = edit_options(before, section, options)
        if after == before:
            return False
        self._keep(path)
        owner, mode = ("root:mysql", "0640") if secret else ("root:root", "0644")
        if old is not None:
            owner, bits = self._need("stat", "-L", "-c", "%u:%g %a", "--", path).text.split()
            mode = f"{int(bits, 8) & 0o777:04o}"  # a program of root's, linked there meanwhile, may be setuid
        self._session.write_file(path, Secret(after), mode=mode, owner=owner, limit_s=_LIMIT_S)
        return True

    def put(self, path: str, content: Secret, mode: str, owner: str) -> None:
        """Make or replace a file; what is the server's is never written through a symbolic link.

        Who controls the server's account may lay one there: root would replace what it points to (/etc/passwd).
        """
        if not owner.startswith("root:") and self._run("test", "-L", path).exit_code == 0:
            raise ActFailed(
                tr("{path} is a symbolic link: root writes no file of the server's through one.", path=path),
                host=self._session.host,
                safe=tr("Nothing was written."),
                try_=(tr("Look at where it leads, and who made it; remove it, then plan anew."),),
            )
        self._keep(path)
        self._session.write_file(path, content, mode=mode, owner=owner, limit_s=_LIMIT_S)

    def remove(self, path: str) -> None:
        """Remove a file; no error when it is not there."""
        self._done(operator_files.removed(path), path)

    def restore(self, path: str) -> bool:
        """Put back content, owner and mode as kept; return False when this run kept nothing, and so changed nothing."""
        kept = kept_path(path, self._run_id)
        if self._is_there(kept):
            self._done(operator_files.copied(kept, path), path)
            return True
        if self._is_there(f"{kept}.none"):
            self.remove(path)
            return True
        return False

    def forget(self, paths: tuple[str, ...]) -> None:
        """Remove what was kept of these files, and a folder that was made for one of them, if it is empty now."""
        for path in paths:
            kept = kept_path(path, self._run_id)
            made = self._session.read_file(f"{kept}.none")
            self._done(operator_files.removed(kept, f"{kept}.none"), kept)
            if made and made.decode("utf-8", "replace") == (folder := posixpath.dirname(path)):
                self._need("rmdir", "--ignore-fail-on-non-empty", "--", folder)

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
            why = output.stderr.decode("utf-8", "replace").strip()
            raise ActFailed(
                tr("{command} ended with exit code {code}: {why}", command=str(Command(argv)), code=output.exit_code,
                   why=why),
                host=self._session.host,
                safe=tr("The file is as it was, or whole and new; what was kept of it is still there."),
            )  # fmt: skip
        return output

    def _run(self, *argv: str) -> Output:
        return self._session.run(Command(argv, sudo=True), limit_s=_LIMIT_S)
