"""The generator of random states: the same from a seed every time, 3 to 8 verbs, each with something to act on."""

from __future__ import annotations

import pytest

from tests.lab.random_states.generator import FEWEST, MOST, TESTED, state_of
from tests.lab.random_states.nights import any_state
from tests.lab.random_states.verbs import DAMAGES, MEMBERS, QUIET, TRAPS, Kind, State

_SEEDS = range(1, 401)
_ENDING = {Kind.RESUME, Kind.HEAL, Kind.KILL_ALL}


def _loud(state: State) -> list[Kind]:
    return [verb.kind for verb in state.verbs if verb.kind not in QUIET]


def test_that_the_same_seed_gives_the_same_state_and_another_seed_another() -> None:
    assert [state_of(seed) for seed in range(50)] == [state_of(seed) for seed in range(50)]
    assert len({str(state_of(seed)) for seed in range(50)}) == 50


def test_that_each_state_breaks_the_cluster_by_three_to_eight_verbs() -> None:
    for seed in _SEEDS:
        assert FEWEST <= len(_loud(state_of(seed))) <= MOST, state_of(seed)


def test_that_every_kind_of_verb_and_every_damage_comes_up() -> None:
    verbs = [verb for seed in _SEEDS for verb in state_of(seed).verbs]
    assert {verb.kind for verb in verbs} == set(Kind) - TRAPS  # seeds of their own have them
    assert {verb.value for verb in verbs if verb.kind is Kind.GRASTATE} == set(DAMAGES)


def test_that_a_side_is_bootstrapped_only_while_it_is_cut_off() -> None:
    for seed in _SEEDS:
        parted = ""
        for verb in state_of(seed).verbs:
            parted = verb.host if verb.kind is Kind.PART else "" if verb.kind is Kind.HEAL else parted
            assert verb.kind is not Kind.BOOTSTRAP or verb.host == parted, state_of(seed)


def test_that_only_a_copy_that_was_made_of_this_host_is_restored() -> None:
    for seed in _SEEDS:
        copied: set[str] = set()
        for verb in state_of(seed).verbs:
            if verb.kind is Kind.COPY:
                copied.add(verb.host)
            assert verb.kind is not Kind.RESTORE or verb.host in copied, state_of(seed)


def test_that_no_server_is_still_held_when_the_console_is_asked() -> None:
    for seed in _SEEDS:
        held = ""
        for verb in state_of(seed).verbs:
            if verb.kind is Kind.PAUSE:
                held = verb.host
            elif verb.kind is Kind.KILL_ALL or (verb.kind in {Kind.RESUME, Kind.KILL, Kind.STOP} and verb.host == held):
                held = ""
        assert not held, state_of(seed)


@pytest.mark.parametrize("seed", [7, 12])
def test_that_a_state_is_printed_as_its_verbs(seed: int) -> None:
    state = state_of(seed)
    assert len(str(state).split("; ")) == len(state.verbs)
    assert all(verb.host in {"", *MEMBERS} for verb in state.verbs)
    assert str(state.person)


def test_that_the_states_of_each_test_run_have_every_verb_and_every_damage() -> None:
    verbs = [verb for seed in TESTED for verb in state_of(seed).verbs]
    assert {verb.kind for verb in verbs} == set(Kind) - TRAPS  # seeds of their own have them
    assert {verb.value for verb in verbs if verb.kind is Kind.GRASTATE} == set(DAMAGES)


def test_that_a_member_that_nobody_wrote_down_is_often_bootstrapped_beside_the_others_at_the_end() -> None:
    states = [any_state(seed) for seed in range(20_000, 20_100)]
    hosts = [state.host_of(Kind.UNWRITTEN) for state in states]
    assert set(hosts) == set(MEMBERS)
    ends = [str(state.verbs[-2]) for state in states]
    alone = [end for end, host in zip(ends, hosts, strict=True) if end == f"{Kind.FOUND.value} {host}"]
    assert 40 < len(alone) < 80
    assert not any(any_state(seed).host_of(Kind.UNWRITTEN) for seed in (*range(1, 50), *range(10_000, 10_050)))
