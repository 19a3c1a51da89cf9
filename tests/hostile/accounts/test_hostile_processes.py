"""Processes that a local user begins so that root's programs mistake them, end them in vain or read them for hours."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from services.procedures.catalogue.galera.shared.private_programs import END_PRIVATE, PRIVATE
from services.procedures.catalogue.steps.orphans import END_ORPHANS

WAITS = ("sh", "-c", "read _", "sh")
NOBODY = 65534


@pytest.fixture
def begun() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _begin(stack: ExitStack, *words: str, uid: int | None = None) -> subprocess.Popen[bytes]:
    one = stack.enter_context(subprocess.Popen([*WAITS, *words], user=uid, stdin=subprocess.PIPE))
    stack.callback(one.kill)
    return one


def _ended(folder: Path, turns: int = 6) -> subprocess.CompletedProcess[str]:
    text = END_PRIVATE.replace(PRIVATE, str(folder)).replace("seq 1200", f"seq {turns}").replace("seq 20", "seq 1")
    return subprocess.run(
        ["bash", "-c", text, "pilothouse"], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_that_a_private_server_is_ended_by_its_own_word(tmp_path: Path, begun: ExitStack) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    server = _begin(begun, f"--socket={folder}/server.sock")
    ran = _ended(folder)
    assert (ran.returncode, server.wait(5) < 0, folder.exists()) == (0, True, False), ran


@pytest.mark.skipif(os.getuid() != 0, reason="only root begins a process of somebody else")
def test_that_a_process_of_somebody_else_with_that_word_keeps_no_run_from_being_taken_back(
    tmp_path: Path, begun: ExitStack
) -> None:
    folder = tmp_path / "private"
    folder.mkdir()
    other = _begin(begun, f"--socket={folder}/server.sock", uid=NOBODY)
    ran = _ended(folder)
    assert (ran.returncode, other.poll()) == (0, None), ran


def test_that_a_process_with_very_many_words_is_not_read_to_its_end(tmp_path: Path, begun: ExitStack) -> None:
    _begin(begun, *(["x"] * 100_000))
    before = time.monotonic()
    assert _ended(tmp_path / "private").returncode == 0
    assert time.monotonic() - before < 10


def test_that_the_look_for_orphans_reads_no_more_either_and_still_finds_one(begun: ExitStack) -> None:
    name = f"orphan-of-{os.getpid()}"
    _begin(begun, *(["x"] * 100_000))
    named = ("bash", "-c", f"exec -a {name} sleep 60 # " + "y" * 20)
    orphan = begun.enter_context(subprocess.Popen(named))
    begun.callback(orphan.kill)
    while f"{name}\0" not in Path(f"/proc/{orphan.pid}/cmdline").read_text():
        time.sleep(0.01)
    before = time.monotonic()
    ran = subprocess.run(
        ["bash", "-c", END_ORPHANS, "pilothouse", str(os.getuid()), name.replace("-", "[-]")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ran.returncode, orphan.wait(5) < 0) == (0, True), ran
    assert time.monotonic() - before < 15
