"""How far a stopped server's binary log goes: what stands there and not in InnoDB is lost to the cluster. Pure.

In Galera the Xid of a transaction is its write set's seqno (read so on the lab: MariaDB 10.11; PXC the same). With
innodb_flush_log_at_trx_commit other than 1 a power failure can leave InnoDB behind the binary log.
"""

from __future__ import annotations

import posixpath

from services.connections.command import Command
from services.connections.programs.binlog_programs import BINLOG_EVENTS, INDEXED
from services.procedures.plan.actions import Detached
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.pasts.positions import tail_name

LAST_XID = (
    INDEXED
    + r"""export LC_ALL=C; set -o pipefail; cd -- "$1" || exit 3
tell() { printf 'last Xid: %s\n' "$1"; exit 0; }
reader=$(command -v mariadb-binlog || command -v mysqlbinlog) || tell 'not known: no program that reads it is there'
{ [ -f "$2.index" ] && [ -r "$2.index" ]; } || tell 'not known: its index is not there, or no file that can be read'
indexed "$2.index" || tell 'not known: its index is longer than any server writes it'
files=() n=${#all[@]}
for ((i = n - 1; i >= 0 && i >= n - 2; i--)); do files+=("${all[i]}"); done
for file in "${files[@]}"; do
  { [ -f "$file" ] && [ -r "$file" ]; } || tell "not known: ${file:0:100} is not there, or no file that can be read"
  found=$("$reader" --no-defaults --local-load=/proc/none --base64-output=DECODE-ROWS -- "$file" 2>/dev/null |
    awk -v size="$(stat -L -c %s -- "$file")" '"""
    + BINLOG_EVENTS.strip()
    + r"""
    header && kind ~ /^Xid = [0-9]+$/ { last = substr(kind, 7) }
    END { if (odd || (last == "" && reached < size + 0)) exit 6; print last }') ||
    [ -n "$found" ] || tell "not known: ${file:0:100} can not be read to its end"
  [ -z "$found" ] || tell "$found"
done
tell none
"""
)
"""Reads the last two files of the index, the newest first; one that a crash cut off is read to where it ends.

'none': both were read to their ends. A file that is missing, a FIFO or unreadable is 'not known', and never opened.
"""
TOLD = r"(?m)^last Xid: (\d+|none|not known: .+)"
LIMIT_S = 1_800.0
_SWITCHES = frozenset({"", "on", "off", "1", "0"})


def binlog_tail(host: HostFacts) -> list[Step]:
    """Return the step that looks; none where the option files don't say how the files are called."""
    name, base = host.host, host[Options].option("mysqld", "log_bin") or ""
    if base.lower() in _SWITCHES:
        return []
    words = (
        "bash",
        "-c",
        LAST_XID,
        "pilothouse",
        host[DataFolder].path or "/var/lib/mysql",
        posixpath.splitext(base)[0],
    )
    action = Detached(Command(words, sudo=True), name=f"binlog-{name}", keep=tail_name(name), pattern=TOLD)
    return [
        Step(
            step_id=f"binlog-{name}",
            host=name,
            title=f"Read the end of the binary log of {name}",
            done=f"The end of {name}'s binary log is known",
            why="It is read before crash recovery starts a new file. Transactions that only it has can be read from "
            "there.",
            action=action,
            risk=Risk.READS,
            limit_s=LIMIT_S,
            repeatable=True,
            estimate_s=5.0,
        )
    ]
