"""The settings that only the running server knows whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts.harmless_options import is_secret
from services.facts.reading import words
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_DURABILITY = ("innodb_flush_log_at_trx_commit", "sync_binlog")


@dataclass(frozen=True, slots=True)
class Variables(Part):
    """Read with SHOW GLOBAL VARIABLES, without those that hold secrets: names and values; () = not read."""

    way: ClassVar[Way] = Way.SQL

    values: tuple[tuple[str, str], ...] = ()

    def value(self, name: str) -> str | None:
        """Return a variable's value in the running server, None when it was not read or there is none."""
        return next((value for known, value in self.values if known == name), None)

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
        return cls(tuple((name, words(value, 500)) for name, value in found.items() if not is_secret(name)))
