"""`topology` prints what discovery finds; `check` is the same with an exit code: 1 when anything is not good."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.cli.arguments import FINDINGS, GOOD
from app.cli.one_look import look, past_of
from app.cli.terminal import estate_text
from app.compose import discover
from services.discovery.as_json import snapshot_to_json
from services.types import Health


def run(options: Namespace) -> int:
    """Discover once from the seeds, remember what was read, print, and judge."""
    seeds = tuple(getattr(options, "seed", ()))
    past = past_of(options)
    snapshot = look(options, options.command, lambda: discover(options, seeds, options.wait, past))
    if getattr(options, "json", False):
        sys.stdout.write(snapshot_to_json(snapshot).decode() + "\n")
    else:
        sys.stdout.write(estate_text(snapshot))
    if not snapshot.clusters:
        return FINDINGS
    if options.command == "check" and any(c.health is not Health.GOOD for c in snapshot.clusters):
        return FINDINGS
    return GOOD
