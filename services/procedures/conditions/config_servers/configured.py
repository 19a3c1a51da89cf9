"""What a replica set's configuration says: whether one lies in a server's data, whether everybody votes."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.facts.mongodb.replica_set import ReplicaSet
from services.facts.mongodb.values import line
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("config_servers.set-lies", "the configuration of a set in the data of {host}")
class SetLies(OfHost):
    """The configuration of a set of this name lies in the server's data; none at all where the name is ''."""

    name: str

    def look(self, asking: Asking) -> Answer:
        """Read local.system.replset, which a server without --replSet shows too."""
        found = asking.session(self.host).ask(reads.SET_DOCUMENT, limit_s=LIMIT_S).documents
        names = [line(one.get("_id")) for one in found]
        evidence = f"{self.host} has the configuration of {', '.join(names) or 'no set'} in its data"
        return Answer(names == ([self.name] if self.name else []), evidence)


@condition("config_servers.all-vote", "every member to vote and to be electable")
class AllVote(OfSet):
    """Every member is in the configuration that each of them has, votes, and may become primary."""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"vote {host}" for host in self.hosts))

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        for host, view in views.items():
            if len(view.members) != len(self.hosts):
                evidence = (
                    f"{host} has {len(view.members)} members in its configuration, {len(self.hosts)} are required"
                )
                return Answer(holds=False, evidence=evidence)
            if mute := [one.place.name for one in view.members if not one.votes or not one.priority]:
                return Answer(
                    holds=False, evidence=f"{', '.join(mute)} cannot vote or be elected, by the configuration on {host}"
                )
        return Answer(holds=True, evidence=f"{', '.join(self.hosts)} vote, and each is electable")
