"""A command looks once: over a slow wire the first host's answer is old before the last one has said a word."""

from __future__ import annotations

from services.discovery.nodes import STALE_S
from services.discovery.snapshot import Look, updated_estate
from services.types import Health
from tests.unit.discovery.scenes import AT, estate, member, node


def test_that_a_host_that_answered_early_in_a_long_look_is_no_silent_one() -> None:
    everyone = tuple(member(number, at=AT - ago) for number, ago in ((1, 32.0), (2, 15.0), (3, 1.0)))
    seen = updated_estate(None, {one.host: one for one in everyone}, Look(AT - 33.0, AT))
    assert [node(seen, f"db{number}").state for number in (1, 2, 3)] == ["Synced"] * 3
    assert [component.votes for component in seen.clusters[0].components] == [3]
    assert seen.clusters[0].health is Health.GOOD


def test_that_who_is_asked_each_second_is_silent_after_the_same_time_as_ever() -> None:
    everyone = (member(1, at=AT - STALE_S - 1.0), member(2, at=AT), member(3, at=AT))
    assert node(estate(*everyone, at=AT), "db1").code == "no-news"


def test_that_a_clock_which_is_set_back_in_a_look_makes_no_answer_old() -> None:
    everyone = tuple(member(number, at=AT) for number in (1, 2, 3))
    assert (
        node(updated_estate(None, {one.host: one for one in everyone}, Look(AT + 3600.0, AT)), "db1").state == "Synced"
    )
