"""Whether a program on the host gets in at its server over the socket by its account alone, without a password."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.machine.machine import parse_login
from services.procedures.plan.part import Part, Reading, Turn, Way
from services.procedures.plan.parts.server.variables import Variables

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class SocketLogin(Part):
    """Really tried, over SSH: accounts are the same on each node, so it tells of restored data too.

    Attributes:
        works: None = not tried, or not answered; who: the accounts that get in, or were refused.
    """

    way: ClassVar[Way] = Way.GALERA
    turn: ClassVar[Turn] = Turn.RIGHTS
    made_from: ClassVar[tuple[type[Part], ...]] = (Variables,)

    works: bool | None = None
    who: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        socket = reads.clean(host[Variables].value("socket") or "")
        if not socket or not Way.SSH.leads_to(host):
            return None
        text = reading.text("socket-login", commands.LOGS_IN_BY_SOCKET.read(socket, sudo=True))
        told = parse_login(text or "")
        return cls(*told) if told is not None else None
