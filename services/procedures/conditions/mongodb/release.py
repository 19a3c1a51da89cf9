"""Which release a server runs."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.errors import Unreachable
from services.facts.mongodb.values import line
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.release", "the server of {host} to run the new version")
class RunsRelease(OfHost):
    """The server answers, and says that it is of this version, whole ('3.2.22')."""

    version: str

    def look(self, asking: Asking) -> Answer:
        """Ask the server."""
        try:
            answer = asking.session(self.host).ask(reads.BUILD_INFO, limit_s=LIMIT_S)
        except Unreachable:
            return Answer(holds=None, evidence=f"{self.host} does not answer")
        told = line(answer.body.get("version"), 40)
        if not told:
            return Answer(holds=None, evidence=f"{self.host} reports no version")
        return Answer(told == self.version, f"{self.host} runs {told}")
