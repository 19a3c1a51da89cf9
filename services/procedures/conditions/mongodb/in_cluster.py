"""A mongos serves its sharded cluster: it reads the metadata, and they are those of the cluster that is meant."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.facts.mongodb.sharding import parse_cluster
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.in-cluster", "{host} to read the metadata of its cluster")
class InCluster(OfHost):
    """The metadata that this mongos reads have the cluster's id: another string of config servers leads elsewhere."""

    cluster_id: str

    def look(self, asking: Asking) -> Answer:
        """Ask for the metadata's version, which has the id."""
        told = asking.session(self.host).ask(reads.CONFIG_VERSION, limit_s=LIMIT_S).documents
        found = parse_cluster(version=told).id
        if not found:
            return Answer(holds=None, evidence=f"{self.host} reports no cluster id")
        return Answer(found == self.cluster_id, f"{self.host} reads the metadata of the cluster {found}")
