"""A server that ran on a node's data outside the cluster, by its own log: lines as MariaDB 10.11.18 writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.connections.programs.read_programs import START_LEFT_OUT, VIEWS_OF_LOG
from services.facts.galera.ran_alone import RanAlone, ran_alone
from tests.unit.facts.binary_logs import run

STARTS = "Starting MariaDB 10.11.18-MariaDB-0+deb12u1-log source revision 197f92 server_uid O7Q= as process 163"
LOADS = "WSREP: Loading provider /usr/lib/galera/libgalera_smm.so initial position: 00000000:-1"
NONE = "WSREP: Loading provider none initial position: 00000000-0000-0000-0000-000000000000:-1"
JOINS = "WSREP: New COMPONENT: primary = yes, bootstrap = no, my_idx = 2, memb_num = 3"
READY = "/usr/sbin/mariadbd: ready for connections."
COPY = "WSREP: SST received: 6c1f0c1e-93a2-11ef-8d3c-0242ac110002:12"
RECOVERS = "WSREP: Recovered position: 6c1f0c1e-93a2-11ef-8d3c-0242ac110002:12"


def found(*messages: str, journal: bool = False) -> str | None:
    """Return what is told of a log with these lines, oldest first."""
    stamp = (
        "1795328025.1 s3 mariadbd[159]: 2026-11-22 21:44:25 0 [Note] " if journal else "2026-11-22 21:44:25 0 [Note] "
    )
    lines = [message if message == START_LEFT_OUT else stamp + message for message in messages]
    alone = ran_alone(reversed(lines))
    return alone.told("s3") if alone is not None else None


@pytest.mark.parametrize(
    "lines",
    [
        (STARTS, LOADS, JOINS, READY),
        (STARTS, LOADS, READY),
        (STARTS, RECOVERS),
        (STARTS, STARTS, LOADS, JOINS, READY),
        (STARTS, READY, STARTS, LOADS, JOINS, READY),
        (STARTS, READY, STARTS, LOADS, COPY, READY),
        (START_LEFT_OUT, LOADS, JOINS, READY),
        (START_LEFT_OUT, JOINS, READY),
        (START_LEFT_OUT, "WSREP: Synchronized with group, ready for connections"),
        (READY,),
    ],
)
def test_that_starts_with_a_provider_and_what_was_before_a_joining_are_no_server_of_its_own(
    lines: tuple[str, ...],
) -> None:
    assert found(*lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        (STARTS, READY),
        (STARTS, NONE, READY),
        (STARTS, LOADS, JOINS, READY, STARTS, READY),
        (STARTS, LOADS, JOINS, READY, STARTS, READY, STARTS, RECOVERS),
        ("/usr/sbin/mysqld (mysqld 8.0.36-28.1) starting as process 163", READY),
    ],
)
def test_that_a_server_that_served_without_the_cluster_is_told_with_its_time(lines: tuple[str, ...]) -> None:
    told = found(*lines)
    assert told is not None
    assert told.startswith(
        "s3: a server ran on its data without the cluster at 2026-11-22 21:44:25 (as its log says), "
    )
    assert "at 2026-11-22 06:13:45 UTC" in (found(*lines, journal=True) or "")


@pytest.mark.parametrize(
    "stamp", ["2023-03-17T09:59:01.968883Z 0", "2023-03-17T09:59:01.968883+02:00 0", "230317  9:59:01"]
)
def test_that_such_a_server_is_told_whatever_zone_it_logs_in(tmp_path: Path, stamp: str) -> None:
    lines = (
        f"{stamp} [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.28-19.1) starting as process 6182",
        f"{stamp} [Note] [MY-000000] [WSREP] wsrep_load(): loading provider library 'none'",
        f"{stamp} [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.0.28-19.1'",
    )
    seen = alone_in(tmp_path, "\n".join([*lines, ""]))
    assert seen is not None
    assert seen.certain


@pytest.mark.parametrize(
    "lines",
    [
        (START_LEFT_OUT,),
        (STARTS, LOADS, JOINS, READY, START_LEFT_OUT),
        (STARTS, LOADS, JOINS, READY, START_LEFT_OUT, READY),
        (START_LEFT_OUT, STARTS, LOADS, READY),
    ],
)
def test_that_a_start_that_may_stand_among_clients_words_is_not_known(lines: tuple[str, ...]) -> None:
    assert (found(*lines) or "").endswith("whether a server ran on its data without the cluster is not known")


@pytest.mark.parametrize("forged", [JOINS, LOADS, COPY, "Loading provider x", f"2026-11-22 21:44:25 0 [ERROR] {JOINS}"])
def test_that_a_line_without_the_servers_own_beginning_clears_nothing(forged: str) -> None:
    stamp = "2026-11-22 21:44:25 0 [Note] "
    assert ran_alone((stamp + READY, forged, stamp + STARTS)) is not None
    assert ran_alone((forged, stamp + READY, stamp + STARTS)) is not None


STAMP = "2026-11-22 21:44:25 0 [Note] "
LONE = f"{STAMP}{STARTS}\n{STAMP}{READY}\n"
FIELD = (
    "2026-11-22 21:44:26 30 [ERROR] InnoDB: Cannot add field `x\n{}\ny` in table `test`.`b1` because after adding it,\n"
)


@pytest.mark.parametrize("forged", [JOINS, LOADS, f"{STAMP}{JOINS[:30]}", f"{STAMP}SST received: "])
def test_that_no_name_of_a_column_hides_a_server_that_ran_alone(tmp_path: Path, forged: str) -> None:
    assert alone_in(tmp_path, LONE + FIELD.format(forged)) is not None
    assert alone_in(tmp_path, f"{STAMP}{STARTS}\n{FIELD.format(forged)}{STAMP}{READY}\n") is not None


def test_that_no_name_of_a_column_makes_a_server_that_ran_alone(tmp_path: Path) -> None:
    served = f"{STAMP}{STARTS}\n{STAMP}{LOADS}\n{STAMP}{JOINS}\n{STAMP}{READY}\n" + f"{STAMP}{'x' * 300}\n" * 5
    assert alone_in(tmp_path, served + FIELD.format(f"{STARTS}\n{READY}")) is None
    stamped = alone_in(tmp_path, served + FIELD.format(f"{STAMP}{STARTS}\n{STAMP}{READY}"))
    assert stamped is not None
    assert not stamped.certain


@pytest.mark.parametrize("name", ["query id 1", "x\nquery id 1\ny", "x\nError 'a\ny"])
def test_that_no_refused_login_hides_a_server_that_ran_alone(tmp_path: Path, name: str) -> None:
    denied = f"2026-11-22 21:44:24 9 [Warning] Access denied for user '{name}'@'localhost' (using password: YES)\n"
    assert alone_in(tmp_path, denied + LONE) is not None
    query = (
        f"2026-11-22 21:44:26 9 [Warning] WSREP: Ignoring error 'Access denied for user 'a'' on query. Query: '{name}\n"
    )
    assert alone_in(tmp_path, f"{LONE}{query}{STAMP}{JOINS}\n") is not None
    assert alone_in(tmp_path, LONE + denied) is not None


def alone_in(folder: Path, text: str) -> RanAlone | None:
    log = folder / "error.log"
    log.write_text(text)
    return ran_alone(run(VIEWS_OF_LOG, log, "file", str(log)).stdout.splitlines())
