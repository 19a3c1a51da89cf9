"""What can be proven of a server behind a HAProxy, as data (see conditions.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class BalancerServer:
    """The HAProxy with this stats socket on `host` treats a server of a backend so.

    Attributes:
        state: 'serving' (it takes new sessions: UP or not checked), 'free' (nobody has set it to drain or maintenance;
            it may be down), 'drained' (set to drain or maintenance).
        at_most: sessions it may still have; None: they don't count.
        patience_s: above 0 the sessions are only waited for so long, and the condition holds then all the same.
    """

    host: str
    socket: str
    backend: str
    server: str
    state: Literal["serving", "free", "drained"]
    at_most: int | None = None
    patience_s: float = 0.0
