"""What lies in a host's data folder: the state files of Galera, what a transfer left, and the disk it is on."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.galera.state_files import (
    KEPT_ASIDE,
    KEPT_INSIDE,
    Grastate,
    is_whole_view,
    made_by_hand,
    own_uuid,
    parse_grastate,
    parse_gvwstate,
    parse_listing,
)
from services.facts.machine.machine import parse_df
from services.facts.model import DiskFacts
from services.facts.reading import count
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

ASIDE = ".pilothouse-before"
"""Behind the data folder's name: where an older one is kept; `INSIDE`: its name where it lies in the folder itself.

MariaDB takes every folder of its data folder for a schema but those whose names begin with #sql: with another name each
list of the schemas logs an error, and mariadb-check and mariadb-upgrade of all schemas end at it (tried, 10.11.18).
"""
INSIDE = "#sql-pilothouse-before.sst"
INSIDE_BEFORE = f"{ASIDE}.sst"
"""The name that earlier versions gave it: their journals name it, and what they kept is still seen."""
UNKNOWN_DISK = DiskFacts("")


@dataclass(frozen=True, slots=True)
class DataFolder(Part):
    """Read with ls, stat, df and cat, over SSH. It is read on every host: a stopped node's cluster stands in it.

    Attributes:
        path: as the server says it, else its option files, else the default; '' = not known.
        entries: how many files and folders; owner: the uid of the folder.
        disk: the file system it is on, in bytes.
        grastate: None: absent, damaged or not read; see the next two.
        grastate_damaged: it is there, was read, and holds no whole state.
        gvwstate: view id, member uuids; gvwstate_own: which of them the node is; gvwstate_by_hand: a person made that
            view Primary; None: no gvwstate.dat. gvwstate_damaged: there is one, and its view is empty or cut off:
            who stands in it was a member, who does not may have been.
        sst_in_progress: files of a joiner's script lie there: it runs, or broke off.
        tablespace: InnoDB's ibdata1 lies there.
    """

    way: ClassVar[Way] = Way.ANY

    path: str = ""
    entries: int | None = None
    owner: int | None = None
    disk: DiskFacts = field(default=UNKNOWN_DISK)
    grastate: Grastate | None = None
    grastate_absent: bool | None = None
    grastate_damaged: bool = False
    gvwstate: tuple[str, tuple[str, ...]] | None = None
    gvwstate_own: str = ""
    gvwstate_by_hand: bool | None = None
    gvwstate_damaged: bool = False
    sst_in_progress: bool | None = None
    tablespace: bool | None = None

    @property
    def names_state(self) -> bool:
        """Return whether a whole state of some cluster stands in grastate.dat."""
        return self.grastate is not None and self.grastate.names_state

    @property
    def transfer_broke_off(self) -> bool:
        """Return whether a transfer into the data folder had begun and was not finished: nobody's data but a part.

        The joiner's script leaves its file before it is decided whether IST or SST comes; the provider takes the state
        out of grastate.dat before either begins (seen on the lab, MariaDB 10.11.18).
        """
        return bool(self.sst_in_progress) and not self.names_state

    @property
    def erased_by_transfer(self) -> bool:
        """Return whether such a transfer had begun to erase what lay there: only an SST removes ibdata1."""
        return self.transfer_broke_off and self.tablespace is not True

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        server = host.node.server if host.node is not None else None
        live = server.datadir if server is not None else ""
        if not Way.SSH.leads_to(host):
            return cls(path=live)
        folder = reads.clean(live or host[Options].option("mysqld", "datadir") or reads.DEFAULT_DATADIR)
        text = reading.shared("datadir", commands.LISTED_AT.read(folder, sudo=True))
        listing = parse_listing(text or "")
        known = text is not None
        found = cls(
            path=folder,
            entries=listing.entries if known else None,
            owner=count((reading.text("datadir", commands.OWNER.read(folder, sudo=True)) or "").strip()),
            disk=disk_of(reading, folder),
            grastate_absent=not listing.grastate if known else None,
            sst_in_progress=listing.sst_in_progress if known else None,
            tablespace=listing.tablespace if known else None,
        )
        aside = reading.run("datadir", commands.FILE_KIND.read(folder.rstrip("/") + ASIDE, sudo=True))
        if aside is not None and aside.exit_code == 0:
            reading.note("datadir", f"An older data folder kept aside: {folder.rstrip('/')}{ASIDE}", KEPT_ASIDE)
        listed = {line.rpartition(" ")[2].removesuffix(".part") for line in lines_of(text or "")}
        for name in sorted(listed & {INSIDE, INSIDE_BEFORE}):
            reading.note("datadir", f"Older data kept inside the data folder: {folder}/{name}", KEPT_INSIDE)
        return found._with_state_files(reading, grastate=listing.grastate)

    def _with_state_files(self, reading: Reading, *, grastate: bool) -> Self:
        def content(name: str) -> str | None:
            output = reading.run("grastate", commands.CONTENT.read(posixpath.join(self.path, name), sudo=True))
            return output.text if output is not None and output.exit_code == 0 else None

        text = content("grastate.dat") if grastate else None
        state = parse_grastate(text) if text is not None else None
        damaged = text is not None and state is None
        if damaged:
            reading.note(
                "grastate", f"grastate.dat of {reading.host} is damaged: its state is incomplete.", "grastate-odd"
            )
        kept = content("gvwstate.dat")
        view = kept or ""
        return replace(
            self,
            grastate=state,
            grastate_damaged=damaged,
            gvwstate=parse_gvwstate(view),
            gvwstate_own=own_uuid(view),
            gvwstate_by_hand=made_by_hand(view),
            gvwstate_damaged=kept is not None and not is_whole_view(view),
        )


def disk_of(reading: Reading, path: str) -> DiskFacts:
    """Return the file system that a path is on; all unknown where df did not tell."""
    found = parse_df(reading.shared("disk", commands.DISK.read(path, sudo=True)) or "")
    return found[0] if found else UNKNOWN_DISK
