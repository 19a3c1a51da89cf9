"""Which backups lie on a host's disks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts.backup.backups import BACKUPS_LIMIT_S, Backup, backups_read, parse_backups
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.galera.data_folder import DataFolder

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Backups(Part):
    """Read with find, du and the backups' own small files, as root (connections/programs/backup_programs.py).

    Attributes:
        found: as they say of themselves, by path; None = not known.
        whole: the search came to its end; one that ran out of time may have missed some.
    """

    way: ClassVar[Way] = Way.SSH
    made_from: ClassVar[tuple[type[Part], ...]] = (DataFolder,)

    found: tuple[Backup, ...] | None = None
    whole: bool = False

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        output = reading.run("backups", backups_read(host[DataFolder].path), limit_s=BACKUPS_LIMIT_S)
        if output is None:
            return None
        found, whole = parse_backups(output.text), output.exit_code == 0
        if not whole:
            reading.note("backups", "The search for backups did not finish.", "read-failed")
        elif reading.sudo_works is False:  # what only root may see is no backup that is missing
            reading.note("backups", "The search for backups ran without root privileges.", "read-failed")
            whole = False
        return cls(found if found or whole else None, whole)

    def at(self, path: str) -> Backup | None:
        """Return the backup in a folder, None where none was found there."""
        return next((one for one in self.found or () if one.path == path.rstrip("/")), None)
