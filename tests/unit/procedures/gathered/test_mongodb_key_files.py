"""What is read of a cluster's key file on a host: never what stands in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.programs.tls_programs import DIGEST_OF
from services.connections.programs.way_programs import WAY_OF
from services.facts.model import NodeFacts
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.part import Company
from services.procedures.plan.parts.mongodb.key_files import KeyFile, KeyFiles
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.types import Reach
from tests.unit.discovery.mongo_scenes import AT
from tests.unit.procedures.gathered.test_mongodb_parts import Host, _node

KEY_WAY = "at -r-------- 100 101 /etc/mongodb/key\nat drwxr-xr-x 0 0 /etc/mongodb\nat drwxr-xr-x 0 0 /\nend\n"
KEY = KeyFile("/etc/mongodb/key", "a1", owner=100, shared=False)


@pytest.mark.parametrize(
    ("way", "digest", "told"),
    [
        (KEY_WAY, "a1\n", KEY),
        (KEY_WAY.replace("-r--------", "-r--r-----"), "a1\n", replace(KEY, shared=True)),
        (KEY_WAY.replace("-r--------", "-r--------+"), "a1\n", KEY),
        ("nonsense", "", KeyFile(KEY.path)),
    ],
)
def test_that_of_a_key_the_digest_the_owner_and_who_may_use_it_are_read(way: str, digest: str, told: KeyFile) -> None:
    """On a new host, of the file that the config server's command line names."""
    server = _node().with_part(MongoProcess(given=(("security.keyFile", KEY.path),)))
    reader = Reader(Host(**{WAY_OF: way, DIGEST_OF: digest}), ManualClock())
    reader.company = Company({"c1": server})
    found = KeyFiles.read(HostFacts("n1", "n1", NodeFacts("n1", AT, Reach.SSH_ONLY, "n1")), reader)
    assert found == KeyFiles((told,))


def test_that_a_key_which_is_not_there_is_told_apart_from_one_that_was_not_read() -> None:
    host = Host()
    del host.said[WAY_OF]
    server = _node().with_part(MongoProcess(settings=(("security.keyFile", KEY.path),)))
    assert KeyFiles.read(server, Reader(host, ManualClock())) == KeyFiles((KeyFile(KEY.path, absent=True),))
