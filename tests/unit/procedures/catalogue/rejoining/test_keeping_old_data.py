"""add-node and a data folder that is a mount point: a rename of it is refused by the kernel, so it isn't planned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.state_files import KEPT_ASIDE, KEPT_INSIDE
from services.facts.model import DiskFacts, MachineFacts, NodeFacts, Problem
from services.procedures.catalogue.galera.add_node.keeping import aside_free, aside_possible
from services.procedures.catalogue.galera.shared.estimate import Expected
from services.procedures.catalogue.galera.shared.joining import own_file_system
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


def _kept(code: str, *, path: str = "/var/lib/mysql", entries: int = 30) -> Facts:
    told = (Problem("datadir", "Ein älterer Datenordner liegt daneben.", code),) if code else ()
    return Facts(
        1.0, "uuid", "lab", hosts=(host_of("n3", data_folder_path=path, data_folder_entries=entries, problems=told),)
    )


def test_that_a_folder_kept_aside_blocks_by_its_code_however_it_is_told() -> None:
    for code in (KEPT_ASIDE, KEPT_INSIDE):
        assert aside_free(_kept(code), "n3", SST, keep=True).verdict is Verdict.BLOCK
    assert aside_free(_kept(""), "n3", SST, keep=True).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("expected", "keep", "entries", "said"),
    [
        (IST, True, 30, "it stays: this plan moves no data folder"),
        (SST, False, 30, "it stays: this plan moves no data folder"),
        (SST, True, 0, "it stays: this plan moves no data folder"),
        (replace(SST, pending=True), True, 30, "only for an SST: checked again when the position is known"),
    ],
)
def test_that_an_older_folder_is_in_nobodys_way_where_nothing_is_moved(
    expected: Expected, keep: bool, entries: int, said: str
) -> None:
    check = aside_free(_kept(KEPT_ASIDE, entries=entries), "n3", expected, keep=keep)
    assert check.verdict is Verdict.WARN
    assert said in check.evidence


def test_that_an_ist_that_may_become_an_sst_tells_what_rsync_would_meet() -> None:
    check = aside_free(_kept(KEPT_INSIDE), "n3", IST, keep=True)
    assert check.evidence.endswith("an SST by rsync cannot start while it exists")


def test_that_what_a_return_kept_inside_the_data_folder_is_named_where_it_lies() -> None:
    """Seen on the lab: 'Remove or rename /var/lib/mysql.pilothouse-before', where there was no such folder."""
    found = aside_free(_kept(KEPT_INSIDE, path="/data/mysql"), "n3", SST, keep=True)
    assert "/data/mysql/#sql-pilothouse-before.sst exists" in found.evidence
    assert found.try_ == ("Remove /data/mysql/#sql-pilothouse-before.sst on n3, or move it out of /data/mysql.",)
