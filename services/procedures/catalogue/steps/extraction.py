"""What only one side of a fork has: written to a file from its binary log, and counted, before it is given up."""

from __future__ import annotations

import posixpath

from services.connections.command import Command
from services.connections.programs.binlog_programs import BINLOG_EVENTS, EVENT_KIND, INDEXED, ONE_LINE_TABLE
from services.procedures.catalogue.steps import server as steps
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.galera.traces import Traces

FOLDER = "/var/lib/pilothouse/forks"
EXTRACT_LIMIT_S = 3_600.0

EXTRACT = (
    INDEXED
    + r"""umask 077; export LC_ALL=C
index=$1 shared=$2 out=$3
cd -- "${index%/*}" || exit 3
reader=$(command -v mariadb-binlog || command -v mysqlbinlog) || exit 4
load=$out.loaded
install -d -m 0700 -- "${out%/*}" "$load" || exit 5
{ [ -f "$index" ] && [ -r "$index" ]; } || exit 3
indexed "$index" || exit 3
files=() lacking=
for f in "${all[@]}"; do
  if [ -f "$f" ] && [ -r "$f" ]; then case $f in *.[0-9]*) files+=("$f"); continue;; esac; fi
  if [ -n "$f" ]; then lacking="$lacking${lacking:+, }${f:0:100}"; fi
done
[ "${#files[@]}" -gt 0 ] || exit 3
events='
"""
    + BINLOG_EVENTS.strip()
    + r"""
'
logged() { "$reader" --no-defaults --local-load="$load" "$@"; }
brings() {
  logged --base64-output=DECODE-ROWS -- "$2" 2>/dev/null | awk -v one="$1" -v upto="$3" "$events"'
    header && kind ~ /^Xid = [0-9]+$/ && $7 + 0 <= upto + 0 && substr(kind, 7) ":" $5 ":" $1 "_" $2 == one { there = 1 }
    END { exit !there }'
}
start=0 at=4 first=
for ((i = ${#files[@]} - 1; i >= 0 && shared > 0; i--)); do
  read -r low high end key < <(logged --base64-output=DECODE-ROWS -- "${files[i]}" 2>/dev/null |
    awk -v shared="$shared" "$events"'
    header && kind ~ /^Xid = [0-9]+$/ {
      xid = substr(kind, 7)
      if (low == "") low = xid
      if (xid + 0 <= high + 0) back = 1
      if (xid + 0 > shared + 0 || back) parted = 1; else if (!parted) last = $7
      high = xid; key = xid ":" $5 ":" $1 "_" $2
    }
    header && kind ~ /^XID = X\047/ { back = parted = 1 }
    END {
      if (odd || back) { high = "999999999999999999"; key = "" }
      print odd || (low == "" && back) ? 1 : low ? low : 0, high ? high : 0, odd ? 0 : last + 0, key ? key : "-"
    }')
  [ "${low:-0}" -gt 0 ] || continue
  if [ -n "$first" ] && { [ "$high" -lt "$first" ] || brings "$key" "${files[start]}" "$at"; }; then break; fi
  first=
  if [ "$end" -gt 0 ]; then start=$i at=$end first=$low; else start=0 at=4; fi
done
find "$load" -type f -delete
set -o pipefail
if ! logged -v --start-position="$at" -- "${files[@]:start}" | cat > "$out.new" ||
  ! sync -- "$out.new"; then rm -rf -- "$out.new" "$load"; exit 6; fi
mv -T -- "$out.new" "$out" && rmdir --ignore-fail-on-non-empty -- "$load" || exit 5
LACKING=$lacking awk '
"""
    + EVENT_KIND.strip()
    + r"""
  function over() { if (moved) transactions++; else if (said) statements++; moved = said = 0 }
  named && !/^#/ { unsafe = 1 }
  { kind = kind_of($0); named = kind ~ /^Table_map: / || /^### (INSERT INTO|UPDATE|DELETE FROM) / }
  named && kind !~ """
    + ONE_LINE_TABLE
    + r""" &&
    !/^### [A-Z ]+ `([^`]|``)*`[.]`([^`]|``)*`$/ { unsafe = 1 }
  kind ~ /^(Anonymous_)?GTID[ \t]/ { over(); said = kind ~ / ddl( |$)/; plain = kind !~ / trans( |$)/ }
  kind ~ /^Query(_compressed)?\t/ && plain { said = 1 }
  kind ~ /^XID = X/ { moved = 1 }
  kind ~ /^Xid = [0-9]+$/ { moved = 1; over() }
  match($0, /^### (INSERT INTO|UPDATE|DELETE FROM) .*$/) {
    name = $0; sub(/^### (INSERT INTO|UPDATE|DELETE FROM) /, "", name); gsub(/`/, "", name); rows[name]++; moved = 1
  }
  END {
    over()
    for (name in rows) { if (n++ < 20) told = told (told ? ", " : "") name " (" rows[name] " rows)" }
    if (n > 20) told = told " and " n - 20 " more"
    if (unsafe) told = (told ? told : "none") "; NOT SAFE TO RUN: a name has a line break, what follows it is a command"
    if (ENVIRON["LACKING"] != "") told = (told ? told : "none") "; NOT READ, so not counted: " ENVIRON["LACKING"]
    printf "extracted: %d transactions, %d statements, tables: %s\n", transactions, statements, told ? told : "none"
  }' "$out"
"""
)
"""Writes what a binary log holds after the last shared seqno to a file that root alone reads, and counts it.

The newest file that holds a transaction of the shared part is read from that transaction's end on, with all files after
it (MySQL manual, "mysqlbinlog": --start-position counts in the first file named); where none does, all of it. Where
Xids step back, in it or in the file before it or between both, or XA prepared a transaction, what follows was written
with wsrep off, or stems from an older state: it begins before that. Where a log began with an SST under writes it steps
back too (own_transactions.py): there the last transaction of the file before comes once more in the shared part of the
next, as an IST brings it, and what an IST brought is shared (547 were counted for 3 on the lab before). A file whose
events stand in no order is written out whole. A transaction is a group of events with an Xid, with rows or with what XA
prepared. The reader heeds no full disk (seen on the lab: a file of 8 KiB, 5 transactions counted of 43): cat and sync
do. What a client wrote may look like an event (binlog_programs.py): then more is written and counted, never less. Files
that the index names and that are missing, or no files, are named beside the count: they may have held more of it. So is
a name with a line break: behind it a client that is given the file reads a statement of its own, or a shell's command
(`\\!`; MariaDB 10.11.18, tried). Nothing is taken out of the file. Data of a LOAD DATA event lie in a folder beside it,
not in /tmp.
"""


def extracted_name(host: str) -> str:
    """Return the name under which a run keeps what was extracted."""
    return f"extracted-{host}"


def log_index(host: HostFacts) -> str:
    """Return the path of a host's binary log index, '' where none was found: then nothing can be written out."""
    trace = host[Traces].trace
    return trace.index if trace is not None else ""


def file_of(cluster_id: str, host: str, shared: int | None) -> str:
    """Return the file that takes what a host holds after the last shared seqno; all of its log where none is known."""
    part = "all" if shared is None else f"after-{shared}"
    return posixpath.join(FOLDER, f"{host}-{cluster_id[:8]}-{part}.sql")


def write_out(host: HostFacts, cluster_id: str, shared: int | None, why: str) -> Step:
    """Write a stopped host's side out; from where on both parted is not known where `shared` is None."""
    name, out = host.host, file_of(cluster_id, host.host, shared)
    what = (
        f"the transactions that only {name} has, after seqno {shared},"
        if shared is not None
        else f"the whole binary log of {name}"
    )
    mixed = "" if shared is not None else " It also contains shared transactions: do not replay all of it."
    return Step(
        step_id=f"extract-{name}",
        host=name,
        title=f"Save {what} to {out} on {name}",
        done=f"{what[0].upper()}{what[1:].rstrip(',')}: saved to {out} on {name}",
        why=why + mixed,
        action=Detached(
            Command(("bash", "-c", EXTRACT, "pilothouse", log_index(host), str(shared or 0), out), sudo=True),
            name=f"extract-{name}",
            keep=extracted_name(name),
            pattern=r"^extracted: (.*)",
        ),
        before=(Stopped(name, steps.unit_of(host)),),
        limit_s=EXTRACT_LIMIT_S,
        repeatable=True,
        estimate_s=10.0,
    )
