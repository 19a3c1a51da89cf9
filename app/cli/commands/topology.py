"""`topology` prints what discovery finds; `check` is the same with an exit code: 1 when anything is not good."""

from __future__ import annotations

import sys
from argparse import Namespace

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.one_look import look, past_of
from app.cli.terminal import estate_text
from app.compose import discover
from services.discovery.model import EstateSnapshot
from services.types import ONLY_NAMED, Health


def run(options: Namespace) -> int:
    """Discover once from the seeds, remember what was read, print, and judge."""
    seeds = tuple(getattr(options, "seed", ()))
    past = past_of(options)
    snapshot = look(options, options.command, lambda: discover(options, seeds, options.wait, past))
    if getattr(options, "json", False):
        print_json(snapshot)
    else:
        sys.stdout.write(estate_text(snapshot))
    if not snapshot.clusters:
        return FINDINGS
    return FINDINGS if options.command == "check" and not all_good(snapshot) else GOOD


def all_good(snapshot: EstateSnapshot) -> bool:
    """Return whether all that is read is good; what is only named says neither yes nor no, and alone is no evidence."""
    judged = [cluster for cluster in snapshot.clusters if ONLY_NAMED not in cluster.kind.traits]
    return bool(judged) and all(cluster.health is Health.GOOD for cluster in judged)
