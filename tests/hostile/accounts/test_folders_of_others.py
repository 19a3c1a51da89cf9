"""Folders of another account, made, copied and removed by root, while that account exchanges every name it may.

It won ten of ten before: a test run lets it try five times, `test everything` fifteen times.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.operator import folders_of_others
from services.connections.operator.made_by_run import left_note
from tests.sample import EVERY

USER, GROUP = 4711, 4712
ACCOUNT = f"{USER}:{GROUP}"
_TRIES = 15 if EVERY else 5
_EXCHANGE = r"""cd "$1" || exit; trap 'exit 0' TERM
while :; do
  for n in copy copy.part new old; do
    mv -T "$n" "moved-$RANDOM" 2>/dev/null; ln -sfT "$2" "$n" 2>/dev/null; rm -f "$n" 2>/dev/null
  done
done"""
"""What an attacker with the account does all the time, in the folder that he may write: $2 is what he wants."""

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another account")


class Place:
    """A folder of the account with its data in it, a folder of root's beside it, and what the account wants."""

    def __init__(self, top: Path) -> None:
        self.top, self.own, self.roots, self.wanted = top, top / "own", top / "roots", top / "wanted"
        self.attackers: list[subprocess.Popen[bytes]] = []
        for folder in (self.own / "data" / "shop", self.roots, self.wanted):
            folder.mkdir(parents=True)
        (self.own / "data" / "shop" / "rows").write_text("rows")
        (self.own / "data" / "lost+found").mkdir(mode=0o700)
        (self.wanted / "shadow").write_text("root's own")
        (self.wanted / "shadow").chmod(0o600)
        self.wanted.chmod(0o700)
        for at in (self.own, *self.own.rglob("*")):
            if at.name != "lost+found":
                os.chown(at, USER, GROUP)

    def attacked(self, *words: str) -> None:
        """Begin an attack as the account, with its children in a group of their own."""
        own = ("setpriv", f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups", *words)
        self.attackers.append(subprocess.Popen(own, stderr=subprocess.DEVNULL, start_new_session=True))

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no attacker move a name while what lies there is looked at: the look would race too."""
        for one in self.attackers:
            os.killpg(one.pid, signal.SIGSTOP)
            time.sleep(0.02)  # what it does at that moment comes to its end
        yield
        for one in self.attackers:
            os.killpg(one.pid, signal.SIGCONT)

    def over(self) -> None:
        """End every attack."""
        for one in self.attackers:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()
        self.attackers.clear()

    def untouched(self) -> bool:
        """Whether what is root's is as it was, and no word of it stands where the account reads."""
        with self.standing_still():
            shadow = self.wanted / "shadow"
            kept = [(at.stat().st_uid, at.stat().st_mode & 0o777) for at in (self.wanted, shadow)]
            names = [one.name for one in self.wanted.iterdir()]
            leaked = [at for at in self.top.rglob("shadow") if at != shadow and not at.parent.is_symlink()]
            return (kept, names, shadow.read_text(), leaked) == (
                [(0, 0o700), (0, 0o600)], ["shadow"], "root's own", [])  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    top = Path("/var/tmp") / f"pilothouse-{os.getpid()}-{tmp_path.name}"  # where another account gets to
    top.mkdir(mode=0o755)
    made = Place(top)
    yield made
    made.over()
    shutil.rmtree(top)


def _ran(command: Command) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command.argv, capture_output=True, text=True, timeout=60, check=False)


def _copied(place: Place, target: Path) -> subprocess.CompletedProcess[str]:
    return _ran(folders_of_others.copied(str(place.own / "data"), str(target), ACCOUNT))


@pytest.fixture
def attacker(place: Place) -> None:
    place.attacked("bash", "-c", _EXCHANGE, "x", str(place.own), str(place.wanted))


@pytest.mark.parametrize("where", ["own", "roots"])
def test_that_a_copy_is_whole_and_the_accounts_whoever_may_write_beside_it(place: Place, where: str) -> None:
    copy = place.top / where / "copy"
    assert _copied(place, copy).returncode == 0
    assert (copy / "shop" / "rows").read_text() == "rows"
    assert {at.stat().st_uid for at in (copy, *copy.rglob("*"))} == {USER}
    assert not (copy / "lost+found").exists()
    assert _copied(place, copy).returncode == 73
    assert _ran(folders_of_others.removed(ACCOUNT, str(copy), f"{copy}.part")).returncode == 0
    assert not copy.exists()


def test_that_a_journal_on_a_disk_of_its_own_is_copied_and_no_other_link_is(place: Place) -> None:
    """Two servers would write one journal by a link; any other link leads where its writer wants."""
    fast = place.top / "fast"
    fast.mkdir()
    (fast / "WiredTigerLog.1").write_text("x")
    (place.own / "data" / "journal").symlink_to(fast)
    assert _copied(place, place.roots / "copy").returncode == 0
    assert not (place.roots / "copy" / "journal").is_symlink()
    assert (place.roots / "copy" / "journal" / "WiredTigerLog.1").read_text() == "x"
    (place.own / "data" / "shop" / "more").symlink_to(place.wanted / "shadow")
    ran = _copied(place, place.roots / "second")
    assert (ran.returncode, "shop/more is no file" in ran.stderr) == (73, True), ran
    assert not (place.roots / "second").exists()


def test_that_a_journal_that_leads_to_what_is_roots_is_no_copy(place: Place) -> None:
    (place.own / "data" / "journal").symlink_to(place.wanted)
    assert _copied(place, place.roots / "copy").returncode == 73
    assert place.untouched()


def test_that_nothing_is_done_for_root_in_a_folder_of_roots_or_over_one(place: Place) -> None:
    shop = place.roots / "shop"
    shop.mkdir()
    for command in (
        folders_of_others.made(str(place.own / "new"), "0:0"),
        folders_of_others.made(str(shop), ACCOUNT),
        folders_of_others.removed(ACCOUNT, str(place.wanted)),
        folders_of_others.copied(str(place.wanted), str(place.own / "copy"), ACCOUNT),
        folders_of_others.emptied(str(place.wanted), ACCOUNT),
    ):
        assert _ran(command).returncode == 73, command.argv[5:]
    assert (shop.stat().st_uid, place.untouched()) == (0, True)


def _left(folder: Path) -> str:
    """What an undo has noted of what it left in a folder, '' for nothing."""
    note = Path(left_note(str(folder)))
    return note.read_text() if note.exists() else ""


def _laid(at: Path, owner: int = USER) -> None:
    at.parent.mkdir(exist_ok=True)
    at.write_text("x")
    os.chown(at, owner, owner)


def test_that_an_undo_removes_only_what_a_server_makes(place: Place) -> None:
    """A server told /srv for its folder, and all of it would have been removed."""
    data = place.own / "data"
    for name in ("WiredTiger.wt", "letters", "local.0", "shop/orders.ibd"):
        _laid(data / name)
    (data / "roots").mkdir(mode=0o700)
    (data / "roots" / "local.0").write_text("x")
    assert _ran(folders_of_others.emptied(str(data), ACCOUNT)).returncode == 0
    assert sorted(one.name for one in data.iterdir()) == ["letters", "lost+found", "roots", "shop"]
    assert [one.name for one in (data / "shop").iterdir()] == ["rows"]
    assert (data / "roots" / "local.0").exists()
    assert _left(data).startswith(f"{data}: 3, as "), _left(data)


def test_that_an_undo_removes_what_the_run_copied_and_leaves_and_tells_what_somebody_put_beside(place: Place) -> None:
    copy = place.roots / "copy"
    _laid(place.own / "data/shop/notes of a person")  # it was in what was copied: the copy of it is the run's
    assert _copied(place, copy).returncode == 0
    for name, owner in (("shop/dump.sql", USER), ("keys.pem", 0), ("shop/mine.ibd", 1), ("new/a.frm", USER)):
        _laid(copy / name, owner)
    _laid(copy / "shop/rows.new")
    (copy / "shop/rows.new").rename(copy / "shop/rows")  # a file of a person's under a name that was copied
    os.chown(copy / "new", USER, GROUP)
    assert _ran(folders_of_others.removed(ACCOUNT, str(copy))).returncode == 0
    left = sorted(str(one.relative_to(copy)) for one in copy.rglob("*") if one.is_file())
    assert left == ["keys.pem", "shop/dump.sql", "shop/mine.ibd", "shop/rows"]
    assert _left(copy).startswith(f"{copy}: 4, as "), _left(copy)
    for name in left:
        (copy / name).unlink()
    assert _ran(folders_of_others.removed(ACCOUNT, str(copy))).returncode == 0
    assert (copy.exists(), _left(copy)) == (False, "")


def test_that_a_folder_goes_out_of_the_way_only_while_the_older_one_is_kept(place: Place) -> None:
    data, kept, came = (str(place.own / name) for name in ("data", "kept", "came"))
    assert _ran(folders_of_others.put_away(data, kept, came, ACCOUNT)).returncode == 73
    assert _ran(folders_of_others.renamed(data, kept, ACCOUNT)).returncode == 0
    assert _ran(folders_of_others.made(data, ACCOUNT)).returncode == 0
    _laid(place.own / "data/ibdata1")
    _laid(place.own / "data/letter")
    assert _ran(folders_of_others.put_away(data, kept, came, ACCOUNT)).returncode == 0
    assert (Path(data).exists(), [one.name for one in Path(came).iterdir()]) == (False, ["letter"])
    assert _left(Path(came)).startswith(f"{came}: 1, as letter"), _left(Path(came))
    assert _ran(folders_of_others.put_away(data, kept, came, ACCOUNT)).returncode == 0, "once more"
    assert _ran(folders_of_others.renamed(kept, data, ACCOUNT)).returncode == 0


def test_that_a_folder_is_renamed_and_its_files_edited_as_the_accounts(place: Place) -> None:
    old, new = str(place.own / "data"), str(place.own / "kept")
    assert _ran(folders_of_others.renamed(old, new, ACCOUNT)).returncode == 0
    assert _ran(folders_of_others.renamed(old, new, ACCOUNT)).returncode == 1  # not there any more
    assert _ran(folders_of_others.renamed(new, str(place.roots / "x"), ACCOUNT)).returncode == 73
    assert _ran(folders_of_others.made(old, ACCOUNT)).returncode == 0
    assert _ran(folders_of_others.renamed(old, new, ACCOUNT)).returncode == 73
    edit = ("sed", "-i", "s/^rows$/lines/", "./rows")
    assert _ran(folders_of_others.inside(f"{new}/shop", ACCOUNT, *edit)).returncode == 0
    assert (place.own / "kept/shop/rows").read_text() == "lines"
    said = str(place.wanted)  # a server tells /etc for its data folder
    assert _ran(folders_of_others.renamed(said, f"{said}-before", ACCOUNT)).returncode == 73
    (place.own / "kept/shop/rows").unlink()
    (place.own / "kept/shop/rows").symlink_to(place.wanted / "shadow")
    assert _ran(folders_of_others.inside(f"{new}/shop", ACCOUNT, *edit)).returncode != 0
    assert place.untouched()


def test_that_an_account_is_known_by_its_name_too(place: Place) -> None:
    assert _ran(folders_of_others.made(str(place.roots / "new"), "daemon")).returncode == 0
    assert (place.roots / "new").stat().st_uid == 1
    for nobody in ("root", "no-such-account", "1:", ":1", "1:x", ""):
        assert _ran(folders_of_others.made(str(place.roots / "more"), nobody)).returncode == 73, nobody


@pytest.mark.usefixtures("attacker")
def test_that_an_account_that_may_write_above_its_data_wins_no_race(place: Place) -> None:
    """It won ten of ten of each, against root's `cp -aLT`, `mkdir` and `chown`."""
    own, data = place.own, str(place.own / "data")
    for _ in range(_TRIES):
        _ran(folders_of_others.copied(data, str(own / "copy"), ACCOUNT))
        _ran(folders_of_others.made(str(own / "new"), ACCOUNT))
        _ran(folders_of_others.renamed(str(own / "new"), str(own / "old"), ACCOUNT))
        _ran(folders_of_others.removed(ACCOUNT, str(own / "copy"), str(own / "copy.part"), str(own / "new")))
        assert place.untouched()


@pytest.mark.parametrize("swapped", ["data", "shop"])
def test_that_a_source_that_becomes_a_link_gives_nothing_of_roots_away(place: Place, swapped: str) -> None:
    at = place.own / "data" if swapped == "data" else place.own / "data" / "shop"
    there_and_back = f'mv -T "{at}" "{at}-away"; ln -sT "{place.wanted}" "{at}"; rm "{at}"; mv -T "{at}-away" "{at}"'
    place.attacked("bash", "-c", f"while :; do {there_and_back}; done")
    for number in range(_TRIES):
        _copied(place, place.roots / f"copy{number}")
        assert place.untouched()
