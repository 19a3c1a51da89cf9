"""What a run keeps of the files that it changes, on their host: where it lies, and whether it can be believed.

Beside the file as PATH.pilothouse-RUN (no *.cnf: the server reads only those of an included folder, MariaDB KB
"Including Option File Directories"), where nobody but root may change the way to it. Whoever else may would exchange
the copies, and root would write what is in its own files into his: then they lie in a folder that only root enters.
Earlier consoles kept them beside the file there, too: what is not root's own in such a folder is no kept copy.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from services.connections.operator import files as operator_files
from services.i18n import tr
from services.procedures.engine.ports import ActFailed
from services.secrets import Secret

if TYPE_CHECKING:
    from services.connections.ports import FileSeen, OperatorSession

FOLDER = "/var/lib/pilothouse/kept"
NONE, WROTE = ".none", ".wrote"
"""There was no such file; what the run wrote into it, kept before it is written."""
_LIMIT_S = 20.0


def beside(path: str, run_id: str) -> str:
    """Return where a run keeps a file as it was, on a way that is root's alone."""
    return f"{path}.pilothouse-{re.sub(r'[^A-Za-z0-9_-]+', '_', run_id)}"


def apart(path: str, run_id: str) -> str:
    """Return where a run keeps a file whose way others may change."""
    return beside(f"{FOLDER}/{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}", run_id)


class Kept:
    """What one run keeps of one file. Raises UserError subclasses only."""

    def __init__(self, session: OperatorSession, path: str, run_id: str, *, of_account: bool = False) -> None:
        """Look where it lies, or is to lie; what is to be kept of an account's file never beside it.

        Its folder may be root's while a run fills it, and be the account's later: a copy there would be so as well.

        Sets `alone`: nobody but root may change the way to the file; `base`: where it is kept; `is_apart`: not beside
        it.
        """
        self._session = session
        self.alone = self._look(path, whole=False).alone
        places = (beside(path, run_id), apart(path, run_id))
        self.base, other = places if self.alone and not of_account else places[::-1]
        if not self.is_there() and any(self._look(f"{other}{end}", whole=False).there for end in ("", NONE)):
            self.base = other
        self.is_apart = self.base == places[1]

    def is_there(self) -> bool:
        """Return whether something was kept: the file, or that there was none."""
        return any(self.seen(end, whole=False).there for end in ("", NONE))

    def seen(self, end: str = "", *, whole: bool = True) -> FileSeen:
        """Return the original, or one of the two beside it. Raises ActFailed for what is not root's own."""
        found = self._look(f"{self.base}{end}", whole=whole)
        if found.there and not (found.alone or found.own):
            raise ActFailed(
                tr("{path} is not a kept copy: its folder is writable by others, and root does not own it.",
                   path=f"{self.base}{end}"),
                host=self._session.host,
                safe=tr("The file is unchanged, or completely rewritten; its kept copy still exists."),
                try_=(tr("Check who owns it; correct the file by hand, and remove the copy."),),
            )  # fmt: skip
        return found

    def write(self, end: str, content: Secret, *, mode: str = "0600", owner: str = "root:root") -> None:
        """Keep a text: for root alone, but for an original, which has its own owner and mode."""
        if self.is_apart:
            made = self._session.run(operator_files.folder_made(FOLDER, "0700"), limit_s=_LIMIT_S)
            operator_files.need_done(made, FOLDER, self._session.host)
        self._session.write_file(f"{self.base}{end}", content, mode=mode, owner=owner, follow=False, limit_s=_LIMIT_S)

    def _look(self, path: str, *, whole: bool) -> FileSeen:
        return self._session.look_file(path, whole=whole, limit_s=_LIMIT_S)
