"""The account of a data folder races each act of the Galera restores, in a folder above its data that it may write.

It won nearly every round before: a test run lets it try each act twice, `test everything` six times.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.connections.operator.made_by_run import NOTES
from services.procedures.catalogue.steps.restored.state_kept import SAVE_STATE
from tests.hostile.accounts.acts_of_restores import NAMES, acts
from tests.hostile.accounts.test_folders_of_others import ACCOUNT, GROUP, USER, Place, place
from tests.sample import EVERY

__all__ = ["place"]
_ROUNDS = 6 if EVERY else 2
_EXCHANGE = r"""cd "$1" || exit; trap 'exit 0' TERM; to=$2; shift 2
while :; do
  for n; do
    mv -T "$n" "away-$n" 2>/dev/null; ln -sfT "$to" "$n" 2>/dev/null
    rm -f "$n" 2>/dev/null; mv -T "away-$n" "$n" 2>/dev/null
  done
done"""
_STUBS = r"""systemctl() { :; }; export -f systemctl
"""
_SECRET = ("shadow", "grastate.dat", "ibdata1", "auto.cnf", "binlog.000001", ".pilothouse-copies")
_ORDER = (
    *("keep-state", "save-state", "keep-inside", "take", "bring", "copy-back", "without-identity", "tidy", "give"),
    *("empty-beside", "back-from-inside", "rename", "make-closed", "copy-back", "give-beside", "put-away"),
    *("rename-back", "copy-chain", "prepare-once", "clear-copies", "remove-copy"),
)
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another account")


@pytest.fixture
def raced(place: Place) -> Place:
    for name in _SECRET[1:]:
        (place.wanted / name).write_text("root's own")
        (place.wanted / name).chmod(0o600)
    place.attacked("bash", "-c", _EXCHANGE, "x", str(place.own), str(place.wanted), *NAMES)
    return place


def _whole(place: Place) -> bool:
    """Whether what is root's is as it was, and none of it lies where the account reads."""
    there = {at.name: (at.stat().st_uid, at.stat().st_mode & 0o777, at.read_text()) for at in place.wanted.iterdir()}
    own = place.wanted.stat()
    read = [at for at in place.own.rglob("*") if not at.is_symlink() and at.is_file() and "root's" in at.read_text()]
    return (own.st_uid, own.st_mode & 0o777, read) == (0, 0o700, []) and there == dict.fromkeys(
        _SECRET, (0, 384, "root's own")
    )


@pytest.mark.parametrize("act", acts("", "", ACCOUNT))
def test_that_an_account_that_may_write_above_its_data_wins_no_race_against_a_restore(raced: Place, act: str) -> None:
    command = acts(str(raced.own), str(raced.roots), ACCOUNT)[act]
    program = _STUBS + command.argv[2].replace(NOTES, str(raced.roots / "notes"))
    for _ in range(_ROUNDS):
        subprocess.run(
            ["bash", "-c", program, *command.argv[3:]], capture_output=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        with raced.standing_still():
            assert _whole(raced), act


def test_that_every_act_does_what_it_is_for_where_nobody_races_it(place: Place) -> None:
    """Else nobody would have won because nothing was done."""
    os.chown(place.own, 0, 0)
    data = place.own / "data"
    (data / "grastate.dat").write_text("uuid:    u\nseqno:   -1\n")
    os.chown(data / "grastate.dat", USER, GROUP)
    made = acts(str(place.own), str(place.roots), ACCOUNT)
    for act in _ORDER:
        program = _STUBS + made[act].argv[2].replace(NOTES, str(place.roots / "notes"))
        ran = subprocess.run(
            ["bash", "-c", program, *made[act].argv[3:]], capture_output=True, text=True, timeout=60, check=False
        )
        assert ran.returncode == 0, (act, ran.stdout, ran.stderr)
    assert sorted(at.name for at in data.iterdir()) == ["grastate.dat", "lost+found", "shop"]
    assert {at.stat().st_uid for at in (data, data / "shop", data / "shop" / "rows")} == {USER}
    assert (place.roots / "saved" / "grastate.dat").read_text() == "uuid:    u\nseqno:   -1\n"
    assert [at.name for at in Path(place.own).iterdir()] == ["data"]


def test_that_only_plain_small_state_files_are_saved_and_the_data_folder_may_be_a_link_of_roots(place: Place) -> None:
    data, link, saved = place.own / "data", place.roots / "mysql", place.roots / "saved"
    link.symlink_to(data)
    state = data / "grastate.dat"
    state.write_text("uuid:    u\nseqno:   -1\n")

    def save() -> int:
        words = (ACCOUNT, str(link), str(saved), "grastate.dat", "gvwstate.dat")
        return subprocess.run(["bash", "-c", SAVE_STATE, "x", *words], capture_output=True, check=False).returncode

    assert save() == 0
    assert [at.name for at in saved.iterdir()] == ["grastate.dat"]
    (data / "gvwstate.dat").write_bytes(b"x" * 65_537)
    assert save() == 73
    (data / "gvwstate.dat").unlink()
    (data / "gvwstate.dat").symlink_to(place.wanted / "shadow")
    assert save() == 73
    assert {at.name.partition(".~")[0] for at in saved.iterdir()} == {"grastate.dat"}
