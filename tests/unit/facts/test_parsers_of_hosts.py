"""What hosts answered (recorded from MariaDB 10.11.18 on Debian 12), read into facts; secrets never get through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.facts.galera.state_files import (
    Grastate,
    is_whole_view,
    parse_exact_listing,
    parse_grastate,
    parse_gvwstate,
    parse_listing,
)
from services.facts.haproxy import config_names
from services.facts.machine import machine, system
from services.facts.machine.tcp_ways import outcome_of, parse_listening
from services.facts.reading import without_port
from services.facts.replication.write_rate import rates_of
from services.facts.server import option_files as options
from services.facts.server.client_programs import login_refused
from services.facts.server.sessions import may_change, parse_sessions, sst_account_of
from services.procedures.gather.reader import Reader
from services.procedures.plan.parts.galera.sst_account import SstAccount
from tests.unit.procedures.host_of import host_of
from tests.unit.procedures.scripted_sessions import ScriptedSession
from tests.unit.recorded.replies import load

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
GRASTATE = f"""# GALERA saved state
version: 2.1
uuid:    {UUID}
seqno:   -1
safe_to_bootstrap: 0
"""
GVWSTATE = """my_uuid: 2f1d2b0b-e5aa-11f1-9e17-d753db896f3e
#vwbeg
view_id: 3 2f1d2b0b-e5aa-11f1-9e17-d753db896f3e 2
bootstrap: 0
member: 2f1d2b0b-e5aa-11f1-9e17-d753db896f3e 0
member: 2fe72e5b-e5aa-11f1-9f98-8b574fd566ec 0
#vwend
"""
LISTING = """total 148312
-rw-rw---- 1 100 101    417792 1795265452 aria_log.00000001
-rw-rw---- 1 100 101 134219032 1795265457 galera.cache
-rw-rw---- 1 100 101 134217728 1795265460 gcache.page.000002
-rw-rw---- 1 100 101       113 1795265455 grastate.dat
drwx------ 2 100 101      4096 1795265452 mysql
"""
DEFAULTS = """--socket=/run/mysqld/mysqld.sock
--bind-address=127.0.0.1
--bind-address=0.0.0.0
--skip_name_resolve=ON
--wsrep_sst_auth=sst:S3cret!
--loose-wsrep-provider-options=gcache.size=128M; socket.ssl=yes
--flag-only
"""


def test_that_grastate_is_read_and_an_unknown_seqno_stays_minus_one() -> None:
    assert parse_grastate(GRASTATE) == Grastate(UUID, -1, safe_to_bootstrap=False)
    assert parse_grastate(GRASTATE.replace("   -1", "   26221").replace("bootstrap: 0", "bootstrap: 1")) == Grastate(
        UUID, 26221, safe_to_bootstrap=True
    )


@pytest.mark.parametrize("content", ["", "uuid:", "uuid: nonsense\nseqno: 5", "\0\0\0", "# uuid: " + UUID])
def test_that_a_grastate_without_a_uuid_holds_no_state(content: str) -> None:
    assert parse_grastate(content) is None


@pytest.mark.parametrize("rest", ["", "\nseqn", "\nseqno:", "\nseqno: 26x\n", "\nseqno: 26"])
def test_that_a_grastate_that_ends_before_its_whole_seqno_is_damaged_and_invents_none(rest: str) -> None:
    assert parse_grastate(f"uuid: {UUID}{rest}") is None


def test_that_the_saved_view_names_its_members() -> None:
    assert parse_gvwstate(GVWSTATE) == (
        "2f1d2b0b-e5aa-11f1-9e17-d753db896f3e:2",
        ("2f1d2b0b-e5aa-11f1-9e17-d753db896f3e", "2fe72e5b-e5aa-11f1-9f98-8b574fd566ec"),
    )
    assert parse_gvwstate("") is None


def test_that_a_data_folder_tells_its_pages_cache_and_state() -> None:
    seen = parse_listing(LISTING)
    assert seen.entries == 5
    assert seen.pages == (("gcache.page.000002", 134217728, 1795265460.0),)
    assert (seen.galera_cache, seen.grastate, seen.sst_in_progress, seen.tablespace) == (True, True, False, False)
    for joining in ("-rw-rw---- 1 100 101 0 1795265455 sst_in_progress", "drwx------ 2 100 101 4096 1795265452 .sst"):
        assert parse_listing(f"{LISTING}{joining}\n").sst_in_progress
    assert parse_listing(f"{LISTING}-rw-rw---- 1 100 101 12582912 1795265455 ibdata1\n").tablespace


def test_that_the_file_of_a_donors_script_is_no_transfer_into_its_data() -> None:
    giving = load("situations/galera-sst.json")["hosts"]["n1"]["commands"]["ls -lAn /var/lib/mysql"]["stdout"]
    assert "wsrep_sst.pid" in giving
    giving = re.sub(r"[A-Z][a-z]{2} +\d+ \d\d:\d\d", "1795265455", giving)  # recorded before times were asked for so
    assert (parse_listing(giving).sst_in_progress, parse_listing(giving).tablespace) == (False, True)


def test_that_defaults_keep_their_order_and_lose_their_secrets() -> None:
    found = options.parse_defaults(DEFAULTS, "mysqld")
    assert ("mysqld", "bind_address", "127.0.0.1") in found
    assert [v for s, o, v in found if o == "bind_address"][-1] == "0.0.0.0"
    assert ("mysqld", "wsrep_sst_auth", "********") in found
    assert ("mysqld", "wsrep_provider_options", "gcache.size=128M; socket.ssl=yes") in found
    assert ("mysqld", "flag_only", "") in found
    assert options.sst_user(DEFAULTS) == "sst"
    assert "S3cret" not in repr(found)


@pytest.mark.parametrize(
    "line",
    [
        "wsrep_sst_auth = root:{secret}",
        "wsrep-sst-auth=root:{secret}",
        "#wsrep_sst_auth=root:{secret}",
        "password={secret}",
        "  password = '{secret}'  ",
        "loose_master_password = {secret}",
        "ssl_passphrase={secret}",
        "; old: password={secret}",
    ],
)
def test_that_no_form_of_a_password_in_an_option_file_gets_through(line: str) -> None:
    given_text = f"[mysqld]\n{line.format(secret='S3cret!pw')}\nserver_id = 5\n# a comment stays\n"
    shown = options.masked_file(given_text)
    assert "S3cret" not in shown
    assert "server_id = 5\n# a comment stays\n" in shown


@given(st.text(max_size=300))
def test_that_masking_never_fails_and_keeps_every_line(content: str) -> None:
    assert len(options.masked_file(content).splitlines()) == len(content.splitlines())


@pytest.mark.parametrize(
    ("given_address", "named"),
    [
        ("gcomm://10.0.0.1,10.0.0.2:4567, db3", {"10.0.0.1", "10.0.0.2", "db3"}),
        ("gcomm://[fe80::1]:4567,fe80::2?pc.wait_prim=no", {"fe80::1", "fe80::2"}),
        ("gcomm://", set()),
        ("", set()),
    ],
)
def test_that_the_members_an_option_file_names_are_read_without_their_ports(
    given_address: str, named: set[str]
) -> None:
    assert options.group_members(given_address) == named


def test_that_the_names_among_the_members_are_told_from_their_addresses() -> None:
    told = options.named_hosts("gcomm://db1,db2:4567,10.0.0.3,[2001:db8::4]:4567", ("AUTO", "db5:4567", "2001:db8::6"))
    assert told == ("db1", "db2", "db5")


@pytest.mark.parametrize(
    ("given", "bare"),
    [("db1", "db1"), ("db1:4567", "db1"), ("[::1]:4567", "::1"), ("[::1]", "::1"), ("::1", "::1"), ("", "")],
)
def test_that_an_address_loses_its_port_and_never_a_part_of_itself(given: str, bare: str) -> None:
    assert without_port(given) == bare


def test_that_the_programs_of_an_sst_are_named_once_without_their_folders() -> None:
    given = (
        ("sst", "compressor", "/usr/bin/pigz -p 4"),
        ("sst", "decompressor", "pigz -d"),
        ("mysqld", "compressor", "lz4"),
        ("sst", "compressor", ""),
    )
    assert options.sst_programs(given) == ("pigz",)


def test_that_a_name_is_unknown_only_by_getents_own_exit_code() -> None:
    assert [machine.resolved(code) for code in (0, 2, 1, 124)] == [True, False, None, None]


def test_that_a_refused_login_is_told_from_a_server_that_is_not_there() -> None:
    refused = "ERROR 1045 (28000): Access denied for user 'sst'@'localhost' (using password: YES)"
    by_socket = "ERROR 1698 (28000): Access denied for user 'root'@'localhost'"
    away = "ERROR 2002 (HY000): Can't connect to local server through socket '/run/mysqld/mysqld.sock' (2)"
    assert [login_refused(said) for said in (refused, by_socket, away, "")] == [True, True, False, False]


def test_that_of_a_folder_of_haproxy_only_its_own_files_are_read() -> None:
    assert config_names("20-b.cfg\nREADME\n10-a.cfg\nold.cfg.dpkg-old\n") == ("10-a.cfg", "20-b.cfg")


def test_that_includes_are_followed_in_their_order() -> None:
    text = "!includedir /etc/mysql/conf.d/\n  !include /etc/mysql/extra.cnf\n!includedir relative\n"
    assert options.includes(text) == (("/etc/mysql/conf.d", True), ("/etc/mysql/extra.cnf", False))
    assert options.read_in_folder("b.cnf\na.cnf\nx.cnf.bak\nREADME\n") == ("a.cnf", "b.cnf")


def test_that_hidden_option_files_of_a_folder_are_read_as_the_servers_read_them() -> None:
    """As my_print_defaults of MariaDB 10.11.18 gives them: '.cnf' and '.x.cnf' before 'x.cnf', no 'Z.CNF'."""
    listing = ".cnf\n.x.cnf\nZ.CNF\nx.cnf\n.x.cnf.swp\n.hidden\n..cnf\ny.cnf~\n"
    assert options.read_in_folder(listing) == (".cnf", ".x.cnf", "x.cnf")


@pytest.mark.parametrize(
    ("span", "seconds"), [("15min", 900.0), ("1min 30s", 90.0), ("5s", 5.0), ("1h 1ms", 3600.001), ("infinity", None)]
)
def test_that_systemds_spans_become_seconds(span: str, seconds: float | None) -> None:
    assert system.seconds_of(span) == seconds


def test_that_left_over_sst_scripts_are_found_and_nothing_else() -> None:
    text = (
        "  333 1008 /usr/sbin/mariadbd --wsrep_start_position=x:12\n"
        "  901  250 /bin/bash -ue /usr//bin/wsrep_sst_mariabackup --role joiner --auth sst_auth=root:S3cret\n"
        "  950  240 socat -u TCP-LISTEN:4444,reuseaddr stdio\n"
        "  951  240 mbstream -x\n"
        "  960    1 socat - UNIX-CONNECT:/run/haproxy.sock\n"
        "  970   99 /usr/sbin/haproxy -Ws\n"
    )
    found = system.orphans(text)
    assert [(pid, age) for pid, age, _ in found] == [(901, 250.0), (950, 240.0), (951, 240.0)]
    assert "S3cret" not in repr(found)
    assert system.balancers(text) == ("haproxy",)


@pytest.mark.parametrize(
    "line",
    [
        "/opt/bitnami/mariadb/sbin/mysqld --defaults-file=/my.cnf --wsrep_sst_method=mariabackup",
        "vi /usr/bin/wsrep_sst_mariabackup",
        "grep -r wsrep_sst_ /var/log",
        "tail -f /var/log/wsrep_sst_joiner.log",
        "bash -c xbstream -x -C /restore < /backup/full.xbstream",
        "python3 /opt/report.py --of wsrep_sst_rsync",
        "socat - UNIX-CONNECT:/run/haproxy.sock",
    ],
)
def test_that_a_process_that_only_names_an_sst_is_none(line: str) -> None:
    assert system.orphans(f" 4711 99 {line}\n") == ()


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("perl /usr/bin/innobackupex --user=b /backup", "innobackupex"),
        ("/usr/bin/perl -w /usr/bin/innobackupex /backup", "innobackupex"),
        ("/usr/bin/xtrabackup_55 --backup", "xtrabackup_55"),
        ("/opt/mysql/meb-8.0/bin/mysqlbackup --backup-dir=/b backup", "mysqlbackup"),
        ("mysqlsh root@db -- util dump-instance /b", "mysqlsh"),
        ("mysqlsh root@db -e util.dumpInstance('/b')", "mysqlsh"),
    ],
)
def test_that_a_backup_is_seen_by_its_program_or_script(line: str, program: str) -> None:
    assert system.backups(f" 7 99 {line}\n") == (f"{program} (pid 7)",)


@pytest.mark.parametrize("line", ["vi /usr/bin/innobackupex", "man mysqldump", "mysqlsh root@db", "less util.dump"])
def test_that_who_only_reads_of_a_backup_makes_none(line: str) -> None:
    assert system.backups(f" 7 99 {line}\n") == ()


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("mariadbd  Ver 10.11.18-MariaDB-0+deb12u1-log for debian-linux-gnu on x86_64 (Debian 12)", (10, 11, 18)),
        ("mysqld  Ver 8.0.36-28.1 for Linux on x86_64 (Percona XtraDB Cluster (GPL), Release rel28)", (8, 0, 36)),
        ("mysql  Ver 15.1 Distrib 10.5.8-MariaDB, for Linux", (10, 5, 8)),
        ("bash: mariadbd: command not found", ()),
    ],
)
def test_that_a_programs_version_is_read(line: str, version: tuple[int, ...]) -> None:
    assert system.version_of(line)[1] == version


def test_that_a_refused_option_is_told_in_the_servers_words() -> None:
    said = (
        "2026-11-21 13:07:41 0 [Warning] Could not increase number of max_open_files\n"
        "2026-11-21 13:07:41 0 [ERROR] mariadbd: unknown variable 'no-such=1'\n"
    )
    assert system.config_fault(7, said).endswith("unknown variable 'no-such=1'")
    assert system.config_fault(0, said) == ""
    assert system.config_fault(7, "") == "it ended with exit code 7"


def test_that_clients_are_told_from_the_servers_own_threads_and_the_consoles() -> None:
    rows = (
        (5, "app", "Sleep", None, 3),
        (6, "app", "Query", "SELECT 1", 0),
        (7, "dba", "Query", "/* x */ ALTER TABLE orders ADD c INT DEFAULT 'S3cret'", 9),
        (8, "system user", "Sleep", "Write_rows", 0),
        (9, "observer", "Query", "SHOW STATUS", 0),
        (10, "replication", "Binlog Dump", None, 99),
        (11, "event_scheduler", "Daemon", None, 99),
        ("short",),
    )
    found = parse_sessions(rows, "observer")
    assert [(c.number, c.busy) for c in found.clients] == [(5, False), (6, True), (7, True)]
    assert found.users == ("app", "dba")
    assert found.ddl == ("ALTER TABLE by dba",)
    assert found.replicas == 1
    assert "S3cret" not in repr(found)


def test_that_only_rights_on_everything_let_an_account_change_the_server() -> None:
    assert may_change(("GRANT ALL PRIVILEGES ON *.* TO `pilot`@`%` WITH GRANT OPTION",)) == (
        True,
        "granted ALL PRIVILEGES",
    )
    assert may_change(("GRANT PROCESS, SUPER ON *.* TO `x`@`%` IDENTIFIED BY PASSWORD '*A'",))[0]
    assert not may_change(("GRANT PROCESS, REPLICATION CLIENT ON *.* TO `observer`@`%`",))[0]
    assert not may_change(("GRANT ALL PRIVILEGES ON `app`.* TO `x`@`%`",))[0]
    assert not may_change(())[0]


def test_that_the_sst_accounts_missing_rights_are_named_and_hidden_ones_are_not_guessed() -> None:
    good = tuple(("'sst'@'localhost'", r) for r in ("RELOAD", "PROCESS", "LOCK TABLES", "BINLOG MONITOR"))
    assert sst_account_of(good, "sst") == ("ok", "")
    lacks = ("lacks-rights", "the SST account sst lacks LOCK TABLES, BINLOG MONITOR")
    assert sst_account_of(good[:2], "sst") == lacks
    assert sst_account_of((("'observer'@'%'", "PROCESS"),), "sst") == ("", "")


def test_that_of_several_sst_accounts_the_one_that_logs_in_by_the_socket_counts() -> None:
    everywhere = tuple(("'sst'@'%'", r) for r in ("RELOAD", "PROCESS", "LOCK TABLES", "BINLOG MONITOR"))
    assert sst_account_of(everywhere, "sst") == ("ok", "")
    assert "lacks RELOAD" in sst_account_of((*everywhere, ("'sst'@'localhost'", "USAGE")), "sst")[1]
    elsewhere = (("'sst'@'10.0.0.1'", "RELOAD"),)
    said = "the SST account sst may not log in from localhost: it is 10.0.0.1 only"
    assert sst_account_of(elsewhere, "sst") == ("not-local", said)


def test_that_two_looks_give_the_rate_with_the_rings_headers() -> None:
    def rows(seqno: int, replicated: int, received: int) -> Rows:
        return Rows(
            ("Variable_name", "Value"),
            (
                ("wsrep_last_committed", str(seqno)),
                ("wsrep_replicated_bytes", str(replicated)),
                ("wsrep_received_bytes", str(received)),
            ),
        )

    found = rates_of(rows(100, 1000, 500), rows(200, 21_000, 10_500), 2.0)
    assert found is not None
    assert found.bytes_s == (20_000 + 10_000 + 24 * 100) / 2
    assert found.seqno_s == 50
    assert rates_of(rows(100, 0, 0), rows(90, 0, 0), 2.0) is None
    assert rates_of(Rows((), ()), rows(90, 0, 0), 2.0) is None


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        (0, "", "open"),
        (1, "pilothouse: connect: Connection refused\npilothouse: line 1: /dev/tcp/h/1: Connection refused", "refused"),
        (1, "pilothouse: connect: No route to host", "filtered"),
        (1, "pilothouse: connect: Network is unreachable", "filtered"),
        (124, "", "filtered"),
        (127, "timeout: not found", "unknown"),
        (1, "pilothouse: h: Name or service not known", "unknown"),
    ],
)
def test_that_a_try_of_a_way_is_told_by_what_bash_said(code: int, said: str, outcome: str) -> None:
    assert outcome_of(Output(code, b"", said.encode()))[0] == outcome
    assert outcome_of(None)[0] == "unknown"


def test_that_listening_ports_are_read_in_both_families() -> None:
    text = "LISTEN 0 4096 0.0.0.0:4567 0.0.0.0:*\nLISTEN 0 128 [::]:22 [::]:*\nLISTEN 0 5 *:4444 *:*\n"
    assert parse_listening(text) == {4567, 22, 4444}


RIGHTS = tuple(("'sst'@'localhost'", right) for right in ("RELOAD", "PROCESS", "LOCK TABLES", "BINLOG MONITOR"))


@pytest.mark.parametrize(
    ("answer", "state", "said", "noted"),
    [
        (Output(0, b"1\n1\n", b""), "ok", "", False),
        (Output(1, b"", b"ERROR 1045 (28000): Access denied for user 'sst'@'localhost' (using password: YES)"),
         "refused", "the server of n1 refuses the SST account sst with the password of its files", False),
        (Output(1, b"", b"ERROR 2002 (HY000): Can't connect to local server"), "", "", True),
        (Output(4, b"", b""), "", "", True),
        (Output(1, b"", b"runuser: may not be used by non-root users"), "", "", True),
    ],
)  # fmt: skip
def test_that_an_sst_account_is_ok_only_where_its_login_was_tried_and_let_in(
    answer: Output, state: str, said: str, noted: bool
) -> None:
    session = ScriptedSession("n1")
    session.rows = {"SELECT": Rows(("grantee", "privilege"), RIGHTS)}
    session.programs = {"timeout": answer}
    session.no_root = b"non-root" in answer.stderr
    reader = Reader(session, ManualClock())
    found = SstAccount.read(host_of("n1", server_up=True, sst_user="sst"), reader) or SstAccount()
    assert (found.state, found.sentence) == (state, said)
    assert any(problem.part == "sst-account" for problem in reader.problems) is noted


@pytest.mark.parametrize(
    ("text", "whole"),
    [("", False), ("my_uuid: x\n", False), (GVWSTATE, True), (GVWSTATE.replace("#vwend\n", ""), False)],
)
def test_that_a_view_that_was_cut_off_is_not_whole(text: str, *, whole: bool) -> None:
    assert is_whole_view(text) is whole


def test_that_of_an_option_that_is_printed_twice_the_last_value_counts() -> None:
    assert options.printed("--log-error=/a\nnoise\n--loose_log_error=/b\n--flag\n") == {"log_error": "/b", "flag": ""}


def test_that_a_listing_to_the_nanosecond_tells_each_file() -> None:
    line = "-rw-rw---- 1 100 101 79691776 2026-11-20 10:11:12.123456789 +0000 ibdata1"
    assert parse_exact_listing(f"total 12\n{line}\n") == (
        ("2026-11-20 10:11:12.123456789 +0000", "ibdata1", "79691776"),
    )


def test_that_a_page_of_the_cache_has_its_whole_name_and_nothing_behind_it() -> None:
    """Its folder is the account's, and a person is told to remove a dead page by sudo, by its name."""
    line = "-rw-rw---- 1 107 113 128 1700000000 gcache.page.{}"
    names = ("000001", "000002; touch x", "$(id)", "000003\u202e", "x", "000004 /etc/shadow", "1000000")
    listing = parse_listing("\n".join(line.format(name) for name in names))
    assert [name for name, *_ in listing.pages] == ["gcache.page.000001", "gcache.page.1000000"]
