"""Places asynchronous servers: sources above, replicas below, parents over the middle of their children."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from services.drawing.box import Box
from widgets.topology.geometry import CARD_H, CARD_W, GAP, ROW_GAP, WIDE_GAP, card_at
from widgets.topology.layers import Group, groups

_LEAVES_IN_A_ROW = 5
_TREE_GAP = 32.0


@dataclass(slots=True)
class _Block:
    """A group with everything below it; x positions are relative to the block's left edge."""

    group: Group
    index: int
    children: list[_Block] = field(default_factory=list)
    leaves: list[_Block] = field(default_factory=list)  # drawn as a grid when there are many
    width: float = 0.0
    own_x: float = 0.0

    @property
    def own_width(self) -> float:
        count = len(self.group.members)
        return count * CARD_W + (count - 1) * WIDE_GAP


def place_forest(
    order: Sequence[str],
    edges: Sequence[tuple[str, str]],
    *,
    top: float = 0.0,
    wanted: Mapping[str, float] | None = None,
) -> dict[str, Box]:
    """Return a card for every node of `order`.

    Args:
        edges: (source, replica) among them and from outside.
        top: y of the first layer.
        wanted: node -> middle (x) below which a root should hang, for replicas of nodes drawn above.
    """
    all_groups = groups(order, edges)
    blocks = [_Block(group, i) for i, group in enumerate(all_groups)]
    rank = {node: i for i, node in enumerate(order)}
    roots = _linked(blocks, rank)
    for block in reversed(blocks):
        _measure(block)
    tops = _layer_tops(blocks, top)
    placed: dict[str, Box] = {}
    x = -math.inf
    for block, want in _in_wanted_order(roots, wanted or {}):
        middle = block.own_x + block.own_width / 2
        left = max(x, want - middle) if want is not None else max(x, 0.0)
        _put(block, left, tops, placed)
        x = left + block.width + _TREE_GAP
    _centre_gatherers(blocks, placed)
    return placed


def _linked(blocks: list[_Block], rank: Mapping[str, int]) -> list[_Block]:
    with_children = {b.group.parent for b in blocks if b.group.parent is not None}
    roots = []
    for block in sorted(blocks, key=lambda b: min(rank[m] for m in b.group.members)):
        parent = block.group.parent
        if parent is None:
            roots.append(block)
        elif block.index in with_children or len(block.group.members) > 1:
            blocks[parent].children.append(block)
        else:
            blocks[parent].leaves.append(block)
    return roots


def _columns(leaves: int) -> int:
    return leaves if leaves <= _LEAVES_IN_A_ROW else max(_LEAVES_IN_A_ROW, math.ceil(math.sqrt(1.6 * leaves)))


def _leaves_width(block: _Block) -> float:
    columns = _columns(len(block.leaves))
    return columns * CARD_W + (columns - 1) * GAP if columns else 0.0


def _measure(block: _Block) -> None:
    parts = [child.width for child in block.children]
    if block.leaves:
        parts.append(_leaves_width(block))
    below = sum(parts) + _TREE_GAP * max(0, len(parts) - 1)
    block.width = max(block.own_width, below)
    block.own_x = (block.width - block.own_width) / 2


def _layer_tops(blocks: list[_Block], top: float) -> dict[int, float]:
    rows: dict[int, int] = {}
    for block in blocks:
        layer = block.group.layer
        rows[layer] = max(rows.get(layer, 1), 1)
        if block.leaves:
            # A grid of leaves may hang under a parent that is more than one layer above the deepest of them.
            below = max(leaf.group.layer for leaf in block.leaves)
            rows[below] = max(rows.get(below, 1), math.ceil(len(block.leaves) / _columns(len(block.leaves))))
    tops, y = {}, top
    for layer in sorted(rows):
        tops[layer] = y
        y += rows[layer] * (CARD_H + ROW_GAP)
    return tops


def _in_wanted_order(roots: list[_Block], wanted: Mapping[str, float]) -> list[tuple[_Block, float | None]]:
    pairs = [(r, next((wanted[m] for m in r.group.members if m in wanted), None)) for r in roots]
    return sorted(pairs, key=lambda p: math.inf if p[1] is None else p[1])


def _put(block: _Block, left: float, tops: Mapping[int, float], placed: dict[str, Box]) -> None:
    stack = [(block, left)]
    while stack:
        here, x0 = stack.pop()
        y = tops[here.group.layer]
        for i, member in enumerate(here.group.members):
            placed[member] = card_at(x0 + here.own_x + i * (CARD_W + WIDE_GAP), y)
        parts = [child.width for child in here.children] + ([_leaves_width(here)] if here.leaves else [])
        below = sum(parts) + _TREE_GAP * max(0, len(parts) - 1)
        x = x0 + (here.width - below) / 2
        for child in here.children:
            stack.append((child, x))
            x += child.width + _TREE_GAP
        columns = _columns(len(here.leaves))
        for i, leaf in enumerate(here.leaves):
            row, column = divmod(i, columns)
            y = tops[leaf.group.layer] + row * (CARD_H + ROW_GAP)
            placed[leaf.group.members[0]] = card_at(x + column * (CARD_W + GAP), y)


def _centre_gatherers(blocks: list[_Block], placed: dict[str, Box]) -> None:
    """Move a replica of several sources under the middle of them, where nothing of its row stands in the way.

    Rows are further apart than a card is high: only one's own row can be in the way.
    """
    rows: dict[float, list[float]] = {}
    for box in sorted(placed.values(), key=attrgetter("x")):
        rows.setdefault(box.y, []).append(box.x)
    for block in blocks:
        if len(block.group.parents) < 2 or block.children or block.leaves or len(block.group.members) > 1:
            continue
        sources = [placed[m].cx for p in block.group.parents for m in blocks[p].group.members]
        name = block.group.members[0]
        there = card_at((min(sources) + max(sources)) / 2 - CARD_W / 2, placed[name].y)
        row, left = rows[there.y], there.x - GAP / 2 - CARD_W
        row.remove(placed[name].x)
        at = bisect_right(row, left)
        if at == len(row) or row[at] >= there.right + GAP / 2:
            placed[name] = there
        insort(row, placed[name].x)
