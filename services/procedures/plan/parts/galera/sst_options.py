"""What a host's option files give the scripts of a state transfer, as those read it, and where each of it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.server.harmless_options import normal
from services.facts.server.option_files import parse_defaults
from services.facts.transfer import sst_options
from services.facts.transfer.sst_options import Given, Place
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class SstOptions(Part):
    """Read with my_print_defaults for each group, and from the option files, over SSH. Secrets are ********.

    Attributes:
        known: whether [sst] was read: an empty section is an answer too.
        given: (group, option with underscores, value) in order; of the server's groups only what the scripts look for.
        places: each option of [sst], [xtrabackup] and [mariabackup] with its file, in the order of the files.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Options,)

    known: bool = False
    given: tuple[Given, ...] = ()
    places: tuple[Place, ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        own = tuple(one for one in host[Options].given if one[0] == "mysqld" and one[1] in sst_options.FROM_ALL)
        found = list(own)
        for group in sst_options.GROUPS[1:]:
            text = reading.text("sst-options", commands.GROUP_OPTIONS.read(group, sudo=True))
            if text is None:
                return None
            found += parse_defaults(text, group)
        return cls(True, tuple(found), sst_options.places(host[Options].files))

    def value(self, option: str) -> str | None:
        """Return what the scripts use, None where they find none."""
        return sst_options.effective(self.given, option)

    def standing(self, option: str, section: str = "sst") -> tuple[Place, ...]:
        """Return every place where an option of a section stands."""
        return tuple(one for one in self.places if (one.section, one.option) == (section, normal(option)))

    @property
    def section_files(self) -> tuple[str, ...]:
        """Return the files in which something of [sst] stands, in their order."""
        return tuple(dict.fromkeys(one.path for one in self.places if one.section == "sst"))

    @property
    def pair_files(self) -> tuple[str, str, str]:
        """Return the files of CA, certificate and key that the scripts use; '' for one that is not set."""
        return sst_options.pair_files(self.given)
