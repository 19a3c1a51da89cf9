"""The script that ends what a transfer left, run on processes of the test's own account, without procps on PATH."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import sys
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


def test_that_a_process_table_that_cannot_be_read_is_no_empty_one(tools: Path) -> None:
    (tools / "stat").unlink()
    ended = _end(tools, "wsrep_sst_of_nobody_at_all")
    assert (ended.returncode, ended.stderr.strip()) == (2, "the processes in /proc could not be read")


def test_that_an_account_that_does_not_exist_is_no_account_without_processes(tools: Path) -> None:
    assert _end(tools, ORPHANS, "nobody-of-that-name").returncode == 3
