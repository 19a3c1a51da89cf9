"""The reads of a history pass in exactly their form: two frozen programs, a bound of time, a log or index, an Xid."""

from __future__ import annotations

import re

import pytest

from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.programs.folder_programs import OWN_PLACE
from services.connections.programs.read_programs import SOCKET_LOGIN, SST_LOGIN, VIEWS_OF_LOG
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts.binlog.marks import marks_read
from services.facts.galera.primary_views import views_read


def allowed(made: Command) -> bool:
    try:
        check_command(made)
    except Refused:
        return False
    return True


def views(*words: str) -> tuple[str, ...]:
    return ("timeout", "20", "nice", "bash", "-c", VIEWS_OF_LOG, "pilothouse", *words)


def marks(*words: str) -> tuple[str, ...]:
    return ("timeout", "30", "nice", "bash", "-c", BINLOG_MARKS, "pilothouse", *words)


def test_that_the_reads_of_a_history_pass() -> None:
    for read in (
        views_read("mariadb.service", ""),
        views_read("mysql@bootstrap.service", "/var/log/mysql/error.log"),
        marks_read("/var/lib/mysql/mysql-bin.index"),
        marks_read("/binlogs/db1.index", 12_345_678_901),
        marks_read("/var/lib/mysql/#sql-pilothouse-before.sst/mysql-bin.index"),
    ):
        check_command(command_of(read))


@pytest.mark.parametrize(
    "argv",
    [
        views("journal"),
        views("journal", "-f"),
        views("journal", "mariadb; reboot"),
        views("journal", "mariadb\n"),
        views("file", "/etc/shadow"),
        views("file", "/root/x.log"),
        views("file", "relative.err"),
        views("file", "/var/log/../log/mysql.err"),
        views("other", "mariadb"),
        views("journal", "mariadb", "x"),
        marks("/var/lib/mysql/mysql-bin.index"),
        marks("/var/lib/mysql/mysql-bin.index", ""),
        marks("/var/lib/mysql/mysql-bin.index", "-1"),
        marks("/var/lib/mysql/mysql-bin.index", "1;reboot"),
        marks("/var/lib/mysql/mysql-bin.index", "\u0661"),
        marks("/var/lib/mysql/mysql-bin.000001", "newest"),
        marks("/etc/passwd", "newest"),
        marks("/root/x.index", "newest"),
        marks("x.index", "newest"),
        marks("/a/$(reboot).index", "newest"),
        marks("/a b/x.index", "newest"),
        ("timeout", "99", *views("journal", "mariadb")[2:]),
        ("timeout", "20", "bash", *views("journal", "mariadb")[4:]),
        ("nice", *views("journal", "mariadb")[3:]),
        (*views("journal", "mariadb")[:5], VIEWS_OF_LOG + "reboot", "pilothouse", "journal", "mariadb"),
        (*marks("/a/x.index", "newest")[:5], VIEWS_OF_LOG, "pilothouse", "/a/x.index", "newest"),
    ],
)
def test_that_no_other_form_of_them_passes(argv: tuple[str, ...]) -> None:
    assert not allowed(Command(argv))
    assert not allowed(Command(argv, sudo=True))


def test_that_the_login_of_an_sst_is_tried_in_one_form_only() -> None:
    whole = ("timeout", "8", "bash", "-c", SST_LOGIN, "pilothouse")
    assert allowed(Command(whole, sudo=True))
    for other in (whole[:5], (*whole, "x"), ("timeout", "99", *whole[2:]), whole[2:], (*whole[:4], "id;" + SST_LOGIN)):
        assert not allowed(Command(other, sudo=True))
    assert set(re.findall(r"\S*>\S*", SST_LOGIN)) == {"2>/dev/null"}
    assert "SELECT 1" in SST_LOGIN


@pytest.mark.parametrize("program", [SOCKET_LOGIN, OWN_PLACE])
def test_that_a_login_by_socket_and_the_place_of_a_folder_are_looked_at_in_one_form_only(program: str) -> None:
    whole = ("timeout", "8", "bash", "-c", program, "pilothouse", "/run/mysqld/mysqld.sock")
    assert allowed(Command(whole, sudo=True))
    others = [whole[:6], (*whole, "x"), ("timeout", "99", *whole[2:]), whole[2:], (*whole[:6], "/a/../b"),
              (*whole[:4], "id;" + program, *whole[5:]), (*whole[:5], "-x", whole[6])]  # fmt: skip
    for other in others:
        assert not allowed(Command(other, sudo=True))


@pytest.mark.parametrize("program", [VIEWS_OF_LOG, BINLOG_MARKS])
def test_that_the_programs_write_nothing(program: str) -> None:
    assert set(re.findall(r"\S*>\S*", program)) <= {"2>/dev/null;", "2>/dev/null", ">&2;", ">", ">="}
    assert not re.search(r"\b(rm|mv|cp|dd|tee|kill|eval|source)\b", program)
