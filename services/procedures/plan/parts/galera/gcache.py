"""Where a host's write-set cache lies on the disk, and its overflow pages."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.galera.state_files import parse_listing
from services.facts.model import DiskFacts
from services.facts.reading import size
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.galera.data_folder import UNKNOWN_DISK, DataFolder, disk_of
from services.procedures.plan.parts.galera.provider import Provider

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Gcache(Part):
    """Read with ls and df, over SSH.

    Attributes:
        folder: gcache.dir; '' = not known.
        disk: the file system it is on, in bytes: another one than the data's, perhaps.
        pages: name, bytes, changed at (UTC epoch seconds); None = the folder was not listed.
        page_size: bytes of a page, None = not known.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Provider, DataFolder)

    folder: str = ""
    disk: DiskFacts = field(default=UNKNOWN_DISK)
    pages: tuple[tuple[str, int, float], ...] | None = None
    page_size: int | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part. A relative gcache.dir counts from base_dir (Galera documentation, "gcache.dir")."""
        data, provider = host[DataFolder].path, host[Provider]
        given = provider.option("gcache.dir") or ""
        folder = reads.clean(posixpath.join(data, given)) if given else data
        part = "datadir" if folder == data else "gcache"
        listing = reading.shared(part, commands.LISTED_AT.read(folder, sudo=True))
        page_size = size(provider.option("gcache.page_size") or "") or None
        pages = None if listing is None else parse_listing(listing).pages
        return cls(folder, disk_of(reading, folder), pages, page_size)
