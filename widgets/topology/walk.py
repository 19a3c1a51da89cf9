"""Walking from node to node by the arrow keys. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from services.drawing.box import Box

WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_AHEAD = 8.0  # pixels: what stands less far in that direction stands beside


def neighbour(boxes: Mapping[str, Box], node_id: str, way: str) -> str:
    """Return the nearest node in a direction of WAYS; the first one when nothing is selected, '' at the border."""
    if node_id not in boxes:
        return min(boxes, key=lambda n: (boxes[n].y, boxes[n].x), default="")
    here, (dx, dy) = boxes[node_id], WAYS[way]

    def cost(other: str) -> float:
        ahead = (boxes[other].cx - here.cx) * dx + (boxes[other].cy - here.cy) * dy
        aside = abs((boxes[other].cx - here.cx) * dy) + abs((boxes[other].cy - here.cy) * dx)
        return math.inf if ahead < _AHEAD else ahead + 2.0 * aside

    best = min((n for n in boxes if n != node_id), key=cost, default="")
    return best if best and cost(best) < math.inf else ""
