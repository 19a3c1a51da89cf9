"""Which of the programs that a state transfer calls are on a host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.machine import system
from services.facts.server.option_files import sst_programs
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Tools(Part):
    """Read with ls of the folders of programs, over SSH: names of those that are there; () = none, or not read."""

    made_from: ClassVar[tuple[type[Part], ...]] = (Options,)

    there: tuple[str, ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part. What [sst] names to compress with is looked for too. Of a look that broke off nothing is known."""
        named = sst_programs(host[Options].given)
        places = system.program_paths(tuple(dict.fromkeys((*named, *system.PROGRAMS))))
        found = [
            reading.run("programs", commands.FILES_THERE.read(*places[at : at + commands.MOST_PATHS]))
            for at in range(0, len(places), commands.MOST_PATHS)
        ]
        if None in found:
            return None
        return cls(system.programs_there("".join(output.text for output in found if output is not None)))
