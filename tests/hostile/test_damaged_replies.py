"""A sample of the fuzzer (`python -m tests.hostile.fuzz`, 20,000 a run): the same talks each time."""

from __future__ import annotations

from tests.hostile.fuzz import fuzz


def test_that_damaged_logins_and_replies_are_sentences_in_time_and_in_little_memory() -> None:
    outcome = fuzz(400, seed=1)
    assert outcome.escaped == []
    assert outcome.tried == 400
    assert outcome.slowest_s < 10.0
    assert outcome.grown < 200 << 20
