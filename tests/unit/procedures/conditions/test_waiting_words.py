"""What a step waits for is said as a DBA says it: no name of a class, for no condition there is."""

from __future__ import annotations

import pytest

from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.condition import Condition
from services.procedures.plan.waiting_words import waiting_words
from tests.unit.procedures.any_values import KINDS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_that_every_condition_has_words_that_name_its_host(kind: type[Condition]) -> None:
    told = kind.words
    assert kind.__name__ not in told
    assert ("{host}" in told) == ("host" in getattr(kind, "__dataclass_fields__", {}))


def test_that_a_stop_and_a_whole_cluster_are_said_once_each() -> None:
    stopped = Stopped("n1", "mariadb.service")
    whole = ClusterWhole(("n1",), 1, "")
    words = waiting_words((stopped, stopped, whole))
    assert words == "the server of n1 to be stopped; every member to be Synced"
