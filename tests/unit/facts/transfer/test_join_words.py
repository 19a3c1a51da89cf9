"""What decides about a join, in the servers' own words (MariaDB 10.11.18 with Galera 26.4.23; Codership's old log)."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.facts.binlog.extracted import Extracted, parse_extracted
from services.facts.logs.causes import disk_full, fails_again
from services.facts.model import TransferFacts
from services.facts.transfer.ist_progress import ist_progress, sst_comes_in
from services.facts.transfer.join_words import (
    DonorFailed,
    broke_off,
    donor_failed,
    fatal_lines,
    needed_none,
    of_transfers,
)

CODERSHIP = Path(__file__).parents[2] / "recorded" / "codership-ist.log"
NEVER = "[ERROR] WSREP: gcs/src/gcs_group.cpp:1225: Will never receive state. Need to abort."
SCRIPT = "[ERROR] WSREP: Process completed with error: wsrep_sst_mariabackup --role 'donor' --address 'x': 22"
REFUSED = "[Warning] Access denied for user 'transfer'@'localhost' (using password: YES)"
FULL = "mariadb-backup: Error writing file 'UNOPENED' (errno: 28 \"No space left on device\")"
INCOMPLETE = "Receiving IST... 45.5% (10/22 events) complete."


def test_that_a_join_that_broke_off_is_told_from_one_that_goes_on() -> None:
    assert fatal_lines(("[Note] WSREP: Shifting OPEN -> PRIMARY (TO: 21)", NEVER)) == (NEVER,)
    assert broke_off([NEVER])
    assert not broke_off(["[ERROR] WSREP: It may not be safe to bootstrap the cluster from this node."])


def test_that_the_recorded_ist_of_codership_broke_off_nowhere_and_was_needed() -> None:
    lines = CODERSHIP.read_text().splitlines()
    assert fatal_lines(lines) == ()
    assert not broke_off(lines)
    assert not needed_none(lines)
    assert of_transfers(lines, 2) == (lines[0], lines[2])


@pytest.mark.parametrize(
    "line",
    [
        "[Note] WSREP: Shifting PRIMARY -> JOINED (TO: 41)",
        "[Note] WSREP: State transfer not required.",
        "[Note] WSREP: State transfer is not required",
        "[Note] WSREP: Cert index reset to 00000000-0000-0000-0000-000000000000:-1, state transfer needed: no",
    ],
)
def test_that_a_joiner_that_had_missed_nothing_says_so(line: str) -> None:
    assert needed_none([line])
    assert not needed_none(["[Note] WSREP: Shifting PRIMARY -> JOINER (TO: 23)"])
    assert not needed_none(["(proto: 11), state transfer needed: yes", "(proto: 11), state transfer needed: no"])


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((SCRIPT,), DonorFailed("wsrep_sst_mariabackup")),
        (
            (REFUSED, SCRIPT),
            DonorFailed("wsrep_sst_mariabackup", refused="Access denied for user 'transfer'@'localhost'"),
        ),
        ((FULL, SCRIPT), DonorFailed("wsrep_sst_mariabackup", gave_up=FULL)),
        ((REFUSED, FULL), None),
    ],
)
def test_that_a_donors_log_says_which_script_failed_and_what_came_before(
    lines: tuple[str, ...], told: DonorFailed | None
) -> None:
    assert donor_failed(lines) == told


def test_that_an_ist_is_counted_by_the_status_then_the_log_then_systemd() -> None:
    status = {f"wsrep_ist_receive_seqno_{name}": text for name, text in (("start", "11"), ("end", "40"))}
    coming = TransferFacts("n3", "n2", kind="IST", first_seqno=11, last_seqno=40, current_seqno=20)
    assert ist_progress({**status, "wsrep_ist_receive_seqno_current": "15"}, coming, INCOMPLETE) == (5.0, 30.0)
    assert ist_progress(status, coming, INCOMPLETE) == (10.0, 30.0)
    assert ist_progress({}, None, INCOMPLETE) == (10.0, 22.0)
    assert ist_progress({}, None, "Taking your SQL requests now...") is None


def test_that_systemd_tells_the_script_of_a_joiners_sst_from_a_donors() -> None:
    assert sst_comes_in("WSREP state transfer (role joiner) ongoing...")
    assert not sst_comes_in("WSREP state transfer (role donor) ongoing...")


def test_that_a_full_disk_is_told_from_other_causes_that_a_start_does_not_mend() -> None:
    assert (fails_again(FULL), disk_full(FULL)) == (True, True)
    corrupt = "[ERROR] InnoDB: Database page corruption on disk or a failed read of file './ibdata1' page"
    assert (fails_again(corrupt), disk_full(corrupt)) == (True, False)
    assert not fails_again("[ERROR] WSREP: gcs connect failed: Connection timed out")


def test_that_what_an_extraction_counted_is_read_whole() -> None:
    words = "lacking: none\n12 transactions, 1 statements, tables: shop.orders 30, shop.lines 4\n"
    assert parse_extracted(words) == Extracted("12", "1", "shop.orders 30, shop.lines 4")
    assert parse_extracted("mariadb-binlog: error reading packet") is None
