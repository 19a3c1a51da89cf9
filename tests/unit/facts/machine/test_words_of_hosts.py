"""What programs of a host print, read into facts (Debian 12, systemd 252, MariaDB 10.11.18)."""

from __future__ import annotations

import pytest

from services.connections.operator.files import owner_and_mode
from services.connections.ports import Output
from services.facts.binlog.files import BinlogFiles, binlog_files, index_of, is_of_mariadb
from services.facts.galera.provider_options import without_options
from services.facts.galera.state_files import is_state_uuid, only_a_server_writes, position_of
from services.facts.machine.detached_work import Found, parse_unit
from services.facts.machine.file_answers import is_absent
from services.facts.machine.system import product_of, systemd_version, units_shown
from services.facts.reading import last_number
from services.facts.server.option_files import cluster_addresses
from services.facts.server.sessions import in_commit

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"


def test_that_a_recovered_position_is_found_in_the_servers_own_line() -> None:
    line = f"2026-11-22 14:32:04 0 [Note] WSREP: Recovered position: {UUID}:26221,0-41-14"
    assert position_of(line) == (UUID, 26221)
    assert position_of(f"WSREP: Recovered position: {UUID}:-1") == (UUID, -1)
    assert position_of("WSREP: Recovered position: none") is None


def test_that_only_a_uuid_as_servers_print_it_is_a_states() -> None:
    assert [is_state_uuid(text) for text in (UUID, UUID.upper(), UUID[:-1], "prod")] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "written"),
    [("ibdata1", True), ("#ib_redo12", True), ("binlog.000007", True), ("binlog.index", True), ("mysql.ibd", True),
     ("n1.err", False), ("galera.cache", False), ("grastate.dat", False)],
)  # fmt: skip
def test_that_the_files_that_only_a_server_writes_are_told(name: str, written: bool) -> None:
    assert only_a_server_writes(name) is written


def test_that_several_units_are_shown_one_behind_the_other() -> None:
    shown = units_shown("Id=mariadb.service\nInvocationID=8a\n\nId=mysql.service\nInvocationID=\n")
    assert [unit["Id"] for unit in shown] == ["mariadb.service", "mysql.service"]


def test_that_versions_are_read_out_of_what_programs_say() -> None:
    assert systemd_version("systemd 252 (252.39-1~deb12u1)\n+PAM +AUDIT") == 252
    assert systemd_version("bash: systemctl: command not found") is None
    words = "/usr/sbin/mariadbd  Ver 10.11.18-MariaDB-deb12 for debian-linux-gnu on x86_64 (Debian 12)"
    assert product_of(words) == "MariaDB 10.11.18"
    assert product_of("no version") == "no version"


def test_that_a_file_that_is_not_there_is_told_from_one_that_may_not_be_read() -> None:
    gone = Output(1, b"", b"cat: /var/lib/mysql/grastate.dat: No such file or directory")
    barred = Output(1, b"", b"cat: /var/lib/mysql/grastate.dat: Permission denied")
    assert [is_absent(output) for output in (gone, barred, Output(0, b"", gone.stderr))] == [True, False, False]


def test_that_a_files_mode_loses_the_bits_of_setuid() -> None:
    assert owner_and_mode("0:106 4755\n") == ("0:106", "0755")


def test_that_a_binary_log_is_told_from_arias_and_a_relay_log() -> None:
    listing = "aria_log.00000001\nn1-relay-bin.000002\nn1-relay-bin.index\nbinlog.000003\nbinlog.index\n"
    assert binlog_files(listing) == BinlogFiles(("binlog.index",), "binlog.000003")
    assert binlog_files("aria_log.00000001\nibdata1\n") == BinlogFiles()
    assert [index_of(name) for name in ("/var/log/binlog.log", "ON", "")] == ["/var/log/binlog.index", "", ""]
    assert [is_of_mariadb(gtid) for gtid in ("0-41-14", f"{UUID}:7")] == [True, False]


def test_that_the_number_at_the_end_of_a_value_is_read_with_its_suffix() -> None:
    sentences = ("gcache.freeze_purge_at_seqno = 70K", "-1", "26221", "none")
    assert [last_number(text) for text in sentences] == [71680, -1, 26221, None]


def test_that_a_cluster_address_keeps_its_order_and_its_words() -> None:
    assert cluster_addresses("gcomm://n2:4567,n1?pc.weight=1") == ("n2:4567", "n1")


def test_that_provider_options_lose_only_those_that_begin_so() -> None:
    given = "gcache.size = 128M; gmcast.listen_addr = tcp://10.0.0.1:4567; ist.recv_addr = 10.0.0.1"
    assert without_options(given, ("gmcast.listen_addr", "ist.recv_addr")) == "gcache.size = 128M"


def test_that_a_thread_in_its_commit_is_told_from_an_idle_one() -> None:
    row = {"Command": "Query", "State": "wsrep: initiating pre-commit for write set", "Info": "INSERT"}
    assert in_commit(row)
    assert not in_commit({**row, "Command": "Sleep"})
    assert in_commit({"Command": "Query", "State": "", "Info": " commit"})


def test_that_a_unit_that_never_ran_has_ended_and_one_that_was_killed_says_by_what() -> None:
    shown = "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult={0}\nExecMainCode={1}\nExecMainStatus={2}\n"
    assert parse_unit(shown.format("exit-code", 0, 0)) == Found("ended", 255, "exit-code")
    assert parse_unit(shown.format("signal", 2, 9)) == Found("ended", 137, "signal")
