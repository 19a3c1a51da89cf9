"""Lock files, cells of the journal, certificates and a current folder that somebody else made."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.connections.tls_programs import PAIR_LOOK
from services.files import private_folder, write_whole
from services.history.state_store import StateStore
from services.procedures.engine.lock import parse_lock

ROOT = Path(__file__).resolve().parents[2]


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
