"""How wide the cards of a drawing are: as on paper, or wider where their words would be cut beside empty ground."""

from __future__ import annotations

import math
from collections.abc import Collection

from widgets.topology.geometry import CARD_W
from widgets.topology.node_item import NodeItem

_MOST, _STEP = 1.7, 0.1


def stretch_for(room: float, items: Collection[NodeItem], now: float) -> float:
    """Return the factor to widen a drawing by.

    Args:
        room: how often the drawing's unstretched width fits beside itself at 100 %.
        now: the present factor; while it fits it is kept or grows: numbers that change must not move the cards.
    """
    fits = min(_MOST, math.floor(room / _STEP + 1e-9) * _STEP)
    if fits <= 1.0 or not items:
        return 1.0
    wanted = max(item.wanted_width() for item in items) / CARD_W
    return max(1.0, min(fits, max(now, math.ceil(wanted / _STEP - 1e-9) * _STEP)))
