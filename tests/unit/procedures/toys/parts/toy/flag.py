"""A toy part of a host's facts: what its flag file says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from services.connections.reads import commands
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.part import Part, Reading
from tests.unit.procedures.toys.conditions.toy.flag import PATH
from tests.unit.procedures.toys.facts.flag import parse_flag


@dataclass(frozen=True, slots=True)
class Flag(Part):
    """Read with cat, over SSH: the colour, '' = not known."""

    colour: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        text = reading.text("flag", commands.CONTENT.read(PATH))
        return cls(parse_flag(text)) if text is not None else None
