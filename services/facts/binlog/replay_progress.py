"""How far a replay of binary logs is: the line that the replaying program keeps in a file. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_LINE = re.compile(r"([0-9]{1,12}) ([0-9]{1,12}) ([0-9]{1,12}) ([0-9]{1,9}) ([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Progress:
    """Epoch seconds of the line, transactions done and in all, done a second, the seqno that it ends at."""

    at: int
    done: int
    total: int
    rate: int
    target: int

    @property
    def left_s(self) -> float:
        """Return the seconds that are left at this rate; infinity without one."""
        left = max(0, self.total - self.done)
        return 0.0 if not left else left / self.rate if self.rate else math.inf


def parse_progress(text: str) -> Progress | None:
    """Return the progress out of 'EPOCH DONE TOTAL RATE TARGET'; None for anything else."""
    found = _LINE.fullmatch(text.strip())
    return Progress(*(int(group) for group in found.groups())) if found is not None else None
