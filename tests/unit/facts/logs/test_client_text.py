"""Statements that failed, and other words of clients in an error log: no view, no transfer, no cause.

`failed-statements-*.log` were recorded on the lab, on the origin and on an applier of each (MariaDB 10.11.18).
The program of the views runs as on a host.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.ports import Output
from services.connections.programs.read_programs import VIEWS_OF_LOG
from services.connections.reads.registry import command_of
from services.facts import reads
from services.facts.galera.primary_views import parse_views
from services.facts.logs.causes import cause
from services.facts.logs.client_text import LEFT_OUT, LEFT_OUT_MORE, LEFT_OUT_REQUEST, without_client_text
from services.facts.logs.error_log import parse_transfers
from services.procedures.looking.histories import read_views
from tests.unit.facts.binary_logs import run
from tests.unit.facts.galera.test_refused_names import told
from tests.unit.procedures.host_of import host_of
from tests.unit.recorded.histories_recorded import FOLDER, UUID

OWN = "2026-11-22 19:19:03 7 [Note] WSREP: "
RULE = f"{OWN}================================================"
MEMBER = "\t0: b77d0b33-e63b-11f1-ba60-baec77942897, s3"


def view(seqno: int) -> str:
    return f"{RULE}\nView:\n  id: {UUID}:{seqno}\n  status: primary\n  members(1):\n{MEMBER}\n"


def told_by_journal(folder: Path, lines: list[str]) -> list[str]:
    log, reader = folder / "error.log", folder / "bin" / "journalctl"
    log.write_text("\n".join(lines[::-1]) + "\n")
    reader.parent.mkdir(exist_ok=True)
    reader.write_text(f"#!/bin/bash\ncat {log}\n")
    reader.chmod(0o755)
    return run(VIEWS_OF_LOG, log, "journal", "mariadb.service").stdout.splitlines()


FORGED = f"SST received: {UUID}:3\nView:\n  id: {UUID}:9\n  status: primary\n{MEMBER}\n"
OPENED = {
    "origin": "2026-11-22 19:19:03 50 [Warning] WSREP: Ignoring error 'Unknown table 'a.b'' on query. Query: '/*\n",
    "applier": "2026-11-22 19:19:03 1 [ERROR] Slave SQL: Error 'Unknown table 'a.b'' on query. Query: 'drop /*\n",
    "name": "2026-11-22 19:19:03 1 [ERROR] Slave SQL: Error 'Unknown table 'app.a\n",
    "value": "2026-11-22 19:19:03 1 [ERROR] Duplicate entry 'x\n",
    "file": "2026-11-22 19:19:03 1 [ERROR] Invalid (old?) table or database name 'x'\n",
    "conflict": "2026-11-22 19:19:03 1 [Note] WSREP: MDL BF-BF conflict\nrequest: (2 \tseqno 4 \tcmd 0 133 \tdrop /*\n",
    "isolation": "2026-11-22 19:19:03 1 [Warning] WSREP: TO isolation failed for: 4, schema: app, sql: drop /*\n",
    "event": "2026-11-22 19:19:03 51 [ERROR] Event Scheduler: [root@localhost][app.ev] x\n",
    "control": "[141B blob data]\n",
    "deadlock": "MariaDB thread id 8, OS thread handle 1, query id 31 localhost app Updating\nupdate /*\n",
    "mysql": "2026-11-22T19:19:03.1Z 5 [ERROR] [MY-010584] [Repl] Replica SQL: Error 'x' on query. Query: 'drop /*\n",
}


@pytest.mark.parametrize("journal", [False, True])
@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
def test_that_no_client_makes_a_view_or_ends_a_past(tmp_path: Path, opened: str, *, journal: bool) -> None:
    text = f"{view(7)}{OWN}{'x' * 1200}\n{opened}{FORGED}*/ a.b', Error_code: 1051\n"
    assert [v.seqno for v in parse_views(told(tmp_path, text, journal=journal))] == [7]


@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
def test_that_a_view_that_may_be_real_or_a_clients_leaves_no_past_before_it(tmp_path: Path, opened: str) -> None:
    stamped = view(9)
    text = f"{view(7)}{opened}*/ a.b', Error_code: 1051\n{stamped}"
    assert parse_views(told(tmp_path, text)) == ()
    later = f"{text}{OWN}{'x' * 9000}\n{view(12)}"
    assert [v.seqno for v in parse_views(told(tmp_path, later))] == [12]


@pytest.mark.parametrize("journal", [False, True])
def test_that_a_complaint_about_a_folder_hides_no_view_beyond_the_longest_name(
    tmp_path: Path, *, journal: bool
) -> None:
    text = f"{view(7)}{OPENED['file']}{OWN}{'x' * 200}\n{view(9)}"
    assert [v.seqno for v in parse_views(told(tmp_path, text, journal=journal))] == [7, 9]


def test_that_a_complaint_ends_at_its_quote_and_one_that_stands_in_a_statement_hides_no_less() -> None:
    asked = f"{OWN}Member 2.0 (s3) requested state transfer from '*any*'. Selected 1.0 (s2)(SYNCED) as donor."
    complaint = OPENED["file"].rstrip("\n")
    assert without_client_text([complaint, complaint, asked])[-1] == asked
    assert asked not in without_client_text([complaint, asked, f"{OWN}forged'"])
    assert asked not in without_client_text([f"{OWN}Query: 'x {complaint}", f"{OWN}{'x' * 600}", asked])


def test_that_what_journald_stamps_later_is_no_part_of_a_statement(tmp_path: Path) -> None:
    stamped = [f"1795328025.1 s3 mariadbd[159]: {line}" for line in (*view(7).splitlines(), OPENED["origin"].rstrip())]
    later = [f"1795328036.1 s3 mariadbd[159]: {line}" for line in view(9).splitlines()]
    found = told_by_journal(tmp_path, [*stamped, *later])
    assert [v.seqno for v in parse_views(found)] == [7, 9]
    kept = without_client_text([*stamped, *later])
    assert kept[-len(later) :] == tuple(later)


def test_that_the_databases_name_of_an_aborted_connection_is_no_end_of_a_past(tmp_path: Path) -> None:
    aborted = "2026-11-22 19:19:11 54 [Warning] Aborted connection 54 to db: '"
    rest = "' user: 'app' host: '10.0.0.9' (Got an error writing communication packets)\n"
    for name in (f"SST received: {UUID}:3\n", f"\nSST received: {UUID}:3\n", "\nPrepared IST receiver for 0-3"):
        assert [v.seqno for v in parse_views(told(tmp_path, f"{view(7)}{aborted}{name}{rest}"))] == [7]
    assert [v.seqno for v in parse_views(told(tmp_path, f"{view(7)}{aborted}app{rest}{view(9)}"))] == [7, 9]


@pytest.mark.parametrize("where", ["origin", "applier"])
def test_that_a_recorded_statement_that_failed_is_no_evidence(tmp_path: Path, where: str) -> None:
    lines = (FOLDER / f"failed-statements-{where}.log").read_text().splitlines()
    plain = "\n".join(line.partition("]: ")[2] for line in lines) + "\n"
    for journal in (False, True):
        assert [v.seqno for v in parse_views(told(tmp_path, plain, journal=journal))] == [15]
    before = parse_transfers(line for line in lines if float(line.split()[0]) < 1795375000)
    assert parse_transfers(lines) == before
    kept = without_client_text(lines)
    assert not any("b77d0b33" in line or "nonexist" in line or "0.1 (s1)" in line for line in kept)
    assert cause(kept).endswith({"origin": "", "applier": f"[ERROR] Slave {LEFT_OUT}"}[where])


def test_that_what_is_left_out_says_so_where_the_server_itself_may_have_spoken() -> None:
    opened, end = OPENED["origin"].rstrip("\n"), "*/ a.b', Error_code: 1051"
    asked = f"{OWN}Member 2.0 (s3) requested state transfer from '*any*'. Selected 1.0 (s2)(SYNCED) as donor."
    done = f"{OWN}2.0 (s3): State transfer from 1.0 (s2) complete."
    head = "2026-11-22 19:19:03 50 [Warning] WSREP: Ignoring e"
    assert without_client_text([opened, end]) == (f"{head}{LEFT_OUT}",)
    assert without_client_text([opened, "requested state transfer", end]) == (f"{head}{LEFT_OUT}",)
    assert without_client_text([opened, end, done]) == (f"{head}{LEFT_OUT_MORE}",)
    assert without_client_text([opened, end, done, asked]) == (f"{head}{LEFT_OUT_REQUEST}",)
    far = f"{OWN}{'x' * 1100}"
    assert without_client_text([opened, end, far, asked]) == (f"{head}{LEFT_OUT}", asked)
    kept = without_client_text([opened, end, far, asked])
    assert without_client_text(kept) == kept


def test_that_a_log_that_was_cut_off_may_begin_in_a_statement() -> None:
    lines = ["0.0 (s3): State transfer from 0.1 (s1) complete", f"{OWN}{'x' * 1200}", "next"]
    assert without_client_text(lines, begins_inside=True) == ("next",)
    assert without_client_text(lines) == tuple(lines)


def test_that_no_statement_hides_behind_the_line_of_a_write_set(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    noise = "1795265450.2 n1 mariadbd[9]: 2026-11-21 10:00:00 0 [Note] WSREP: ####### Passing WS 7\n"
    own = "2026-11-22T06:00:00.12Z 0 [Note] [MY-000000] [Galera] ####### Passing WS 8\n"
    kept = OPENED["isolation"].replace("/*", "x] ####### Passing WS 1")
    log.write_text(f"{noise}{own}{kept}last\n")
    found = subprocess.run(command_of(reads.error_log_whole(str(log))).argv, capture_output=True, text=True, check=True)
    assert found.stdout == f"{kept}last\n"


def test_that_a_log_without_a_view_says_that_one_may_stand_among_clients_words() -> None:
    def road(command: Command, limit_s: float) -> Output:
        return Output(0, b"left out\nread 500 0\n", b"")

    unread: list[str] = []
    assert read_views(host_of("s3", data_folder_path="/data"), road, unread) == ((), None, ())
    assert unread == [
        "the log of s3 contains no Primary Component after the newest place where it may stand among clients' words"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-22 22:01:07 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'no_such_option=1'",
        "2026-11-22 22:01:07 0 [ERROR] /usr/sbin/mariadbd: unknown option '--no-such'",
        "2026-11-22 22:01:07 0 [Warning] Could not open '/etc/x' : permission denied",
        # PXC 8.0.28 and newer, for each donor and each backup (percona-toolkit, recorded logs of its log explainer)
        "2023-03-12T07:43:06.1Z 0 [Note] [MY-013712] [Server] No suitable 'keyring_component_metadata_query' service",
    ],
)
def test_that_a_servers_own_words_about_its_options_stay(line: str) -> None:
    assert without_client_text((line,)) == (line,)
