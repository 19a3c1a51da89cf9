"""The registry of named reads: every text of it passes the grammar, and nothing that is not in it is sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.host import HostSession
from services.connections.observer import allowlist
from services.connections.observer.allowlist import check_command, check_statement
from services.connections.reads import commands, kinds, registry, statements
from services.connections.reads.kinds import Kind
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of, statement_of
from services.connections.reads.template import CommandTemplate, SqlTemplate
from services.connections.sql import session as sql
from services.errors import BadInput, Refused
from services.facts import reads
from services.inventory.model import HostEntry, SqlAccess
from services.secrets import MemoryVault
from tests.unit.allowlist.disguises import CALLS, CHANGES, HOLDERS, PLACES, QUOTING, TAILS
from tests.unit.allowlist.test_commands import REFUSED

ONE_OF_EACH: dict[str, str | int] = {
    kinds.IDENTIFIER.called: "percona", kinds.VARIABLE_NAME.called: "wsrep_desync",
    kinds.PATH.called: "/var/lib/mysql", kinds.FILE.called: "/var/lib/mysql/grastate.dat",
    kinds.LOG.called: "/var/log/mysql/error.log", kinds.BINLOG_INDEX.called: "/var/lib/mysql/mysql-bin.index",
    kinds.STATS_SOCKET.called: "/run/haproxy/admin.sock", kinds.UNIT.called: "mariadb.service",
    kinds.ACCOUNT.called: 999,
    kinds.PROPERTY.called: "ActiveState", kinds.HOST.called: "10.0.0.5", kinds.NAME.called: "db1.example.com",
    kinds.PORT.called: 4567, kinds.LINES.called: 400, kinds.PID.called: 815, kinds.XID.called: 12_345_678_901,
    kinds.SINCE.called: 1_795_265_449, kinds.OPTION_GROUP.called: "mysqld",
    kinds.SERVER_PROGRAM.called: "/usr/sbin/mariadbd", kinds.TABLE_IN_HEX.called: "73.74",
    kinds.HOW_SUMMED.called: "sampled",
}  # fmt: skip
HOSTILE = (
    "/var/lib/my'sql", '/var/lib/my"sql', "/var/lib/my\\sql", "/var/lib/my\\'; touch x #", "/var/lib/mysql\n", "/a\rb",
    "/var/lib/m\u00fcsql", "/a\u202eb", "/a\x1b[2J", "/a$(id)", "/a`id`", "/a;id", "/a!b", "/a&b", "/a|b", "/a>b",
    "/a*", "/a~b", "/a{b}", "/a\tb", "/a\0b", "/a/../etc", "/a/./b", "//a", "a", "", "-x", "/" + "a" * 5000,
)  # fmt: skip
PATHS = (kinds.PATH, kinds.FILE, kinds.LOG, kinds.BINLOG_INDEX, kinds.STATS_SOCKET)


def filled(template: SqlTemplate | CommandTemplate) -> tuple[str | int, ...]:
    parts = template.pieces if isinstance(template, SqlTemplate) else template.words
    return tuple(ONE_OF_EACH[part.called] for part in parts if isinstance(part, Kind))


@pytest.mark.parametrize("name", sorted(statements.STATEMENTS))
def test_that_every_statement_of_the_registry_passes_the_grammar(name: str) -> None:
    read = SqlRead(name, filled(statements.STATEMENTS[name]))
    check_statement(statement_of(read), heartbeat_table=registry.heartbeat_table(read))


@pytest.mark.parametrize("name", sorted(commands.COMMANDS))
def test_that_every_command_of_the_registry_passes_the_grammar_as_root_where_it_may(name: str) -> None:
    template = commands.COMMANDS[name]
    read = CommandRead(name, filled(template))
    check_command(command_of(read))
    check_command(command_of(read.in_c_locale()))
    if template.root:
        assert command_of(read.as_root()).sudo
    else:
        with pytest.raises(Refused, match="as root"):
            command_of(read.as_root())


def test_that_no_text_of_the_registry_comes_twice_and_each_has_its_own_name() -> None:
    texts = [statement_of(SqlRead(n, filled(t))) for n, t in statements.STATEMENTS.items()]
    words = [command_of(CommandRead(n, filled(t))).argv for n, t in commands.COMMANDS.items()]
    assert len(set(texts)) == len(texts)
    assert len(set(words)) == len(words)


def test_that_the_status_of_the_fast_road_is_the_registrys() -> None:
    assert statement_of(statements.STATUS) == sql._STATUS


def test_that_the_registry_can_not_be_added_to_from_outside() -> None:
    for known in (statements.STATEMENTS, commands.COMMANDS):
        with pytest.raises(TypeError):
            known["mine"] = None  # type: ignore[index]


@pytest.mark.parametrize(
    "text",
    [*CHANGES, *CALLS, *TAILS, *PLACES, *QUOTING, *HOLDERS, "SELECT 1", "SHOW GLOBAL STATUS",
     "SELECT * FROM information_schema.INNODB_CMP_RESET", "SELECT * FROM sys.schema_table_statistics_with_buffer"],
)  # fmt: skip
def test_that_no_free_statement_becomes_a_text(text: str) -> None:
    given_as: list[Any] = [text, SqlRead(text), SqlRead("one", (text,)), CommandRead(text)]
    if not re.fullmatch(r"\w+", text, re.ASCII):  # one plain word may be the name of a variable or a table
        given_as += [SqlRead("variable", (text,)), SqlRead("heartbeat", ("percona", text))]
    for read in given_as:
        with pytest.raises(Refused):
            statement_of(read)


@pytest.mark.parametrize("line", [*REFUSED, "id -u", "cat /proc/stat"])
def test_that_no_free_command_becomes_words(line: str) -> None:
    words = tuple(line.split(" "))
    given_as: tuple[Any, ...] = (line, Command(words), CommandRead(line), CommandRead("who", words), SqlRead("who"))
    for read in given_as:
        with pytest.raises(Refused):
            command_of(read)


@pytest.mark.parametrize("path", HOSTILE)
def test_that_a_path_with_what_any_shell_may_read_is_refused_with_a_sentence(path: str) -> None:
    for name, template in commands.COMMANDS.items():
        parts = [word for word in template.words if isinstance(word, Kind)]
        for place, kind in enumerate(parts):
            if kind.called not in {one.called for one in PATHS}:
                continue
            values = list(filled(template))
            values[place] = path
            with pytest.raises(Refused, match="is not") as refusal:
                command_of(CommandRead(name, tuple(values)))
            assert refusal.value.sentence.isprintable()
    if "\0" not in path:
        assert not allowed(Command(("stat", "-c", "%s", path)))


def allowed(command: Command) -> bool:
    try:
        check_command(command)
    except Refused:
        return False
    return True


@given(st.sampled_from(sorted(commands.COMMANDS)), st.data())
def test_that_whatever_value_is_let_through_needs_no_quoting_but_for_blanks(name: str, data: st.DataObject) -> None:
    values = list(filled(commands.COMMANDS[name]))
    if not values:
        return
    at = data.draw(st.integers(0, len(values) - 1))
    values[at] = data.draw(st.one_of(st.text(max_size=12), st.integers(), st.text("/.a'\\\"$ ;", max_size=12)))
    try:
        found = command_of(CommandRead(name, tuple(values)))
    except Refused:
        return
    fixed = {word for word in commands.COMMANDS[name].words if isinstance(word, str)}
    assert all(re.fullmatch(r"[A-Za-z0-9/_.@:+,= -]+", word) for word in found.argv if word not in fixed)


@pytest.mark.parametrize("values", [(), ("a",), ("a", "b", "c"), ("percona", "h`x"), ("percona", "h\u00e9"), (1, 2)])
def test_that_a_heartbeat_is_two_plain_identifiers(values: tuple[str | int, ...]) -> None:
    with pytest.raises(Refused):
        statement_of(SqlRead("heartbeat", values))


def test_that_a_session_reads_the_heartbeat_of_its_own_inventory_entry_only() -> None:
    access = SqlAccess("observer", heartbeat_table="percona.heartbeat")
    made = HostSession(HostEntry("db1", "127.0.0.1", sql=access), MemoryVault(), clock=ManualClock())
    for table in (("percona", "other"), ("mysql", "user")):
        with pytest.raises(Refused, match="names no such heartbeat"):
            made.query(statements.HEARTBEAT.read(*table))
    without = HostSession(HostEntry("db1", "127.0.0.1"), MemoryVault(), clock=ManualClock())
    with pytest.raises(Refused, match="names no such heartbeat"):
        without.query(statements.HEARTBEAT.read("percona", "heartbeat"))
    with pytest.raises(BadInput):
        without.query(statements.ONE)


@pytest.mark.parametrize("value", [0, 65_536, -1, "22", True, 22.0])
def test_that_a_port_is_a_whole_number_of_its_range(value: Any) -> None:
    with pytest.raises(Refused, match="port"):
        command_of(commands.TCP_TRIED.read("n1", value))


def test_that_a_bound_read_is_looked_up_and_neither_parsed_nor_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    statement_of(statements.VARIABLES)
    command_of(reads.data_disk("/var/lib/mysql"))

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    for name in ("check_statement", "check_command"):
        monkeypatch.setattr(registry, name, never)
        assert getattr(allowlist, name)
    monkeypatch.setattr(SqlTemplate, "bound", never)
    monkeypatch.setattr(CommandTemplate, "bound", never)
    assert statement_of(SqlRead("variables")) == "SHOW GLOBAL VARIABLES"
    assert command_of(reads.data_disk("/var/lib/mysql")).argv == ("df", "-PB1", "/var/lib/mysql")


@pytest.mark.parametrize(
    "table",
    ["information_schema.INNODB_CMP_RESET", "information_schema.innodb_cmpmem_reset",
     "INFORMATION_SCHEMA.INNODB_CMP_PER_INDEX_RESET", "information_schema.`INNODB_CMP_RESET`", "sys.anything_reset",
     "sys.schema_table_statistics_with_buffer", "sys.x$schema_table_statistics_with_buffer",
     "sys.innodb_buffer_stats_by_table", "information_schema.INNODB_BUFFER_PAGE_LRU"],
)  # fmt: skip
def test_that_the_grammar_too_refuses_tables_whose_reading_zeroes_or_latches(table: str) -> None:
    for text in ("SELECT * FROM {0}", "SELECT 1 UNION SELECT 1 FROM {0} a", "WITH q AS (SELECT * FROM {0}) SELECT 1",
                 "SELECT (SELECT COUNT(*) FROM {0})", "SHOW STATUS WHERE EXISTS (SELECT 1 FROM {0})"):  # fmt: skip
        with pytest.raises(Refused, match="may not be read"):
            check_statement(text.replace("{0}", table))


@pytest.mark.parametrize(
    "text", ["SELECT '\u00e9'", "SELECT `\u00e9`", "SHOW STATUS LIKE '\u0430%'", "SELECT '\u00bf'"]
)
def test_that_nothing_beyond_ascii_stands_in_quotes(text: str) -> None:
    with pytest.raises(Refused, match=r"U\+"):
        check_statement(text)


def test_that_no_floor_above_makes_a_command_or_a_statement_of_its_own_to_read() -> None:
    services = Path(registry.__file__).parents[2]
    files = [file for floor in ("facts", "discovery", "sampling") for file in (services / floor).rglob("*.py")]
    files += [file for room in ("gather", "verify") for file in (services / "procedures" / room).rglob("*.py")]
    assert len(files) > 60
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\bCommand\(|import Command\b|[=(]\s*f?[\"'](SELECT|SHOW) ", text), file.name
