"""Files a person asked for are whole or not there."""

from __future__ import annotations

import os
import stat
from argparse import Namespace
from pathlib import Path

import pytest

from app.places import data_folder
from services import files
from services.files import write_whole
from services.history.state_store import StateStore
from services.history.store import HistoryStore


def test_that_a_text_is_written_as_it_is_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.csv", "ä\r\nb\n")
    assert (tmp_path / "a.csv").read_bytes() == "ä\r\nb\n".encode()
    assert [f.name for f in tmp_path.iterdir()] == ["a.csv"]


def test_that_a_new_file_never_takes_another_ones_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "a", "new", new=True)
    assert (tmp_path / "a").read_text() == "old"
    write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"


def test_that_a_write_that_breaks_off_leaves_the_old_file_and_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def full(_part: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", "something new")
    assert [(f.name, f.read_text()) for f in tmp_path.iterdir()] == [("a", "old")]
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "b", "something new", new=True)
    assert not (tmp_path / "b").exists()


def test_that_a_link_stays_one_and_what_is_private_is_its_owners_only(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"one", private=True, durable=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"one"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


needs_posix = pytest.mark.skipif(os.name != "posix", reason="modes, pipes and devices of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@needs_posix
def test_that_whatever_is_written_is_its_owners_alone_also_over_a_wider_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o644)
    write_whole(tmp_path / "a", "new")
    write_whole(tmp_path / "b", "new", new=True)
    assert {mode(tmp_path / name) for name in "ab"} == {0o600}


@needs_posix
def test_that_a_pipe_a_device_and_a_folder_are_never_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in (tmp_path / "pipe", tmp_path / "link", tmp_path, Path("/dev/zero"), Path("/dev/stdin")):
        with pytest.raises(OSError, match="no regular file"):
            files.read_bounded(name)
    assert files.read_bounded(Path("/dev/null")) == b""


def test_that_reading_stops_at_its_bound(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(OSError, match="larger than 1 MiB"):
        files.read_bounded(tmp_path / "big")
    (tmp_path / "fits").write_bytes(b"x" * files.MOST_TEXT)
    assert len(files.read_bounded(tmp_path / "fits")) == files.MOST_TEXT


@needs_posix
def test_that_folders_are_made_for_their_owner_and_wide_ones_of_others_are_left(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.private_folder(tmp_path / "one" / "two")
    files.private_folder(tmp_path / "one" / "two")
    assert (mode(tmp_path), mode(tmp_path / "one"), mode(tmp_path / "one" / "two")) == (0o755, 0o700, 0o700)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        files.private_folder(tmp_path / "file")


@needs_posix
def test_that_a_file_that_was_readable_to_others_is_so_no_more_nor_what_lies_beside_it(tmp_path: Path) -> None:
    for name in ("db", "db-wal", "db-shm"):
        (tmp_path / name).write_text(name)
        (tmp_path / name).chmod(0o664)
    files.private_file(tmp_path / "db")
    assert (tmp_path / "db").read_text() == "db"
    assert {mode(f) for f in tmp_path.iterdir()} == {0o600}


@needs_posix
def test_that_stores_and_recordings_are_their_owners_alone_with_all_that_sqlite_puts_beside(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        folder = data_folder(Namespace(data=tmp_path / "data"))
        store = HistoryStore.open(folder / "history.sqlite", background=False)
        store.put_meta("title", "x")
        state = StateStore.open(folder / "state.sqlite")
        assert {mode(f) for f in folder.iterdir()} == {0o600}
        assert {f.name for f in folder.iterdir()} >= {"history.sqlite", "history.sqlite-wal", "history.sqlite.lock"}
        state.close()
        store.close()
    finally:
        os.umask(before)
    assert mode(folder) == 0o700


@needs_posix
def test_that_a_data_folder_of_an_older_program_is_narrowed_and_a_shared_folder_is_not(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert data_folder(Namespace(data=tmp_path)) == tmp_path
    assert mode(tmp_path) == 0o755
    (tmp_path / "state.sqlite").touch()
    data_folder(Namespace(data=tmp_path))
    assert mode(tmp_path) == 0o700
