"""What a server is and how its group looks to it: from real answers, and from odd ones."""

from __future__ import annotations

from typing import Any

import pytest

from services.connections.observer.allowlist import check_command, check_statement
from services.connections.ports import Rows
from services.connections.reads.registry import command_of, statement_of
from services.facts import reads
from services.facts.galera.provider_options import provider_options
from services.facts.galera.status import addresses, galera_problems, parse_galera, parse_members, provider_problem
from services.facts.reading import host_port, size, whole_number
from services.facts.server.dialect import PROCESSES, STATUS, VARIABLES, dialect_of, identify
from services.facts.server.server import parse_server
from services.types import Flavour
from tests.unit.recorded.replies import load, rows

MARIADB = {"version": "10.11.18-MariaDB-log", "wsrep_provider": "none", "gtid_slave_pos": ""}
MYSQL = {"version": "8.0.36", "server_uuid": "x", "version_comment": "MySQL Community Server - GPL"}


@pytest.mark.parametrize(
    ("variables", "flavour", "version"),
    [
        (MARIADB, Flavour.MARIADB, "10.11.18"),
        ({"version": "5.5.5-10.4.2-MariaDB"}, Flavour.MARIADB, "10.4.2"),
        ({"version": "11.8.6", "gtid_slave_pos": ""}, Flavour.MARIADB, "11.8.6"),
        (MYSQL, Flavour.MYSQL, "8.0.36"),
        ({**MYSQL, "version_comment": "Percona Server (GPL)"}, Flavour.PERCONA, "8.0.36"),
        ({**MYSQL, "pxc_strict_mode": "ENFORCING", "wsrep_provider": "/x.so"}, Flavour.PXC, "8.0.36"),
        ({**MYSQL, "wsrep_provider": "/x.so"}, Flavour.CODERSHIP, "8.0.36"),
        (
            {"version": "5.5.28", "wsrep_provider": "/x.so", "version_comment": "Percona XtraDB Cluster (GPL), wsrep"},
            Flavour.PXC,
            "5.5.28",
        ),
        ({}, Flavour.UNKNOWN, ""),
        ({"version": "99999999999999999999.1"}, Flavour.UNKNOWN, ""),
    ],
)
def test_that_a_product_is_told_by_its_variables(variables: dict[str, str], flavour: Flavour, version: str) -> None:
    found = identify(variables)
    assert (found.flavour, found.version) == (flavour, version)


@pytest.mark.parametrize(
    ("version", "statements"),
    [
        ("5.7.44", ("SHOW SLAVE STATUS", "SHOW SLAVE HOSTS")),
        ("8.0.21", ("SHOW SLAVE STATUS", "SHOW SLAVE HOSTS")),
        ("8.0.22", ("SHOW REPLICA STATUS", "SHOW REPLICAS")),
        ("8.4.0", ("SHOW REPLICA STATUS", "SHOW REPLICAS")),
        ("9.7.4-2", ("SHOW REPLICA STATUS", "SHOW REPLICAS")),
    ],
)
def test_that_mysql_is_asked_in_the_words_of_its_version(version: str, statements: tuple[str, ...]) -> None:
    found = dialect_of({**MYSQL, "version": version})
    assert (statement_of(found.replication_status), statement_of(found.replicas)) == statements


@pytest.mark.parametrize("name", ["situations/mysql-replica.json", "situations/async-healthy.json"])
def test_that_real_servers_answered_the_statements_of_their_dialect(name: str) -> None:
    for host in load(name)["hosts"].values():
        dialect = dialect_of(rows(host["queries"][statement_of(VARIABLES)]).pairs())
        assert "rows" in host["queries"][statement_of(dialect.replication_status)]


def test_that_mysql_9_refused_the_old_words() -> None:
    queries = load("situations/mysql-replica.json")["hosts"]["m2"]["queries"]
    assert all(queries[f"SHOW {old}"]["error"] == "query-failed" for old in ("SLAVE STATUS", "MASTER STATUS"))


def test_that_every_statement_and_command_is_in_the_observers_registry() -> None:
    statements = {STATUS, VARIABLES, PROCESSES}
    for version in ("5.7.44", "8.0.21", "8.0.22", "8.4.0", "9.7.4"):
        dialect = dialect_of({**MYSQL, "version": version, "group_replication_group_name": "g"})
        statements |= {dialect.replication_status, dialect.replicas, dialect.group_members}
    galera = dialect_of({**MARIADB, "wsrep_provider": "/x.so", "wsrep_trx_fragment_size": "0"})
    statements |= {galera.replication_status, galera.replicas, galera.galera_members}
    for read in statements - {None}:
        assert read is not None
        check_statement(statement_of(read))
    commands = [reads.HOST_FILES, reads.PROCESS, reads.CLOCK, reads.ZONE, reads.UNIT, reads.data_disk("/srv/my data")]
    commands += [reads.data_listing("/var/lib/mysql/", sudo=True), reads.sst_size("/var/lib/mysql", sudo=True)]
    commands += [
        reads.journal("mariadb.service", 600, sudo=True),
        reads.error_log("/var/log/mysql/error.log", 9, sudo=False),
    ]
    for command in commands:
        check_command(command_of(command))


def _pxc() -> dict[str, Any]:
    return load("pxc-5.7-status.json")


def test_that_a_real_pxc_status_is_read() -> None:
    found = parse_galera(_pxc()["status"], _pxc()["variables"])
    assert found is not None
    assert (found.cluster_status, found.cluster_size, found.conf_id, found.local_state) == ("Primary", 2, 4, 4)
    assert found.flow_control_high == 141.0
    assert found.incoming_addresses == ("192.168.246.130:3306", "192.168.246.129:3306")
    assert (found.ist_current, found.cached_downto, found.cluster_weight) == (None, 0, 2)
    assert identify(_pxc()["variables"]).flavour is Flavour.PXC
    assert not identify(_pxc()["variables"]).galera4


def test_that_a_real_mariadb_node_is_read_with_its_provider_options() -> None:
    host = load("situations/galera-healthy.json")["hosts"]["n1"]
    found = parse_galera(host["status"], rows(host["queries"][statement_of(VARIABLES)]).pairs())
    assert found is not None
    assert (found.gcache_size, found.weight, found.segment, found.proto_max) == (128 * 2**20, 1, 0, 11)
    assert found.gcache_freeze_supported is False
    assert found.flow_control_high == 28.0  # its own log says [28, 28]
    assert not found.provider_suspect


def test_that_wsrep_off_is_no_galera() -> None:
    host = load("situations/async-healthy.json")["hosts"]["src"]
    assert parse_galera(host["status"], rows(host["queries"][statement_of(VARIABLES)]).pairs()) is None


def test_that_a_shifted_provider_is_grey_and_told() -> None:
    status = {**_pxc()["status"], "wsrep_provider_name": "1??ff.?", "wsrep_provider_vendor": "4.7(r84f7c3b9)",
              "wsrep_provider_version": "Galera"}  # fmt: skip
    found = parse_galera(status, _pxc()["variables"])
    assert found is not None
    assert (found.provider_suspect, found.provider_version, found.provider_vendor) == (True, "", "")
    assert [p.code for p in galera_problems(status, _pxc()["variables"], found)] == ["provider-shifted"]


def test_that_perconas_provider_in_mariadb_is_told() -> None:
    status = {**_pxc()["status"], "wsrep_provider_vendor": "Codership Oy (modified by Percona <https://percona.com/>)"}
    problem = provider_problem(status, {"version": "10.11.18-MariaDB"})
    assert problem is not None
    assert problem.code == "provider-foreign"


def test_that_missing_group_variables_are_a_reason_and_no_exception() -> None:
    found = parse_galera({"wsrep_cluster_state_uuid": "x"}, {"wsrep_provider": "/x.so", "wsrep_on": "ON"})
    assert found is not None
    (problem,) = galera_problems({}, {}, found)
    assert "wsrep_cluster_status, wsrep_local_state, wsrep_cluster_size" in problem.sentence


@pytest.mark.parametrize(
    ("options", "high"),
    [("gcs.fc_limit = 16; gcs.fc_single_primary = yes", 16.0), ("gcs.fc_limit = 100", 173.0), ("", None)],
)
def test_that_the_flow_control_limit_grows_with_the_group_unless_there_is_one_primary(
    options: str, high: float | None
) -> None:
    variables = {"wsrep_provider": "/x.so", "wsrep_on": "ON", "wsrep_provider_options": options}
    found = parse_galera({"wsrep_cluster_size": "3"}, variables)
    assert found is not None
    assert found.flow_control_high == high


def test_that_the_freeze_option_is_found_by_presence() -> None:
    assert "gcache.freeze_purge_at_seqno" in provider_options("gcache.freeze_purge_at_seqno = -1; gcache.size = 1G")


def test_that_member_rows_of_a_wrong_form_are_dropped() -> None:
    found = parse_members(
        Rows(("a",), (("only one",), ("no uuid", "n", "a"), ("A" * 8 + "-1111-1111-1111-111111111111", b"\xff", None)))
    )
    assert [(m.name, m.address) for m in found] == [("\ufffd", "")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551615", None),
        ("-1", -1),
        ("1e9", None),
        ("9" * 30, None),
        ("", None),
        ("7", 7),
        (None, None),
        (float("nan"), None),
    ],
)
def test_that_impossible_numbers_are_not_known(text: object, value: int | None) -> None:
    assert whole_number(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("128M", 2**27), ("1G", 2**30), ("10240", 10240), ("-1", None), ("xM", None), ("", None)]
)
def test_that_sizes_have_binary_suffixes(text: str, value: int | None) -> None:
    assert size(text) == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[::1]:3307", ("::1", 3307)),
        ("fe80::1", ("fe80::1", 3306)),
        ("Db1.Example.:0", ("db1.example", 3306)),
        ("a:99999", ("a", 3306)),
    ],
)
def test_that_addresses_split_into_host_and_port(text: str, found: tuple[str, int]) -> None:
    assert host_port(text) == found


def test_that_a_server_without_variables_is_empty_and_not_wrong() -> None:
    found = parse_server({}, {}, 100.0)
    assert (found.flavour, found.started_at, found.read_only, found.port) == (Flavour.UNKNOWN, None, None, 3306)


@pytest.mark.parametrize(
    ("variables", "flavour", "key"),
    [
        (
            {"version": "5.5.28", "version_comment": "Percona XtraDB Cluster (GPL) 5.5.28", "wsrep_provider": "/x.so"},
            Flavour.PXC,
            (5, 5, 28),
        ),
        ({"version": "8.0.11-TiDB-v7.5.0", "version_comment": "TiDB Server"}, Flavour.UNKNOWN, ()),
        ({"version": "5.7.25-OceanBase-v4.2.1", "version_comment": "OceanBase_CE"}, Flavour.UNKNOWN, ()),
        ({"version": "8.0.30-Vitess", "version_comment": "x"}, Flavour.UNKNOWN, ()),
        ({"version": "5.7.99", "version_comment": "Doris version doris-2.1.0"}, Flavour.UNKNOWN, ()),
        ({**MYSQL, "aurora_version": "3.04.0"}, Flavour.UNKNOWN, (8, 0, 36)),
        (
            {
                **MYSQL,
                "version": "8.0.28",
                "version_comment": "Source distribution",
                "basedir": "/rdsdbbin/oscar-8.0.mysql_aurora.3.04.0.0.32961.0/",
            },
            Flavour.UNKNOWN,
            (8, 0, 28),
        ),
        ({**MYSQL, "character_sets_dir": "/rdsdbbin/oscar-5.6.10a.16.39/share/charsets/"}, Flavour.UNKNOWN, (8, 0, 36)),
        ({**MYSQL, "basedir": "/rdsdbbin/mysql-5.7.18/", "datadir": "/rdsdbdata/db/"}, Flavour.MYSQL, (8, 0, 36)),
        ({**MYSQL, "version": "8.0.31-google", "version_comment": "(Google)"}, Flavour.MYSQL, (8, 0, 31)),
        (MYSQL, Flavour.MYSQL, (8, 0, 36)),
    ],
)
def test_that_a_product_is_told_by_its_own_marks_and_a_foreign_number_is_not_mysqls(
    variables: dict[str, str], flavour: Flavour, key: tuple[int, ...]
) -> None:
    found = identify(variables)
    assert (found.flavour, found.version_key) == (flavour, key)


@pytest.mark.parametrize(
    ("variables", "service"),
    [
        ({"version": "8.0.37-azure", "version_comment": "Source distribution"}, "Azure Database for MySQL"),
        ({"version": "8.0.32", "aad_auth_only": "OFF"}, "Azure Database for MySQL"),
        ({"version": "8.0.31-google", "version_comment": "(Google)"}, "Google Cloud SQL"),
        ({"version": "5.7.44-google-log", "version_comment": "(Google)"}, "Google Cloud SQL"),
        ({"version": "8.0.36", "cloudsql_iam_authentication": "ON"}, "Google Cloud SQL"),
        ({"version": "8.0.28", "basedir": "/rdsdbbin/mysql-8.0.28.R4/"}, "Amazon RDS"),
        ({"version": "8.0.28", "basedir": "/rdsdbbin/oscar-8.0.mysql_aurora.3.04.0/"}, "Amazon Aurora"),
        # What a person builds, names or logs in by is no service's mark.
        ({"version": "8.0.36", "version_comment": "MySQL Community Server - GPL", "hostname": "azure-db1"}, ""),
        ({"version": "8.0.36", "version_comment": "(Google) build of ours"}, ""),
        ({"version": "10.11.6-MariaDB", "basedir": "/usr"}, ""),
        ({}, ""),
    ],
)
def test_that_a_managed_service_is_told_by_its_own_marks_alone(variables: dict[str, str], service: str) -> None:
    assert parse_server({**MYSQL, "version_comment": "", **variables} if variables else {}, {}, 1.0).service == service


def test_that_an_address_which_several_members_give_tells_none_of_them() -> None:
    assert addresses("10.0.0.9:3306,10.0.0.9:3306,10.0.0.3:3306") == ("", "", "10.0.0.3:3306")
