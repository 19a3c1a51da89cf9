"""What the lab says to a MariaDB and to a MySQL, as far as no host is needed to see it: on a mock of their clients."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.lab.estate import client, vault
from tests.lab.estate.breaking import breaks, lag
from tests.lab.estate.errors import LabError, NotToBeHadError
from tests.lab.estate.host import config, container, image
from tests.lab.estate.servers import config_mysql, database, replication
from tests.lab.estate.servers.engine import MARIADB, MYSQL, MYSQL_RELEASE, engine_of
from tests.lab.estate.servers.group import Member, has_quorum
from tests.lab.estate.shell import Result
from tests.lab.estate.spec import ASYNC, ESTATES
from tests.lab.estate.spec import MYSQL as MYSQL_ESTATE
from tests.lab.sharing import TOGETHER, fills_gaps, scope_of


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    statements: list[str] = []

    def mock_of_client(spec: object, name: str, command: str, *, stdin: str = "", **_: object) -> Result:
        statements.append(stdin or command)
        return Result(0, "", "")

    monkeypatch.setattr(container, "sh", mock_of_client)
    monkeypatch.setattr(vault, "load", lambda: {"replication": "secret"})
    return statements


def test_that_a_mariadb_is_pointed_at_its_source_in_its_own_words(said: list[str]) -> None:
    replication.point(ASYNC, "r1")
    assert said[0] == (
        "SET GLOBAL read_only = ON; STOP REPLICA; CHANGE MASTER TO MASTER_HOST='10.213.2.21', "
        "MASTER_USER='replication', MASTER_PASSWORD='secret', MASTER_SSL=1, MASTER_CONNECT_RETRY=2, "
        "MASTER_SSL_CA='/etc/mysql/tls/ca.pem', MASTER_SSL_VERIFY_SERVER_CERT=1, MASTER_USE_GTID=slave_pos; "
        "START REPLICA"
    )
    replication.delay(ASYNC, "r1", 60)
    assert said[-1] == "STOP REPLICA; CHANGE MASTER TO MASTER_DELAY=60; START REPLICA"


def test_that_a_mysql_is_pointed_at_its_source_in_its_own_words(said: list[str]) -> None:
    replication.point(MYSQL_ESTATE, "a2")
    assert said[0] == (
        "SET PERSIST super_read_only = ON; STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_HOST='10.213.13.21', "
        "SOURCE_USER='replication', SOURCE_PASSWORD='secret', SOURCE_SSL=1, SOURCE_CONNECT_RETRY=2, "
        "SOURCE_AUTO_POSITION=1, SOURCE_SSL_CA='/var/lib/mysql/ca.pem'; START REPLICA"
    )


def test_that_each_server_is_found_by_its_own_process_and_unit(said: list[str]) -> None:
    breaks.pause(ASYNC, "src")
    breaks.pause(MYSQL_ESTATE, "g1")
    assert said == ["pkill -STOP -x -u mysql mariadbd", "pkill -STOP -x -u mysql mysqld"]
    assert [database.unit(ASYNC, "src"), database.unit(MYSQL_ESTATE, "g1")] == ["mariadb", "mysql"]
    assert [engine_of(r) for r in ("bookworm", "trixie", MYSQL_RELEASE)] == [MARIADB, MARIADB, MYSQL]


def test_that_a_copied_data_folder_loses_the_server_uuid_of_the_image(tmp_path: Path) -> None:
    (tmp_path / "auto.cnf").write_text("[auto]\nserver-uuid=the image's\n")
    config_mysql.make_own(tmp_path)
    config_mysql.make_own(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_that_members_know_the_group_and_only_its_own_replica_waits_with_the_source() -> None:
    texts = {host.name: config.server_config(MYSQL_ESTATE, host) for host in MYSQL_ESTATE.hosts}
    seeds = "group_replication_group_seeds = 10.213.13.11:33061,10.213.13.12:33061,10.213.13.13:33061\n"
    assert [name for name, text in texts.items() if seeds in text] == ["g1", "g2", "g3"]
    assert "rpl_semi_sync_source_enabled = 1" in texts["a1"]
    assert "rpl_semi_sync_replica_enabled = 1" in texts["a2"]
    assert "semi" not in texts["a3"]


@pytest.mark.parametrize(("states", "decides"), [
    ("ONLINE ONLINE ONLINE", True), ("ONLINE RECOVERING UNREACHABLE", True), ("ONLINE UNREACHABLE", False),
    ("ONLINE UNREACHABLE UNREACHABLE", False), ("ONLINE", True), ("ERROR", False), ("OFFLINE", False),
])  # fmt: skip
def test_that_a_view_decides_while_more_than_half_of_it_is_reached(states: str, decides: bool) -> None:
    seen = {str(number): Member(state, "", "") for number, state in enumerate(states.split())}
    assert has_quorum(seen) is decides


def test_that_an_inventory_has_the_group_apart_from_the_servers_beside_it_and_one_cluster_of_others() -> None:
    written = tomllib.loads(client.inventory(MYSQL_ESTATE, ("g1",)))
    group, others = written["cluster"]
    assert (group["name"], group["seeds"], group["networks"][0]) == ("mysql-group", ["g1"], "10.213.13.11")
    assert (others["name"], others["seeds"], others["networks"][0]) == ("mysql-async", ["a1"], "10.213.13.21")
    assert tomllib.loads(client.inventory(ASYNC, ("src",)))["cluster"] == [
        {"name": "async", "seeds": ["src"], "networks": ["10.213.2.0/24"]}
    ]


def test_that_nothing_is_held_back_for_ever_and_nobody_who_applies_nothing(said: list[str]) -> None:
    for host, seconds, reason in (("a2", 0, "between 1 and"), ("a2", 10_000, "between 1 and"), ("a1", 5, "applies")):
        with pytest.raises(LabError, match=reason):
            lag.lag(MYSQL_ESTATE, host, seconds)
    assert said == []


def test_that_an_image_nobody_promises_is_missed_with_its_reason_and_another_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PILOTHOUSE_LAB_CACHE", str(tmp_path))

    def mock_of_debootstrap(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=1)

    monkeypatch.setattr(image.subprocess, "run", mock_of_debootstrap)
    assert image.not_to_be_had(MYSQL_RELEASE).startswith("debootstrap of sid failed")
    with pytest.raises(LabError) as problem:
        image.ensure_image("bookworm")
    assert not isinstance(problem.value, NotToBeHadError)


def test_that_packages_of_one_server_are_in_no_image_of_the_other() -> None:
    assert "mysql-server" in image.packages(MYSQL_RELEASE)
    assert not [name for name in image.packages(MYSQL_RELEASE) if "maria" in name or "galera" in name]
    assert "mysql-server" not in image.packages("bookworm")


def test_that_networks_of_estates_differ_and_mysqls_tests_stay_together_apart_from_the_others() -> None:
    assert len({spec.network for spec in ESTATES}) == len({spec.code for spec in ESTATES}) == len(ESTATES)
    one = "tests/lab/mysql/test_estate.py::test_a"
    assert scope_of(one) == scope_of("tests/lab/mysql/test_group_faults.py::test_b") != TOGETHER


def test_that_each_refusal_goes_by_itself_and_behind_the_files_that_are_shared_out_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PILOTHOUSE_LAB_GALERA", raising=False)
    one, other = (f"tests/lab/procedures/test_refusals.py::test_a[{n}]" for n in (1, 2))
    whole = [f"tests/lab/procedures/crash/test_refusals_after_crash.py::test_a[{n}]" for n in (1, 2)]
    assert scope_of(one) != scope_of(other)
    assert len({scope_of(nodeid) for nodeid in whole}) == 1
    assert [fills_gaps(nodeid) for nodeid in (one, other, *whole)] == [True, True, False, False]
