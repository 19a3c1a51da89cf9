"""Files a person asked for are whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    write = Path.write_text

    def full(path: Path, text: str, **named: str) -> int:
        write(path, text[:2], **named)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", "something new")
    assert [(f.name, f.read_text()) for f in tmp_path.iterdir()] == [("a", "old")]
