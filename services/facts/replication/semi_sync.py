"""Semi-synchronous replication as a server knows it, out of its status and variables.

Sources: MySQL 8.4 manual, "Semisynchronous Replication Interface" (Rpl_semi_sync_source_status is OFF where it is not
enabled, and where the source fell back to asynchronous replication after a timeout), 8.0.26 release notes (source and
replica for master and slave); MariaDB KB, "Semisynchronous Replication" (built in, the old words, one acknowledgement).
"""

from __future__ import annotations

from collections.abc import Mapping

from services.facts.model import SemiSyncFacts
from services.facts.reading import absent, count, first, flag, words

_SOURCE = ("source", "master")
_REPLICA = ("replica", "slave")


def parse_semi_sync(status: Mapping[str, str], variables: Mapping[str, str]) -> SemiSyncFacts | None:
    """Return what the server tells, None where it knows nothing of it (no plugin)."""

    def setting(words_of: tuple[str, str], name: str) -> str:
        return first(variables, *(f"rpl_semi_sync_{word}_{name}" for word in words_of))

    def told(words_of: tuple[str, str], name: str) -> str:
        return first(status, *(f"Rpl_semi_sync_{word}_{name}" for word in words_of))

    source, replica = flag(setting(_SOURCE, "enabled")), flag(setting(_REPLICA, "enabled"))
    if source is None and replica is None:
        return None
    wanted = setting(_SOURCE, "wait_for_replica_count") or setting(_SOURCE, "wait_for_slave_count")
    return SemiSyncFacts(
        source_enabled=source,
        source_active=flag(told(_SOURCE, "status")),
        clients=count(told(_SOURCE, "clients")),
        wanted=1 if absent(wanted) else count(wanted) or None,
        timeout_ms=count(setting(_SOURCE, "timeout")),
        wait_point=words(setting(_SOURCE, "wait_point"), 40),
        acknowledged=count(told(_SOURCE, "yes_tx")),
        not_acknowledged=count(told(_SOURCE, "no_tx")),
        waiting=count(told(_SOURCE, "wait_sessions")),
        replica_enabled=replica,
        replica_active=flag(told(_REPLICA, "status")),
    )
