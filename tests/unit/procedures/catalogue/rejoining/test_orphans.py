"""The script that ends what a transfer left, run on processes of the test's own account, without procps on PATH."""

from __future__ import annotations

import getpass
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.procedures.catalogue.steps.orphans import END_ORPHANS, ORPHANS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the script is for hosts with Linux's /proc"),
    pytest.mark.xdist_group("orphans"),  # one test's script would end another's: both name the same processes
]

DEAF = "trap '' TERM; echo ready; exec -a {name} sleep 60"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with what the script needs and nothing else: no pgrep, no pkill, no ps."""
    for name in ("bash", "stat", "sleep", "id"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def _end(path: Path, pattern: str, account: str = "") -> subprocess.CompletedProcess[str]:
    words = (str(shutil.which("bash")), "-c", END_ORPHANS, "pilothouse", account or getpass.getuser(), pattern)
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=30, env={"PATH": str(path)})


def _start(name: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(("bash", "-c", DEAF.format(name=name)), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def _named(name: str, *words: str) -> subprocess.Popen[bytes]:
    """A process of this name and these words that waits."""
    says = "import sys; print('ready', flush=True); sys.stdin.read()"
    shown = shlex.join(("exec", "-a", name, sys.executable, "-c", says, *words))
    process = subprocess.Popen(("bash", "-c", shown), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_that_ending_what_is_left_succeeds_where_nothing_is(tools: Path) -> None:
    for account in (getpass.getuser(), str(os.getuid())):
        ended = _end(tools, "wsrep_sst_of_nobody_at_all", account)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_that_a_script_that_does_not_listen_is_ended_and_another_process_is_not(tools: Path) -> None:
    with _start("wsrep_sst_test") as orphan, _start("wsrep_sst_other") as other:
        try:
            ended = _end(tools, "wsrep_sst_test|socat .*:44444")
            assert (ended.returncode, ended.stderr) == (0, "")
            assert orphan.wait(5) == -signal.SIGKILL
            assert other.poll() is None
        finally:
            orphan.kill()
            other.kill()


def test_that_another_accounts_process_is_left_alone(tools: Path) -> None:
    with _start("wsrep_sst_test") as mine:
        try:
            assert _end(tools, "wsrep_sst_test", str(os.getuid() + 4321)).returncode == 0
            assert mine.poll() is None
        finally:
            mine.kill()


def test_that_a_command_that_only_names_the_pattern_is_not_ended(tools: Path) -> None:
    """As sudo's and the shell's own command lines do while the script runs."""
    sleeper = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(60)", ORPHANS]
    with subprocess.Popen(sleeper, stdout=subprocess.PIPE) as speaks:
        assert speaks.stdout is not None
        speaks.stdout.readline()
        try:
            assert _end(tools, ORPHANS).returncode == 0
            assert speaks.poll() is None
        finally:
            speaks.kill()


@pytest.mark.parametrize(
    "words",
    [
        ("mysqld", "--wsrep_sst_method=mariabackup"),
        ("vi", "/usr/bin/wsrep_sst_mariabackup"),
        ("tail", "-f", "/var/log/wsrep_sst_joiner.log"),
        ("mariadbd", "--wsrep-sst-receive-address=10.0.0.1:4444"),
    ],
)
def test_that_who_has_an_sst_among_his_words_is_not_ended(tools: Path, words: tuple[str, ...]) -> None:
    with _named(*words) as speaks:
        try:
            assert _end(tools, ORPHANS).returncode == 0
            assert speaks.poll() is None
        finally:
            speaks.kill()


def test_that_the_script_of_an_interpreter_is_ended(tools: Path, tmp_path: Path) -> None:
    script = tmp_path / "wsrep_sst_script"
    script.write_text("echo ready\nread _\n")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(("bash", "-ue", str(script), "--role", "joiner"), **pipes) as orphan:  # type: ignore[call-overload]
        assert orphan.stdout.readline() == b"ready\n"
        try:
            assert _end(tools, ORPHANS).returncode == 0
            assert orphan.wait(5) == -signal.SIGTERM
        finally:
            orphan.kill()


def test_that_the_transfer_of_a_living_server_is_not_ended(tools: Path, tmp_path: Path) -> None:
    """Two instances of one account: the other one is a donor now."""
    server = tmp_path / "mariadbd"
    shutil.copy(str(shutil.which("bash")), server)
    says = "(exec -a wsrep_sst_mariabackup sleep 60) & echo $!; wait"
    with subprocess.Popen((str(server), "-c", says), stdout=subprocess.PIPE) as donor:
        assert donor.stdout is not None
        transfer = int(donor.stdout.readline())
        while b"wsrep_sst_mariabackup\0" not in Path(f"/proc/{transfer}/cmdline").read_bytes():
            time.sleep(0.01)
        try:
            assert _end(tools, ORPHANS).returncode == 0
            assert Path(f"/proc/{transfer}").exists()
        finally:
            os.kill(transfer, signal.SIGKILL)
            donor.kill()


def test_that_a_process_table_that_cannot_be_read_is_no_empty_one(tools: Path) -> None:
    (tools / "stat").unlink()
    ended = _end(tools, "wsrep_sst_of_nobody_at_all")
    assert (ended.returncode, ended.stderr.strip()) == (2, "the processes in /proc could not be read")


def test_that_an_account_that_does_not_exist_is_no_account_without_processes(tools: Path) -> None:
    assert _end(tools, ORPHANS, "nobody-of-that-name").returncode == 3
