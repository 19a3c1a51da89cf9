"""The database's account, or who wrote a backup, against root's programs on folders: links, swaps, odd files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.procedures.catalogue.steps.restoring_programs import KEEP_INSIDE


def _ran(program: str, *words: object, attack: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program of root's; `attack` is a shell's functions that act at the moment at which an attacker would."""
    return subprocess.run(
        ["bash", "-c", f"{attack}\n{program}", "pilothouse", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/orders.ibd").write_text("rows")
    (folder / "ibdata1").write_text("old")
    return folder


_NOT_ROOT = "chown() { :; }\n"


def test_that_a_link_laid_where_old_data_are_kept_takes_nothing_of_the_data_elsewhere(
    data: Path, tmp_path: Path
) -> None:
    """Root moved what the database's account chose into a folder of its choice: /etc/ld.so.preload, for one."""
    etc = tmp_path / "etc"
    etc.mkdir()
    (data / "ld.so.preload").write_text("/tmp/evil.so")
    swap = f'mkdir() {{ command mkdir "$@" && rmdir "$5" && ln -s {etc} "$5"; }}\n'
    ran = _ran(KEEP_INSIDE, data, data / ".kept", attack=_NOT_ROOT + swap)
    assert ran.returncode == 5, ran
    assert list(etc.iterdir()) == []
    assert (data / "ld.so.preload").exists()


def test_that_a_data_folder_that_others_may_write_into_is_closed_before_anything_is_moved(data: Path) -> None:
    data.chmod(0o777)
    ran = _ran(KEEP_INSIDE, data, data / ".kept", attack=_NOT_ROOT)
    assert ran.returncode == 0, ran
    assert data.stat().st_mode & 0o777 == 0o755
    assert [one.name for one in data.iterdir()] == [".kept"]
