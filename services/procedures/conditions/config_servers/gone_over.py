"""Whether a member of a shard has gone over to a set of config servers, which it does by itself and for good."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.errors import Unreachable
from services.facts.mongodb.sharding import parse_cluster
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.conditions.mongodb.told import LIMIT_S, own, told_by
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("config_servers.not-gone-over", "{host} to use the mirrored config servers, or none yet")
class NotGoneOver(OfHost):
    """The server uses mirrored config servers, or none yet: it has not led, or does not run, and begins anew.

    A secondary tells it too: getShardMap, unlike shardingState, asks for no primary (tried on 3.2.5).
    """

    unit: str

    def look(self, asking: Asking) -> Answer:
        """Ask for its map; where nobody answers, whether a server runs at all."""
        try:
            body = asking.session(self.host).ask(reads.SHARD_MAP, limit_s=LIMIT_S).body
        except Unreachable:
            stopped = MongoStopped(self.host, self.unit).look(asking)
            if stopped.holds:
                return Answer(holds=True, evidence=f"{stopped.evidence}: it starts again")
            raise
        used = parse_cluster(shard_map=body).config
        if used.set_name:
            evidence = "until its mongod is restarted, it refuses requests of a mongos that uses the mirrored ones"
            return Answer(holds=False, evidence=f"{self.host} uses {used.set_name}/: {evidence}")
        evidence = "mirrored config servers" if used.places else "no config servers yet"
        return Answer(holds=True, evidence=f"{self.host} uses {evidence}")


@condition("config_servers.need-not-hand-over", "{host} to use the mirrored config servers, or not to be primary")
class NeedNotHandOver(OfHost):
    """The member has not gone over, so that it is not started again, or it does not lead.

    Nobody else need lead yet: for the seconds of an election a second step-down would be refused ("not primary so
    can't step down", seen on 3.2.5: its own connection had broken by the first).
    """

    unit: str

    def look(self, asking: Asking) -> Answer:
        """Ask it for its map, then for its part."""
        stays = NotGoneOver(self.host, self.unit).look(asking)
        if stays.holds:
            return stays
        state = own(told_by(asking, self.host)).state
        return Answer(state != "PRIMARY", f"{self.host} is {state or 'in no known state'}")
