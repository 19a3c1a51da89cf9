"""A toy condition, whole in its file: data, words, declaration and look."""

from __future__ import annotations

from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, Declared, OfHost, condition, names
from services.procedures.plan.looks import Asking
from tests.unit.procedures.toys.facts.flag import parse_flag

PATH = "/etc/mysql/conf.d/flag.cnf"


@condition("toy.flag-flies", "the flag of {host} to fly")
class FlagFlies(OfHost):
    """The flag of a host has this colour. What it was is kept under `keep`."""

    colour: str
    keep: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), keeps=names(self.keep))

    def look(self, asking: Asking) -> Answer:
        """Read the file."""
        text, why = read_file(asking, self.host, PATH)
        if why:
            return Answer(holds=None, evidence=why)
        colour = parse_flag(text or "")
        kept = ((self.keep, colour),) if self.keep else ()
        return Answer(colour == self.colour, f"the flag of {self.host} is {colour or 'down'}", kept=kept)
