"""Files a person asked for are whole or not there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from services import files
from services.files import write_whole


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
