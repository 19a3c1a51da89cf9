"""The server's account exchanges its configuration file while root edits it, or puts it back: nothing of root's leaks.

The session is a real one whose commands run on this machine; the account acts at the moments at which it would win.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.limits import Limits
from services.connections.operator.session import HostOperator
from services.connections.ports import Output
from services.errors import UserError
from services.procedures.engine.ports import ActFailed, Untouched
from services.procedures.execute import kept_files
from services.procedures.execute.acting_files import Files
from services.procedures.execute.kept_files import apart, beside
from services.secrets import Secret

ACCOUNT, RUN = 65534, "47"
PLAIN = "storage:\n  dbPath: /srv/mongodb/data\nnet:\n  port: 27019\n"
SECRET = '{"auths": {"registry": {"auth": "TOPSECRET"}}}\n'
EDIT = (("replication.replSetName", "csReplSet"), ("sharding.configsvrMode", "sccc"))

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root gives a folder to another account")


class Here(HostOperator):
    """A session whose host is this machine; `attack`: functions of a shell, before each program of root's."""

    def __init__(self) -> None:
        self.attack = ""
        self._limits = Limits()

    @property
    def host(self) -> str:
        return "c1"

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        argv = list(command.argv)
        if argv[:2] == ["sh", "-c"]:
            argv[2] = f"{self.attack}\n{argv[2]}"
        sent = command.stdin.reveal().encode("utf-8", "surrogateescape") if command.stdin is not None else b""
        ran = subprocess.run(argv, input=sent, capture_output=True, timeout=limit_s, check=False)
        return Output(ran.returncode, ran.stdout, ran.stderr)


class Place:
    """A folder of the account's with its configuration file, and a file of root's that it wants to read."""

    def __init__(self, top: Path) -> None:
        self.session = Here()
        self.files = Files(self.session, RUN)
        self.secret = top / "rootonly/config.json"
        self.secret.parent.mkdir(mode=0o700)
        self.secret.write_text(SECRET)
        self.secret.chmod(0o600)
        self.folder = top / "mongodb"
        self.folder.mkdir()
        self.path = self.folder / "mongod.conf"
        self.lay(self.path, PLAIN)
        os.chown(self.folder, ACCOUNT, ACCOUNT)

    def lay(self, path: Path, text: str) -> None:
        """Put a file of the account's there."""
        path.unlink(missing_ok=True)
        path.write_text(text)
        os.chown(path, ACCOUNT, ACCOUNT)
        path.chmod(0o640)

    @property
    def kept(self) -> Path:
        return Path(apart(str(self.path), RUN))

    def stolen(self) -> bool:
        """Return whether the secret stands in something that the account may read."""
        return any(
            "TOPSECRET" in one.read_text()
            for one in self.folder.rglob("*")
            if one.is_file() and not one.is_symlink() and not one.samefile(self.secret)
            and (one.stat().st_uid == ACCOUNT or one.stat().st_mode & 0o004)
        )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    tmp_path.chmod(0o755)
    monkeypatch.setattr(kept_files, "FOLDER", str(tmp_path / "kept"))
    return Place(tmp_path)


def test_that_a_file_in_an_accounts_folder_is_edited_kept_apart_put_back_and_forgotten(place: Place) -> None:
    assert place.files.edit_yaml(str(place.path), EDIT)
    assert "csReplSet" in place.path.read_text()
    assert (place.path.stat().st_uid, place.path.stat().st_mode & 0o7777) == (ACCOUNT, 0o640)
    assert (place.kept.read_text(), place.kept.parent.stat().st_mode & 0o777) == (PLAIN, 0o700)
    assert [one.name for one in place.folder.iterdir()] == ["mongod.conf"]
    assert "csReplSet" in place.files.wrote(str(place.path))
    place.lay(place.path, f"{place.path.read_text()}# mine\n")
    assert "the rest is kept" in place.files.restore(str(place.path), whole=False).said
    assert place.path.read_text() == f"{PLAIN}# mine\n"
    assert place.files.restore(str(place.path), whole=True).stays == ""
    assert (place.path.read_text(), place.path.stat().st_uid) == (PLAIN, ACCOUNT)
    place.files.forget((str(place.path),))
    assert list(place.kept.parent.iterdir()) == []


LAYS = {
    "a link": 'rm -f "{path}"; command ln -s "{secret}" "{path}"',
    "a second name of root's file": 'command ln -f "{secret}" "{path}"',
    "a pipe": 'rm -f "{path}"; mkfifo "{path}"',
}


@pytest.mark.parametrize("what", LAYS)
def test_that_what_is_laid_right_before_root_reads_is_never_read(place: Place, what: str) -> None:
    lays = LAYS[what].format(path=place.path, secret=place.secret)
    place.session.attack = f'ln() {{ {lays}; command ln "$@"; }}'
    with pytest.raises(Untouched):
        place.files.edit_yaml(str(place.path), EDIT)
    assert not place.stolen()
    assert not place.kept.exists()


@pytest.mark.parametrize("what", LAYS)
def test_that_what_is_laid_when_root_has_the_file_changes_nothing_of_what_it_reads(place: Place, what: str) -> None:
    lays = LAYS[what].format(path=place.path, secret=place.secret)
    place.session.attack = f'timeout() {{ {lays}; command timeout "$@"; }}'
    read = place.session.look_file(str(place.path))
    assert (read.text, read.owner, read.mode, read.alone) == (PLAIN, f"{ACCOUNT}:{ACCOUNT}", "0640", False)


@pytest.mark.parametrize("program", ["mktemp", "ln", "stat", "dd", "mv", "chown"])
def test_that_a_link_that_comes_and_goes_at_any_program_of_an_edit_or_an_undo_tells_nothing(
    place: Place, program: str
) -> None:
    """Root read what the link led to, and wrote it into the file that was back by then (20 of 20, and 17 of 20)."""
    place.lay(place.folder / "good", PLAIN)
    here, new = place.path, place.folder / "n"
    turns = f"""{program}() {{
      if [ -L "{here}" ]; then command cp -pf "{place.folder}/good" "{new}"; command mv -T "{new}" "{here}"
      else command ln -sfn "{place.secret}" "{here}"; fi 2>/dev/null; command {program} "$@"; }}"""
    for _ in range(3):
        place.session.attack = turns
        for act in (
            lambda: place.files.edit_yaml(str(here), EDIT),
            lambda: place.files.restore(str(here), whole=False),
        ):
            with contextlib.suppress(UserError):
                act()
            assert not place.stolen()
    assert place.secret.read_text() == SECRET


def test_that_a_copy_which_the_account_laid_beside_its_file_is_no_kept_copy(place: Place) -> None:
    for end in ("", ".wrote"):
        place.lay(Path(f"{beside(str(place.path), RUN)}{end}"), "net:\n  port: 1\n")
    with pytest.raises(ActFailed, match="is not a kept copy"):
        place.files.restore(str(place.path), whole=False)
    assert place.path.read_text() == PLAIN


def test_that_an_older_consoles_copy_of_roots_is_found_beside_the_file(place: Place) -> None:
    old = Path(beside(str(place.path), RUN))
    for one, text in ((old, "net:\n  port: 1\n"), (Path(f"{old}.wrote"), PLAIN)):
        one.write_text(text)
    assert place.files.restore(str(place.path), whole=False).stays == ""
    assert place.path.read_text() == "net:\n  port: 1\n"
    place.files.forget((str(place.path),))
    assert [one.name for one in place.folder.iterdir()] == ["mongod.conf"]


def test_that_lines_of_roots_own_file_do_not_come_into_one_of_the_accounts(place: Place) -> None:
    """The account can't read it, but rename it within its folder: an undo would merge its lines into another file."""
    place.path.unlink()
    place.path.write_text("auths:\n  auth: TOPSECRET\n")
    place.path.chmod(0o600)
    assert place.files.edit_yaml(str(place.path), EDIT)
    assert (place.path.stat().st_uid, place.path.stat().st_mode & 0o777) == (0, 0o600)
    wrote = place.path.read_text()
    place.lay(place.path, wrote.replace("auths:\n  auth: TOPSECRET\n", ""))
    assert place.files.restore(str(place.path), whole=False).stays
    assert not place.stolen()


def test_that_a_file_of_the_servers_is_put_through_no_link_in_its_place(place: Place) -> None:
    place.path.unlink()
    place.path.symlink_to(place.secret)
    with pytest.raises(Untouched, match="symbolic link"):
        place.files.put(str(place.path), Secret("mine\n"), "0640", f"{ACCOUNT}:{ACCOUNT}")
    assert place.secret.read_text() == SECRET


@pytest.mark.parametrize("before", [None, "as it was\n"])
def test_that_an_accounts_file_is_put_back_and_forgotten_though_its_folder_was_roots_when_it_was_kept(
    place: Place, before: str | None
) -> None:
    """A restore fills a data folder as root, and gives it with all that lies in it to the server's account."""
    os.chown(place.folder, 0, 0)
    state = place.folder / "grastate.dat"
    if before is not None:
        place.lay(state, before)
    place.files.put(str(state), Secret("mine\n"), "0660", f"{ACCOUNT}:{ACCOUNT}")
    for one in (place.folder, *place.folder.iterdir()):
        os.chown(one, ACCOUNT, ACCOUNT)
    assert sorted(one.name for one in place.folder.iterdir()) == ["grastate.dat", "mongod.conf"]
    assert place.files.restore(str(state), whole=False).stays == ""
    assert (state.read_text() if state.exists() else None) == before
    place.files.forget((str(state),))
    assert list(place.kept.parent.iterdir()) == []
