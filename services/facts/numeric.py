"""From what a server answers to numbers: status, variables and replication as metric key -> float. Pure.

Which status variables are numbers is decided by their text alone, so the same server always gives the same keys: ON and
OFF, words, lists and empty values are left out, and so are "nan" and "inf", which Python would take for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from services.facts.model import GroupFacts, ReplicationFacts
from services.facts.replication.replication import received_gap

NUMERIC_VARIABLES = (
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_redo_log_capacity",
    "innodb_buffer_pool_size",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_max_dirty_pages_pct",
    "innodb_doublewrite",
    "innodb_page_size",
    "max_connections",
    "wsrep_slave_threads",
    "wsrep_applier_threads",
    "slave_parallel_threads",
    "replica_parallel_workers",
    "slave_parallel_workers",
    "long_query_time",
)
"""Settings that a chart needs beside its curve; kept as "var.NAME" so that they never hide a status variable."""
_WORDS = {"ON": 1.0, "OFF": 0.0}
_RUNNING = {"yes": 1.0, "no": 0.0, "connecting": 0.0, "preparing": 0.0}
"""Of a channel's threads; another word is not known."""
_BELOW_0 = 2.0**63
"""From here on a status variable is a number below 0 that is printed without its sign, and none that was counted:
wsrep_local_index of a node without a Primary Component is 2^64 - 1, and so is a gauge that was taken down too often."""
_keys: dict[str, str] = {}
_MOST_KEYS = 20_000


def numeric_status(status: Mapping[str, str]) -> dict[str, float]:
    """Return lower-cased names with the values that are numbers; everything else is left out."""
    found: dict[str, float] = {}
    for name, text in status.items():
        if text[:1] == "[" or "/" in text:
            found.update(_several(name.lower(), text))
        if text[:1] not in "0123456789-.+" or not text:
            continue
        value = _number(text)
        if value is not None and -_BELOW_0 < value < _BELOW_0:
            found[_key(name)] = value
    return found


def numeric_variables(variables: Mapping[str, str]) -> dict[str, float]:
    """Return the settings of NUMERIC_VARIABLES as "var.NAME"; ON and OFF count 1 and 0 here."""
    found: dict[str, float] = {}
    for name in NUMERIC_VARIABLES:
        text = variables.get(name, "")
        value = _WORDS.get(text.upper())
        if value is None:
            value = _number(text)
        if value is not None:
            found[f"var.{name}"] = value
    return found


def replication_values(facts: ReplicationFacts | None) -> dict[str, float]:
    """Return "repl.<channel>.<name>" of each channel, the default channel being "default".

    `seconds_behind` is left out when the server says NULL: not known is not 0 (metrics: replication lag).
    `io_running`, `sql_running`: 1 for Yes, 0 for No, Connecting and Preparing; another word is left out.
    """
    if facts is None:
        return {}
    values: dict[str, float] = {}
    for channel in facts.channels:
        base = f"repl.{channel_key(channel.name)}"
        for name, value in (
            ("io_running", _RUNNING.get(channel.io_running.lower())),
            ("sql_running", _RUNNING.get(channel.sql_running.lower())),
            ("seconds_behind", channel.seconds_behind),
            ("relay_log_space", channel.relay_log_space),
            ("read_log_pos", channel.read_log_pos),
            ("exec_log_pos", channel.exec_log_pos),
            ("remaining_delay", channel.remaining_delay_s),
        ):
            if value is not None:
                values[f"{base}.{name}"] = float(value)
        if (gap := received_gap(channel)) is not None:
            values[f"{base}.gtid_gap"] = float(gap)
    if facts.heartbeat_lag_s is not None:
        values["repl.heartbeat_lag"] = max(0.0, facts.heartbeat_lag_s)
    return values


def group_values(facts: GroupFacts) -> dict[str, float]:
    """Return "gr.<name>" of what a member of a group says of its own queues; what was not read is left out."""
    read = {
        "gr.applier_queue": facts.applier_queue,
        "gr.certify_queue": facts.certify_queue,
        "gr.conflicts": facts.conflicts,
    }
    return {name: float(value) for name, value in read.items() if value is not None}


def channel_key(name: str) -> str:
    """Return a channel's name as one word of a metric key; the default channel ('') is "default"."""
    return "".join(c if c.isalnum() else "_" for c in name) or "default"


def _several(name: str, text: str) -> dict[str, float]:
    """Return the parts of the two status variables that hold several numbers in one text (Galera documentation).

    wsrep_evs_repl_latency "min/avg/max/deviation/count" in seconds; wsrep_flow_control_interval "[ low, high ]".
    """
    if name == "wsrep_evs_repl_latency":
        parts, words = ["min", "avg", "max", "deviation", "count"], text.split("/")
    elif name == "wsrep_flow_control_interval":
        parts, words = ["low", "high"], text.strip("[ ]").split(",")
    else:
        return {}
    numbers = [_number(word) for word in words]
    return {f"{name}.{part}": n for part, n in zip(parts, numbers, strict=False) if n is not None}


def _number(text: str) -> float | None:
    if not text.isascii() or "_" in text:  # float() reads digits of any script, and '1_0' as 10
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _key(name: str) -> str:
    """Return the lower-cased name, the same object each time: comparing key sets is then a comparison of pointers."""
    key = _keys.get(name)
    if key is None:
        key = name.lower()
        if len(_keys) < _MOST_KEYS:
            _keys[name] = key
    return key
