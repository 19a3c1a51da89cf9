"""Flow control of a node."""

from __future__ import annotations

from services.facts.reading import count
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

LEAST_SPAN_S, MOST_SPAN_S = 1.0, 60.0
"""Flow control is compared over at least this long, and at most: an older look says little of now."""


@condition("galera.flow-control", "flow control of {host} to decrease")
class FlowControlBelow(OfHost):
    """Flow control paused the node at most this share (0..1) of the last `for_s` seconds; 0: between two looks."""

    share: float
    for_s: float = 0.0

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), lasts_s=self.for_s)

    def look(self, asking: Asking) -> Answer:
        """Compare wsrep_flow_control_paused_ns (ns since the start) of looks: over all of `for_s`, or the last two.

        The counter is exact, so that nothing between two looks of the span is missed.
        """
        host, began = self.host, asking.clock.monotonic()
        paused = count(asking.status(host).get("wsrep_flow_control_paused_ns", ""))
        now = (began + asking.clock.monotonic()) / 2
        if paused is None:
            return Answer(holds=None, evidence=f"{host} reports no wsrep_flow_control_paused_ns")
        seen = _points(asking.memory.value(self))
        if seen and (paused < seen[-1][1] or now - seen[-1][0] > MOST_SPAN_S):
            seen = ()  # the server was restarted, or nobody looked
        if seen and now - seen[-1][0] < LEAST_SPAN_S:
            return Answer(holds=None, evidence=f"flow control of {host} needs a later reading")
        seen = _window((*seen, (now, paused)), self.for_s)
        asking.memory.keep(self, seen)
        span = seen[-1][0] - seen[0][0]
        if len(seen) == 1 and self.for_s <= 0:
            return Answer(holds=None, evidence=f"flow control of {host} needs a second reading")
        share = min(1.0, (seen[-1][1] - seen[0][1]) / 1e9 / span) if span else 0.0
        evidence = f"flow control paused {host} {share:.0%} of the last {span:.0f} s; the limit is {self.share:.0%}"
        if span < self.for_s:
            left = self.for_s - span
            return Answer(holds=False, evidence=evidence, done=span, total=self.for_s, unit="s", left_s=left)
        return Answer(share <= self.share, evidence)


def _points(kept: object) -> tuple[tuple[float, int], ...]:
    return kept if isinstance(kept, tuple) else ()


def _window(seen: tuple[tuple[float, int], ...], for_s: float) -> tuple[tuple[float, int], ...]:
    """Return the looks that span the last `for_s` seconds, the last two for 0."""
    first = max((i for i, (at, _) in enumerate(seen[:-1]) if seen[-1][0] - at >= for_s), default=0)
    return seen[first:]
