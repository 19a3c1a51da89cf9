"""How an estate is watched and steered here, as a person set it; light enough to be known before anything is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Watching:
    """interval_s: between two samples; keep_days, most_gib: of the history.

    limits: gives name of a procedure's question -> the answer it begins with, as it is set at that moment.
    """

    interval_s: int = 1
    keep_days: int = 14
    most_gib: int = 2
    limits: Callable[[], Mapping[str, str]] = dict
