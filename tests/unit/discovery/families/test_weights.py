"""How many members a component may lose is said only where the group's own count of votes agrees with the weights."""

from __future__ import annotations

import pytest

from tests.unit.discovery.scenes import estate, member, unreached


def may_lose(*weights: int | None, own: int | None) -> int | None:
    everyone = [member(n, len(weights), weight=w, cluster_weight=own) for n, w in enumerate(weights, 1)]
    return estate(*everyone).clusters[0].components[0].may_lose


@pytest.mark.parametrize(
    ("weights", "own", "lost"),
    [
        ((3, 1, 1), 5, 0), ((1, 1, 1), 3, 1), ((None, None, None), 3, 1), ((None, None, None), 5, None),
        ((3, 1, None), 5, 0), ((3, 1, None), 9, 0), ((1, 1, None), 400, None), ((3, None, None), 7, None),
        ((3, 1, 1), 6, None), ((1, 1, 1), None, 1), ((None, None, None), None, 1), ((1, 1, 1, 1, None), 7, 1),
    ],
)  # fmt: skip
def test_that_no_weight_is_assumed_that_the_count_contradicts(
    weights: tuple[int | None, ...], own: int | None, lost: int | None
) -> None:
    assert may_lose(*weights, own=own) == lost


def test_that_a_member_that_nobody_asked_has_what_is_left_of_the_count() -> None:
    heard = [member(n, 3, weight=1, cluster_weight=5) for n in (1, 2)]
    component = estate(*heard, unreached(3)).clusters[0].components[0]
    assert component.may_lose == 0
