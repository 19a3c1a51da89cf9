"""What a stage of the test command came to, and the table that a person reads at the end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_FAILURES = 20
MOST_OF_A_FAILURE = 1_500  # characters
_BAD = frozenset({"failure", "error"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one stage. `notes` are sentences for the person: why something was skipped or stopped."""

    stage: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a JUnit file of pytest says: counts, the distinct reasons of skipped tests, and what failed."""

    passed: int
    failed: int
    skipped: int
    reasons: tuple[str, ...]
    failures: tuple[str, ...] = ()


def read_report(path: Path) -> Report | None:
    """Read a JUnit file written by pytest; None when there is none (pytest never got to its end)."""
    try:
        suites = ET.parse(path).getroot().iter("testsuite")  # noqa: S314  (our own file, written a moment ago)
    except (OSError, ET.ParseError):
        return None
    tests = failed = skipped = 0
    reasons: dict[str, None] = {}
    failures: list[str] = []
    for suite in suites:
        failed += int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        skipped += int(suite.get("skipped", "0"))
        tests += int(suite.get("tests", "0"))
        for mark in suite.iter("skipped"):
            reasons.setdefault(mark.get("message") or "no reason given")
        failures += [_failure(case, mark) for case in suite.iter("testcase") for mark in case if mark.tag in _BAD]
    return Report(max(0, tests - failed - skipped), failed, skipped, tuple(reasons), tuple(failures[:MOST_FAILURES]))


def _failure(case: ET.Element, mark: ET.Element) -> str:
    """Say in a few lines what failed where: of a long run a reader often has the end alone."""
    text = "\n      ".join((mark.get("message") or "no message").splitlines())
    cut = text if len(text) <= MOST_OF_A_FAILURE else f"{text[:MOST_OF_A_FAILURE]}…"
    return f"{mark.tag}: {case.get('classname')}::{case.get('name')}\n      {cut}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the stages with their counts and durations, each with its notes below."""
    lines = [f"{'stage':<12}{'passed':>8}{'failed':>8}{'skipped':>8}{'time':>9}"]
    for outcome in outcomes:
        figures = f"{outcome.passed:>8}{outcome.failed:>8}{outcome.skipped:>8}{outcome.seconds:>7.1f} s"
        lines.append(f"{outcome.stage:<12}{figures}{'   FAILED' if outcome.failed else ''}")
        lines.extend(f"    {note}" for note in outcome.notes)
    return "\n".join(lines)


def closing_line(outcomes: Sequence[Outcome]) -> str:
    """Return the very last line of the test command: the sums over all stages."""
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    return f"{passed} passed, {failed} failed, {skipped} skipped"
