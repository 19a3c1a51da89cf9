"""That no mongos runs, while nobody may change the catalog."""

from __future__ import annotations

from services.errors import UserError
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking


@condition("config_servers.no-router-runs", "every mongos to be stopped")
class NoRouterRuns(OfHosts):
    """Every mongos is stopped, as its host and systemd say.

    One that a colleague starts meanwhile goes over to the set by itself as soon as it is made, whatever string stands
    in its file (tried on 3.2.5): it serves, and what it changes lies in the set alone.

    Attributes:
        units: of each host, in their order.
    """

    units: tuple[str, ...]

    def look(self, asking: Asking) -> Answer:
        """List the processes of each host, and ask its systemd."""
        units = dict(zip(self.hosts, self.units, strict=True))
        found = asking.each(self.hosts, lambda host: MongoStopped(host, units[host]).look(asking))
        running = [host for host, one in found.items() if isinstance(one, Answer) and one.holds is False]
        if running:
            return Answer(holds=False, evidence=f"a mongos runs on {', '.join(running)}")
        for host, one in found.items():
            if isinstance(one, UserError):
                return Answer(holds=None, evidence=f"{host}: {one.sentence}")
            if one.holds is None:
                return one
        return Answer(holds=True, evidence="no mongos runs")
