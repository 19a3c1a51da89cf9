"""Layers of a replication graph that may hold circles and several sources: circles become one layer, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that replicate in a circle, or (nearly always) one node.

    Attributes:
        members: in drawing order. layer: 0 for those without a source. parents: indices of source groups.
    """

    members: tuple[str, ...]
    layer: int
    parents: tuple[int, ...]

    @property
    def parent(self) -> int | None:
        """Return the group it hangs below in the tree: its deepest source, or None."""
        return self.parents[0] if self.parents else None


def groups(order: Sequence[str], edges: Sequence[tuple[str, str]]) -> tuple[Group, ...]:
    """Return the groups of the graph, sources before replicas; deterministic in `order`.

    Args:
        order: all nodes, in the order that decides ties.
        edges: (source, replica); edges to nodes outside `order` and to oneself are ignored.
    """
    known = set(order)
    down: dict[str, list[str]] = {n: [] for n in order}
    up: dict[str, list[str]] = {n: [] for n in order}
    for source, replica in dict.fromkeys(edges):  # several channels may join the same pair
        if source in known and replica in known and source != replica:
            down[source].append(replica)
            up[replica].append(source)
    components = _strongly_connected(order, down, up)
    return _layered(components, up, {n: i for i, n in enumerate(order)})


def _strongly_connected(
    order: Sequence[str], down: Mapping[str, Sequence[str]], up: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """Kosaraju's two passes, without recursion: chains may be long."""
    finished: list[str] = []
    seen: set[str] = set()
    for start in order:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(down[start]))]
        while stack:
            node, children = stack[-1]
            child = next((c for c in children if c not in seen), None)
            if child is None:
                finished.append(node)
                stack.pop()
            else:
                seen.add(child)
                stack.append((child, iter(down[child])))
    components: list[list[str]] = []
    placed: set[str] = set()
    for start in reversed(finished):
        if start in placed:
            continue
        placed.add(start)
        component, todo = [], [start]
        while todo:
            node = todo.pop()
            component.append(node)
            fresh = [s for s in up[node] if s not in placed]
            placed.update(fresh)
            todo.extend(fresh)
        components.append(component)
    return components  # sources come before their replicas


def _layered(
    components: list[list[str]], up: Mapping[str, Sequence[str]], rank: Mapping[str, int]
) -> tuple[Group, ...]:
    home = {node: i for i, component in enumerate(components) for node in component}
    result: list[Group] = []
    for i, component in enumerate(components):
        parents = {home[s] for n in component for s in up[n]} - {i}
        deepest_first = sorted(parents, key=lambda p: (-result[p].layer, min(rank[n] for n in components[p])))
        layer = 1 + max((result[p].layer for p in parents), default=-1)
        result.append(Group(_along_the_circle(component, up, rank), layer, tuple(deepest_first)))
    return tuple(result)


def _along_the_circle(
    component: Sequence[str], up: Mapping[str, Sequence[str]], rank: Mapping[str, int]
) -> tuple[str, ...]:
    """Order a circle so that each node stands right of its source where that is possible."""
    left = sorted(component, key=lambda n: rank[n])
    line = [left.pop(0)]
    while left:
        following = next((n for n in left if line[-1] in up[n]), left[0])
        left.remove(following)
        line.append(following)
    return tuple(line)
