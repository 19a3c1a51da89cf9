"""How much Python a call takes, in instructions: the same on a busy machine and on an idle one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def steps(call: Callable[[], object]) -> int:
    """Return how many instructions of Python `call` takes."""
    taken = 0

    def trace(frame: FrameType, kind: str, _: object) -> object:
        nonlocal taken
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        taken += kind == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return taken


def growth(call_of: Callable[[int], Callable[[], object]], count: int) -> float:
    """Return how many times the instructions twice as many take: 2 where each costs the same, 4 where each asks all."""
    return steps(call_of(2 * count)) / steps(call_of(count))
