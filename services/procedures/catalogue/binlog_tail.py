"""How far a stopped server's binary log goes: what stands there and not in InnoDB is lost to the cluster. Pure.

In Galera the Xid of a transaction is its write set's seqno (read so on the lab: MariaDB 10.11; PXC the same). With
innodb_flush_log_at_trx_commit other than 1 a power failure can leave InnoDB behind the binary log.
"""

from __future__ import annotations

import posixpath

from services.connections.command import Command
from services.procedures.actions import Detached
from services.procedures.facts_model import HostFacts
from services.procedures.model import Risk, Step
from services.procedures.positions import tail_name

LAST_XID = (
    'cd "$1" || exit 3; last=none; reader=$(command -v mariadb-binlog || command -v mysqlbinlog); '
    'for file in $(tail -n 2 "$2.index" | tac); do '
    'found=$("$reader" --no-defaults "$file" 2>/dev/null | grep -o "Xid = [0-9]*" | tail -n 1); '
    'if [ -n "$found" ]; then last=${found##* }; break; fi; done; echo "last Xid: $last"'
)
"""Reads the last two files of the index, the newest first; one that a crash cut off is read to where it ends."""
LIMIT_S = 1_800.0
_SWITCHES = frozenset({"", "on", "off", "1", "0"})


def binlog_tail(host: HostFacts) -> list[Step]:
    """Return the step that looks; none where the option files don't say how the files are called."""
    name, base = host.host, host.option("mysqld", "log_bin") or ""
    if base.lower() in _SWITCHES:
        return []
    words = ("bash", "-c", LAST_XID, "pilothouse", host.datadir or "/var/lib/mysql", posixpath.splitext(base)[0])
    action = Detached(
        Command(words, sudo=True), name=f"binlog-{name}", keep=tail_name(name), pattern=r"last Xid: (\d+|none)"
    )
    return [
        Step(
            step_id=f"binlog-{name}",
            host=name,
            title=f"Look how far the binary log of {name} goes",
            done=f"The end of {name}'s binary log is known",
            why="It is looked at before the recovery begins a new file. What only it has can be read from there.",
            action=action,
            risk=Risk.READS,
            limit_s=LIMIT_S,
            repeatable=True,
            estimate_s=5.0,
        )
    ]
