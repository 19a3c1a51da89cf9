"""Opening files: newer, damaged, foreign, owned by another, read-only; and what a migration leaves beside them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from services.clock import ManualClock
from services.errors import StoreError
from services.history import file, schema
from services.history.migrations import NEWEST
from services.history.store import HistoryStore
from services.series import Sample

Open = Callable[..., HistoryStore]
Fill = Callable[..., list[Sample]]


def test_that_a_file_of_a_newer_version_is_refused_and_not_touched(
    open_store: Open, fill: Fill, tmp_path: Path
) -> None:
    store = open_store()
    fill(store, 5)
    store.close()
    path = tmp_path / "history.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={NEWEST + 1}")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="newer Pilothouse"):
            open_store(read_only=read_only)
    assert path.read_bytes() == before


def test_that_a_damaged_file_is_kept_and_reported_and_a_new_one_begun(
    open_store: Open, fill: Fill, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    told = []
    store = open_store(on_event=told.append)
    kept = list(tmp_path.glob("history.sqlite.damaged-*"))
    assert len(kept) == 1
    assert kept[0].read_bytes().endswith(b"\xff" * 100)
    assert "was damaged" in told[0].text
    assert kept[0].name in told[0].text
    assert len(fill(store, 3)) == len(store.read("db1", ("questions",), 0, 4e9).t)


def test_that_a_damaged_file_to_read_is_an_error_and_left_as_it_is(open_store: Open, tmp_path: Path) -> None:
    path = tmp_path / "x.pilothouse"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(StoreError, match="damaged or not a history file") as caught:
        open_store("x.pilothouse", read_only=True)
    assert ".recover" in caught.value.try_[0]
    assert path.exists()


@pytest.mark.parametrize("data", [b"ten bytes!", b"not a database at all, but long enough to look at" * 40])
def test_that_what_is_no_recording_is_told_as_that_and_nothing_is_to_be_recovered_of_it(
    open_store: Open, tmp_path: Path, data: bytes
) -> None:
    (tmp_path / "x.pilothouse").write_bytes(data)
    with pytest.raises(StoreError, match=r"x\.pilothouse is not a recording") as caught:
        open_store("x.pilothouse", read_only=True)
    assert caught.value.try_ == ("Open a file made by `pilothouse record`.",)
    assert (tmp_path / "x.pilothouse").read_bytes() == data


def test_that_somebody_elses_database_is_not_taken_for_a_history(open_store: Open, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.pilothouse")
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="not a history file"):
        open_store("x.pilothouse", read_only=True)


def test_that_a_missing_file_to_read_is_named(open_store: Open) -> None:
    with pytest.raises(StoreError, match=r"no file .*gone\.pilothouse"):
        open_store("gone.pilothouse", read_only=True)


def test_that_a_block_with_flipped_bits_is_a_gap_and_the_rest_is_read(
    open_store: Open, fill: Fill, tmp_path: Path
) -> None:
    store = open_store()
    samples = fill(store, 900)
    store.close()
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    (number, data) = connection.execute("SELECT id, data FROM block ORDER BY start LIMIT 1 OFFSET 1").fetchone()
    broken = bytearray(data)
    broken[40] ^= 0xFF
    connection.execute("UPDATE block SET data = ? WHERE id = ?", (bytes(broken), number))
    connection.commit()
    connection.close()
    columns = open_store(read_only=True).read("db1", ("questions",), samples[0].at, samples[-1].at)
    expected = [s.values["questions"] for s in samples[:300] + samples[600:]]
    assert columns.values["questions"].tolist() == expected


def test_that_two_writers_of_one_file_are_refused_even_between_processes(open_store: Open, tmp_path: Path) -> None:
    open_store()
    with pytest.raises(StoreError, match="Another Pilothouse"):
        open_store()
    code = (
        "import sys; from pathlib import Path; from services.history.store import HistoryStore\n"
        "try: HistoryStore.open(Path(sys.argv[1]))\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    root = Path(__file__).resolve().parents[3]
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "history.sqlite")],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith("StoreError Another Pilothouse")


def test_that_a_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        HistoryStore.open(tmp_path / "file" / "history.sqlite", clock=ManualClock())


def test_that_the_tables_are_those_the_code_knows(open_store: Open, tmp_path: Path) -> None:
    open_store()
    engine = create_engine(f"sqlite:///{tmp_path / 'history.sqlite'}")
    found = inspect(engine)
    assert set(found.get_table_names()) == set(schema.metadata.tables)
    for name, table in schema.metadata.tables.items():
        columns = {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(name)}
        assert columns == {c.name: (c.type.compile(engine.dialect), bool(c.nullable)) for c in table.columns}
        indexes = {(i["name"], tuple(i["column_names"]), bool(i["unique"])) for i in found.get_indexes(name)}
        assert indexes == {(i.name, tuple(c.name for c in i.columns), bool(i.unique)) for i in table.indexes}
    engine.dispose()


def test_that_a_migration_copies_a_file_with_data_aside_first(
    open_store: Open, fill: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    samples = fill(store, 5)
    store.close()
    step = (NEWEST + 1, ("ALTER TABLE event ADD COLUMN extra TEXT",))
    monkeypatch.setattr(file, "STEPS", (*file.STEPS, step))
    monkeypatch.setattr(file, "NEWEST", NEWEST + 1)
    newer = open_store()
    assert len(newer.read("db1", ("questions",), 0, 4e9).t) == len(samples)
    backup = tmp_path / f"history.sqlite.v{NEWEST}.bak"
    connection = sqlite3.connect(backup)
    assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)
    assert connection.execute("SELECT count(*) FROM block").fetchone()[0] >= 1
    connection.close()


def test_that_a_file_that_is_not_whole_yet_is_held_by_nobody_who_could_not_open_it(
    open_store: Open, fill: Fill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    fill(store, 5)
    store.close()
    monkeypatch.setattr(file, "_check", lambda *_args, **_options: None)  # the writer is between two of its tables
    connection = sqlite3.connect(tmp_path / "history.sqlite", isolation_level=None, timeout=0.0)
    connection.execute("ALTER TABLE metric RENAME TO metric_to_come")
    with pytest.raises(StoreError, match="no such table") as caught:
        open_store(read_only=True)
    # What was caught is still held here, and with it all that its frames hold: nothing of that may hold the file.
    assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    connection.close()
    assert caught.value.sentence
