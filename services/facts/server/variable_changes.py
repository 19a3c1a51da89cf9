"""Which settings changed under us between two readings of all global variables. Pure.

Left out is what a server changes by itself: positions, counters in disguise, and what belongs to a session (MariaDB KB
and MySQL manual, "Server System Variables": GTID positions, timestamp, identity).
"""

from __future__ import annotations

from collections.abc import Mapping

from services.facts.galera.provider_options import provider_options
from services.facts.reading import may_be_cut
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
        before, after = provider_options(old), provider_options(new)
        moved = sorted(key for key in before.keys() & after.keys() if before[key] != after[key])
        return tuple(
            f"{_short(key)}: {_short(before[key])} -> {_short(after[key])}" for key in moved if "password" not in key
        )
    if _only_cut(old, new):
        return ()
    before_it, after_it = _differing(old, new)
    return (f"{_short(name)}: {before_it} -> {after_it}",)


def _only_cut(old: str, new: str) -> bool:
    """Return whether one text is the other as a server cuts it: then nothing shows that they differ."""
    short, long = sorted((old, new), key=len)
    return may_be_cut(short) and long.startswith(short)


def _differing(old: str, new: str) -> tuple[str, str]:
    """Return both texts, of long ones the part that differs with the words around it: most of a list stays."""
    if max(len(old), len(new)) <= _LONGEST:
        return _short(old), _short(new)
    differs = (index for index, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    same = next(differs, min(len(old), len(new)))
    begin = max(old.rfind(",", 0, same), old.rfind(";", 0, same), old.rfind(" ", 0, same)) + 1
    start = begin if same - begin < _LONGEST // 2 else max(0, same - _LONGEST // 2)
    lead = "…" if start else ""
    return f"{lead}{_short(old[start:])}", f"{lead}{_short(new[start:])}"


def _short(value: str) -> str:
    shown = value or "''"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
