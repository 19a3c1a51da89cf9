"""Sizes of data files and free memory of a backup host: pure parsers, and what a scripted host leaves unknown."""

from __future__ import annotations

import pytest

from services.connections.ports import Rows
from services.errors import Unreachable
from services.facts.server.tablespaces import (
    FileClass,
    available_memory,
    parse_tablespaces,
    read_source,
    whole_size,
    xtrabackup_version,
)
from services.types import Flavour
from tests.unit.procedures.scripted_sessions import ScriptedSession, out

VARIABLES = "SHOW GLOBAL VARIABLES"
COLUMNS = ("COUNT(*)", "SUM(FILE_SIZE)", "MAX(FILE_SIZE)")
PERCONA = Rows(("n", "v"), (("version", "8.0.35-27"), ("version_comment", "Percona Server"), ("server_uuid", "x")))
MARIADB = Rows(("n", "v"), (("version", "10.11.18-MariaDB-log"), ("version_comment", "Debian 12")))
# As MySQL 8.0's documentation has the columns; SUM is a DECIMAL, which drivers give as text.
ROWS = Rows(COLUMNS, ((3, "344064", 114688), (2, "20971520", 12582912)))
SAID = b"xtrabackup version 8.0.35-31 based on MySQL server 8.0.35 Linux (x86_64) (revision id: 55ec21d7)\n"


def host(variables: Rows = PERCONA) -> ScriptedSession:
    session = ScriptedSession("db1")
    session.rows[VARIABLES] = variables
    session.rows["SELECT COUNT(*), SUM(FILE_SIZE)"] = ROWS
    session.programs["cat"] = out("MemTotal: 64000 kB\nMemFree:  1 kB\nMemAvailable:   32000 kB\n")
    session.programs["xtrabackup"] = out(errors=SAID.decode())
    return session


def test_that_the_files_are_classes_of_a_power_of_ten() -> None:
    files = parse_tablespaces(ROWS)
    assert files == (FileClass(3, 344064, 114688), FileClass(2, 20971520, 12582912))
    assert whole_size(files) == 21315584


@pytest.mark.parametrize("row", [(0, "0", 0), (None, None, None), (1, "5", 9), ("x", "5", 5), (-1, "5", 5), (1,)])
def test_that_a_row_that_makes_no_sense_is_no_class(row: tuple[object, ...]) -> None:
    assert parse_tablespaces(Rows(COLUMNS, (row,))) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "size"),
    [("MemAvailable:  8 kB", 8192), ("MemTotal: 8 kB", None), ("MemAvailable: lots kB", None), ("MemAvailable:", None)],
)
def test_that_free_memory_is_what_the_kernel_calls_available(said: str, size: int | None) -> None:
    assert available_memory(said) == size


def test_that_a_version_is_read_out_of_what_xtrabackup_says() -> None:
    assert xtrabackup_version(SAID.decode()) == "8.0.35-31"
    assert xtrabackup_version("bash: xtrabackup: command not found") == ""


def test_that_a_scripted_percona_host_tells_files_memory_and_version() -> None:
    source = read_source(host())
    assert (source.flavour, source.version, source.free_memory) == (Flavour.PERCONA, "8.0.35", 32_768_000)
    assert (source.xtrabackup, source.retries, source.problems) == ("8.0.35-31", True, ())
    assert len(source.files) == 2


@pytest.mark.parametrize(("version", "tries"), [("8.0.25-17", False), ("2.4.29", None), ("", None), ("8.4.0-1", True)])
def test_that_retries_came_with_8_0_26(version: str, tries: bool | None) -> None:
    session = host()
    session.programs["xtrabackup"] = out(f"xtrabackup version {version} based on" if version else "")
    assert read_source(session).retries is tries


def test_that_a_scripted_mariadb_is_not_asked_further() -> None:
    session = host(MARIADB)
    session.programs["cat"] = Unreachable("It must not be asked.", host="db1")
    source = read_source(session)
    assert (source.has_xbcloud, source.files, source.problems) == (False, (), ())


def test_that_what_a_scripted_host_does_not_tell_is_a_problem_and_not_known() -> None:
    session = host()
    session.rows.pop("SELECT COUNT(*), SUM(FILE_SIZE)")
    session.programs["cat"] = Unreachable("No route.", host="db1")
    source = read_source(session)
    assert (source.files, source.free_memory, source.xtrabackup) == ((), None, "")
    assert len(source.problems) == 2
