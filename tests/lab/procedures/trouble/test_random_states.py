"""A few of the random states on real servers: forks, damaged state files, a restored copy, a wrong bootstrap.

The long run over hundreds of seeds is `python -m tests.lab.random_states`; its table: resources/docs/random-states.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.random_states.generator import TESTED, state_of
from tests.lab.random_states.judging import FAIL
from tests.lab.random_states.restoring import Pristine
from tests.lab.random_states.trial import tried
from tests.sample import sampled

QUICK = (47,)
"""In every run of the tests; the others with `test everything`."""


@pytest.fixture(scope="module")
def pristine(steer_estate: Estate) -> Iterator[Pristine]:
    """The steer estate with a copy of every node to come back to; as it was found afterwards."""
    steer_estate.undo()
    one = Pristine(steer_estate)
    yield one
    one.give_back()


@pytest.mark.slow
@pytest.mark.parametrize("seed", sampled(TESTED, lambda seed: seed not in QUICK))
def test_that_no_row_is_lost_or_forked_under_an_ok_in_the_random_state_of(
    steer_estate: Estate, pristine: Pristine, seed: int
) -> None:
    pristine.restore()
    trial = tried(steer_estate, state_of(seed))
    assert trial.verdict.word != FAIL, f"{trial}\n{trial.transcript}"
