"""How fast a Galera server writes, out of two looks at its counters, at least two seconds apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.ports import Rows
from services.connections.reads import statements
from services.facts.replication.write_rate import Rates, rates_of
from services.procedures.plan.part import Part, Reading, Turn, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

APART_S = 2.0


@dataclass(frozen=True, slots=True)
class Written(Part):
    """One look: the counters, and the monotonic seconds of this workstation when they were read. None = not read."""

    way: ClassVar[Way] = Way.GALERA

    at: float = 0.0
    counters: Rows | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        began = reading.clock.monotonic()
        rows = reading.query("rates", statements.WRITTEN)
        return None if rows is None else cls((began + reading.clock.monotonic()) / 2, rows)


@dataclass(frozen=True, slots=True)
class WriteRate(Part):
    """Read last, with a second look: what is read of the host meanwhile is part of the wait. None = not known."""

    way: ClassVar[Way] = Way.GALERA
    turn: ClassVar[Turn] = Turn.COMPANY
    made_from: ClassVar[tuple[type[Part], ...]] = (Written,)

    rates: Rates | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        first = host[Written]
        if first.counters is None:
            return None
        reading.clock.sleep(max(0.0, APART_S - (reading.clock.monotonic() - first.at)))
        second = Written.read(host, reading)
        if second is None or second.counters is None:
            return None
        return cls(rates_of(first.counters, second.counters, second.at - first.at))
