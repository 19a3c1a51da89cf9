"""The strict rules of tests/conftest.py are themselves tried: bad tests are run beside it, and must be caught."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SUSPECTS = """
import logging, os, subprocess, sys, threading, time, warnings
import hypothesis
import pytest

log = logging.getLogger("suspect")

def test_silence(): log.info("routine")
def test_warning(): log.warning("disk %s is odd", "sda")
@pytest.mark.expected_log("WARNING", "odd")
def test_announced(): log.warning("disk is odd")
@pytest.mark.expected_log("ERROR", "odd")
def test_announced_with_another_level(): log.warning("disk is odd")
@pytest.mark.expected_log("WARNING", "never")
def test_announced_but_silent(): pass
@pytest.mark.expected_log("WARNING", "maybe", optional=True)
def test_announced_as_optional(): pass
def test_announced_midway(expected_log):
    expected_log("ERROR", "refused")
    log.error("refused by db1")
def test_deprecation(): warnings.warn("old way", DeprecationWarning)

def test_leaked_thread():
    threading.Thread(target=time.sleep, args=(8,), name="lane-db1", daemon=True).start()
def test_ending_thread():
    threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()
def test_thread_error():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()

CHILDREN = []
def test_leaked_child(): CHILDREN.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]))
def test_reaped_child(): subprocess.run([sys.executable, "-c", ""], check=True)

@hypothesis.settings(max_examples=2)
@hypothesis.given(hypothesis.strategies.booleans())
def test_slow_example(_flag): time.sleep(0.25)

def test_home(): assert os.environ["HOME"] != "/home/of/a/person" and not os.listdir(os.path.expanduser("~"))
def test_keyring():
    keyring = pytest.importorskip("keyring")
    with pytest.raises(keyring.errors.NoKeyringError):
        keyring.get_password("pilothouse", "anybody")
"""

LAB_SUSPECT = "def test_on_a_host(): raise AssertionError('reached a host')\n"

QT_SUSPECTS = """
from PySide6.QtCore import QMessageLogger, qDebug, qWarning

def test_qt_warning(): qWarning("QObject: cannot be moved")
def test_qt_debug(): qDebug("routine")
"""


@dataclass(frozen=True)
class Verdict:
    """What the strict rules said of one suspect: passed, failed or skipped, and why."""

    outcome: str
    text: str


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """Run all suspects once, in a process of their own, under a copy of the real rules."""
    folder = tmp_path_factory.mktemp("suspects")
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8")
    tests = folder / "tests"
    (tests / "lab").mkdir(parents=True)
    for ours in ("conftest.py", "sample.py"):
        (tests / ours).write_text((ROOT / "tests" / ours).read_text(encoding="utf-8"), encoding="utf-8")
    (tests / "test_suspects.py").write_text(SUSPECTS, encoding="utf-8")
    (tests / "test_qt_suspects.py").write_text("import pytest\npytest.importorskip('PySide6')\n" + QT_SUSPECTS)
    (tests / "lab" / "test_lab_suspect.py").write_text(LAB_SUSPECT, encoding="utf-8")
    report = folder / "report.xml"
    settings = {
        **os.environ,
        "HOME": "/home/of/a/person",
        "PILOTHOUSE_NO_LAB": "no root here",
        "QT_QPA_PLATFORM": "offscreen",
    }
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "tests"],
        cwd=folder,
        env=settings,
        capture_output=True,
        check=False,
        timeout=90,
    )
    found: dict[str, Verdict] = {}
    for case in ET.parse(report).iter("testcase"):
        marks = [child for child in case if child.tag in {"failure", "error", "skipped"}]
        outcome = "passed" if not marks else ("skipped" if marks[0].tag == "skipped" else "failed")
        text = " ".join(f"{mark.get('message')} {mark.text}" for mark in marks)
        name = case.get("name", "")
        found[name] = Verdict(outcome, text + (found[name].text if name in found else ""))
    return found


@pytest.mark.parametrize(
    ("suspect", "reason"),
    [
        ("test_warning", "unexpected log: WARNING suspect: disk sda is odd"),
        ("test_announced_with_another_level", "unexpected log: WARNING suspect: disk is odd"),
        ("test_announced_but_silent", "announced log never came: WARNING /never/"),
        ("test_deprecation", "old way"),
        ("test_leaked_thread", "threads left running: lane-db1 (runs sleep, daemon)"),
        ("test_thread_error", "ZeroDivisionError"),
    ],
)
def test_that_a_careless_test_fails_and_the_culprit_is_named(
    verdicts: dict[str, Verdict], suspect: str, reason: str
) -> None:
    assert verdicts[suspect].outcome == "failed"
    assert reason in verdicts[suspect].text


@pytest.mark.parametrize(
    "suspect",
    [
        "test_silence",
        "test_announced",
        "test_announced_as_optional",
        "test_announced_midway",
        "test_ending_thread",
        "test_reaped_child",
        "test_home",
        "test_slow_example",
    ],
)
def test_that_a_tidy_test_passes_under_the_strict_rules(verdicts: dict[str, Verdict], suspect: str) -> None:
    assert verdicts[suspect].outcome == "passed", verdicts[suspect].text


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells a process its children")
def test_that_a_leftover_child_process_fails_the_test_and_is_named(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["test_leaked_child"].outcome == "failed"
    assert "time.sleep(30)" in verdicts["test_leaked_child"].text


def test_that_no_test_reaches_the_keyring_of_the_person(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["test_keyring"].outcome == "passed", verdicts["test_keyring"].text


def test_that_a_lab_test_is_skipped_with_the_reason_that_the_test_command_gives(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["test_on_a_host"].outcome == "skipped"
    assert "no root here" in verdicts["test_on_a_host"].text


def test_that_a_warning_of_qt_fails_the_test_but_a_debug_message_does_not(verdicts: dict[str, Verdict]) -> None:
    pytest.importorskip("PySide6", reason="the rule for Qt's messages needs Qt")
    assert verdicts["test_qt_warning"].outcome == "failed"
    assert "QObject: cannot be moved" in verdicts["test_qt_warning"].text
    assert verdicts["test_qt_debug"].outcome == "passed"
