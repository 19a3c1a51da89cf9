"""add-node and a data folder that is a mount point: a rename of it is refused by the kernel, so it isn't planned."""

from __future__ import annotations

import pytest

from services.facts.model import DiskFacts, MachineFacts, NodeFacts
from services.procedures.catalogue.galera.add_node.checks import own_file_system
from services.procedures.catalogue.galera.add_node.estimate import Expected
from services.procedures.catalogue.galera.add_node.keeping import aside_possible
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts
from tests.unit.procedures.host_of import host_of

SST, IST = Expected("SST", "no position", 30.0), Expected("IST", "cached", 5.0)


def _facts(mount: str) -> Facts:
    node = NodeFacts(host="new", at=1.0, machine=MachineFacts(data_disk=DiskFacts(mount=mount)))
    return Facts(
        1.0,
        "uuid",
        "lab",
        hosts=(host_of("new", node=node, data_folder_path="/var/lib/mysql", data_folder_entries=30),),
    )


@pytest.mark.parametrize(
    ("mount", "expected", "keep", "verdict"),
    [
        ("/var/lib/mysql", SST, True, Verdict.BLOCK),
        ("/var/lib/mysql", SST, False, Verdict.WARN),
        ("/var/lib/mysql", IST, True, Verdict.PASS),
        ("/var/lib", SST, True, Verdict.PASS),
    ],
)
def test_that_a_mount_point_is_never_planned_to_be_renamed(
    mount: str, expected: Expected, keep: bool, verdict: Verdict
) -> None:
    check = aside_possible(_facts(mount), "new", expected, keep=keep)
    assert check.verdict is verdict
    assert check.absolute is (verdict is Verdict.BLOCK)
    assert own_file_system(_facts(mount), "new") is (mount == "/var/lib/mysql")
