"""Every refusal opens a way: its own advice, followed, leads to a run that ends well; on scripted hosts."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.not_walked import NOT_WALKED
from tests.faults.walk import Stop, bench_of, blocking_codes, follow
from tests.faults.walk_stops import STOPS

MOST_NOT_WALKED = 90
"""It only becomes less."""


@pytest.mark.parametrize("stop", STOPS, ids=str)
def test_that_the_advice_of_a_refusal_followed_leads_to_a_run_that_ends_well_on_scripted_hosts(stop: Stop) -> None:
    bench = bench_of(stop)
    refused = bench.blocks(stop.code)
    assert refused, f"{stop.code} does not block"
    for check in refused:
        assert check.try_ or check.answers or check.commands, f"{check.code} refuses and opens no way: {check.evidence}"
        said = " ".join((*check.try_, *(answer.advice for answer in check.answers)))
        assert stop.needs.lower() in said.lower(), said
    follow(stop, bench, refused)
    if stop.way != "accepted":
        assert bench.blocks(stop.code) == ()
    bench.begin()
    state = bench.run()
    assert state is RunState.DONE, bench.engine().view.sentence


def test_that_every_code_that_can_block_is_walked_or_named_with_the_reason() -> None:
    codes = blocking_codes()
    walked = {stop.code for stop in STOPS}
    unknown = {code for code in walked - codes if not any(_matches(one, code) for one in codes)}
    assert unknown == set(), "codes that no check of the catalogue has"
    missing = {code for code in codes if not any(_matches(code, one) for one in walked)} - NOT_WALKED.keys()
    assert missing == set(), "no stop of walk_stops.py walks these, and not_walked.py names no reason"
    assert {code for code in NOT_WALKED if any(_matches(code, one) for one in walked)} == set(), "walked after all"
    assert NOT_WALKED.keys() - codes == set(), "named, and no code of a check that blocks"
    assert len(NOT_WALKED) <= MOST_NOT_WALKED


def _matches(code: str, walked: str) -> bool:
    head, star, _ = code.partition("*")
    return walked.startswith(head) if star else walked == code
