"""The programs that keep, bring back and clear folders, run for real on folders of the test's own, cut short too."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import CLEAR_COPIES, COPY_CHAIN, MARK
from services.procedures.catalogue.steps.restoring_programs import BACK_FROM_INSIDE, GIVE_TO_SERVER, KEEP_INSIDE

OWNER, WHO = os.getuid(), f"{os.getuid()}:{pwd.getpwuid(os.getuid()).pw_gid}"
_CHOWN = 'chown() { printf "%s\\n" "$*" >> "$CHOWNED"; }\n'
"""Only root may give a file away: what would be given, and in which order, is written down."""


def _ran(program: str, *words: object, chowned: Path | None = None) -> int:
    text = program if chowned is None else _CHOWN + program
    done = subprocess.run(
        ("bash", "-c", text, "pilothouse", *map(str, words)),
        env={**os.environ, "CHOWNED": str(chowned or "/dev/null")},
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/orders.ibd").write_text("rows")
    (folder / "ibdata1").write_text("old")
    return folder


def test_that_data_kept_inside_come_back_and_the_folder_is_given_to_its_owner_last(data: Path, tmp_path: Path) -> None:
    aside, chowned = data / ".kept", tmp_path / "chowned"
    assert _ran(KEEP_INSIDE, data, aside, chowned=chowned) == 0
    assert [p.name for p in data.iterdir()] == [".kept"]
    assert _ran(BACK_FROM_INSIDE, data, aside, OWNER, chowned=chowned) == 0
    assert sorted(p.name for p in data.iterdir()) == ["ibdata1", "shop"]
    assert (data / "shop/orders.ibd").read_text() == "rows"
    assert chowned.read_text().splitlines() == [f"-h -- root:root {data}"] * 2 + [f"-h -- {WHO} {data}"]


def test_that_a_folder_of_which_nothing_was_kept_yet_is_given_back_by_the_way_back(data: Path, tmp_path: Path) -> None:
    chowned = tmp_path / "chowned"
    assert _ran(BACK_FROM_INSIDE, data, data / ".kept", OWNER, chowned=chowned) == 0
    assert chowned.read_text().splitlines()[-1] == f"-h -- {WHO} {data}"


def test_that_keeping_begins_with_the_folder_that_shows_it(data: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    (data / ".kept.part").write_text("a file where the folder should be")
    assert _ran(KEEP_INSIDE, data, data / ".kept", chowned=blocked) == 5
    assert not blocked.exists(), "the data folder is still its server's"


def test_that_what_was_brought_is_given_to_the_owner_with_the_mode_of_what_is_kept_beside(
    data: Path, tmp_path: Path
) -> None:
    aside, chowned = tmp_path / "data.kept", tmp_path / "chowned"
    aside.mkdir()
    aside.chmod(0o755)
    data.chmod(0o700)
    assert _ran(GIVE_TO_SERVER, data, aside, OWNER, chowned=chowned) == 0
    assert data.stat().st_mode & 0o777 == 0o755
    assert chowned.read_text().splitlines()[-1] == f"-h -- {WHO} {data}"


def test_that_a_copy_can_be_cleared_at_whatever_moment_it_was_cut_short(data: Path, tmp_path: Path) -> None:
    work = tmp_path / "r" / "copies"
    assert _ran(COPY_CHAIN, work, data) == 0
    assert (work / "0/shop/orders.ibd").read_text() == "rows"
    assert _ran(COPY_CHAIN, work, data) == 0, "begun again it begins with fresh copies"
    (work / "0/ibdata1").unlink()  # a clearing that was cut short: the mark goes last
    assert (work / MARK).exists()
    assert _ran(CLEAR_COPIES, work) == 0
    assert not work.exists()
    work.mkdir()  # killed before the mark was made, or after it was removed
    assert _ran(CLEAR_COPIES, work) == 0
    assert not work.exists()
    work.mkdir()
    assert _ran(COPY_CHAIN, work, data) == 0
    assert _ran(CLEAR_COPIES, work) == 0
    assert _ran(CLEAR_COPIES, work) == 0


def test_that_somebody_elses_folder_is_neither_cleared_nor_copied_into(data: Path, tmp_path: Path) -> None:
    assert _ran(CLEAR_COPIES, data) == 4
    assert _ran(COPY_CHAIN, data, tmp_path) == 4
    assert (data / "ibdata1").read_text() == "old"
    leads = tmp_path / "leads"
    leads.symlink_to(data)
    assert _ran(CLEAR_COPIES, leads) == 4
    assert (data / "ibdata1").read_text() == "old"


def test_that_a_backup_whose_tables_lie_elsewhere_is_no_copy(data: Path, tmp_path: Path) -> None:
    (data / "shop/far.isl").write_text("/elsewhere/shop/far.ibd")
    assert _ran(COPY_CHAIN, tmp_path / "copies", data) == 7
