"""Files a person asked for are whole or not there."""

from __future__ import annotations

import os
import stat
from argparse import Namespace
from pathlib import Path

import pytest

from app.places import data_folder
from services.errors import StoreError
from services.history.recordings.recording import record_to
from services.history.state.store import StateStore
from services.history.store import HistoryStore
from services.workstation import files
from services.workstation.files import plain_name, write_whole


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
        with pytest.raises(OSError, match="not a regular file"):
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


NOBODY = 65534
needs_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs another user's links")


def planted(link: Path, target: Path) -> Path:
    """Return a link of another user."""
    link.symlink_to(target)
    os.lchown(link, NOBODY, NOBODY)
    return link


@needs_posix
@pytest.mark.parametrize("wide", [0o1777, 0o777, 0o775])
def test_that_a_link_in_a_folder_that_others_may_write_to_is_replaced_and_not_its_target(
    tmp_path: Path, wide: int
) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "precious").chmod(0o644)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(wide)
    (shared / "picture.png").symlink_to(tmp_path / "precious")
    write_whole(shared / "picture.png", b"picture")
    assert ((tmp_path / "precious").read_text(), mode(tmp_path / "precious")) == ("precious", 0o644)
    assert not (shared / "picture.png").is_symlink()
    assert (shared / "picture.png").read_bytes() == b"picture"


@needs_root
def test_that_another_users_link_is_replaced_also_in_a_folder_of_ones_own_and_behind_a_link_of_ones_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "precious").write_text("precious")
    link = planted(tmp_path / "theirs", tmp_path / "precious")
    (tmp_path / "mine").symlink_to(link)
    write_whole(tmp_path / "mine", b"picture")
    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "mine").is_symlink()
    assert not link.is_symlink()
    assert link.read_bytes() == b"picture"


@needs_root
def test_that_nothing_is_written_into_a_folder_behind_another_users_link(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    planted(tmp_path / "shots", tmp_path / "home")
    (tmp_path / "mine").symlink_to(tmp_path / "shots")
    for folder in ("shots", "mine"):
        with pytest.raises(OSError, match="shots is a link that another user may have created"):
            write_whole(tmp_path / folder / "a.png", b"picture")
        with pytest.raises(OSError, match="another user"):
            files.private_file(tmp_path / folder / "a.pilothouse")
    assert not [*(tmp_path / "home").iterdir()]


@needs_posix
def test_that_a_file_for_a_database_is_never_made_nor_narrowed_behind_a_planted_link(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "theirs").chmod(0o644)
    (tmp_path / "a").symlink_to(tmp_path / "theirs")
    (tmp_path / "b").symlink_to(tmp_path / "missing")
    for name in "ab":
        with pytest.raises(OSError, match=f"{name} is a link that another user may have created"):
            files.private_file(tmp_path / name)
    files.narrow(tmp_path / "a", 0o600)
    assert mode(tmp_path / "theirs") == 0o644
    assert not (tmp_path / "missing").exists()


@needs_posix
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_that_a_link_where_sqlite_would_write_beside_a_database_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "theirs").chmod(0o644)
    (tmp_path / f"db{suffix}").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match=f"db{suffix} is a link"):
        files.private_file(tmp_path / "db")
    assert not (tmp_path / "db").exists()
    assert mode(tmp_path / "theirs") == 0o644


@needs_root
def test_that_another_users_file_where_sqlite_would_look_for_its_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "db-journal").write_text("words that would be played back")
    os.chown(tmp_path / "db-journal", NOBODY, NOBODY)
    with pytest.raises(OSError, match="db-journal belongs to another user"):
        files.private_file(tmp_path / "db")
    assert not (tmp_path / "db").exists()


@needs_posix
def test_that_a_recording_is_not_begun_beside_a_planted_link_and_its_target_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "theirs").chmod(0o644)
    (tmp_path / "r.pilothouse-wal").symlink_to(tmp_path / "theirs")
    with pytest.raises(StoreError, match=r"r\.pilothouse-wal is a link that another user may have created"):
        record_to(tmp_path / "r.pilothouse")
    assert mode(tmp_path / "theirs") == 0o644
    assert not (tmp_path / "r.pilothouse").exists()


@needs_posix
def test_that_a_link_of_ones_own_to_a_database_is_followed_and_the_database_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "db").symlink_to(tmp_path / "far" / "db")
    files.private_file(tmp_path / "db")
    assert mode(tmp_path / "far" / "db") == 0o600


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("../../.ssh/authorized_keys", "ssh_authorized_keys"),
        ("/etc/cron.d/x", "etc_cron.d_x"),
        ("C:\\Windows\\x", "C_Windows_x"),
        (".bashrc", "bashrc"),
        ("--version; $(id) \x1b[2J\u202e", "version_id_2J"),
        ("x" * 300, "x" * 80),
        ("Kunden-Köln 1", "Kunden-Köln_1"),
        ("..", "all"),
        ("", "all"),
    ],
)
def test_that_a_file_named_after_what_a_server_says_lies_where_a_person_wanted_it(told: str, name: str) -> None:
    assert plain_name(told, "all") == name


def test_that_a_byte_that_was_no_utf_8_is_a_mark_in_a_file_of_text(tmp_path: Path) -> None:
    write_whole(tmp_path / "report.md", "of /home/jos\udce9, é\n")
    assert (tmp_path / "report.md").read_bytes() == "of /home/jos\ufffd, é\n".encode()
