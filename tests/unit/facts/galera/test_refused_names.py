"""Names of refused clients in an error log: no view, no transfer, no end to a read (MariaDB 10.11: log_warnings 2)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.ports import Output
from services.connections.programs.read_programs import VIEWS_OF_LOG
from services.facts.galera.primary_views import how_far, parse_views
from services.facts.logs.client_text import without_client_text
from services.procedures.looking.histories import read_views
from tests.unit.facts.binary_logs import run
from tests.unit.procedures.host_of import host_of
from tests.unit.recorded.histories_recorded import UUID

MEMBER = "\t0: b77d0b33-e63b-11f1-ba60-baec77942897, s3"
VIEW = f"View:\n  id: {UUID}:7\n  status: primary\n  protocol_version: 4\n  own_index: 0\n  members(1):\n{MEMBER}\n"
FAKE = "11 1 1 [Note] Access denied for user "
CLOSED = "'@'' (using password: NO)"


def refused(name: str) -> str:
    assert len(name) <= 128
    own = "2026-11-22 10:48:44 7 [Warning] Access denied for user "
    return f"{own}'{name}'@'10.0.0.9' (using password: YES)\n"


def told(folder: Path, text: str, *, journal: bool = False) -> list[str]:
    """Return what the read prints of a log, of a journal where each line has journald's own stamp."""
    log = folder / "error.log"
    log.write_text(text)
    if not journal:
        return run(VIEWS_OF_LOG, log, "file", str(log)).stdout.splitlines()
    stamped = "".join(f"1795328025.060451 s3 mariadbd[159]: {line}\n" for line in text.splitlines()[::-1])
    log.write_text(stamped)
    reader = folder / "bin" / "journalctl"
    reader.parent.mkdir(exist_ok=True)
    reader.write_text(f"#!/bin/bash\ncat {log}\n")
    reader.chmod(0o755)
    return run(VIEWS_OF_LOG, log, "journal", "mariadb.service").stdout.splitlines()


@pytest.mark.parametrize("journal", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        (f"\n  id: {UUID}:9\n  status: primary\n{FAKE}", f"\n{MEMBER}\n{FAKE}"),
        (f"{CLOSED}\n  id: {UUID}:9\n{FAKE}", f"{CLOSED}\n  status: primary\n{MEMBER}"),
        (f"\n  id: {UUID}:9\n  status: primary\n{MEMBER}",),
        (f"\nSST received: {UUID}:3\n{FAKE}",),
        (f"\nSST received: {UUID}:3\n{FAKE}{chr(0x20AC) * 20}",),
        (f"\nPrepared IST receiver for 0-3\n{FAKE}x",),
    ],
)
def test_that_no_name_and_no_pieces_of_several_are_evidence(
    tmp_path: Path, names: tuple[str, ...], *, journal: bool
) -> None:
    lines = told(tmp_path, VIEW + "".join(refused(name) for name in names), journal=journal)
    assert [(v.seqno, v.names) for v in parse_views(lines)] == [(7, ("s3",))]


@pytest.mark.parametrize(
    "stamp",
    ["2023-03-18T21:17:47.968883Z 12", "2023-03-18T21:17:47.968883+02:00 12", "230318 21:17:47", "230318  9:17:47"],
)
def test_that_a_name_is_left_out_whatever_zone_the_server_logs_in(tmp_path: Path, stamp: str) -> None:
    """log_timestamps=SYSTEM gives the zone's offset (percona-toolkit's recorded logs of PXC 8.0); 5.5 has no thread."""
    forged = f"{stamp} [Note] WSREP: New COMPONENT: primary = yes, bootstrap = yes, my_idx = 0, memb_num = 3"
    own = [f"{stamp} [Note] WSREP: number {n} of the server's own, {'x' * 80}" for n in range(8)]
    denied = f"{stamp} [Warning] Access denied for user 'a\n{forged}\n'@'localhost' (using password: YES)"
    text = "\n".join([*own, denied, *own, ""])
    assert forged not in without_client_text(text.splitlines())
    assert not any("COMPONENT" in line for line in told(tmp_path, text))


@pytest.mark.parametrize("parts", [("", FAKE), ("", f"{FAKE}\n"), (CLOSED, ""), (CLOSED, f"{FAKE}\n")])
@pytest.mark.parametrize("stamp", ["", "1795328025.060451 s3 mariadbd[159]: "])
def test_that_no_name_that_ends_its_own_masking_is_a_transfer(parts: tuple[str, str], stamp: str) -> None:
    moved = "0.0 (s3): State transfer from 0.1 (s1) complete"
    name = f"{parts[0]}\n{moved}\n{parts[1]}"
    server = "2026-11-22 10:48:43 0 [Note] WSREP: Member 0.0 (s3) synced with group."
    plain = refused("app").rstrip("\n")
    far = f"{server} {'x' * 100}"
    lines = [f"{stamp}{line}" for line in (server, *refused(name).splitlines(), far, plain, server, plain)]
    kept = without_client_text(lines)
    assert not any(moved in line for line in kept)
    assert kept.count(f"{stamp}{server}") == 2
    assert f"{stamp}{far}" in kept
    assert kept.count(f"{stamp}{plain}") == 2


def test_that_views_between_refused_logins_stay(tmp_path: Path) -> None:
    other = VIEW.replace(":7", ":9")
    text = f"{refused('app')}{VIEW}{refused('a' + chr(10) + 'b')}{other}{refused('app')}"
    assert [view.seqno for view in parse_views(told(tmp_path, text))] == [7, 9]


def test_that_a_log_that_begins_inside_a_name_begins_after_it(tmp_path: Path) -> None:
    cut = f"  id: {UUID}:9\n  status: primary\n{MEMBER}\n'@'10.0.0.9' (using password: YES)\n"
    assert [view.seqno for view in parse_views(told(tmp_path, cut + VIEW))] == [7]


def test_that_80_mb_of_refused_logins_hide_no_view(tmp_path: Path) -> None:
    begun = time.process_time()
    lines = told(tmp_path, VIEW + refused("app") * 800_000)
    assert [view.seqno for view in parse_views(lines)] == [7]
    read = how_far(lines)
    assert read is not None
    assert read[0] > 75_000_000
    assert read[1] == 800_000
    assert len(lines) < 50
    assert time.process_time() - begun < 15.0


def test_that_a_log_that_is_not_read_to_its_beginning_says_how_far_and_what_fills_it() -> None:
    def read(printed: str, code: int = 124) -> tuple[int, list[str]]:
        unread: list[str] = []

        def road(command: Command, limit_s: float) -> Output:
            return Output(code, printed.encode(), b"")

        return len(read_views(host_of("s3", data_folder_path="/data"), road, unread)[0]), unread

    shown = [line for line in VIEW.splitlines() if line.startswith(("View", "  id", "  status", "\t"))]
    newest_first = "".join(f"{line}\n" for line in shown[::-1])
    assert read("read 16000123 0\nread 64000051 590000\n") == (
        0,
        ["the newest 64 MB of the log of s3 took 20 s and hold 590000 refused logins; views before them were not read"],
    )
    assert read(f"{newest_first}read 64000051 0\n") == (
        1,
        ["the newest 64 MB of the log of s3 took 20 s; views before them were not read"],
    )
    assert read("")[1] == ["the log of s3 could not be read in 20 s: its views are not known"]
    assert read("read 5000 3\n", 0)[1] == ["the log of s3 contains no Primary Component"]
