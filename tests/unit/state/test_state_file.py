"""The state's file: rights, newer versions, damage, a full disk, a lock, a kill, migrations with a backup."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from services.errors import StoreError
from services.history import migrations_state
from services.history.state import file as state_file
from services.history.state import schema as state_schema
from services.history.state.store import StateStore

ROOT = Path(__file__).parents[3]


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in sorted(folder.iterdir())
    }


def made(file: Path) -> Path:
    with StateStore.open(file) as store:
        store.set_setting("kept", "yes")
    return file


def test_that_a_new_file_is_for_its_owner_only_and_uses_a_write_ahead_log(tmp_path: Path) -> None:
    file = made(tmp_path / "new" / "state.sqlite3")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT version FROM state_version").fetchall() == [(migrations_state.NEWEST,)]


def test_that_the_migrations_make_the_tables_the_program_knows(tmp_path: Path) -> None:
    made(tmp_path / "s")

    def shape(url: str) -> dict[str, object]:
        engine = create_engine(url)
        found = inspect(engine)
        result: dict[str, object] = {}
        for table in sorted(found.get_table_names()):
            columns = [(c["name"], str(c["type"]), c["nullable"], c["primary_key"]) for c in found.get_columns(table)]
            indexes = sorted((i["name"], tuple(i["column_names"]), i["unique"]) for i in found.get_indexes(table))
            result[table] = (columns, indexes)
        engine.dispose()
        return result

    engine = create_engine(f"sqlite:///{tmp_path}/expected")
    state_schema.metadata.create_all(engine)
    engine.dispose()
    assert shape(f"sqlite:///{tmp_path}/s") == shape(f"sqlite:///{tmp_path}/expected")


def test_that_a_newer_versions_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    file = made(tmp_path / "s")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE state_version SET version = 99")
    before = fingerprint(tmp_path)
    with pytest.raises(StoreError, match="newer Pilothouse"):
        StateStore.open(file)
    assert fingerprint(tmp_path) == before


def test_that_another_programs_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "s")) as connection, connection:
        connection.execute("CREATE TABLE bookmarks (a)")
    before = fingerprint(tmp_path)
    with pytest.raises(StoreError, match="not Pilothouse's state"):
        StateStore.open(tmp_path / "s")
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize("damage", ["text", "header", "torn"])
def test_that_a_damaged_file_is_told_and_kept(tmp_path: Path, damage: str) -> None:
    file = made(tmp_path / "s")
    data = bytearray(file.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database, but a letter" * 40)
    elif damage == "header":
        data[:16] = b"\xff" * 16
    else:
        data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(data)
    with pytest.raises(StoreError, match="damaged") as caught, StateStore.open(file) as store:
        store.get_setting("kept")
    assert "The file was not changed." in caught.value.as_text()
    assert ".recover" in caught.value.as_text()
    assert file.read_bytes() == bytes(data)


def test_that_a_store_can_be_opened_at_the_very_moment_another_program_closes_it(tmp_path: Path) -> None:
    file = made(tmp_path / "s")
    gone, real = [], Path.stat

    def closes(path: Path, **named: bool) -> os.stat_result:
        if path.name != "s-wal":
            return real(path, **named)
        gone.append(path)
        if len(gone) == 1:
            return real(file)  # it is there, and has a size
        raise FileNotFoundError(errno.ENOENT, "removed by its last user", str(path))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "stat", closes)
        with StateStore.open(file) as store:
            assert store.get_setting("kept") == "yes"
    assert gone


def test_that_what_another_program_s_opening_makes_unreadable_for_a_moment_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, looks, look = made(tmp_path / "s"), [], state_file._look

    def half_made(path: Path) -> tuple[frozenset[str], int]:
        looks.append(path)
        if len(looks) == 1:
            with closing(sqlite3.connect(f"file:{tmp_path}/none?mode=ro", uri=True)) as missing:
                missing.execute("SELECT 1 FROM sqlite_master")
        return look(path)

    monkeypatch.setattr(state_file, "_look", half_made)
    with StateStore.open(file) as store:
        assert store.get_setting("kept") == "yes"
    assert len(looks) == 2


def test_that_programs_that_open_and_close_one_store_again_and_again_never_hinder_each_other(tmp_path: Path) -> None:
    file, problems = made(tmp_path / "s"), []

    def uses(number: int) -> None:
        try:
            for turn in range(40):
                with StateStore.open(file) as store:
                    store.set_setting(f"turn.{number}", str(turn))
        except StoreError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=uses, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []


def test_that_a_folder_in_the_files_place_and_a_file_in_the_folders_are_told(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "f").write_text("x", encoding="utf-8")
    for bad in (tmp_path / "s", tmp_path / "f" / "s"):
        with pytest.raises(StoreError, match="cannot be"):
            StateStore.open(bad)


def test_that_a_locked_file_is_told_after_the_limit_and_usable_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_file, "BUSY_S", 0.2)
    file = made(tmp_path / "s")
    with closing(sqlite3.connect(file, isolation_level=None)) as other, StateStore.open(file) as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another program"):
            store.set_setting("kept", "no")
        assert store.get_setting("kept") == "yes"
        other.execute("ROLLBACK")
        store.set_setting("kept", "again")
        assert store.get_setting("kept") == "again"


FILLING = """
import resource, signal, sys
from services.errors import StoreError
from services.history.state.store import StateStore
store = StateStore.open(sys.argv[1])
store.set_setting("before", "here")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
try:
    for number in range(100):
        store.set_setting(f"big.{number}", "x" * 20_000)
except StoreError as problem:
    print(problem.as_text())
    print("still:", store.get_setting("before"), store.get_setting("big.0")[:1])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.set_setting("after", "there")
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="resource limits are POSIX's")
def test_that_a_full_disk_is_told_and_nothing_stored_before_is_lost(tmp_path: Path) -> None:
    """The limit on a file's size stands for the full disk: the kernel refuses the write in the same place."""
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(tmp_path / "s")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "the disk is full or failing" in done.stdout
    assert "Data stored earlier is intact." in done.stdout
    assert "still: here x" in done.stdout
    with StateStore.open(tmp_path / "s") as store:
        assert (store.get_setting("before"), store.get_setting("after")) == ("here", "there")


WRITING = """
import sys
from services.history.state.store import StateStore
store = StateStore.open(sys.argv[1])
number = 0
while True:
    number += 1
    store.set_setting("number", str(number))
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX's")
@pytest.mark.parametrize("after_lines", [1, 7, 40])
def test_that_a_kill_in_the_middle_of_writing_keeps_everything_that_was_said_written(
    tmp_path: Path, after_lines: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, str(tmp_path / "s")], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(after_lines)][-1]
        time.sleep(0.003)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split("\n")
    said = max([said, *(int(line) for line in rest if line.strip())])
    with StateStore.open(tmp_path / "s") as store:
        assert int(store.get_setting("number")) in {said, said + 1}
    with closing(sqlite3.connect(tmp_path / "s")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


NEXT = migrations_state.NEWEST + 1


def second(connection: Connection) -> None:
    connection.execute(text("CREATE TABLE later (a INTEGER)"))


def broken(connection: Connection) -> None:
    second(connection)
    connection.execute(text("CREATE TABLE later (a INTEGER)"))


def test_that_a_migration_backs_the_file_up_before_its_first_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "s")
    monkeypatch.setattr(state_file, "STEPS", (*migrations_state.STEPS, (NEXT, second)))
    monkeypatch.setattr(state_file, "NEWEST", NEXT)
    with StateStore.open(file) as store:
        assert store.get_setting("kept") == "yes"
    backup = tmp_path / f"s.v{migrations_state.NEWEST}.bak"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as old, closing(sqlite3.connect(file)) as new:
        assert old.execute("SELECT version FROM state_version").fetchone() == (migrations_state.NEWEST,)
        assert old.execute("SELECT value FROM setting").fetchone() == ("yes",)
        assert old.execute("SELECT count(*) FROM sqlite_master WHERE name = 'later'").fetchone() == (0,)
        assert new.execute("SELECT version FROM state_version").fetchone() == (NEXT,)
        assert new.execute("SELECT count(*) FROM sqlite_master WHERE name = 'later'").fetchone() == (1,)


def test_that_the_first_versions_state_gets_the_journal_of_procedures_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s"
    with monkeypatch.context() as first:
        first.setattr(state_file, "STEPS", migrations_state.STEPS[:1])
        first.setattr(state_file, "NEWEST", 1)
        made(file)
    with closing(sqlite3.connect(file)) as old:
        assert old.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'procedure%'").fetchone() == (0,)
        assert old.execute("SELECT count(*) FROM sqlite_master WHERE name = 'event_log'").fetchone() == (1,)
    with StateStore.open(file) as store:
        assert store.get_setting("kept") == "yes"
        assert store.procedures().new_run("x", "c", "t") == 1
    with closing(sqlite3.connect(file)) as new:
        assert new.execute("SELECT count(*) FROM sqlite_master WHERE name = 'event_log'").fetchone() == (0,)
    assert (tmp_path / "s.v1.bak").exists()


def test_that_a_migration_which_fails_leaves_the_old_version_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "s")
    with monkeypatch.context() as patched:
        patched.setattr(state_file, "STEPS", (*migrations_state.STEPS, (NEXT, broken)))
        patched.setattr(state_file, "NEWEST", NEXT)
        with pytest.raises(StoreError, match="already exists"):
            StateStore.open(file)
    with StateStore.open(file) as store:
        assert store.get_setting("kept") == "yes"


def test_that_addresses_of_stores_are_told_without_their_password() -> None:
    for address in ("mysql+pymysql://u:hunter2@127.0.0.1:1/x", "nonsense://u:hunter2@h/x", "://hunter2"):
        with pytest.raises(StoreError) as caught:
            StateStore.open(address)
        assert "hunter2" not in caught.value.as_text()


def test_that_an_sqlite_url_is_treated_like_its_file(tmp_path: Path) -> None:
    with StateStore.open(f"sqlite:///{tmp_path}/s") as store:
        store.set_setting("kept", "yes")
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    with StateStore.open(tmp_path / "s") as store:
        assert store.get_setting("kept") == "yes"


def test_that_migrations_import_nothing_of_ours() -> None:
    folder = Path(migrations_state.__file__).parent
    for file in folder.glob("m[0-9]*.py"):
        source = file.read_text(encoding="utf-8")
        assert "import services" not in source
        assert "from services" not in source
