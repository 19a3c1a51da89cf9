"""Whether clients can use a server that answers: by its switches, and by where it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.discovery.judgement.states import OFFLINE_MODE
from services.discovery.model import NodeView
from services.facts.model import NodeFacts, Problem, ServerFacts
from services.facts.server.server import parse_server
from services.types import Health, Reach
from tests.unit.discovery import group_scenes as g
from tests.unit.discovery.scenes import channel, estate, member, node, only, plain, server, unreached

WRITES_OFF = [
    {"read_only": "ON"},
    {"read_only": "ON", "super_read_only": "ON"},
    {"read_only": "NO_LOCK"},
    {"innodb_read_only": "ON"},
    {"transaction_read_only": "ON"},
    {"tx_read_only": "ON"},
]


def switched(one: NodeFacts, **variables: str) -> NodeFacts:
    """Return the facts of a server that has these variables."""
    told = parse_server({"version": "8.0.36", "read_only": "OFF", **variables}, {}, one.at)
    names = ("read_only", "super_read_only", "engine_read_only", "session_read_only", "forced_recovery", "offline")
    return with_server(one, **{name: getattr(told, name) for name in names})


def with_server(one: NodeFacts, **more: Any) -> NodeFacts:
    assert isinstance(one.server, ServerFacts)
    return replace(one, server=replace(one.server, **more))


def judged(number: int, *everyone: NodeFacts) -> NodeView:
    return node(estate(*everyone), f"db{number}")


@pytest.mark.parametrize("variables", WRITES_OFF)
def test_that_a_source_that_takes_no_writes_is_no_good_one_and_its_replicas_are_left_alone(
    variables: dict[str, str],
) -> None:
    tree = (switched(plain(1), **variables), switched(plain(2, channel(1)), read_only="ON"))
    source, replica = judged(1, *tree), judged(2, *tree)
    assert (source.health, source.code) == (Health.WARN, "source")
    switch = [*variables][-1].replace("transaction_read_only", "tx_read_only")  # MariaDB's name for it
    assert source.reason == f"db1 accepts no writes from clients: {switch} is ON"
    assert replica.health is Health.GOOD


@pytest.mark.parametrize("variables", WRITES_OFF)
def test_that_of_a_server_alone_that_takes_no_writes_it_is_not_known_whether_it_should(
    variables: dict[str, str],
) -> None:
    alone = judged(1, switched(plain(1), **variables))
    assert alone.health is Health.UNKNOWN
    assert " accepts no writes from clients:" in alone.reason


def test_that_a_reader_of_aurora_is_one_on_purpose() -> None:
    basedir = "/rdsdbbin/oscar-8.0.mysql_aurora.3.04.0.0.32961.0/"
    told = parse_server(
        {"version": "8.0.28", "basedir": basedir, "innodb_read_only": "ON", "read_only": "OFF"}, {}, 1.0
    )
    reader = judged(1, replace(plain(1), server=told))
    assert (reader.health, reader.role, reader.reason) == (Health.GOOD, "read only", "")


def test_that_the_host_of_a_managed_service_is_said_to_be_nobodys_to_watch() -> None:
    told = parse_server({"version": "8.0.31-google", "version_comment": "(Google)", "server_uuid": "u"}, {}, 1.0)
    ssh = (Problem("ssh", "No answer on port 22.", "timed-out"),)
    node = judged(1, replace(plain(1), server=told, reach=Reach.SQL_ONLY, problems=ssh))
    assert (node.health, node.reason) == (
        Health.GOOD, "it is an instance of Google Cloud SQL: its host cannot be watched"
    )  # fmt: skip


def test_that_a_replica_of_a_source_that_nobody_reads_may_be_read_only() -> None:
    assert judged(2, switched(plain(2, channel(1)), read_only="ON")).health is Health.GOOD


def test_that_a_source_that_no_longer_answers_is_no_word_on_its_replica_that_others_replicate_from() -> None:
    tree = (unreached(1, plain(1)), switched(plain(2, channel(1)), read_only="ON"), plain(3, channel(2)))
    assert judged(2, *tree).health is Health.GOOD


def test_that_a_ring_of_which_nobody_takes_writes_is_told_and_one_with_a_writer_is_well() -> None:
    ring = [switched(plain(1, channel(2)), read_only="ON"), switched(plain(2, channel(1)), read_only="ON")]
    assert [n.health for n in only(estate(*ring)).nodes] == [Health.WARN, Health.WARN]
    ring[0] = plain(1, channel(2))
    assert [n.health for n in only(estate(*ring)).nodes] == [Health.GOOD, Health.GOOD]


def test_that_a_galera_cluster_is_told_when_no_member_takes_writes_and_one_kept_for_reads_is_well() -> None:
    members = [switched(member(n), read_only="ON") for n in (1, 2, 3)]
    assert [n.health for n in only(estate(*members)).nodes] == [Health.WARN] * 3
    members[1] = member(2)
    assert [n.health for n in only(estate(*members)).nodes] == [Health.GOOD] * 3
    one_starts = [*members[:1], unreached(2, member(2)), members[2]]
    assert judged(1, *one_starts).health is Health.WARN  # nobody who answers takes any


def test_that_a_galera_cluster_that_replicates_from_elsewhere_may_be_read_only() -> None:
    members = [switched(member(n), read_only="ON") for n in (1, 2, 3)]
    members[0] = replace(members[0], replication=plain(1, channel(9)).replication)
    assert {judged(n, *members).health for n in (1, 2, 3)} == {Health.GOOD}


def test_that_the_primary_of_a_group_that_takes_no_writes_is_told_and_its_secondaries_are_well() -> None:
    primary = with_server(g.member(1), session_read_only=True)
    told = {n.name: n for n in only(estate(primary, g.member(2), g.member(3))).nodes}
    assert [told[f"db{n}"].health for n in (1, 2, 3)] == [Health.WARN, Health.GOOD, Health.GOOD]
    assert told["db1"].reason == "db1 accepts no writes from clients: transaction_read_only is ON"


@pytest.mark.parametrize("everyone", [(plain(1),), (plain(1), plain(2, channel(1))), (member(1), member(2), member(3))])
def test_that_a_server_that_refuses_clients_does_not_serve_though_it_answers_the_console(
    everyone: tuple[NodeFacts, ...],
) -> None:
    judgement = judged(1, switched(everyone[0], offline_mode="ON"), *everyone[1:])
    assert (judgement.health, judgement.code) == (Health.BAD, OFFLINE_MODE.code)
    assert judgement.reason.startswith("db1 refuses clients: offline_mode is ON")


@pytest.mark.parametrize("level", ["1", "4", "6"])
def test_that_a_server_under_repair_is_never_good(level: str) -> None:
    judgement = judged(1, switched(plain(1), innodb_force_recovery=level))
    assert (judgement.health, judgement.code) == (Health.WARN, "serving")
    assert judgement.reason == f"InnoDB of db1 runs in recovery mode: innodb_force_recovery is {level}"


def test_that_switches_that_are_not_told_or_not_known_are_no_alarm() -> None:
    for variables in ({"read_only": "SOMETIMES"}, {"innodb_force_recovery": "many"}, {"offline_mode": "?"}):
        assert judged(1, switched(plain(1), **variables)).health is Health.GOOD
    assert judged(1, with_server(plain(1), read_only=None)).health is Health.GOOD
    assert server(1).session_read_only is None
