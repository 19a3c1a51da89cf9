"""What the wizard is told beside the plan and the run: results of a rehearsal, a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a rehearsal found for one step: every read was run, every change only printed.

    Attributes:
        holds: the preconditions hold; False: they don't; None: they could not be read, or depend on earlier steps.
        sentence: what was found; lines: raw evidence.
        already: the proof holds before the act: nothing would be done.
    """

    step_id: str
    holds: bool | None
    sentence: str
    lines: tuple[str, ...] = ()
    already: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve beside the run: UTC epoch seconds and values (NaN is a gap), the same number of both.

    `read_at`: when it was read; a last value that is much older than that is no value of now.
    """

    times: Sequence[float] = ()
    values: Sequence[float] = ()
    unit: str = ""
    read_at: float | None = None
