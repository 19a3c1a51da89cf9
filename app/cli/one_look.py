"""One look at the estate that is remembered: what `topology` and `check` read is known to the next run, and what was
seen before is told. A memory that can't be read or written stops neither of them: one sentence on stderr says so.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping

from app.compose import Past, open_state
from app.places import state_file
from app.written_estate import read_inventory
from services.clock import Clock, SystemClock
from services.discovery.families.galera.two_primaries import primaries_apart, seen_twice, told_until_settled
from services.discovery.families.registry import kind_kept, registered
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NotSettled
from services.errors import UserError
from services.facts.model import NodeFacts
from services.i18n import tr
from services.inventory.model import Inventory

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
        sentence = tr("The readings are not saved, and earlier findings are not known: {why}", why=problem.sentence)
        sys.stderr.write(sentence + "\n")
        return newest
    return told_until_settled(newest, open_)


def past_of(options: Namespace) -> Past:
    """Return what gives the clusters, as last known, of hosts that can't tell their own: all of one may be down."""

    def past(facts: Mapping[str, NodeFacts]) -> EstateSnapshot | None:
        homes = {host: registered().home(one) for host, one in facts.items()}
        mute = [host for host, home in homes.items() if not home and facts[host].galera is None]
        path = state_file(options)
        if not mute or not path.exists():
            return None
        from services.history.state.remembered_clusters import remembered_estate  # SQLAlchemy: see below

        heard = {home for home in homes.values() if home}
        heard |= {one.galera.local_state_uuid or one.galera.state_uuid for one in facts.values() if one.galera}
        try:
            with open_state(path, _inventory(options)) as state:
                return remembered_estate(state, kind_kept, mute, heard)
        except UserError:
            return None  # the look tells of it when it keeps what was read

    return past


def _remembered(
    options: Namespace, by: str, newest: EstateSnapshot, split: tuple[ClusterSnapshot, ...]
) -> tuple[NotSettled, ...]:
    from services.history.state.remembered_clusters import keep_cluster  # SQLAlchemy: not before the hosts were asked
    from services.history.state.rows import sightings

    with open_state(state_file(options), _inventory(options)) as state:
        for cluster in newest.clusters:
            state.remember_nodes(sightings(cluster), by)
            keep_cluster(state, cluster)
        log = state.splits()
        for cluster in split:
            later = newest.cluster(cluster.cluster_id)
            seen = seen_twice(cluster, later) if later is not None else None
            if seen is not None:
                log.note(seen, by)
        return tuple(one.not_settled for one in log.open())


def _inventory(options: Namespace) -> Inventory | None:
    try:
        return read_inventory(options)
    except UserError:
        return None  # who looks has told of it
