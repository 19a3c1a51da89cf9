"""The settings that only the running server knows whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts.reading import words
from services.facts.server.harmless_options import is_secret
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_MOST_WHOLE = 65_536
"""Characters. Longer ones are sets of GTIDs, of which other reads tell."""
_MOST_SHOWN = 500
_DURABILITY = ("innodb_flush_log_at_trx_commit", "sync_binlog")


@dataclass(frozen=True, slots=True)
class Variables(Part):
    """Read with SHOW GLOBAL VARIABLES, without those that hold secrets: names and values; () = not read.

    Attributes:
        values: as the server told them, whole: what is compared and judged.
        too_long: names of those that are not kept, since they are longer than a setting may be.
    """

    way: ClassVar[Way] = Way.SQL

    values: tuple[tuple[str, str], ...] = ()
    too_long: tuple[str, ...] = ()

    def value(self, name: str) -> str | None:
        """Return a variable's value in the running server, None when it was not read or there is none."""
        return next((value for known, value in self.values if known == name), None)

    def shown(self, name: str) -> str | None:
        """Return a value for people: one line, a long one shortened and marked so. Nothing is judged by it."""
        value = self.value(name)
        return None if value is None else words(value, _MOST_SHOWN)

    @property
    def durability(self) -> tuple[tuple[str, str], ...]:
        """Return the settings that decide what a crash may cost."""
        return tuple((name, value) for name in _DURABILITY if (value := self.value(name)) is not None)

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        found = reading.shared_variables("variables")
        if found is None:
            return None
        kept = {name: value for name, value in found.items() if not is_secret(name)}
        long = tuple(name for name, value in kept.items() if len(value) > _MOST_WHOLE)
        return cls(tuple((name, value) for name, value in kept.items() if name not in long), long)
