"""Every port of the house has its boundary, and a row here: a new one without a row fails.

Found by looking: each class in a module that reaches what is foreign (a driver, a library of keys, a socket, a child, a
database, a file) is a port itself, or stands behind ports that are named.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from app.__main__ import main
from app.mark_shelf import StateShelf
from app.vault import SessionVault
from services.boundary import PORTS
from services.clock import ManualClock
from services.errors import SecretMissing, StoreError
from services.history.state.store import StateStore
from services.history.writer import Writer
from services.procedures.journal import heads, seal_key
from services.secrets import MemoryVault, Secret, SecretRef
from tests.unit.app.test_boundary import EVERY, RAISED, thrower, told

ROOT = Path(__file__).resolve().parents[3]
FOREIGN = frozenset({
    "paramiko", "pymysql", "pymongo", "bson", "keyring", "sqlalchemy", "sqlite3", "socket", "subprocess", "ssl",
    "cryptography", "services.workstation.files",
})  # fmt: skip
_HOST = ("services.connections.host.HostSession", "services.connections.operator.session.HostOperator")
_HISTORY = ("services.history.store.HistoryStore", "services.history.state.store.StateStore")
BEHIND: dict[str, tuple[str, ...]] = {
    "services.connections.": _HOST,
    "services.history.state.procedure_journal.Hold": ("services.history.state.procedure_journal.ProcedureLog",),
    "services.history.": _HISTORY,
    "services.workstation.os_keyring.": ("services.secrets.SystemVault",),
    "services.inventory.": (),  # the command's own boundary, and the window's workers
    "services.sampling.past.console_memory.ConsoleMemory": (),  # memory of the console itself: asks nobody
}
"""What stands behind which ports, by the beginning of its name: the longest counts."""
SHOWN_BY = {
    "services.connections.host.HostSession": "test_that_a_host_session_lets_out_sentences_about_its_host_only",
    "services.connections.operator.session.HostOperator": (
        "test_that_the_changing_road_says_that_an_act_may_have_happened"
    ),
    "services.connections.remote_stream.RemoteStream": "test_that_a_mock_of_an_odd_host_ends_no_check",
    "services.secrets.SystemVault": "test_that_the_vault_names_the_keyring_and_quotes_nothing_of_a_backend",
    "services.secrets.MemoryVault": "test_that_secrets_in_memory_let_out_sentences_only",
    "services.history.store.HistoryStore": "test_that_a_history_lets_out_sentences_about_its_file_only",
    "services.history.state.store.StateStore": "test_that_the_state_store_lets_out_sentences_only",
    "services.history.state.procedure_journal.ProcedureLog": "test_that_each_part_of_the_state_lets_out_sentences_only",
    "services.history.state.split_log.SplitLog": "test_that_each_part_of_the_state_lets_out_sentences_only",
    "services.history.state.change_marks.ChangeMarks": "test_that_each_part_of_the_state_lets_out_sentences_only",
    "services.procedures.journal.heads.HeadFiles": "test_that_the_journals_files_let_out_sentences_only",
    "services.procedures.journal.seal_key.WorkstationKey": "test_that_the_journals_files_let_out_sentences_only",
}


def _reaching_out() -> Iterator[str]:
    """Yield the dotted names of classes with public methods in modules that import something foreign."""
    for file in sorted((ROOT / "services").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        if (
            file.name == "__init__.py"
            or not {part for name in imported for part in (name, name.split(".")[0])} & FOREIGN
        ):
            continue
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(name)
        for node in tree.body:
            found = getattr(module, node.name) if isinstance(node, ast.ClassDef) else None
            if found is None or issubclass(found, BaseException) or getattr(found, "_is_protocol", False):
                continue
            methods = [m for n, m in vars(found).items() if not n.startswith("_")]
            if any(inspect.isfunction(one) or isinstance(one, classmethod) for one in methods):
                yield f"{name}.{found.__name__}"


def test_that_every_class_that_reaches_what_is_foreign_is_a_port_or_stands_behind_one() -> None:
    found = tuple(_reaching_out())
    assert len(found) > 40
    for name in found:
        if name in PORTS:
            continue
        front = max((key for key in BEHIND if name.startswith(key)), key=len, default=None)
        assert front is not None, f"{name} reaches what is foreign: bound it, or say which port stands before it"
        assert set(BEHIND[front]) <= PORTS.keys()


def test_that_every_port_has_a_row_and_a_test() -> None:
    assert PORTS.keys() == SHOWN_BY.keys()
    here = "".join((ROOT / "tests/unit/app" / name).read_text() for name in ("test_boundary.py", "test_every_port.py"))
    for test in SHOWN_BY.values():
        assert f"def {test}" in here


@pytest.mark.parametrize("name", sorted(SHOWN_BY))
def test_that_every_public_method_of_a_port_passes_the_boundary(name: str) -> None:
    for method, member in vars(PORTS[name]).items():
        function = member.__func__ if isinstance(member, classmethod) else member
        if not method.startswith("_") and inspect.isfunction(function):
            assert hasattr(function, "__wrapped__"), f"{name}.{method}"


# --- the state's parts -----------------------------------------------------------------------------------------------

STATE: dict[str, Callable[[StateStore], Any]] = {
    "new_run": lambda s: s.procedures().new_run("p", "c", "t"),
    "append": lambda s: s.procedures().append(1, None, "note", "", "{}"),
    "has": lambda s: s.procedures().has(1),
    "lines": lambda s: s.procedures().lines(),
    "marks": lambda s: s.procedures().marks(),
    "runs": lambda s: s.procedures().runs(),
    "runs_on": lambda s: s.procedures().runs_on("c"),
    "splits": lambda s: s.splits().all(),
    "open": lambda s: s.splits().open(),
    "settle": lambda s: s.splits().settle("c", "b", "w"),
    "gave_up": lambda s: s.splits().gave_up("c", frozenset({"a"}), "b", "w"),
    "all": lambda s: s.change_marks("a").all(),
    "keep": lambda s: s.change_marks("a").keep("n", (1.0, 2.0), (2.0, 3.0), "b"),
    "remove": lambda s: s.change_marks("a").remove(1),
}


@EVERY
def test_that_each_part_of_the_state_lets_out_sentences_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        with monkeypatch.context() as patched:
            patched.setattr(Engine, "connect", thrower(raised))
            for call in STATE.values():
                problem = told(lambda call=call: call(store))  # type: ignore[misc]
                assert isinstance(problem, StoreError)
                assert "state" in problem.sentence
        assert STATE["runs"](store) == ()  # and it works again


@EVERY
def test_that_a_run_whose_lock_can_not_be_made_is_no_traceback(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as store:
        log = store.procedures()
        monkeypatch.setattr("services.history.state.procedure_journal.lock_descriptor", thrower(raised))
        if isinstance(raised, OSError):
            assert log.hold(1) is None
        else:
            told(lambda: log.hold(1))


@EVERY
def test_that_secrets_in_memory_let_out_sentences_only(raised: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SecretRef, "__str__", thrower(raised))
    problem = told(lambda: MemoryVault().get(SecretRef("env", "x")))
    assert isinstance(problem, SecretMissing)
    told(lambda: SessionVault().put(SecretRef("env", "x"), Secret("s")))


class NoVault:
    """A workstation without a keyring."""

    def get(self, ref: SecretRef) -> Secret:
        raise SecretMissing(f"No keyring: {ref}")

    def put(self, ref: SecretRef, secret: Secret) -> None:
        raise SecretMissing(f"No keyring: {ref}")


@EVERY
def test_that_the_journals_files_let_out_sentences_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(heads, "write_whole", thrower(raised))
    assert isinstance(told(lambda: heads.HeadFiles(tmp_path).keep(1, "x")), StoreError)
    monkeypatch.setattr(seal_key, "write_whole", thrower(raised))
    assert isinstance(told(lambda: seal_key.WorkstationKey(tmp_path, NoVault()).key()), StoreError)


@EVERY
def test_that_marks_of_a_window_let_out_sentences_only(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "state.sqlite"
    StateStore.open(file).close()
    monkeypatch.setattr(Engine, "connect", thrower(raised))
    told(lambda: StateShelf(file, "a").all())


# --- what writes by itself -------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("where", ["_pack", "_write", "_housekeeping"])
def test_that_nothing_ends_the_thread_that_writes_a_history(
    raised: BaseException, where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    troubles: list[StoreError | None] = []

    connection = sqlite3.connect(tmp_path / "x.sqlite", isolation_level=None)
    writer = Writer(
        connection, tmp_path / "x.sqlite", (), ManualClock(), on_trouble=lambda p, _n: troubles.append(p),
        housekeeping=lambda _cursor: None,
    )  # fmt: skip
    monkeypatch.setattr(writer, where, thrower(raised), raising=True)
    writer.event((1.0, None, 0, "k", "{}"))
    writer.commit(force=True)
    writer.keep_house()
    assert [problem.sentence[:26] for problem in troubles if problem] == ["History cannot be written:"]
    connection.close()


# --- files that a person names ---------------------------------------------------------------------------------------

COMMANDS = (
    ("inventory", "--inventory", "hosts.toml"),
    ("check", "--inventory", "hosts.toml"),
    ("inventory", "import", "--from", "ssh", "--file", "odd"),
    ("inventory", "import", "--from", "mycnf", "--file", "odd"),
    ("inventory", "import", "--from", "workbench", "--file", "odd"),
    ("inventory", "import", "--from", "ssh", "--file", "odd", "--write", "--inventory", "new.toml"),
)


@pytest.mark.parametrize("raised", RAISED, ids=lambda one: type(one).__name__)
def test_that_files_which_a_person_names_end_in_a_sentence(
    raised: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    quiet_log: None,
) -> None:  # fmt: skip
    if not isinstance(raised, Exception):
        pytest.skip("a file's reader is no library in Rust")
    (tmp_path / "hosts.toml").write_text("version = 1\n")
    (tmp_path / "odd").write_text("Host a\n  HostName b\n")
    monkeypatch.chdir(tmp_path)
    for module in ("toml_file", "option_files", "imports_workbench", "toml_save"):
        monkeypatch.setattr(f"services.inventory.{module}.read_bounded", thrower(raised))
    monkeypatch.setattr("services.inventory.toml_save.write_whole", thrower(raised))
    for words in COMMANDS:
        code = main([*words, "--data", str(tmp_path / "data")])
        out, errors = capsys.readouterr()
        assert code in {0, 1, 2, 70, 141}, (words, code)
        assert "Traceback" not in out + errors
        if code not in {0, 141}:
            assert (out + errors).strip()
    assert os.listdir(tmp_path)  # noqa: PTH208 - nothing was thrown away
