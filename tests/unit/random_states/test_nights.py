"""Nights with a backup: the same from a seed, a backup of one node before it goes down, older seeds as they were."""

from __future__ import annotations

from tests.lab.random_states.asking import Asked
from tests.lab.random_states.generator import state_of
from tests.lab.random_states.nights import FIRST, any_state, without_sst
from tests.lab.random_states.verbs import MEMBERS, Kind

_SEEDS = range(FIRST, FIRST + 200)


def test_that_seeds_below_the_nights_are_what_they_always_were() -> None:
    assert [any_state(seed) for seed in range(1, 50)] == [state_of(seed) for seed in range(1, 50)]


def test_that_each_night_has_one_backup_and_leaves_somebody_to_join() -> None:
    for seed in _SEEDS:
        kinds = [verb.kind for verb in any_state(seed).verbs]
        assert any_state(seed) == any_state(seed)
        assert kinds.count(Kind.BACKUP) == 1
        assert Kind.KILL_ALL not in kinds


def test_that_every_way_back_without_an_sst_comes_up_with_its_own_inputs() -> None:
    noted: list[tuple[str, dict[str, object]]] = []

    class Noting:
        def run(self, procedure: str, host: str = "", *more: str, **inputs: object) -> Asked:
            del more
            noted.append((procedure, inputs))
            return Asked(procedure, host, "done", "")

    for seed in _SEEDS:
        assert len(tuple(without_sst(Noting(), "s1", any_state(seed).person, MEMBERS[1:]))) == 1
    assert {name for name, _ in noted} == {"rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node"}
    assert all(inputs["joiner"] == "s1" for _, inputs in noted)
