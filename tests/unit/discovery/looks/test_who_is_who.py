"""Which server another one speaks of: port, server uuid and server id all count, and what contradicts is another one.

Invented estates: several servers on one machine, copied data directories, addresses that moved, IPv6.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.connections.ports import Rows
from services.discovery.looks.crawl import leads_of, odd_names
from services.discovery.model import ReplicationEdge
from services.facts.model import NodeFacts, ReplicaSeen
from services.facts.reading import client_host, host_port, one_form, port_of, without_port
from services.facts.replication.replication import dumping, parse_replication
from services.types import Flavour, Health
from tests.unit.discovery.scenes import address, channel, estate, facts, member, plain, server
from tests.unit.facts.server.test_cut_texts import DATA

UUID = "3e11fa47-71ca-11e1-9e33-c80aa942{:04d}"


def mysql(number: int, *channels: Any, **more: Any) -> NodeFacts:
    own = server(number, flavour=Flavour.MYSQL, server_uuid=UUID.format(number))
    return plain(number, *channels, server=replace(own, **more))


def edges(*everyone: NodeFacts) -> list[ReplicationEdge]:
    return [e for c in estate(*everyone).clusters for e in c.replication]


@pytest.mark.parametrize(
    ("told", "source"),
    [
        ({"source_uuid": UUID.format(1)}, "db1"),
        ({}, "db1"),
        ({"source_server_id": None}, "db1"),
        ({"source_port": 3307, "source_uuid": UUID.format(1)}, "db1"),  # a forwarded port: the uuid is its own
        ({"source_port": 3307}, "source:10.20.0.11:3307"),
        ({"source_port": 3307, "source_server_id": None}, "source:10.20.0.11:3307"),
        ({"source_port": 3307, "source_server_id": 999, "source_uuid": UUID.format(9)}, "source:10.20.0.11:3307"),
        ({"source_server_id": 999}, "source:10.20.0.11:3306"),
        ({"source_uuid": UUID.format(9)}, "source:10.20.0.11:3306"),
        ({"source_uuid": UUID.format(1), "source_server_id": 999}, "source:10.20.0.11:3306"),
    ],
)
def test_that_a_source_of_which_anything_contradicts_is_another_server(told: dict[str, Any], source: str) -> None:
    found = edges(mysql(1), mysql(2, channel(1, **told)))
    assert [e.source_id for e in found] == [source]


def test_that_of_two_servers_on_one_machine_a_third_one_is_none() -> None:
    one, two = mysql(1), replace(mysql(1, port=3307, server_id=7, server_uuid=UUID.format(7)), host="db1b")
    found = edges(one, two, mysql(2, channel(1, source_port=3308, source_server_id=8)))
    assert [e.source_id for e in found] == ["source:10.20.0.11:3308"]


def test_that_a_server_that_never_told_its_port_is_found_by_its_address() -> None:
    found = edges(facts(1, server=None), mysql(2, channel(1, source_port=3307)))
    assert [e.source_id for e in found] == ["db1"]


def test_that_a_virtual_address_leads_to_the_server_of_that_id_only_where_its_uuid_agrees() -> None:
    seen = (ReplicaSeen(server_id=102),)
    source = replace(mysql(1), replication=replace(plain(1).replication, replicas=seen))  # type: ignore[type-var]
    told = {"source_host": "10.20.0.200", "source_server_id": 101}
    assert [e.source_id for e in edges(source, mysql(2, channel(1, **told)))] == ["db1"]
    stranger = edges(source, mysql(2, channel(1, **told, source_uuid=UUID.format(9))))
    assert [e.source_id for e in stranger] == ["source:10.20.0.200:3306"]


@pytest.mark.parametrize(
    ("one", "sees"),
    [
        (ReplicaSeen(server_id=102), True),
        (ReplicaSeen(server_id=109, host=address(2)), False),
        (ReplicaSeen(server_id=102, server_uuid=UUID.format(9), host=address(2)), False),
        (ReplicaSeen(host=address(2)), True),
        (ReplicaSeen(host="10.20.0.99"), False),
    ],
)
def test_that_a_witness_of_another_replica_is_none(one: ReplicaSeen, *, sees: bool) -> None:
    source = replace(mysql(1), replication=replace(plain(1).replication, replicas=(one,)))  # type: ignore[type-var]
    found = edges(source, mysql(2, channel(1, source_host="vip.example.net")))
    assert [e.source_id for e in found] == ["db1" if sees else "source:vip.example.net:3306"]


def test_that_a_member_on_another_port_of_a_known_machine_is_not_the_server_that_is_known_there() -> None:
    addresses = (f"{address(1)}:3306", f"{address(1)}:3307")
    view = {"cluster_size": 2, "members": (), "incoming_addresses": addresses, "cluster_weight": 2}
    cluster = estate(member(1, 2, **view)).clusters[0]
    assert len(cluster.nodes) == 2


@pytest.mark.parametrize(
    ("told", "host", "port"),
    [
        ("db1", "db1", 3306), ("db1:3307", "db1", 3307), ("DB1.:0", "db1", 3306), ("[::1]:3307", "::1", 3307),
        ("[2001:db8::5]", "2001:db8::5", 3306), ("2001:db8::5", "2001:db8::5", 3306),
        ("2001:db8::5:41058", "2001:db8::5", 41058), ("2001:DB8:0:0::5", "2001:db8::5", 3306),
        ("[2001:db8:0:0:0:0:0:5]:3307", "2001:db8::5", 3307),
        ("2001:db8:1:2:3:4:5:6:3307", "2001:db8:1:2:3:4:5:6", 3307),
        ("::ffff:10.0.0.5", "10.0.0.5", 3306), ("[::ffff:10.0.0.5]:3307", "10.0.0.5", 3307),
        ("fe80::1%eth0", "fe80::1%eth0", 3306), ("[fe80::1%eth0]:3307", "fe80::1%eth0", 3307), ("", "", 3306),
        ("a:b:c", "a:b:c", 3306),
    ],
)  # fmt: skip
def test_that_an_address_is_read_with_and_without_brackets_and_port(told: str, host: str, port: int) -> None:
    assert host_port(told) == (host, port)
    assert one_form(without_port(told).lower()).rstrip(".") == host


@pytest.mark.parametrize(
    ("told", "host"),
    [
        ("2001:db8::5:41058", "2001:db8::5"), ("2001:db8::6:8123", "2001:db8::6"), ("::1:41058", "::1"),
        ("::ffff:10.0.0.5:41058", "10.0.0.5"), ("2001:db8:1:2:3:4:5:6:9", "2001:db8:1:2:3:4:5:6"),
        ("[2001:db8::5]:41058", "2001:db8::5"), ("10.0.0.5:41058", "10.0.0.5"), ("db2:41058", "db2"),
        ("localhost", "localhost"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6"),
        ("fe80::7%eth1:9", "fe80::7%eth1"),
        ("", ""),
    ],
)  # fmt: skip
def test_that_the_port_of_a_client_is_no_part_of_its_address(told: str, host: str) -> None:
    assert client_host(told) == host


def processes(name: str) -> Rows:
    lines = [tuple(line.split("\t")) for line in (DATA / name).read_text().splitlines()]
    return Rows(lines[0], tuple(lines[1:]))


def test_that_replicas_that_fetch_over_ipv6_are_found_by_their_addresses() -> None:
    rows = processes("mysql-9.7.4-processlist-ipv6.tsv")
    hosts = ["2001:db8:7::21", "2001:db8:7::22", "192.0.2.23", "db24.example.net"]
    assert [one.host for one in dumping(rows)] == hosts
    source = facts(1, replication=parse_replication(None, None, rows, {}))
    assert [lead.address for lead in leads_of(source)] == hosts
    assert odd_names(source) == ()


@pytest.mark.parametrize("told", ["2001:db8::11", "[2001:db8::11]", "2001:DB8:0::11", "2001:db8:0:0:0:0:0:11"])
def test_that_a_source_over_ipv6_is_found_however_its_address_is_written(told: str) -> None:
    source = replace(mysql(1), address="2001:db8::11")
    found = edges(source, mysql(2, channel(1, source_host=told, source_server_id=None)))
    assert [(e.source_id, e.health) for e in found] == [("db1", Health.GOOD)]


def test_that_a_source_over_ipv6_that_nobody_knows_stands_there_with_brackets_and_port() -> None:
    found = edges(mysql(2, channel(1, source_host="2001:db8::99", source_port=3307)))
    assert [e.source_id for e in found] == ["source:[2001:db8::99]:3307"]


@pytest.mark.parametrize("word", ["Yes", "No", "Connecting"])
def test_that_a_thread_in_a_state_that_servers_know_is_judged(word: str) -> None:
    (edge,) = edges(mysql(1), mysql(2, channel(1, io_running=word)))
    assert edge.health is not Health.UNKNOWN


@pytest.mark.parametrize("which", ["io_running", "sql_running"])
def test_that_a_thread_in_a_state_that_nobody_knows_is_not_known_and_shown(which: str) -> None:
    (edge,) = edges(mysql(1), mysql(2, channel(1, **{which: "Paused by operator"})))
    assert edge.health is Health.UNKNOWN
    assert "Paused by operator" in edge.reason


def test_that_a_gap_behind_a_source_whose_set_is_not_known_is_not_0() -> None:
    own = UUID.format(1)
    done = {"gtid_received": f"{own}:1-50", "gtid_executed": f"{own}:1-50"}
    told = channel(1, source_uuid=own, io_running="Connecting", gtid_mode="AUTO", **done)
    cut = replace(mysql(1), replication=parse_replication(None, Rows((), ()), None, {"gtid_executed": "x" * 1024}))
    for source in (cut, replace(mysql(1), replication=None)):
        (edge,) = edges(source, mysql(2, told))
        assert edge.gtid_gap is None


def _behind_a_port(number: int, asked: int, **more: Any) -> NodeFacts:
    """Return a server of MariaDB that the console asks at another port than it tells of itself."""
    return replace(plain(number, **more), asked_port=asked)


def test_that_a_server_behind_a_forwarded_port_is_the_source_at_the_port_that_leads_to_it() -> None:
    source, replica = _behind_a_port(1, 3307), plain(2, channel(1, source_port=3307))
    assert [e.source_id for e in edges(source, replica)] == ["db1"]
    other = plain(2, channel(1, source_port=3307, source_server_id=999))
    assert [e.source_id for e in edges(source, other)] == ["source:10.20.0.11:3307"]


def test_that_a_port_leads_to_who_is_asked_there_and_not_to_who_tells_it_of_itself() -> None:
    """Two servers of one machine, one of them in a container: both say 3306 of themselves."""
    plainly = _behind_a_port(1, 3306)
    contained = replace(_behind_a_port(1, 3307, server=server(1, server_id=7)), host="db1b")
    for port, one, source in ((3306, 101, "db1"), (3307, 7, "db1b"), (3308, 7, "source:10.20.0.11:3308")):
        replica = plain(2, channel(1, source_port=port, source_server_id=one))
        assert [e.source_id for e in edges(plainly, contained, replica)] == [source]


def test_that_a_port_that_can_not_be_read_leads_to_nobody_and_is_not_made_3306() -> None:
    known = replace(server(1), port=None)
    for source in (plain(1), plain(1, server=known)):
        found = edges(source, plain(2, channel(1, source_port=None)))
        assert [e.source_id for e in found] == ["source:10.20.0.11"]
    by_uuid = edges(mysql(1), mysql(2, channel(1, source_port=None, source_uuid=UUID.format(1))))
    assert [e.source_id for e in by_uuid] == ["db1"]


@pytest.mark.parametrize("told", ["0", "65536", "-1", "x", "33O6", "3306.5", "1e3"])
def test_that_a_port_that_is_none_is_not_known(told: str) -> None:
    row = {"Source_Host": "db1", "Source_Port": told}
    facts_of = parse_replication(Rows(tuple(row), (tuple(row.values()),)))
    assert facts_of is not None
    assert facts_of.channels[0].source_port is None
    for nothing in (None, ""):
        assert port_of(nothing) == 3306  # the default of a server, a source and a member (MySQL manual)


def test_that_a_delay_that_can_not_be_read_is_not_known_and_colours_nothing() -> None:
    row = {"Source_Host": "db1", "SQL_Delay": "an hour"}
    facts_of = parse_replication(Rows(tuple(row), (tuple(row.values()),)))
    assert facts_of is not None
    assert facts_of.channels[0].delay_s is None
    (late,) = edges(plain(1), plain(2, channel(1, seconds_behind=3600.0, delay_s=None)))
    assert (late.health, late.delay_s) == (Health.UNKNOWN, None)
    assert " behind; the intended delay is not known" in late.reason
    (in_step,) = edges(plain(1), plain(2, channel(1, seconds_behind=2.0, delay_s=None)))
    assert in_step.health is Health.GOOD  # no delay is less than none
    card = next(n for c in estate(plain(1), plain(2, channel(1, seconds_behind=3600.0, delay_s=None))).clusters
                for n in c.nodes if n.host == "db2")  # fmt: skip
    assert ("lag", Health.UNKNOWN) in {(number[0], number[2]) for number in card.numbers}
