"""A test run takes a sample of the lab's long cases; one command runs every one: PILOTHOUSE_LAB_EVERY=1 (lab.md)."""

from __future__ import annotations

import os

import pytest

EVERY = bool(os.environ.get("PILOTHOUSE_LAB_EVERY"))


def leave_out_long(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the cases marked `long`, and say so, unless every one is asked for."""
    left_out = [] if EVERY else [item for item in items if item.get_closest_marker("long")]
    if not left_out:
        return
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"{len(left_out)} long cases are left out: PILOTHOUSE_LAB_EVERY=1 runs them too.")
