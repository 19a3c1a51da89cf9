"""A cluster beside what the inventory expects of it: one that has lost or never found a member is not good. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.discovery.families.families import Families
from services.discovery.model import ClusterSnapshot
from services.discovery.words import number, some
from services.facts.model import Problem
from services.types import Health, worst

SMALLER = "smaller-than-expected"


def judged_by_size(cluster: ClusterSnapshot, expected: Mapping[str, int], families: Families) -> ClusterSnapshot:
    """Return the cluster judged by how many nodes it should have.

    Args:
        expected: host key of a seed -> nodes of its cluster (`[[cluster]] expected` of the inventory).
    """
    wanted = next((expected[n.host] for n in cluster.nodes if n.host in expected), None)
    if wanted is None:
        return cluster
    family = families.of(cluster.kind)
    size = family.size(cluster)
    known = replace(cluster, expected=wanted, size=size)
    if size is None or size >= wanted:
        return known
    told = {"size": number(size), "nodes": some(wanted, "{n} node", "{n} nodes")}
    problem = Problem(cluster.kind.words, family.missing(cluster, told), SMALLER)
    return replace(known, problems=(problem, *cluster.problems), health=worst((cluster.health, Health.WARN)))
