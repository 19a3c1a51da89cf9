"""The estate of real MySQL is what it says it is: a group with a quorum, semi-synchronous and plain replicas, TLS."""

from __future__ import annotations

import tomllib

import pytest

from tests.lab.asking_hosts import server_states, ssh
from tests.lab.connections.connecting import entry, free_session
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import group
from tests.lab.estate.waiting import on_this_machine
from tests.lab.mysql.seeing import MEMBERS, status, until_online, until_there, write

HOSTS = (*MEMBERS, "a1", "a2", "a3")


def test_that_the_group_was_online_within_a_minute_and_its_first_member_takes_the_writes(mysql_estate: Estate) -> None:
    assert mysql_estate.formed_s < on_this_machine(60)
    until_online(mysql_estate, limit_s=5)
    assert group.primaries(mysql_estate.spec) == ("g1",)
    assert server_states(mysql_estate)["g1"] == "ONLINE, PRIMARY, 3 of 3 ONLINE"


def test_that_every_host_has_a_server_uuid_of_its_own(mysql_estate: Estate) -> None:
    assert len({mysql_estate.sql(name, "SELECT @@server_uuid")[0][0] for name in HOSTS}) == len(HOSTS)


def test_that_rows_and_gtids_reach_every_member_and_every_replica(mysql_estate: Estate) -> None:
    for writer, readers in (("g1", ("g2", "g3")), ("a1", ("a2", "a3"))):
        number = write(mysql_estate, writer)
        done = mysql_estate.sql(writer, "SELECT @@GLOBAL.gtid_executed")[0][0]
        for reader in readers:
            until_there(mysql_estate, reader, number)
            assert mysql_estate.sql(reader, f"SELECT GTID_SUBSET('{done}', @@GLOBAL.gtid_executed)") == [["1"]]


def test_that_the_source_waits_for_its_semi_synchronous_replica_and_for_no_other(mysql_estate: Estate) -> None:
    assert status(mysql_estate, "a1", "Rpl_semi_sync_source_status") == "ON"
    assert status(mysql_estate, "a1", "Rpl_semi_sync_source_clients") == "1"
    assert status(mysql_estate, "a2", "Rpl_semi_sync_replica_status") == "ON"
    assert status(mysql_estate, "a3", "Rpl_semi_sync_replica_status") == ""
    before = int(status(mysql_estate, "a1", "Rpl_semi_sync_source_yes_tx"))
    write(mysql_estate, "a1", 3)
    assert int(status(mysql_estate, "a1", "Rpl_semi_sync_source_yes_tx")) == before + 3


@pytest.mark.parametrize("host", ["g2", "a3"])
def test_that_the_observer_logs_in_over_tls_with_caching_sha2_and_reads_what_replication_tells(
    mysql_estate: Estate, host: str
) -> None:
    plugin = mysql_estate.sql(host, "SELECT plugin FROM mysql.user WHERE user = 'pilothouse'")
    assert plugin == [["caching_sha2_password"]]
    with free_session(mysql_estate, entry(mysql_estate, host)) as session:
        assert dict(session.query("SHOW STATUS LIKE 'Ssl_cipher'").rows)["Ssl_cipher"]
        for readable in (
            "SHOW REPLICA STATUS",
            "SHOW REPLICAS",
            "SHOW BINARY LOG STATUS",
            "SELECT * FROM performance_schema.replication_group_members",
            "SELECT * FROM performance_schema.replication_group_member_stats",
            "SELECT * FROM performance_schema.replication_connection_status",
            "SELECT * FROM performance_schema.replication_applier_status_by_worker",
            "SELECT * FROM performance_schema.error_log LIMIT 1",
        ):
            assert session.query(readable).columns, readable


def test_that_the_server_lets_the_observer_change_nothing(mysql_estate: Estate) -> None:
    pymysql = pytest.importorskip("pymysql")
    password = mysql_estate.environment()["PILOTHOUSE_LAB_OBSERVER_PASSWORD"]
    tls = {"ca": str(mysql_estate.client_dir / "ca.pem"), "check_hostname": False}
    with pymysql.connect(
        host=mysql_estate.addresses["a1"], user="pilothouse", password=password, ssl=tls
    ) as connection:
        cursor = connection.cursor()
        for forbidden in (
            "SET GLOBAL max_connections = 7",
            "CREATE DATABASE x",
            "SELECT * FROM mysql.user",
            "INSERT INTO sbtest.lab_probe VALUES (0, 'x')",
            "STOP REPLICA",
        ):
            with pytest.raises(pymysql.err.OperationalError, match=r"denied"):
                cursor.execute(forbidden)


def test_that_the_inventory_names_one_seed_of_each_and_no_secret(mysql_estate: Estate) -> None:
    text = (mysql_estate.client_dir / "inventory.toml").read_text(encoding="utf-8")
    inventory = tomllib.loads(text)
    assert [(c["name"], c["seeds"], len(c["networks"])) for c in inventory["cluster"]] == [
        ("mysql-group", ["g1"], 3),
        ("mysql-async", ["a1"], 3),
    ]
    assert [(h["name"], h["sql"]["user"], h["sql"]["tls"]) for h in inventory["host"]] == [
        ("g1", "pilothouse", "verify-ca"),
        ("a1", "pilothouse", "verify-ca"),
    ]
    assert not [value for value in mysql_estate.environment().values() if value in text]


def test_that_the_person_of_the_estate_is_no_root_and_may_become_it(mysql_estate: Estate) -> None:
    assert ssh(mysql_estate, "g3", "id -un; sudo -n id -un").stdout == "dba\nroot\n"
