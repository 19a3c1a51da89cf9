"""Whether a tree of replication takes writes where they should begin."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.shared.channels import Link
from services.discovery.judgement.switches import FINE, Told, nobody_writes, shut
from services.discovery.nodes import Node
from services.types import Health


def unwritten(node: Node, links: Sequence[Link]) -> Told:
    """Return what is said of a server in no group that takes no writes where clients' writes should begin.

    That is one that others replicate from and that replicates from nobody, or a ring of such. Of one that nothing ties
    to another it is not known whether it should take any.
    """
    if not shut(node) or not all(shut(link.source) for link in links if link.replica is node):
        return FINE
    sources = [source for source in _above(node, links) if source is not node]
    if not all(_in(node, _above(source, links)) for source in sources):
        return FINE  # what stands above is judged, not this one
    text = nobody_writes(node, sources)
    feeds = any(link.source is node for link in links)
    return (Health.WARN if feeds else Health.UNKNOWN, text) if text else FINE


def _above(node: Node, links: Sequence[Link]) -> list[Node]:
    """Return every server whose writes reach this one, by any number of channels; it itself in a ring."""
    found: list[Node] = []
    ends = [node]
    while ends:
        end = ends.pop()
        new = [link.source for link in links if link.replica is end and not _in(link.source, found)]
        found += new
        ends += new
    return found


def _in(node: Node, nodes: Sequence[Node]) -> bool:
    return any(one is node for one in nodes)
