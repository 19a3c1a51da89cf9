"""Nights with traps: each trap comes up often and where it can act; what undoes a finished return is a failure."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.lab.random_states.asking import Asked, Ended, read_end
from tests.lab.random_states.judging import After, Before, judge
from tests.lab.random_states.ledger import only_beside
from tests.lab.random_states.nights import INCREMENT, any_state, without_sst
from tests.lab.random_states.traps import FIRST, LOST
from tests.lab.random_states.verbs import FILTERS, FOLDERS, HALVES, MEMBERS, TRAPS, Kind

_STATES = [any_state(seed) for seed in range(FIRST, FIRST + 200)]
_ROWS = frozenset(range(1, 11))


def test_that_the_same_seed_gives_the_same_traps() -> None:
    assert [any_state(seed) for seed in range(FIRST, FIRST + 200)] == _STATES


def test_that_each_trap_and_each_kind_of_it_comes_up_often_among_two_hundred_states() -> None:
    counts = Counter(kind for state in _STATES for kind in {verb.kind for verb in state.verbs} & TRAPS)
    assert all(counts[kind] > 60 for kind in (Kind.HALF, Kind.FILTER, Kind.NEVER, Kind.KEPT)), counts
    assert counts[Kind.UNWRITTEN] > 10
    values = {kind: {v.value for s in _STATES for v in s.verbs if v.kind is kind} for kind in TRAPS}
    assert values[Kind.HALF] == set(HALVES)
    assert values[Kind.FILTER] == set(FILTERS)
    assert values[Kind.KEPT] == set(FOLDERS)


def test_that_a_chain_is_made_before_it_is_half_copied_and_the_node_is_down_by_then() -> None:
    for state in _STATES:
        kinds = [(verb.kind, verb.host) for verb in state.verbs]
        host = state.host_of(Kind.HALF)
        if host:
            at = kinds.index((Kind.HALF, host))
            assert kinds[:at].count((Kind.INCREMENT, host)) == 2
            assert kinds.index((Kind.BACKUP, host)) < kinds.index((Kind.INCREMENT, host))
            assert {(Kind.KILL, host), (Kind.STOP, host)} & set(kinds[:at]), state


def test_that_nights_from_22000_lose_the_data_of_the_node_that_has_the_backup() -> None:
    returns = set()
    for seed in range(LOST, LOST + 100):
        state = any_state(seed)
        kinds = [(verb.kind, verb.host) for verb in state.verbs]
        host = state.host_of(Kind.LOST)
        assert state.host_of(Kind.BACKUP) == host
        assert {(Kind.KILL, host), (Kind.STOP, host)} & set(kinds[: kinds.index((Kind.LOST, host))])
        returns.add(state.person.returns)
    assert returns == {"rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node", "add-node"}
    assert not any(state.host_of(Kind.LOST) for state in _STATES)


def test_that_an_sst_never_begins_on_a_node_that_was_taken_down_before() -> None:
    for state in _STATES:
        host = state.host_of(Kind.NEVER)
        before = list(state.verbs[: [v.kind for v in state.verbs].index(Kind.NEVER)]) if host else []
        assert not host or {verb.kind for verb in before if verb.host == host} & {Kind.KILL, Kind.STOP}, state


def test_that_a_filtered_server_leaves_whole_transactions_out_and_parts_of_others() -> None:
    assert Counter(only_beside(row) for row in range(100)) == {True: 50, False: 50}


def test_that_no_client_writes_through_a_server_with_a_filter() -> None:
    for state in _STATES:
        assert Kind.WRITE not in {verb.kind for verb in state.verbs if verb.host == state.host_of(Kind.FILTER)}, state


def test_that_a_chain_is_named_folder_by_folder_to_the_way_back_that_takes_it() -> None:
    noted: dict[str, dict[str, object]] = {}

    class Noting:
        def run(self, procedure: str, host: str = "", *more: str, **inputs: object) -> Asked:
            noted[procedure] = {**inputs, "more": more}
            return Asked(procedure, host, "done", "")

    chain = (INCREMENT.format(number=1), INCREMENT.format(number=2))
    for state in _STATES:
        if state.person.returns != "add-node":
            tuple(without_sst(Noting(), "s1", state.person, MEMBERS[1:], chain))
    assert noted["rejoin-from-incrementals"]["incrementals"] == ",".join(chain)
    assert "IST-REACHES=the way back itself is tried" in str(noted["rejoin-from-binlogs"]["more"])


def _step(name: str, state: str, error: str = "", *, failed: bool = False) -> dict[str, Any]:
    return {"id": name, "state": state, "error": error, "failed": failed}


@pytest.mark.parametrize(
    ("procedure", "start", "why"),
    [
        ("rejoin-from-binlogs", _step("start-s3", "undone"), "same-rows-s3: how it joined is not known"),
        ("rejoin-from-binlogs", _step("start-s3", "undone", failed=True), ""),
        ("bootstrap-after-crash", _step("start-s3", "undone"), ""),
    ],
)
def test_that_a_return_that_came_to_synced_and_was_undone_says_why(
    procedure: str, start: dict[str, Any], why: str
) -> None:
    failed = _step("same-rows-s3", "failed", "same-rows-s3: how it joined is not known", failed=True)
    text = f'{{"state": "undone", "question": null, "sentence": "taken back", "steps": {[start, failed]}}}'
    out = text.replace("'", '"').replace("True", "true").replace("False", "false")
    assert read_end(Asked(procedure, "s3", "", ""), Ended(3, out, "")).finished == why


@pytest.mark.parametrize(
    ("sound", "why", "word"),
    [
        (True, "sbtest.ledger differs", "FAIL"),
        (False, "sbtest.ledger differs", "taken back"),
        (False, "how it joined is not known", "FAIL"),
        (True, "", "taken back"),
    ],
)
def test_that_a_finished_return_is_undone_for_a_proven_reason_alone(sound: bool, why: str, word: str) -> None:
    before = Before(_ROWS, {"s1": _ROWS, "s2": _ROWS}, apart=False, sound=sound)
    undone = Asked("rejoin-from-binlogs", "s2", "undone", "taken back", finished=why)
    assert judge(before, After({"s1": _ROWS, "s2": _ROWS}, ("s1", "s2")), [undone]).word == word


def test_that_what_an_earlier_run_kept_may_not_be_gone() -> None:
    held = {"s1": _ROWS, "s2": _ROWS}
    before = Before(_ROWS, held, apart=False, kept={"s1": 1, "s2": 0})
    done = Asked("add-node", "s1", "done", "Synced")
    assert judge(before, After(held, ("s1", "s2"), {"s1": 1, "s2": 0}), [done]).word == "ok"
    verdict = judge(before, After(held, ("s1", "s2"), {"s1": 0, "s2": 0}), [done])
    assert (verdict.word, verdict.why) == ("FAIL", "what an earlier run kept on s1 is gone")
