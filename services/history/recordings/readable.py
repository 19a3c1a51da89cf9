"""The JSON of a snapshot: what a reader takes, and what the writer leaves out so that it takes all that is written.

A server says texts as long as it likes (GTID sets, names of members), and estates differ in size. What the reader would
refuse is left out before it is written: one word or one node less, never the whole moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from services.discovery.as_json import from_file
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView, left_out, with_codes
from services.history.recordings.bounds import MOST_NODE_NAME, MOST_NODES, MOST_WORD, CodecError, json_text, moment
from services.json_text import stored_json

_CUT = MOST_WORD // 7
"""Characters of a text that was cut: JSON writes six bytes for one at most."""


def read_snapshot(text: bytes) -> EstateSnapshot:
    """Return the snapshot of its JSON.

    Raises:
        CodecError, msgspec.MsgspecError, RecursionError: it is none, or holds more than it may.
    """
    snapshot = msgspec.json.decode(json_text(text), type=EstateSnapshot, dec_hook=from_file)
    moment(snapshot.at)
    if _crowd(snapshot) > MOST_NODES:
        raise CodecError("it holds more nodes than an estate has")  # a window would stand still over it
    return with_codes(_named_shortly(snapshot))


def _named_shortly(snapshot: EstateSnapshot) -> EstateSnapshot:
    """Cut names that are longer than a host's may be: a window would measure each of them again and again."""
    if not any(_is_long(n.name) for c in snapshot.clusters for n in c.nodes) and not any(
        _is_long(c.name) for c in snapshot.clusters
    ):
        return snapshot
    clusters = tuple(
        replace(c, name=_named(c.name), nodes=tuple(replace(n, name=_named(n.name)) for n in c.nodes))
        for c in snapshot.clusters
    )
    return replace(snapshot, clusters=clusters)


def _is_long(name: str) -> bool:
    return len(name) > MOST_NODE_NAME


def _named(name: str) -> str:
    return f"{name[: MOST_NODE_NAME - 1]}…" if _is_long(name) else name


def readable(snapshot: EstateSnapshot) -> bytes:
    """Return JSON that `read` takes: the whole snapshot, else as much of it as it takes, and a problem that says so."""
    text = stored_json(snapshot)
    if _is_read(text):
        return text
    text = _with_short_words(text)
    less = snapshot
    for smaller in _SMALLER:
        if _is_read(text):
            return text
        less = smaller(less)
        told = replace(less, problems=(*less.problems, left_out()))
        text = _with_short_words(stored_json(told))
    return text


def _is_read(text: bytes) -> bool:
    try:
        read_snapshot(text)
    except (CodecError, msgspec.MsgspecError, RecursionError):
        return False
    return True


def _crowd(snapshot: EstateSnapshot) -> int:
    sizes = [_sizes(cluster) for cluster in snapshot.clusters]
    nodes, edges, problems = (sum(size[n] for size in sizes) for n in range(3))
    return max(nodes, edges, problems + len(snapshot.problems), len(sizes))


def _sizes(cluster: ClusterSnapshot) -> tuple[int, int, int]:
    edges = (cluster.replication, cluster.transfers, cluster.components, cluster.views)
    return len(cluster.nodes), sum(map(len, edges)), len(cluster.problems)


def _without_hearsay(snapshot: EstateSnapshot) -> EstateSnapshot:
    """Leave out what only others speak of."""
    return _with_nodes(snapshot, lambda node: node if node.host else None)


def _without_facts(snapshot: EstateSnapshot) -> EstateSnapshot:
    return _with_nodes(snapshot, lambda node: replace(node, facts=None))


def _with_nodes(snapshot: EstateSnapshot, made: Callable[[NodeView], NodeView | None]) -> EstateSnapshot:
    def of(cluster: ClusterSnapshot) -> ClusterSnapshot:
        return replace(cluster, nodes=tuple(shown for node in cluster.nodes if (shown := made(node)) is not None))

    return replace(snapshot, clusters=tuple(of(cluster) for cluster in snapshot.clusters))


def _first_clusters(snapshot: EstateSnapshot) -> EstateSnapshot:
    """Keep the clusters in their order, as many as a reader takes, with the problems that have room beside them."""
    problems = snapshot.problems[: MOST_NODES // 2]
    nodes, edges, told = 0, 0, len(problems) + 1
    clusters: list[ClusterSnapshot] = []
    for cluster in snapshot.clusters:
        more = _sizes(cluster)
        nodes, edges, told = nodes + more[0], edges + more[1], told + more[2]
        if max(nodes, edges, told, len(clusters) + 1) > MOST_NODES:
            break
        clusters.append(cluster)
    return replace(snapshot, clusters=tuple(clusters), problems=problems)


def _bare(snapshot: EstateSnapshot) -> EstateSnapshot:
    return replace(snapshot, clusters=(), problems=(), unasked=())


_SMALLER = (_without_hearsay, _first_clusters, _without_facts, _bare)


def _with_short_words(text: bytes) -> bytes:
    """Return the JSON without texts that are longer than a sentence: a set of GTIDs is left out, others are cut."""
    return stored_json(_short(msgspec.json.decode(text)))


def _short(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _short(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_short(inner, key) for inner in value]
    if isinstance(value, str) and len(stored_json(value)) > MOST_WORD:
        return "" if key.startswith("gtid") else f"{value[:_CUT]}…"  # half a set would tell of other transactions
    return value
