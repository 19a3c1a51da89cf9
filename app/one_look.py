"""One look at the estate that is remembered: what `topology` and `check` read is known to the next run, and what was
seen before is told. A memory that can't be read or written stops neither of them: one sentence on stderr says so.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable

from app.compose import open_state
from app.places import data_folder
from services.clock import Clock, SystemClock
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NotSettled
from services.discovery.two_primaries import primaries_apart, seen_twice, told_until_settled
from services.errors import UserError
from services.words import tr

SECOND_LOOK_S = 2.0


def look(
    options: Namespace, by: str, discover: Callable[[], EstateSnapshot], clock: Clock | None = None
) -> EstateSnapshot:
    """Return what discovery finds, with what our own history knows of it; positions and sightings are kept.

    Args:
        by: who looks, for the history: 'topology' or 'check'.
        discover: looks once; it is asked a second time, a little later, where two Primary Components show.
    """
    first = discover()
    split = tuple(cluster for cluster in first.clusters if primaries_apart(cluster) is not None)
    second = None
    if split:
        (clock or SystemClock()).sleep(SECOND_LOOK_S)
        second = discover()
    newest = second or first
    try:
        open_ = _remembered(options, by, newest, split)
    except UserError as problem:
        told = tr("What was read is not remembered, and what was seen before is not known: {why}", why=problem.sentence)
        sys.stderr.write(told + "\n")
        return newest
    return told_until_settled(newest, open_)


def _remembered(
    options: Namespace, by: str, newest: EstateSnapshot, split: tuple[ClusterSnapshot, ...]
) -> tuple[NotSettled, ...]:
    from services.history.state_rows import sightings  # SQLAlchemy: not before the hosts were asked

    with open_state(data_folder(options) / "state.sqlite") as state:
        for cluster in newest.clusters:
            state.remember_nodes(sightings(cluster), by)
        log = state.splits()
        for cluster in split:
            later = newest.cluster(cluster.cluster_id)
            seen = seen_twice(cluster, later) if later is not None else None
            if seen is not None:
                log.note(seen, by)
        return tuple(one.not_settled for one in log.open())
