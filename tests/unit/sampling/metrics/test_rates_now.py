"""The rates that judgement needs: newest values in judgement's units, and no work for what a server does not give."""

from __future__ import annotations

from collections import Counter

import numpy as np

from services.clock import ManualClock
from services.sampling.metrics.rates_now import ASK_AGAIN_S, WANTED, RatesNow
from services.series import Series


class _CountingReader:
    """Gives 50 % of flow control and nothing else; counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def tail(self, _server: str, metric: str, since: float) -> Series:
        self.asked[metric] += 1
        if metric == "galera.paused":
            return Series(metric, np.array([since + 1, since + 2, since + 3]), np.array([10.0, 50.0, np.nan]))
        return Series(metric, np.array([]), np.array([]), missing="This server does not give it.")


def _second(rates: RatesNow, clock: ManualClock) -> dict[str, float]:
    clock.advance(1.0)
    rates.sampled("db1")
    return dict(rates.all()["db1"])


def test_that_the_newest_known_value_comes_in_the_unit_of_judgement() -> None:
    clock = ManualClock(1000.0)
    assert _second(RatesNow(_CountingReader(), clock), clock) == {"flow_control_share": 0.5}


def test_that_what_a_server_does_not_give_is_looked_for_every_third_second_only() -> None:
    clock, reader = ManualClock(1000.0), _CountingReader()
    rates = RatesNow(reader, clock)
    for _ in range(9):
        _second(rates, clock)
    assert reader.asked["galera.paused"] == 9
    assert {reader.asked[metric] for metric, _ in WANTED.values() if metric != "galera.paused"} == {9 / ASK_AGAIN_S}
