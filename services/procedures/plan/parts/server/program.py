"""The installed server program: its version, and whether it accepts the option files as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.machine import system
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Program(Part):
    """Read with `mariadbd --version` and `mariadbd --help --verbose`, over SSH.

    Attributes:
        text: 'mariadbd Ver 10.11.18-MariaDB', '' = not known; version: its numbers.
        fault: what it says against the option files; '' = valid or not tried; checked: it was tried, as mysql.
    """

    text: str = ""
    version: tuple[int, ...] = ()
    fault: str = ""
    checked: bool = False

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        for program in ("/usr/sbin/mariadbd", "/usr/sbin/mysqld"):
            output = reading.run("program", commands.PROGRAM_VERSION.read(program))
            line, version = system.version_of(output.text) if output is not None and output.exit_code == 0 else ("", ())
            if not version:
                continue
            checked = reading.run("config", commands.PROGRAM_CHECKED.read(program, sudo=True), limit_s=15.0)
            said = "" if checked is None else checked.stderr.decode("utf-8", "replace")
            if checked is None or reading.sudo_works is not True or said.startswith("setpriv: "):
                return cls(line, version)  # it could not be run as the server's account
            return cls(line, version, system.config_fault(checked.exit_code, said), checked=True)
        reading.note("program", "No server program was found in /usr/sbin.", "no-program")
        return None
