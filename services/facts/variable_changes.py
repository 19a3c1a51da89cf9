"""Which settings changed under us between two readings of all global variables. Pure.

Left out is what a server changes by itself: positions, counters in disguise, and what belongs to a session (MariaDB KB
and MySQL manual, "Server System Variables": GTID positions, timestamp, identity).
"""

from __future__ import annotations

from collections.abc import Mapping

from services.i18n import tr

MOST = 12
"""More changes than this at once are another server's configuration, told as a number."""
_MOVING = frozenset(
    {
        "timestamp", "identity", "last_insert_id", "insert_id", "rand_seed1", "rand_seed2",
        "error_count", "warning_count", "in_transaction", "pseudo_thread_id", "last_gtid", "skip_replication",
        "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_slave_pos", "gtid_executed", "gtid_purged",
        "gtid_owned", "wsrep_start_position", "innodb_buffer_pool_load_at_startup", "tx_read_only",
        "server_uid", "pid_file",
    }
)  # fmt: skip
_GALERAS = frozenset({"auto_increment_increment", "auto_increment_offset"})
"""Set by Galera itself at each view while wsrep_auto_increment_control is ON (Galera manual, "wsrep options")."""
_SECRET = ("auth", "password", "secret")
_LONGEST = 60


def changed_variables(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Return one phrase a change ("sync_binlog: 0 -> 1"), in the order of names; () for a first reading."""
    if not old or not new:
        return ()
    moving = _MOVING | (_GALERAS if new.get("wsrep_auto_increment_control", "").upper() == "ON" else frozenset())
    names = sorted(name for name in old.keys() & new.keys() if old[name] != new[name] and name.lower() not in moving)
    if len(names) > MOST:
        return (tr("{n} settings changed at once", n=len(names)),)
    phrases = [phrase for name in names for phrase in _phrases(name, old[name], new[name])]
    if len(phrases) > MOST:
        return (tr("{n} settings changed at once", n=len(phrases)),)
    return tuple(phrases)


def _phrases(name: str, old: str, new: str) -> tuple[str, ...]:
    if any(word in name.lower() for word in _SECRET):
        return (tr("{name} changed (its value is not shown)", name=_short(name)),)
    if name.lower().endswith("provider_options"):
        before, after = _options(old), _options(new)
        moved = sorted(key for key in before.keys() & after.keys() if before[key] != after[key])
        return tuple(
            f"{_short(key)}: {_short(before[key])} -> {_short(after[key])}" for key in moved if "password" not in key
        )
    return (f"{_short(name)}: {_short(old)} -> {_short(new)}",)


def _options(text: str) -> dict[str, str]:
    """Return Galera's provider options, "name = value; ..." as name -> value."""
    pairs = (part.partition("=") for part in text.split(";"))
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def _short(value: str) -> str:
    shown = value or "''"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
