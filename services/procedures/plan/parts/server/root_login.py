"""Whether root of a host logs in at its server without a password, as a timer or a unit of systemd would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.procedures.plan.part import Part, Reading, Turn, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class RootLogin(Part):
    """Really tried, over SSH: a freeze's guard and the lock of a snapshot log in so.

    Attributes:
        works: None = not tried; said: the client's own words.
    """

    way: ClassVar[Way] = Way.GALERA
    turn: ClassVar[Turn] = Turn.RIGHTS

    works: bool | None = None
    said: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        if not Way.SSH.leads_to(host):
            return None
        output = reading.run("root-login", commands.ROOT_LOGIN)
        if output is None or (reading.sudo_works is not True and not host.is_root):
            return None
        return cls(output.exit_code == 0, output.error_text[:200])
