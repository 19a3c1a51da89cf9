"""Lock files, cells of the journal, certificates and a current folder that somebody else made."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import pkgutil
import resource
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import services.facts
from services.clock import ManualClock
from services.connections.operator.files import owner_and_mode
from services.connections.programs.tls_programs import PAIR_LOOK
from services.errors import UserError
from services.history.state.store import StateStore
from services.inventory.imports_workbench import import_workbench
from services.procedures.engine.lock import parse_lock
from services.workstation.files import private_folder, write_whole

ROOT = Path(__file__).resolve().parents[2]


def _reads_one_text(reader: Callable[..., object]) -> bool:
    needed = [one for one in inspect.signature(reader).parameters.values() if one.default is one.empty]
    return len(needed) == 1 and needed[0].annotation == "str"


@pytest.mark.parametrize(
    "text",
    ["[" * 4_096, '{"a":' * 800, "7", '{"owner": ["x"], "since": true}', '{"since": 1e999}', '{"since": -1}',
     '{"since": 1' + "0" * 400 + "}", '{"owner": {"a": 1}}', "\0", "{"],
)  # fmt: skip
def test_that_a_lock_that_is_none_of_ours_is_told_as_such(text: str) -> None:
    lock = parse_lock(text)
    assert lock is not None
    assert (lock.owner, lock.since) == ("?", None)


def test_that_a_locks_words_are_one_short_line() -> None:
    lock = parse_lock('{"owner": "eva\\u001b[2J\\nroot", "since": 5, "run_id": "' + "x" * 2_000 + '"}')
    assert lock is not None
    assert ("\n" in lock.owner, "\x1b" in lock.owner, len(lock.run_id) <= 301, lock.since) == (False, False, True, 5.0)


@pytest.mark.parametrize(("column", "cell"), [("data", b"{}"), ("at", "soon"), ("at", b"x"), ("kind", b"k")])
def test_that_a_cell_of_another_type_is_damage_and_no_traceback(tmp_path: Path, column: str, cell: object) -> None:
    """SQLite keeps what it is given, whatever the column is."""
    path = tmp_path / "state.sqlite"
    store = StateStore.open(path, clock=ManualClock())
    run = store.procedures().new_run("p", "c", "t")
    store.procedures().append(run, None, "note", "", '{"text":"x"}')
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE procedure_entry SET {column} = ?", (cell,))
    connection.close()
    store = StateStore.open(path, clock=ManualClock())
    (line,) = store.procedures().lines(run)
    assert (line.data, line.at) == ("", 0.0)
    store.close()


def test_that_a_certificate_of_a_gigabyte_without_a_line_is_not_read(tmp_path: Path) -> None:
    """sed(1) keeps a line whole: a sparse file took 1.1 GB of the host's memory."""
    big = tmp_path / "ca.pem"
    with big.open("wb") as file:
        file.truncate(2**30)
    limit = 300 * 2**20
    done = subprocess.run(
        ["bash", "-c", PAIR_LOOK, "pilothouse", big, big, big], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "begin|ca\n\nend|ca\n" in done.stdout
    assert "public|none" in done.stdout


@pytest.mark.parametrize(
    "said",
    ["", "0:0", "root:root 644", "--reference=/etc/shadow 644", "0:0 644 -R", "0:0 999", "0:0 -1", "0:0 0x1ff",
     "1" * 5_000 + ":0 644", "0:0 " + "7" * 5_000, "0:0 644\n0:0 777"],
)  # fmt: skip
def test_that_an_owner_that_becomes_roots_argument_is_two_numbers(said: str) -> None:
    """Anything else ended the act by a ValueError, or went to chown as it was."""
    assert owner_and_mode(said) is None


def test_that_a_workbench_file_of_nothing_but_depth_or_width_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "connections.xml"
    deep = "<value>" * 100_000
    for body in (deep, deep + "</value>" * 100_000 + "</data>", "<value/>" * 100_000 + "</data>"):
        file.write_text(f"<data grt_format='2.0'>{body}")
        assert import_workbench(file).hosts == ()


_READERS = [
    (module.name, name)
    for module in pkgutil.walk_packages(services.facts.__path__, "services.facts.")
    for name, reader in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)
    if reader.__module__ == module.name and not name.startswith("_") and _reads_one_text(reader)
]


@pytest.mark.parametrize(("module", "name"), _READERS)
def test_that_a_reader_of_what_a_host_says_takes_any_text_and_comes_to_its_end(module: str, name: str) -> None:
    """Neither the stack nor a pattern that tries again and again: such a reader would take hours here, not seconds."""
    reader = getattr(importlib.import_module(module), name)
    for unit in ("[", '{"a":', "<a>", "a=", "\n", " ", "9", "[mysqld]\n", "a b\n", "0-1-2,", "!include /a\n", "\0"):
        with contextlib.suppress(UserError):  # told as such: no traceback
            reader(unit * (60_000 // len(unit)))


def test_that_a_module_in_the_current_folder_is_not_imported_by_what_the_bootstrap_runs(tmp_path: Path) -> None:
    """A folder of downloads holds venv.py, and `python -m venv` ran it."""
    for name in ("venv", "pip", "uv", "importlib", "encodings"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "packaging" / "boot").glob("*.py")]
    for module in ("venv", "pip", "uv"):
        assert not any(f'"-m", "{module}"' in text.replace(f'"-I", "-m", "{module}"', "") for text in sources), module
    for module in ("venv", "pip"):
        done = subprocess.run(
            [sys.executable, "-I", "-m", module, "--help"], cwd=tmp_path, capture_output=True, check=False
        )
        assert b"imported" not in done.stderr, module


def test_that_what_is_made_under_an_open_umask_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = tmp_path / "data"
        private_folder(folder)
        write_whole(folder / "export.csv", "x")
        StateStore.open(folder / "state.sqlite", clock=ManualClock()).close()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes.pop("data") == 0o700
    assert set(modes.values()) == {0o600}, modes
