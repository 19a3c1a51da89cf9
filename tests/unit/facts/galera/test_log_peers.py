"""Whom a node's provider met, out of the very program that reads a log (MariaDB 10.11.18, Galera 26.4.23; PXC 8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.connections.programs.read_programs import VIEWS_OF_LOG
from services.facts.galera.log_peers import LogPeer, parse_peers, short
from services.facts.galera.primary_views import parse_views
from tests.unit.facts.binary_logs import run

STAMP = "2026-11-28 11:15:25 0 [Note] WSREP: "
MET = "(00a43daf-a7fe, 'tcp://0.0.0.0:4567') connection established to 00b037d6-af71 tcp://10.213.9.43:4567"
STABLE = "declaring 0049c8ef-a5db at tcp://10.213.9.41:4567 stable"
JOINS = "Member 2.0 (s3) requested state transfer from '*any*'. Selected 1.0 (s2)(SYNCED) as donor."
S3 = "00b037d6-eb1d-11f1-af71-13850f082d8d"
VIEW = ("View:", "  id: ffa4d6dc-eb1c-11f1-9488-5ada67db40ff:15", "  status: primary", f"        2: {S3}, s3")


def lines_of(folder: Path, *lines: str) -> list[str]:
    log = folder / "error.log"
    log.write_text("".join(f"{line}\n" for line in lines))
    return run(VIEWS_OF_LOG, log, "file", str(log)).stdout.splitlines()


def peers(folder: Path, *lines: str) -> set[LogPeer]:
    return set(parse_peers(lines_of(folder, *lines)))


def test_that_members_are_told_by_their_short_uuid_and_address_and_joiners_by_name(tmp_path: Path) -> None:
    found = peers(tmp_path, *(STAMP + message for message in (MET, STABLE, JOINS, MET, MET)))
    assert found == {
        LogPeer("00b037d6-af71", address="10.213.9.43"),
        LogPeer("0049c8ef-a5db", address="10.213.9.41"),
        LogPeer(name="s3"),
    }
    assert short(S3) == "00b037d6-af71"


def test_that_a_node_tells_the_uuid_of_each_of_its_own_starts(tmp_path: Path) -> None:
    starts = (
        "(00a43daf-a7fe, 'tcp://0.0.0.0:4567')",
        "(0fa43daf-a7fe, 'ssl://0.0.0.0:1')",
        "(0fa43dae, 'tcp://[::]:1')",
    )
    lines = (f"{STAMP}{start} listening at tcp://0.0.0.0:4567" for start in starts)
    forged = f"{STAMP}Slave SQL: Error 'x' on query. Query: '(00b037d6, 'tcp://0.0.0.0:4567') listening at tcp://0'"
    assert peers(tmp_path, *lines, forged) == {
        LogPeer("00a43daf-a7fe", own=True), LogPeer("0fa43daf-a7fe", own=True), LogPeer("0fa43dae", own=True)
    }  # fmt: skip


def test_that_a_thousand_meetings_of_one_member_are_one_line(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, *([STAMP + MET] * 1000))
    assert sum(line.startswith("peer ") for line in lines) == 1


def test_that_percona_names_the_same_in_its_own_form_and_galera_3_by_eight_letters(tmp_path: Path) -> None:
    percona = (
        "2026-11-28T11:15:25.1Z 0 [Note] [MY-000000] [Galera] (a, 'ssl://0.0.0.0:4567') connection established to "
    )
    assert peers(tmp_path, f"{percona}00b037d6-af71 ssl://10.0.0.3:4567") == {LogPeer("00b037d6-af71", "", "10.0.0.3")}
    assert peers(tmp_path, f"{STAMP}declaring 00b037d6 at tcp://[::2]:4567 stable") == {LogPeer("00b037d6", "", "::2")}


@pytest.mark.parametrize(
    "line",
    [
        "peer declaring 00b037d6-af71 at tcp://10.0.0.66:4567",  # a client's words: no line of the server begins so
        "declaring 00b037d6-af71 at tcp://10.0.0.66:4567 stable",
        f"{STAMP}Slave SQL: Error 'x' on query. Query: 'connection established to 00b037d6 tcp://10.0.0.66:4567'",
        f"{STAMP}declaring 00b037d6-af71 at tcp://0x7f.1:4567 stable",
    ],
)
def test_that_a_clients_words_and_what_is_no_address_name_nobody(tmp_path: Path, line: str) -> None:
    assert peers(tmp_path, line) == set()


def test_that_a_meeting_that_is_logged_in_the_middle_of_a_view_leaves_the_view_whole(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, STAMP + VIEW[0], *VIEW[1:3], STAMP + MET, VIEW[3], STAMP + STABLE)
    assert [view.members for view in parse_views(lines)] == [((S3, "s3"),)]
