"""A TCP way from a host is open."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.tcp_ways import outcome_of
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.listening", "a port that {host} must reach")
class Listening(OfHost):
    """A TCP connection from `host` to address:port succeeds now."""

    address: str
    port: int

    def look(self, asking: Asking) -> Answer:
        """Try one TCP connection from the host."""
        output = asking.run(self.host, commands.TCP_TRIED.read(self.address, self.port), limit_s=8.0)
        outcome, said = outcome_of(output)
        way = f"{self.host} to {self.address} port {self.port}: {outcome} ({said})"
        return Answer(holds=None if outcome == "unknown" else outcome == "open", evidence=way)
