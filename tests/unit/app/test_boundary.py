"""Whatever a foreign thing raises at a port of the house becomes one sentence: every class at every port."""

from __future__ import annotations

import errno
import json
import sqlite3
import subprocess
from collections.abc import Callable
from configparser import MissingSectionHeaderError
from pathlib import Path
from typing import Any

import keyring
import paramiko
import pymysql
import pytest
from keyring.errors import KeyringLocked, NoKeyringError, PasswordSetError
from sqlalchemy.exc import OperationalError

from app import compose
from app.__main__ import main
from services.boundary import foreign, unforeseen, why
from services.clock import SystemClock
from services.connections.command import Command
from services.connections.host import HostSession
from services.connections.links import Links
from services.connections.operator.session import HostOperator
from services.connections.reads import commands, statements
from services.connections.sql.statement import Statement
from services.errors import KeyringSilent, SecretMissing, StoreError, UserError
from services.history.recordings.recording import record_to
from services.history.state.store import StateStore
from services.history.store import HistoryStore
from services.history.store_file import StoreFile
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault, Secret, SecretRef, SystemVault, keyring_absence, keyring_in_use


class Panic(BaseException):
    """As a library in Rust panics: no Exception at all (pyo3_runtime.PanicException)."""


RAISED: tuple[BaseException, ...] = (
    OSError(errno.ENOSPC, "No space left on device", "/data/x"),
    OSError("Socket is closed"),
    PermissionError(errno.EACCES, "Permission denied"),
    ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
    BrokenPipeError(errno.EPIPE, "Broken pipe"),
    BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
    ProcessLookupError(errno.ESRCH, "No such process"),
    TimeoutError("timed out"),
    EOFError(),
    RuntimeError("no running event loop"),
    NotImplementedError(),
    RecursionError("maximum recursion depth exceeded"),
    ModuleNotFoundError("No module named 'keyrings'", name="keyrings"),
    ImportError("libEGL.so.1: cannot open shared object file"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    UnicodeEncodeError("latin-1", "●", 0, 1, "ordinal not in range(256)"),
    ValueError("invalid literal for int() with base 10: 'ssh'"),
    KeyError("getpwuid(): uid not found: 54321"),
    IndexError("list index out of range"),
    AttributeError("'NoneType' object has no attribute 'write'"),
    TypeError("float() argument must be a string"),
    AssertionError(),
    ZeroDivisionError("division by zero"),
    OverflowError("int too large to convert to float"),
    MemoryError(),
    MissingSectionHeaderError("keyringrc.cfg", 1, "default-keyring=x"),
    json.JSONDecodeError("Expecting value", "", 0),
    subprocess.SubprocessError("a child failed"),
    sqlite3.OperationalError("database or disk is full"),
    sqlite3.DatabaseError("database disk image is malformed"),
    sqlite3.ProgrammingError("Cannot operate on a closed database."),
    OperationalError("INSERT", {}, sqlite3.OperationalError("database is locked")),
    paramiko.SSHException("Channel closed."),
    paramiko.ssh_exception.IncompatiblePeer("no acceptable kex algorithm"),
    paramiko.ssh_exception.PasswordRequiredException("Private key file is encrypted"),
    pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query"),
    pymysql.err.InternalError("Packet sequence number wrong"),
    KeyringLocked("the prompt was dismissed"),
    PasswordSetError("cannot store"),
    Panic("a panic of a library"),
)
EVERY = pytest.mark.parametrize("raised", RAISED, ids=lambda one: f"{type(one).__name__}-{str(one)[:12]}")
ENTRY = HostEntry("db1", "192.0.2.1", ssh=SshAccess("dba"), sql=SqlAccess("monitor"))


def thrower(raised: BaseException) -> Callable[..., Any]:
    def throw(*_given: object, **_named: object) -> Any:
        raise raised

    return throw


def told(call: Callable[[], object], *, host: str = "") -> UserError:
    """Return the sentence that came out: one of this house's own, whatever went in."""
    with pytest.raises(UserError) as found:
        call()
    assert found.value.sentence.strip()
    assert "Traceback" not in found.value.as_text()
    if host:
        assert found.value.host == host
    return found.value


@EVERY
def test_that_a_host_session_lets_out_sentences_about_its_host_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ("ssh", "sql", "mongo"):
        monkeypatch.setattr(Links, way, thrower(raised))
    with HostSession(ENTRY, MemoryVault(), clock=SystemClock()) as session:
        told(session.status, host="db1")
        told(lambda: session.query(statements.VARIABLES), host="db1")
        told(lambda: session.run(commands.CLOCK), host="db1")
        told(lambda: session.stream(commands.CLOCK), host="db1")


@EVERY
def test_that_the_changing_road_says_that_an_act_may_have_happened(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    for way in ("ssh", "sql", "mongo"):
        monkeypatch.setattr(Links, way, thrower(raised))
    operator = HostOperator(ENTRY, MemoryVault())
    for act in (
        lambda: operator.execute(Statement("SET GLOBAL wsrep_desync = ON")),
        lambda: operator.run(Command(("systemctl", "stop", "mariadb"))),
        lambda: operator.read_file("/etc/my.cnf"),
        lambda: operator.write_file("/etc/my.cnf", Secret("x")),
    ):
        assert "may have taken effect on db1" in told(act, host="db1").safe


class Backend(keyring.backend.KeyringBackend):
    """A keyring whose every call raises."""

    priority = 9  # type: ignore[assignment]
    raised: BaseException = RuntimeError()

    def get_password(self, service: str, username: str) -> str | None:
        raise self.raised

    def set_password(self, service: str, username: str, password: str) -> None:
        raise self.raised

    def delete_password(self, service: str, username: str) -> None:
        raise self.raised


@EVERY
def test_that_the_vault_names_the_keyring_and_quotes_nothing_of_a_backend(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Backend()
    monkeypatch.setattr(Backend, "raised", raised)
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    monkeypatch.setattr(keyring, "get_password", backend.get_password)
    monkeypatch.setattr(keyring, "set_password", backend.set_password)
    for call in (
        lambda: SystemVault().get(SecretRef("keyring", "x")),
        lambda: SystemVault().put(SecretRef("keyring", "x"), Secret("y")),
    ):
        found = told(call)
        assert isinstance(found, SecretMissing)
        assert not isinstance(found, KeyringSilent)
        assert "OS keyring" in found.sentence
        assert type(raised).__name__ in found.sentence
        assert not str(raised) or isinstance(raised, ImportError) or str(raised) not in found.as_text()


@EVERY
def test_that_a_keyring_that_can_not_even_be_asked_for_is_none(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", thrower(raised))
    assert isinstance(keyring_absence(), SecretMissing)
    assert keyring_in_use() == ("", False)


def test_that_a_machine_without_any_keyring_is_told_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_password", thrower(NoKeyringError("none")))
    assert (
        "This workstation has no keyring that can store a password."
        in told(lambda: SystemVault().get(SecretRef("keyring", "x"))).sentence
    )


@EVERY
def test_that_a_history_lets_out_sentences_about_its_file_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = HistoryStore.open(tmp_path / "history.sqlite", background=False)
    with monkeypatch.context() as patched:
        for name in ("put_meta", "meta", "columns", "events", "range"):
            if hasattr(StoreFile, name):
                patched.setattr(StoreFile, name, thrower(raised))
        for call in (lambda: store.put_meta("title", "x"), store.meta, lambda: store.events(0.0, 1.0)):
            assert "history.sqlite" in told(call).sentence
    store.close()
    monkeypatch.setattr(StoreFile, "__init__", thrower(raised))
    told(lambda: HistoryStore.open(tmp_path / "history.sqlite"))
    told(lambda: record_to(tmp_path / "new.pilothouse"))
    monkeypatch.undo()
    HistoryStore.open(tmp_path / "history.sqlite", background=False).close()  # nobody holds its lock


@EVERY
def test_that_a_recording_whose_beginning_fails_names_its_file(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(StoreFile, "put_meta", thrower(raised))
    assert isinstance(told(lambda: record_to(tmp_path / "new.pilothouse")), StoreError)
    if isinstance(raised, sqlite3.Error):
        assert list(tmp_path.iterdir()) == []  # the same name works again once there is room


@EVERY
def test_that_the_state_store_lets_out_sentences_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        monkeypatch.setattr(StateStore, "_first", thrower(raised))
        assert isinstance(told(lambda: store.get_setting("x")), StoreError)


class OddSession:
    """A mock of one odd host among others: everything that is asked of it raises something foreign."""

    kind, has_ssh, has_sql = "mysql", True, True
    reached: tuple[str, ...] = ()

    def __init__(self, entry: HostEntry, raised: BaseException) -> None:
        self.host = entry.name
        self.status = self.query = self.run = self.ask = self.stream = thrower(
            raised if entry.name == "odd" else UserError("Refused.", host=entry.name)
        )

    def try_now(self) -> None:
        """See ObserverSession."""

    def close(self) -> None:
        """See ObserverSession."""


@EVERY
def test_that_a_mock_of_an_odd_host_ends_no_check_and_no_traceback_is_printed(
    raised: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    quiet_log: None,
) -> None:
    inventory = tmp_path / "hosts.toml"
    hosts = "".join(f'[[host]]\nname = "{n}"\naddress = "192.0.2.{i}"\n[host.sql]\nuser = "m"\n' for i, n in
                    enumerate(("odd", "even"), 1))  # fmt: skip
    inventory.write_text(f"version = 1\n{hosts}")
    monkeypatch.setattr(compose, "HostSession", lambda entry, *_a, **_n: OddSession(entry, raised))
    assert main(["check", "--inventory", str(inventory), "--data", str(tmp_path / "data")]) == 1
    out, errors = capsys.readouterr()
    assert "Traceback" not in out + errors
    assert "odd" in out
    assert "Refused." in out  # the other one was asked, and its own word stands there
    assert "0 of 2 hosts answer" in out


def test_that_what_ends_the_program_passes_the_boundary() -> None:
    for ending in (KeyboardInterrupt(), SystemExit(2), GeneratorExit()):
        with pytest.raises(type(ending)), foreign(lambda problem: unforeseen(problem, "It")):
            raise ending
    with pytest.raises(UserError, match="Ours"), foreign(lambda problem: unforeseen(problem, "It")):
        raise UserError("Ours.")


@EVERY
def test_that_an_exception_is_told_in_one_line(raised: BaseException) -> None:
    text = why(raised)
    assert text
    assert "\n" not in text
