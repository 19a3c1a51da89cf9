"""The provider of Galera and its options: as the running server has them, else as its option files give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts.galera.provider_options import is_cut
from services.facts.server.option_files import provider_options_of
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Provider(Part):
    """Read with SHOW GLOBAL VARIABLES (wsrep_provider, wsrep_provider_options).

    Attributes:
        path: the library; '' = none, or not known.
        options: option and value; () = not read.
    """

    way: ClassVar[Way] = Way.ANY
    made_from: ClassVar[tuple[type[Part], ...]] = (Options,)

    path: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        """Return an option's text, None when the provider has none of that name."""
        return next((value for option, value in self.options if option == name), None)

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        live = (reading.shared_variables("variables") if Way.SQL.leads_to(host) else None) or {}
        told = live.get("wsrep_provider_options", "")
        given = host[Options]
        return cls(
            path=live.get("wsrep_provider", "") or given.option("mysqld", "wsrep_provider") or "",
            options=provider_options_of("" if is_cut(told) else told)
            or provider_options_of(given.option("mysqld", "wsrep_provider_options") or ""),
        )
