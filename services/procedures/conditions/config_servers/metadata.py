"""Whether config servers hold the same metadata, collection by collection."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.errors import UserError
from services.facts.mongodb.metadata import differing, parse_hashes
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking

_LIMIT_S, _TRIES, _PAUSE_S = 30.0, 3, 0.5


@condition("config_servers.metadata-same", "the config servers to have the same metadata")
class MetadataSame(OfHosts):
    """The hashes of every collection that moves only by a change of the catalog are equal on all of these.

    MongoDB manual, "dbHash". Locks, pings and logs move by themselves and are not compared. A mongos splits chunks at
    any time, one mirror after the other: what differs is asked again for a moment.
    """

    def look(self, asking: Asking) -> Answer:
        """Ask each of them, and once more where they differ."""
        for _ in range(_TRIES - 1):
            answer = self._compared(asking)
            if answer.holds is not False or asking.clock.sleep(_PAUSE_S):
                return answer
        return self._compared(asking)

    def _compared(self, asking: Asking) -> Answer:
        answers = asking.each(
            self.hosts, lambda host: asking.session(host).ask(reads.CONFIG_HASH, limit_s=_LIMIT_S).body
        )
        silent = next((f"{host}: {one.sentence}" for host, one in answers.items() if isinstance(one, UserError)), "")
        if silent:
            return Answer(holds=None, evidence=silent)
        told = {host: parse_hashes(one) for host, one in answers.items() if not isinstance(one, UserError)}
        if empty := [host for host, hashes in told.items() if not hashes]:
            return Answer(holds=None, evidence=f"{', '.join(empty)} reported no metadata: is its data folder empty?")
        where = ", ".join(self.hosts)
        if other := differing(told.values()):
            return Answer(holds=False, evidence=f"{where} differ in {', '.join(other)}")
        return Answer(holds=True, evidence=f"{where} have the same {', '.join(sorted(told[self.hosts[0]]))}")
