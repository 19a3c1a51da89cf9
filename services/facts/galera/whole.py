"""What a Galera node lacks to be a whole member, by what it says of itself: one judgement, given as codes.

The drawing, the checks before a run and the proofs inside one each have their own words for a code, and each weighs
what concerns it: a node that refuses queries, or holds its cache, is no worse a member. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from services.facts.galera.status import uuid
from services.facts.model import GaleraFacts
from services.facts.reading import count, flag, words

JOINER, DONOR, JOINED, SYNCED, ERROR = 1, 2, 3, 4, 5
"""wsrep_local_state (galera/wsrep_api.h, wsrep_member_status_t)."""
_PRIMARY = "Primary"
_NOBODY_REFUSED = frozenset({"", "NONE"})
_NOT_MAINTAINED = frozenset({"", "DISABLED"})
"""Of pxc_maint_mode (Percona XtraDB Cluster manual: DISABLED, SHUTDOWN, MAINTENANCE)."""


class Lack(Enum):
    """What a node lacks. What it does not tell is a lack of its own: not known is never whole."""

    OFF = "off"  # wsrep_on is OFF: what it says of its group is not about now
    INCONSISTENT = "inconsistent"  # it left the group over its data
    NOT_PRIMARY = "not-primary"
    NOT_CONNECTED = "not-connected"
    NOT_SYNCED = "not-synced"
    NOT_READY = "not-ready"
    READY_UNTOLD = "ready-untold"
    DESYNCED = "desynced"
    DESYNC_UNTOLD = "desync-untold"
    REFUSES = "refuses-queries"
    MAINTAINED = "maintenance"  # PXC: a proxy sends no clients there
    FROZEN = "cache-frozen"
    SUSPECT = "provider-suspect"
    SLOWS = "slows-the-group"


MEMBERSHIP = frozenset({
    Lack.OFF, Lack.INCONSISTENT, Lack.NOT_PRIMARY, Lack.NOT_CONNECTED, Lack.NOT_SYNCED, Lack.NOT_READY,
    Lack.READY_UNTOLD, Lack.DESYNCED, Lack.DESYNC_UNTOLD,
})  # fmt: skip
"""What keeps a node from being a whole member: no run begins, and no proof holds, while one has any of these."""


def lacks(galera: GaleraFacts, *, desynced: bool = False) -> frozenset[Lack]:
    """Return what a node lacks.

    Args:
        desynced: it is Donor/Desynced on purpose: that is no lack then.
    """
    told = {
        Lack.OFF: galera.off,
        Lack.INCONSISTENT: inconsistent(galera),
        Lack.NOT_PRIMARY: galera.cluster_status != _PRIMARY,
        Lack.NOT_CONNECTED: galera.connected is False,
        Lack.NOT_SYNCED: galera.local_state != SYNCED and not (desynced and galera.local_state == DONOR),
        Lack.NOT_READY: galera.ready is False,
        Lack.READY_UNTOLD: galera.ready is None,
        Lack.DESYNCED: bool(galera.desync_count) and not desynced,
        Lack.DESYNC_UNTOLD: galera.desync_count is None,
        Lack.REFUSES: galera.reject_queries.upper() not in _NOBODY_REFUSED,
        Lack.MAINTAINED: galera.maint_mode.upper() not in _NOT_MAINTAINED,
        Lack.FROZEN: galera.gcache_frozen_at is not None,
        Lack.SUSPECT: galera.provider_suspect,
        Lack.SLOWS: slows(galera),
    }
    return frozenset(lack for lack, holds in told.items() if holds)


def inconsistent(galera: GaleraFacts) -> bool:
    """Return whether a node found its data inconsistent with the group's, by its state or its word."""
    return galera.local_state == ERROR or galera.local_state_comment.lower() == "inconsistent"


def slows(galera: GaleraFacts) -> bool:
    """Return whether so many write sets wait on a node that flow control holds the group for it."""
    limit = galera.flow_control_high
    return galera.recv_queue is not None and bool(limit) and galera.recv_queue >= (limit or 0)


def by_status(status: Mapping[str, str]) -> GaleraFacts:
    """Return what SHOW GLOBAL STATUS alone tells of a node's membership; the rest stays unread."""
    return GaleraFacts(
        cluster_status=words(status.get("wsrep_cluster_status", "")),
        local_state=count(status.get("wsrep_local_state", "")),
        local_state_comment=words(status.get("wsrep_local_state_comment", "")),
        ready=flag(status.get("wsrep_ready", "")),
        connected=flag(status.get("wsrep_connected", "")),
        desync_count=count(status.get("wsrep_desync_count", "")),
        state_uuid=uuid(status.get("wsrep_cluster_state_uuid", "")),
        cluster_size=count(status.get("wsrep_cluster_size", "")),
    )
