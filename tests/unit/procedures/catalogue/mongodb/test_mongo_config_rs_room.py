"""mongo-config-rs: room on every host for every copy, and an undo that frees what the run made before a start.

On scripted hosts. Seen by a DBA: the copy failed with every server stopped, and its rests kept the undo from starting
the last one.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.model import DiskFacts
from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.run_model import RunState
from tests.faults.scripted.config_servers import DATA, facts_of, sharded
from tests.faults.scripted.running import Bench

ROLLING = {"new": "n1,n2", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"}
WINDOW = {**{k: v for k, v in ROLLING.items() if k != "new"}, "way": "window"}


def _full(facts: Facts, name: str, *disks: DiskFacts) -> Facts:
    def change(one: HostFacts) -> HostFacts:
        return one.with_part(Volumes(disks)) if one.host == name else one

    return replace(facts, hosts=tuple(map(change, facts.hosts)))


def _room(facts: Facts, inputs: dict[str, str]) -> tuple[Verdict, str, bool]:
    checks = procedure_named("mongo-config-rs").preflight(facts, inputs)
    found = next(one for one in checks if one.code == "BACKUP-ROOM")
    return found.verdict, found.evidence, found.absolute


@pytest.mark.parametrize("host", ["c1", "c2", "c3"])
def test_that_the_window_wants_room_on_each_config_server(host: str) -> None:
    facts = _full(facts_of(sharded(), ()), host, DiskFacts("/", size=10**9, free=2 * 10**8))
    verdict, evidence, absolute = _room(facts, WINDOW)
    assert verdict is Verdict.BLOCK
    assert f"0.2 GB are free at / on {host}" in evidence
    assert absolute, "the first step asks for the same: an override would help nobody"


@pytest.mark.parametrize("host", ["c3", "n1", "n2"])
def test_that_the_rolling_way_wants_room_on_the_last_one_and_on_each_new_host(host: str) -> None:
    facts = _full(facts_of(sharded("n1", "n2"), ()), host, DiskFacts("/", size=10**9, free=2 * 10**8))
    assert _room(facts, ROLLING)[0] is Verdict.BLOCK
    others = _full(facts_of(sharded("n1", "n2"), ()), "c2", DiskFacts("/", size=10**9, free=0))
    assert _room(others, ROLLING)[0] is Verdict.PASS, "nothing is copied there"


def test_that_copies_on_several_disks_are_counted_on_their_own() -> None:
    disks = DiskFacts("/", size=10**9, free=10**9), DiskFacts("/data", size=10**9, free=420_000_000)
    assert _room(_full(facts_of(sharded(), ()), "c3", *disks), WINDOW)[0] is Verdict.PASS
    less = disks[0], replace(disks[1], free=400_000_000)
    assert _room(_full(facts_of(sharded(), ()), "c3", *less), WINDOW)[0] is Verdict.BLOCK


def test_that_a_disk_that_is_not_known_is_no_room() -> None:
    assert "the free disk of c2 could not be read" in _room(_full(facts_of(sharded(), ()), "c2"), WINDOW)[1]


@pytest.mark.parametrize(("moment", "host"), [("c3:copied acting", "c3"), ("c1:copied acting", "c1")])
def test_that_a_disk_that_fills_while_it_is_copied_ends_with_every_server_as_it_was(moment: str, host: str) -> None:
    bench = Bench(sharded(), "mongo-config-rs", dict(WINDOW), frozenset({"r1"}))
    bench.begin()

    def fills(_: str, what: str) -> None:
        if moment in what:
            bench.cluster.hosts[host].free = 10**6

    bench.journal.told = fills
    assert bench.run() is RunState.UNDONE
    hosts = bench.cluster.hosts
    assert all(hosts[name].running for name in ("c1", "c2", "c3", "r1", "r2"))
    assert {hosts[name].variables["folder"] for name in ("c1", "c2", "c3")} == {DATA}
    assert not [path for path in hosts[host].works if path.endswith(".part")]


def test_that_nothing_is_stopped_where_a_disk_filled_after_the_checks() -> None:
    bench = Bench(sharded(), "mongo-config-rs", dict(WINDOW), frozenset({"r1"}))
    bench.begin()
    bench.cluster.hosts["c2"].free = 10**6
    assert bench.run() is not RunState.DONE
    assert all(bench.cluster.hosts[name].running for name in ("c1", "c2", "c3", "r1", "r2"))
    assert not [line for line in bench.cluster.log if "down" in line]
