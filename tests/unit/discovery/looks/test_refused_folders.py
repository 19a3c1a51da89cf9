"""A data folder whose path no shell should read: told with the cluster, and no other folder is read in its place."""

from __future__ import annotations

import pytest

from services.connections.reads.registry import command_of
from services.discovery.looks.probe_sql import facts_from_poll
from services.errors import Refused
from services.facts import reads
from services.facts.model import NodeFacts

VARIABLES = {"version": "10.11.18-MariaDB", "port": "3306"}


@pytest.mark.parametrize("folder", ["/var/lib/my'sql/", "/data\\x/", "/d\u00e9/", "/d\n/", "/a$(id)/"])
def test_that_a_folder_with_odd_characters_is_a_problem_and_never_the_default(folder: str) -> None:
    facts = facts_from_poll(NodeFacts("db1", 1.0), {"Uptime": "5"}, {**VARIABLES, "datadir": folder}, 1.0)
    (problem,) = [p for p in facts.problems if p.part == "datadir"]
    assert problem.code == Refused.code
    assert "is not an absolute path" in problem.sentence
    assert problem.sentence.isprintable()
    for read in (reads.data_disk(folder), reads.data_listing(folder, sudo=True), reads.sst_size(folder, sudo=True)):
        with pytest.raises(Refused):
            command_of(read)


def test_that_a_plain_folder_is_none() -> None:
    facts = facts_from_poll(NodeFacts("db1", 1.0), {"Uptime": "5"}, {**VARIABLES, "datadir": "/var/lib/mysql/"}, 1.0)
    assert not facts.problems
