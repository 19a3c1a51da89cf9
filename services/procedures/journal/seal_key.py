"""This workstation's key for the seals of its journal: in the OS keyring, else a file that only its owner may read."""

from __future__ import annotations

import os
import re
import secrets
import stat
import threading
from pathlib import Path
from typing import Protocol

from services.boundary import bounded, why
from services.errors import KeyringSilent, StoreError, UserError
from services.i18n import tr
from services.procedures.journal.seals import KEY_BYTES
from services.secrets import WRITE_S, Secret, SecretRef, SystemVault, Vault
from services.workstation.files import write_whole

KEY_FILE = "journal.key"
_ENTRY = SecretRef("keyring", "journal-key")
_HEX = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}\Z")


class SealKey(Protocol):
    """Gives the key; it may ask the keyring the first time."""

    def key(self) -> bytes:
        """Return the key; raise StoreError where none can be read or kept."""


def _told(own: WorkstationKey, problem: BaseException) -> StoreError:
    return _no_key(own.path, problem)


@bounded(_told)
class WorkstationKey:
    """The key of this person on this workstation, made when it is asked for the first time. Thread-safe.

    An entry of the keyring comes before the file: who can write files here can't put a key of his own in its place.
    """

    def __init__(self, folder: Path, vault: Vault | None = None) -> None:
        """Read nothing yet.

        Args:
            folder: the data folder, for the file where there is no keyring; vault: the system's, but in tests.
        """
        self.path = folder / KEY_FILE
        self._vault = vault or SystemVault(WRITE_S)
        self._lock = threading.Lock()
        self._key: bytes | None = None

    def key(self) -> bytes:
        """Return the key; raise StoreError where none can be read or kept."""
        with self._lock:
            if self._key is None:
                self._key = bytes.fromhex(self._from_keyring() or self._from_file() or self._made())
            return self._key

    def _from_keyring(self) -> str:
        try:
            found = self._vault.get(_ENTRY).reveal()
        except KeyringSilent as problem:  # it may hold the key: another one would open no seal that is there
            raise StoreError(
                tr("The key of the journal is not known: {why}", why=problem.sentence),
                safe=tr("Nothing was done: without the key, no approval can be bound to its plan."),
                try_=problem.try_[:1],
            ) from problem
        except UserError:
            return ""  # no keyring, a locked one, or no entry in it
        return found if _HEX.match(found) else ""

    def _from_file(self) -> str:
        try:
            about = self.path.stat()
            if os.name == "posix" and (about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077):
                raise StoreError(
                    tr("Others may read or write the key of the journal, {path}.",
                       path=self.path),
                    safe=tr("Nothing was done."),
                    try_=(tr("Delete that file: unfinished runs then ask for a new approval."),),
                )  # fmt: skip
            found = self.path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return ""
        except (OSError, ValueError) as problem:
            raise _no_key(self.path, problem) from problem
        if not _HEX.match(found):
            raise _no_key(self.path, None)
        return found

    def _made(self) -> str:
        """Make a key and keep it. What is read back counts: some keyrings take everything and keep nothing."""
        made = secrets.token_hex(KEY_BYTES)
        try:
            self._vault.put(_ENTRY, Secret(made))
        except UserError:
            kept = ""
        else:
            kept = self._from_keyring()
        if kept:
            return kept
        try:
            self._keep(made)
        except OSError as problem:
            raise _no_key(self.path, problem) from problem
        return self._from_file() or made

    def _keep(self, made: str) -> None:
        """Give the whole file its name, unless another program of this person was a moment sooner: then that counts."""
        part = self.path.with_name(f".{KEY_FILE}.{secrets.token_hex(4)}")
        write_whole(part, f"{made}\n", private=True, durable=True)
        try:
            os.link(part, self.path)
        except FileExistsError:
            return
        except OSError:
            part.replace(self.path)  # a file system without hard links
        finally:
            part.unlink(missing_ok=True)


def _no_key(path: Path, problem: BaseException | None) -> StoreError:
    reason = f" ({why(problem)})" if problem is not None else ""
    return StoreError(
        tr("The key of the journal cannot be read or stored in {path}{why}.", path=path, why=reason),
        safe=tr("Nothing was done: without the key, no approval can be bound to its plan."),
        try_=(
            tr("Check the permissions and free space of the folder."),
            tr("Delete a damaged file: unfinished runs then ask for a new approval."),
        ),
    )
