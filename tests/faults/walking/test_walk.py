"""Every refusal opens a way: its own advice, followed, leads to a run that ends well; on scripted hosts.

Where nothing is left of what was refused, the run would be its case's unbroken one: that is run once, and not for each
refusal again (test_killed_at_every_entry.py).
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.walking import stops as walk_stops
from tests.faults.walking import stops_backups as walk_stops_backups
from tests.faults.walking import stops_galera as walk_stops_galera
from tests.faults.walking import stops_mongodb as walk_stops_mongodb
from tests.faults.walking.walk import Stop, begins_as_its_case, bench_of, blocking_codes, follow

STOPS = (*walk_stops.STOPS, *walk_stops_galera.STOPS, *walk_stops_backups.STOPS, *walk_stops_mongodb.STOPS)


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
    if begins_as_its_case(stop, bench):
        return
    bench.begin()
    state = bench.run()
    assert state is RunState.DONE, bench.engine().view.sentence


def test_that_every_code_that_can_block_is_walked() -> None:
    codes = blocking_codes()
    walked = {stop.code for stop in STOPS}
    unknown = {code for code in walked - codes if not any(_matches(one, code) for one in codes)}
    assert unknown == set(), "codes that no check of the catalogue has"
    missing = {code for code in codes if not any(_matches(code, one) for one in walked)}
    assert missing == set(), "no stop of walk_stops*.py makes these block, and nobody knows whether their advice is one"


def _matches(code: str, walked: str) -> bool:
    head, star, _ = code.partition("*")
    return walked.startswith(head) if star else walked == code
