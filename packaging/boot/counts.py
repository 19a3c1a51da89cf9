"""What a stage of the test command came to, and the table that a person reads at the end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


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
    """What a JUnit file of pytest says: counts, and the distinct reasons of what was skipped."""

    passed: int
    failed: int
    skipped: int
    reasons: tuple[str, ...]


def read_report(path: Path) -> Report | None:
    """Read a JUnit file written by pytest; None when there is none (pytest never got to its end)."""
    try:
        suites = ET.parse(path).getroot().iter("testsuite")  # noqa: S314  (our own file, written a moment ago)
    except (OSError, ET.ParseError):
        return None
    tests = failed = skipped = 0
    reasons: dict[str, None] = {}
    for suite in suites:
        failed += int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
        skipped += int(suite.get("skipped", "0"))
        tests += int(suite.get("tests", "0"))
        for mark in suite.iter("skipped"):
            reasons.setdefault(mark.get("message") or "no reason given")
    return Report(max(0, tests - failed - skipped), failed, skipped, tuple(reasons))


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
