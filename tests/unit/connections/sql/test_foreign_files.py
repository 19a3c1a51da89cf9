"""What others could have written says nothing of a certificate, and holds no store of ours."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from pathlib import Path

import pytest

from app.places import data_folder
from services.connections.tls import known_certificates
from services.connections.tls.known_certificates import accept_certificate, pins_of
from services.errors import BadInput, CertificateUnknown

NAME, PRINT = "db1:3306", ":".join(["AB"] * 32)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def file() -> Path:
    found = known_certificates.place()
    found.parent.mkdir(parents=True, mode=0o700)
    found.write_text(f"{NAME} sha256 {PRINT}\n", encoding="utf-8")
    found.chmod(0o600)
    return found


def accepted() -> None:
    accept_certificate(
        CertificateUnknown("?", host="x", fingerprint=PRINT, name="db2:3306", subject="", why="", try_=())
    )


def test_that_a_file_of_ones_own_counts(file: Path) -> None:
    assert [pin.fingerprint for pin in pins_of(NAME)] == [PRINT]


@pytest.mark.parametrize("which", ["file", "folder"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_that_accepted_certificates_that_others_may_write_are_refused(file: Path, which: str, mode: int) -> None:
    path = file if which == "file" else file.parent
    path.chmod(path.stat().st_mode | mode)
    for use in (lambda: pins_of(NAME), accepted):
        with pytest.raises(BadInput, match="other users may write to it") as caught:
            use()
        assert str(path) in caught.value.sentence
        assert caught.value.safe == "No login was attempted."
    assert "db2" not in file.read_text(encoding="utf-8")


@needs_root
@pytest.mark.parametrize("which", ["file", "folder"])
def test_that_accepted_certificates_of_another_user_are_refused(file: Path, which: str) -> None:
    os.chown(file if which == "file" else file.parent, 65534, 65534)
    with pytest.raises(BadInput, match="belongs to another user, nobody"):
        pins_of(NAME)


def test_that_a_pipe_in_their_place_is_told_at_once(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)
    began = time.monotonic()
    for use in (lambda: pins_of(NAME), accepted):
        with pytest.raises(BadInput, match="not a regular file"):
            use()
    assert time.monotonic() - began < 5.0


def test_that_a_data_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").touch()
    for mode in (0o777, 0o1777, 0o770):
        tmp_path.chmod(mode)
        with pytest.raises(BadInput, match="other users may write to it"):
            data_folder(Namespace(data=tmp_path))
    tmp_path.chmod(0o755)
    assert data_folder(Namespace(data=tmp_path)) == tmp_path


@needs_root
def test_that_a_data_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(BadInput, match="belongs to another user, nobody"):
        data_folder(Namespace(data=tmp_path))
