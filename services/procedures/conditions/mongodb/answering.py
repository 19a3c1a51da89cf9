"""Whether servers answer at all, whatever they are."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.errors import UserError
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.answering", "each of these servers to answer")
class Answering(OfHosts):
    """Each of these servers answers a greeting."""

    def look(self, asking: Asking) -> Answer:
        """Greet them all."""
        answers = asking.each(self.hosts, lambda host: asking.session(host).ask(reads.HELLO, limit_s=LIMIT_S))
        silent = next((f"{host}: {one.sentence}" for host, one in answers.items() if isinstance(one, UserError)), "")
        return Answer(not silent, silent or f"{', '.join(self.hosts)} answer")
