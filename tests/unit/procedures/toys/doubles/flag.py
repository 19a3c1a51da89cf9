"""The double of the toy condition."""

from __future__ import annotations

from services.procedures.plan.condition import Answer
from tests.faults.scripted.double import Look, double, told
from tests.unit.procedures.toys.conditions.toy.flag import PATH, FlagFlies
from tests.unit.procedures.toys.facts.flag import parse_flag


@double(FlagFlies)
def flag_flies(own: FlagFlies, look: Look) -> Answer:
    colour = parse_flag(look.text(look.hosts[own.host], PATH))
    return told(own, colour == own.colour, own.keep, colour)
