"""Which switches of a server keep writes or clients out, beside read_only."""

from __future__ import annotations

import pytest

from services.discovery.families.making import role_of
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.facts.server.server import parse_server
from services.types import Reach

SERVES = {"version": "8.0.36", "read_only": "OFF", "super_read_only": "OFF", "innodb_read_only": "OFF",
          "innodb_force_recovery": "0", "offline_mode": "OFF"}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "role"),
    [
        ({}, ""),
        ({"innodb_read_only": "1"}, "read only"),  # a reader of Aurora: read_only is OFF there
        ({"innodb_force_recovery": "4"}, "innodb_force_recovery 4"),
        ({"innodb_force_recovery": "many"}, ""),
        ({"offline_mode": "ON"}, "offline_mode"),
        ({"read_only": "ON", "offline_mode": "ON"}, "read only"),
        ({"transaction_read_only": "ON"}, "transaction_read_only"),
        ({"tx_read_only": "1"}, "transaction_read_only"),
    ],
)
def test_that_a_server_that_takes_no_writes_has_the_role_that_says_so(changed: dict[str, str], role: str) -> None:
    variables = {**SERVES, **changed}
    facts = NodeFacts("n1", 1.0, Reach.FULL, server=parse_server(variables, {}, 1.0))
    assert role_of(Node("n1", "n1", facts, 1.0)) == role
