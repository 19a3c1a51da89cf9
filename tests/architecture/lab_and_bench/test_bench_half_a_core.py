"""Half a core for the console: what the soak and budget 15 put around it, and what they say where that can't be."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.support import control_group as groups
from tests.bench.support.control_group import control_group
from tests.bench.support.private_servers import cpu_s
from tests.bench.support.soaked import Soaked
from tests.bench.support.unavailable import Unavailable
from tests.lab.soak_page import Findings, report
from widgets.bridge.stalls import Stall


def test_that_who_is_not_root_is_told_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unavailable, match="run this as root"), control_group("pilothouse-test", half=True):
        pass


def test_that_a_machine_without_such_groups_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("22 1 0:20 / /proc rw - proc proc rw\n", encoding="utf-8")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(groups, "_MOUNTS", mounts)
    with pytest.raises(Unavailable, match="control groups"), control_group("pilothouse-test", half=True):
        pass


def test_that_a_busy_process_gets_half_a_core_and_the_group_goes_with_it() -> None:
    try:
        with control_group("pilothouse-test", half=True) as group:
            with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
                group.take(busy.pid)
                before, began = cpu_s(busy.pid), time.monotonic()
                time.sleep(1.0)
                share = (cpu_s(busy.pid) - before) / (time.monotonic() - began)
                busy.kill()
            assert share <= 0.65
            assert group.held_back_s() > 0.0
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert not group.folder.exists()


def test_that_the_page_shows_both_runs_and_keeps_the_start_apart() -> None:
    stalls = (Stall(101.0, 90.0, 30.0, 60.0, "", 10.0), Stall(160.0, 70.0, 20.0, 30.0, "a.py:1 f", 40.0))
    whole = Findings(Soaked(began=100.0, ready=103.0, stalls=stalls[:1]))
    half = Findings(Soaked(began=100.0, ready=103.0, stalls=stalls, held_back_s=2.5), half=True)
    page = report([whole, half], 31, "")
    assert "| what | measured | half a core |" in page
    assert "| stalls of the event loop over 50 ms once all pages stood | 0 | 1 |" in page
    assert "| longest of them | 0 ms | 70 ms |" in page
    assert "| held back by the quota, all threads | no quota | 2.5 s |" in page
    assert "--half" in page
