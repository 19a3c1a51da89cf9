"""A backup's folder is what the plan saw, and a folder that is being prepared has come as far as it should."""

from __future__ import annotations

from services.facts.backup.backups import BACKUPS_LIMIT_S, Backup, backup_read, parse_backups
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


def backup_in(asking: Asking, host: str, path: str) -> Backup | str:
    """Return the backup in a folder of a host, or why it is not known. Raises UserError."""
    output = asking.run(host, backup_read(path), limit_s=BACKUPS_LIMIT_S)
    found = next(iter(parse_backups(output.text)), None) if output.exit_code == 0 else None
    if found is None:
        return output.error_text or f"the contents of {path} on {host} could not be read"
    return found


@condition("galera.backup-is", "a backup on {host}")
class BackupIs(OfHost):
    """In `path` lies this very backup, whole, as it was made: real files, never prepared, never prepared with.

    Attributes:
        uuid, last_lsn: of this backup; size: bytes; 0 = not compared.
        metas: `.meta` files of an incremental, each with its `.delta`; 0 for a full backup.
        hard_ok: files may have other names elsewhere (an original; a copy never has).
    """

    path: str
    uuid: str
    last_lsn: int
    size: int = 0
    metas: int = 0
    hard_ok: bool = False

    def look(self, asking: Asking) -> Answer:
        """Read the folder's own small files and count what tells that it was used."""
        found = backup_in(asking, self.host, self.path)
        if isinstance(found, str):
            return Answer(holds=None, evidence=found)
        evidence = (
            f"{self.path} on {self.host}: {found.kind or 'no backup'}, last LSN {found.last_lsn}, {found.size} bytes"
        )
        if wrong := self._wrong(found):
            return Answer(holds=False, evidence=f"{evidence}: {wrong}", final=True)
        return Answer(holds=True, evidence=evidence)

    def _wrong(self, found: Backup) -> str:
        if found.absent:
            return "it is missing"
        if (found.uuid, found.last_lsn) != (self.uuid, self.last_lsn):
            return "it contains another backup now"
        if found.is_linked or (found.hard and not self.hard_ok):
            return "its files are hard-linked: other backups may use them"
        if found.is_prepared or found.spent != 0 or (found.metas or 0) < self.metas:
            return "it was already prepared, or used to prepare another"
        return "its size has changed" if self.size and found.size != self.size else ""


@condition("galera.prepared-to", "the prepared copy on {host} to reach its next position")
class PreparedTo(OfHost):
    """The folder is prepared up to a backup of the chain: its info and its position are that backup's.

    A prepare that was cut short leaves the info of the one before (mariadb-backup copies it last, seen on 10.11.18).
    What it recovered itself is compared apart (RecoveredIs): the files alone are copied from a spent incremental too.
    """

    path: str
    uuid: str
    state_uuid: str
    seqno: int

    def look(self, asking: Asking) -> Answer:
        """Read the folder's own small files."""
        found = backup_in(asking, self.host, self.path)
        if isinstance(found, str):
            return Answer(holds=None, evidence=found)
        evidence = f"{self.path} on {self.host} is {found.kind or 'no backup'} at {found.position or 'no position'}"
        wanted = (self.uuid, self.state_uuid, self.seqno)
        right = found.is_prepared and (found.uuid, found.state_uuid, found.seqno) == wanted
        return Answer(right, f"{evidence}; {self.state_uuid}:{self.seqno} is required")
