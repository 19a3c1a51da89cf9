"""What a step waits for is said as a DBA says it: no name of a class, for no condition there is."""

from __future__ import annotations

from typing import get_args

import pytest

from services.procedures.plan.conditions import ClusterWhole, Condition, Stopped
from services.procedures.plan.waiting_words import WORDS, waiting_words

KINDS = [kind for one in get_args(Condition) for kind in (get_args(one) or (one,))]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_that_every_condition_has_words_that_name_its_host(kind: type[object]) -> None:
    told = WORDS[kind]
    assert kind.__name__ not in told
    assert ("{host}" in told) == ("host" in getattr(kind, "__dataclass_fields__", {}))


def test_that_a_stop_and_a_whole_cluster_are_said_once_each() -> None:
    stopped = Stopped("n1", "mariadb.service")
    whole = object.__new__(ClusterWhole)
    told = waiting_words((stopped, stopped, whole))
    assert told == "the server of n1 to be stopped; every member to be Synced"
