"""A test run takes a sample of the long cases; `bootstrap.py test everything` runs all (lab.md).

A case that is left out is deselected and told: a skipped one would fail an automated run, and nothing of ours is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

EVERY = bool(os.environ.get("PILOTHOUSE_LAB_EVERY"))
T = TypeVar("T")


def sampled(cases: Iterable[T], long: Callable[[T], bool]) -> list[ParameterSet]:
    """Mark those of a test's cases as `long` of which that is said; each is named by its own words."""
    return [pytest.param(case, id=str(case), marks=[pytest.mark.long] if long(case) else []) for case in cases]


def leave_out(
    config: pytest.Config, items: list[pytest.Item], unwanted: Callable[[pytest.Item], bool], said: str
) -> None:
    """Deselect what is unwanted, and say how many and what they are: `said` follows their number."""
    left_out = [item for item in items if unwanted(item)]
    if not left_out:
        return
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"{len(left_out)} {said}")


def leave_out_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the cases marked `long` unless every one is asked for."""
    if not EVERY:
        said = "long cases are left out: `test everything` runs them too."
        leave_out(config, items, lambda item: item.get_closest_marker("long") is not None, said)
