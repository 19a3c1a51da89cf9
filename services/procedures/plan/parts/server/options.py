"""What a host's option files give its server, as the server's own programs read them, and the files themselves."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.facts.server import option_files
from services.lines import lines_of
from services.option_values import is_read_in_folder
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_MOST_FILES = 40
_MOST_DEEP = 10


@dataclass(frozen=True, slots=True)
class Options(Part):
    """Read with `mariadbd --print-defaults`, my_print_defaults and the files, over SSH.

    Attributes:
        given: section, option with underscores, value (secrets are ********), in order; () = none, or not read.
        files: path and text with secrets masked, in the order in which the server reads them.
        unread: paths of files that the server reads beside those, and that could not be read here.
        sst_user: the account of wsrep_sst_auth, without its password; '' for none.
        none_there: shown: there is no option file, and nothing is given.
    """

    given: tuple[tuple[str, str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    sst_user: str = ""
    unread: tuple[str, ...] = ()
    none_there: bool = False

    @property
    def known(self) -> bool:
        """Return whether it is known what is given: what is not there gives nothing, what was not read may."""
        return bool(self.given) or self.none_there

    def option(self, section: str, name: str) -> str | None:
        """Return the last value the option files give (names compared with underscores), None when not set."""
        wanted = name.replace("-", "_")
        found = [value for sec, option, value in self.given if sec == section and option == wanted]
        return found[-1] if found else None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        del host
        told = _server_options(reading)
        server = told or ""
        sst = reading.text("options", commands.GROUP_OPTIONS.read("sst", sudo=True))
        backup = reading.text("options", commands.GROUP_OPTIONS.read("xtrabackup", "mariabackup", sudo=True))
        found = option_files.parse_defaults(server, "mysqld") + option_files.parse_defaults(sst or "", "sst")
        found += option_files.parse_defaults(backup or "", "backup")  # of either program: a host has only one
        files, unread, absent = _files(reading)
        none_there = told is not None and not found and not files and absent
        return cls(found, files, option_files.sst_user(server), unread, none_there)


def _server_options(reading: Reading) -> str | None:
    """Return what the option files give the server."""
    output = reading.run("options", commands.SERVER_OPTIONS)
    if output is not None and output.exit_code == 0:
        return output.text
    return reading.text("options", commands.GROUP_OPTIONS.read(*option_files.SERVER_GROUPS, sudo=True))


def _files(reading: Reading) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...], bool]:
    """Return the option files in the order in which they are named first, the paths that could not be read, and
    whether none of those is there that name all others."""
    found: dict[str, str] = {}
    unread: dict[str, None] = {}
    absent: set[str] = set()

    def read(path: str, depth: int) -> None:
        if path in found or len(found) >= _MOST_FILES or depth > _MOST_DEEP:
            return
        output = reading.run("option-files", commands.CONTENT.read(path, sudo=True))
        if output is None or output.exit_code:
            if output is not None and is_absent(output):
                absent.add(path)
            return
        found[path] = option_files.masked_file(output.text)
        for name, is_folder in option_files.includes(output.text):
            if not is_folder:
                read(name, depth + 1)
                continue
            listing = reading.run("option-files", commands.ALL_NAMES.read(name, sudo=True))
            inner = option_files.read_in_folder(listing.text) if listing is not None else ()
            for file in inner:
                read(posixpath.join(name, file), depth + 1)
            also = (line for line in lines_of(listing.text) if is_read_in_folder(line)) if listing is not None else ()
            missed = (posixpath.join(name, file) for file in also)
            unread.update(dict.fromkeys(path for path in missed if path not in found))

    for path in option_files.ROOT_FILES:
        read(path, 0)
    return tuple(found.items()), tuple(unread), absent.issuperset(option_files.ROOT_FILES)
