"""A sample of the fuzzer (`python -m tests.hostile.fuzz`, 20,000 a run): the same answers each time.

A test run takes the first thirty on each road; `test everything` the first hundred.
"""

from __future__ import annotations

from tests.hostile.fuzz import fuzz
from tests.hostile.roads import REPLIES
from tests.sample import EVERY

ROADS, EACH = 9, 100 if EVERY else 30


def test_that_damaged_logins_and_replies_are_sentences_in_time_and_in_little_memory() -> None:
    outcome = fuzz(ROADS * EACH, seed=1)
    assert outcome.escaped == []
    assert list(outcome.tried.values()) == [EACH] * ROADS
    assert outcome.reached == outcome.tried, "a road whose answers reach nobody proves nothing"
    assert outcome.slowest_s < 30.0  # at most five limits of 2 s follow each other, on a machine three times slower
    assert outcome.grown < 200 << 20


def test_that_every_statement_of_the_registry_has_a_damaged_reply() -> None:
    from services.connections.reads.statements import STATEMENTS

    assert set(REPLIES) == set(STATEMENTS)
