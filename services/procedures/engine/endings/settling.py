"""Settling two Primary Components that were once seen: only by a person, who says in words what was done about it.

Nothing is read and nothing is changed on a host. What is settled stays in the history with who and why; the same two
sides seen once more are a new story.
"""

from __future__ import annotations

import socket

from services.discovery.families.galera.two_primaries import sides_words
from services.discovery.words import moment
from services.errors import BadInput
from services.history.state.split_log import Split, SplitLog
from services.i18n import tr
from services.procedures.plan.forms.inputs import refuse_secret
from services.workstation.home import local_user

LONGEST_REASON = 2_000


def person() -> str:
    """Return who sits here, for the history: 'ada@desk2'."""
    return f"{local_user() or 'unknown'}@{socket.gethostname()}"


def open_of(log: SplitLog, cluster: str) -> tuple[Split, ...]:
    """Return what is not settled of a cluster, by its name or state UUID; BadInput where nothing or no one cluster is.

    Raises StoreError.
    """
    everything = log.open()
    found = tuple(s for s in everything if cluster in {s.cluster_name, s.cluster_uuid})
    if not found:
        names = ", ".join(dict.fromkeys(s.cluster_name or s.cluster_uuid for s in everything))
        known = tr("Not settled: {names}.", names=names) if names else tr("There is nothing to settle.")
        raise BadInput(tr("There is no unsettled split brain of {cluster}.", cluster=cluster), try_=(known,))
    uuids = tuple(dict.fromkeys(s.cluster_uuid for s in found))
    if len(uuids) > 1:
        raise BadInput(
            tr("{cluster} is the name of several clusters.", cluster=cluster),
            try_=(tr("Give the state UUID: {uuids}.", uuids=", ".join(uuids)),),
        )
    return found


def settle(log: SplitLog, cluster_uuid: str, by: str, reason: str) -> tuple[Split, ...]:
    """Settle what is open of a cluster; return what was settled. BadInput without a reason; raises StoreError."""
    words = " ".join(reason.split())
    if not words:
        raise BadInput(tr("Describe what was done about it: the reason is kept in the history."))
    refuse_secret(words)
    return log.settle(cluster_uuid, by, words[:LONGEST_REASON])


def meaning(seen: Split, *, now: bool = False) -> str:
    """Return what it means and what a person has to know before it is settled, in short sentences.

    Args:
        now: both are seen at this very time: it is not over, and not to be settled yet.
    """
    sides, name = sides_words(seen.sides), seen.cluster_name or seen.cluster_uuid
    words = (
        tr("{name}: two Primary Components of one state UUID exist at the same time: {sides}.",
           name=name, sides=sides)
        if now
        else tr("{name}: two Primary Components of one state UUID existed at the same time, until {at}: {sides}.",
                name=name, at=moment(seen.last_seen), sides=sides)
    )  # fmt: skip
    return " ".join(
        (
            words,
            tr("Each may have accepted writes that the other does not have, and no later report of a node shows this."),
            tr("It is settled after the writes of the losing side are saved and its nodes are rebuilt by SST."),
        )
    )
