"""Workstations as they are: a terminal without our marks, a full disk, a login that nobody knows, a keyring that waits.

The programs run as processes of their own, with this workstation's own pipes, disks and user ids. Each start takes a
second or more: a run takes one case of each kind, `test everything` takes all.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from app.cli.machine import print_json
from app.cli.visible import only_visible, writable
from app.kept_errors import as_user_error
from app.places import need_recording
from app.written_estate import read_inventory
from services.errors import BadInput

ROOT = Path(__file__).resolve().parents[3]
COMPILED = {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}
"""Where compiled modules are kept: without it each process would compile eight hundred anew."""
INVENTORY = 'version = 1\n[[host]]\nname = "db-é"\naddress = "127.0.0.1"\n[host.sql]\nuser = "m"\nport = 1\n{more}'
HANGS = """
import time
from argparse import Namespace
from collections.abc import Callable
from keyring.backend import KeyringBackend


class Keyring(KeyringBackend):
    priority = 9

    def get_password(self, service, username):
        time.sleep(3600)

    set_password = delete_password = get_password
"""


def ran(
    folder: Path, *words: str, more: str = "", out: int = subprocess.PIPE, home: bool = True, **named: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program on an inventory of one host of this machine that refuses; returns what it printed."""
    (folder / "hosts.toml").write_text(INVENTORY.format(more=more), encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}",
        "LANG": "C.UTF-8",
        **COMPILED,
        **named,
    }
    environment |= {"PYTHON_KEYRING_BACKEND": named.get("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")}
    if home:
        environment["HOME"] = str(folder)
    program = [sys.executable, "-m", "app", *words]
    return subprocess.run(
        program, cwd=folder, env=environment, stdout=out, stderr=subprocess.PIPE, check=False, timeout=60
    )


def check(folder: Path, *words: str, **named: str) -> subprocess.CompletedProcess[bytes]:
    return ran(folder, "check", "--inventory", "hosts.toml", "--data", "data", *words, **named)


def rare(*cases: object) -> list[ParameterSet]:
    """Mark cases that `test everything` alone runs."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long) for case in cases]


# --- what is printed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "utf-16", *rare("iso-8859-1", "cp1252", "cp437", "koi8-r", "utf-8")])
def test_that_a_check_is_printed_in_any_charset(tmp_path: Path, encoding: str) -> None:
    done = check(tmp_path, PYTHONIOENCODING=encoding)
    text = done.stdout.decode(encoding)
    assert done.returncode == 1, done.stderr  # a host that refuses; of an exception it would be one too
    assert b"Traceback" not in done.stderr
    assert "0 of 1 hosts answer" in text
    assert ("■" if encoding in {"utf-8", "utf-16", "cp437", "koi8-r"} else "#") in text


@pytest.mark.parametrize("encoding", ["cp1252", *rare("ascii", "koi8-r")])
def test_that_json_says_the_same_in_any_charset(tmp_path: Path, encoding: str) -> None:
    done = check(tmp_path, "--json", PYTHONIOENCODING=encoding)
    assert json.loads(done.stdout.decode(encoding))["clusters"][0]["nodes"][0]["name"] == "db-é"


def test_that_marks_stay_apart_and_unknown_encodings_are_taken_for_ascii() -> None:
    shapes = writable("●◐▲■○", "ascii")
    assert shapes.isascii()
    assert len(set(shapes)) == 5
    assert writable("5 µs · 日本…", "latin-1") == "5 µs · ??..."
    assert writable("●", "no-such-encoding") == "*"
    assert writable("●", None) == "●"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "utf-16"])
def test_that_json_of_any_text_is_the_same_on_every_stream(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what a terminal is never given as it is: directions, controls, and bytes that are no UTF-8 (`\\udcff`)."""
    document = {"name": '日本 𝕏 é \\ " \n \x85 \u202e \x7f \x1b[31m', "key\udcff": "/keys/\udcff", "none": math.nan}
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", out)
    with only_visible():
        print_json(document)
    out.flush()
    written = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert written.isascii()
    assert written.count("\n") == 1
    assert json.loads(written, parse_constant=pytest.fail) == {**document, "none": None}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_that_output_on_a_full_disk_is_a_sentence_and_no_finding(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = check(tmp_path, out=full)
    finally:
        os.close(full)
    assert done.returncode == 70
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_that_a_reader_that_went_away_is_no_finding_and_no_traceback(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = check(tmp_path, out=writer)
    finally:
        os.close(writer)
    assert (done.returncode, b"Traceback" in done.stderr, b"Exception" in done.stderr) == (141, False, False)


def test_that_a_closed_output_takes_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text(INVENTORY.format(more=""), encoding="utf-8")
    words = f"'{sys.executable}' -m app check --inventory hosts.toml --data data >&-"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["sh", "-c", words], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)


# --- who starts it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["relative/home", None, *rare("")])
def test_that_a_mock_of_a_user_whom_nobody_knows_is_told_so_and_makes_no_folder_called_tilde(
    tmp_path: Path, home: str | None
) -> None:
    unknown = "import pwd\npwd.getpwuid = lambda _uid: {}['no entry']\n"
    code = f"{unknown}from app.__main__ import main\nimport sys\n"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **COMPILED}
    if home is not None:
        environment["HOME"] = home
    done = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit(main(['check']))"],
        cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    wrong = f"HOME is {home}, which is not an absolute path" if home else "has no home folder"
    assert wrong.encode() in done.stderr
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's names are Unicode")
def test_that_a_home_whose_name_is_no_utf_8_text_is_a_place_like_any_other(tmp_path: Path) -> None:
    home = tmp_path / "jos\udce9"
    home.mkdir()
    done = ran(home, "check", "--inventory", "hosts.toml")
    assert (done.returncode, b"refused" in done.stdout, done.stderr) == (1, True, b"")
    assert (home / ".local" / "share" / "pilothouse" / "state.sqlite").is_file()
    assert ran(home, "procedures", "--runs", "--inventory", "hosts.toml").returncode == 0


@pytest.mark.parametrize("place", ["/dev/null/x", "~/literally", *rare("/proc/no/such", "relative/place", " ")])
def test_that_a_bad_xdg_folder_is_a_sentence_or_none_at_all(tmp_path: Path, place: str) -> None:
    done = ran(tmp_path, "check", "--inventory", "hosts.toml", XDG_DATA_HOME=place, XDG_CONFIG_HOME=place)
    assert b"Traceback" not in done.stderr
    assert done.returncode in {1, 2}
    assert not [one for one in tmp_path.iterdir() if one.name in {"relative", "~"}]
    if place.startswith("/"):
        assert place.encode() in done.stderr


# --- the keyring -----------------------------------------------------------------------------------------------------


def test_that_a_keyring_that_nobody_unlocks_is_named_and_the_program_ends(tmp_path: Path) -> None:
    (tmp_path / "hanging.py").write_text(HANGS)
    begun = time.monotonic()
    done = check(tmp_path, more='password = "keyring:x"\n', PYTHON_KEYRING_BACKEND="hanging.Keyring")
    assert time.monotonic() - begun < 50.0  # it would wait for an hour
    assert "OS keyring did not answer" in done.stdout.decode()
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("backend", "settings"),
    [
        ("keyrings.alt.file.PlaintextKeyring", ""),
        ("", "[backend]\ndefault-keyring=keyring.backends.NoSuch.Keyring\n"),
        *rare(
            ("no.such.module.Keyring", ""),
            ("json.NoSuchClass", ""),
            ("not-even-a-path", ""),
            ("", "default-keyring=no.head.at.all\n"),
            ("", "[backend\n"),
        ),
    ],
)
def test_that_a_keyring_that_is_set_and_not_there_is_a_sentence_about_one_host(
    tmp_path: Path, backend: str, settings: str
) -> None:
    (tmp_path / ".config/python_keyring").mkdir(parents=True)
    (tmp_path / ".config/python_keyring/keyringrc.cfg").write_text(settings)
    other = '[[host]]\nname = "db2"\naddress = "127.0.0.1"\n[host.sql]\nuser = "m"\nport = 2\n'
    done = check(tmp_path, more=f'password = "keyring:x"\n{other}', PYTHON_KEYRING_BACKEND=backend)
    text = done.stdout.decode()
    assert b"Traceback" not in done.stderr
    assert "keyring" in text
    assert "port 2 refused" in text  # the other one was asked


# --- a full disk -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk is mounted by root alone")
def test_that_a_recording_on_a_full_disk_is_a_sentence_and_leaves_nothing_behind(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)], check=True)
    try:
        done = ran(tmp_path, "record", "small/n.pilothouse", "--for", "2s", "--inventory", "hosts.toml", "--data", "d")
        left = list(small.iterdir())
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert b"disk is full" in done.stderr
    assert left == []


# --- what a start lacks ----------------------------------------------------------------------------------------------

unknown_user = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="only root becomes a user that nobody knows",
)


def as_nobody_known(folder: Path, *words: str, home: str | None) -> subprocess.CompletedProcess[bytes]:
    """Run the program as a user without an entry in passwd(5), in a folder that takes its files."""
    (folder / "hosts.toml").write_text(INVENTORY.format(more='[host.ssh]\nuser = "dba"\nport = 1\n'), encoding="utf-8")
    folder.chmod(0o777)
    for place in folder.parents[:3]:  # passed through only: what others may write into is no place for other tests
        place.chmod(place.stat().st_mode | 0o011)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **COMPILED}
    if home is not None:
        environment["HOME"] = home
    program = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", sys.executable, "-m", "app", *words]
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, check=False, timeout=120)


@unknown_user
@pytest.mark.parametrize(
    ("words", "code", "home"),
    [
        (("check",), 1, None),
        (("inventory", "check"), 1, "relative"),
        (("procedures", "--runs"), 0, None),
        *rare(
            (("check",), 1, "relative"),
            (("topology",), 0, None),
            (("topology",), 0, "relative"),
            (("inventory", "check"), 1, None),
            (("procedures", "--runs"), 0, "relative"),
            (("settle",), 0, None),
            (("settle",), 0, "relative"),
            (("record", "x.pilothouse", "--for", "1s"), 1, None),
            (("record", "x.pilothouse", "--for", "1s"), 1, "relative"),
        ),
    ],
)
def test_that_a_user_whom_nobody_knows_is_let_in_by_the_login_of_the_inventory(
    tmp_path: Path, words: tuple[str, ...], code: int, home: str | None
) -> None:
    done = as_nobody_known(tmp_path, *words, "--inventory", "hosts.toml", "--data", "data", home=home)
    assert done.returncode == code, done.stdout + done.stderr
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"inside Pilothouse" not in done.stderr
    if words[0] == "inventory":  # both ways in were tried, with the login that the inventory names
        assert b"SSH port: 127.0.0.1 port 1 refused" in done.stdout
        assert b"Database port: 127.0.0.1 port 1 refused" in done.stdout


STORED = (("run rolling-restart", 2), ("settle nobody", 2), ("procedures --runs", 0))


@pytest.mark.parametrize(
    ("closed", "commands"),
    [("<&-", STORED[:2]), ("<&- >&- 2>&-", STORED[2:]), *rare(("<&-", STORED), ("<&- >&- 2>&-", STORED))],
)
def test_that_closed_streams_are_neither_asked_nor_taken_for_a_store(
    tmp_path: Path, closed: str, commands: tuple[tuple[str, int], ...]
) -> None:
    (tmp_path / "hosts.toml").write_text(INVENTORY.format(more=""), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    for words, code in commands:
        line = f"'{sys.executable}' -m app {words} --inventory hosts.toml --data data {closed}"
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
        )
        assert b"inside Pilothouse" not in done.stderr
        assert done.returncode == code, (words, done.stderr)
    store = (tmp_path / "data/state.sqlite").read_bytes()
    assert store[:16] in {b"SQLite format 3\0", b""}  # nothing was printed into it


def test_that_a_workstation_without_another_thread_is_told_as_such() -> None:
    for error in (RuntimeError("can't start new thread"), MemoryError()):
        problem = as_user_error(error, None)
        assert "Pilothouse cannot get more memory or threads on this workstation:" in problem.sentence
        assert "ulimit" in problem.as_text()


# --- files of every kind ---------------------------------------------------------------------------------------------

LONG = "x" * 300


def _latin(path: Path) -> None:
    path.write_bytes(INVENTORY.format(more="").encode("latin-1"))


def _wide(path: Path) -> None:
    path.write_bytes(INVENTORY.format(more="").encode("utf-16"))


def _circle(path: Path) -> None:
    path.symlink_to(path)


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (os.mkfifo, "it is not a regular file"), (Path.mkdir, "it is not a regular file"), (_latin, "is not UTF-8"),
        (_wide, "is not UTF-8"), (_circle, "symbolic links"), (_dangling, "No such file"), (None, "too long"),
    ],
)  # fmt: skip
def test_that_an_inventory_of_any_kind_is_read_or_a_sentence(
    tmp_path: Path, make: Callable[[Path], None] | None, said: str
) -> None:
    odd = tmp_path / ("odd" if make is not None else LONG)
    if make is not None:
        make(odd)
    with pytest.raises(BadInput, match=said):
        read_inventory(Namespace(inventory=odd))


@pytest.mark.parametrize("text", ["\N{BYTE ORDER MARK}{}", "\N{BYTE ORDER MARK}{}\r"])
def test_that_an_inventory_of_windows_editors_is_read(tmp_path: Path, text: str) -> None:
    odd = tmp_path / "odd.toml"
    whole = text.format(INVENTORY.format(more=""))
    odd.write_bytes((whole.removesuffix("\r").replace("\n", "\r\n") if whole.endswith("\r") else whole).encode())
    assert [one.name for one in read_inventory(Namespace(inventory=odd)).hosts] == ["db-é"]


@pytest.mark.parametrize("name", [LONG, "circle", "pipe", "folder", "gone", "/dev/null"])
def test_that_what_is_no_recording_is_bad_input(tmp_path: Path, name: str) -> None:
    _circle(tmp_path / "circle")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match=r"There is no recording|cannot be read"):
        need_recording(tmp_path / name)
