"""Programs that read binary logs through mysqlbinlog's text, where any line may be one that a client wrote.

A statement's text, a table's name or a variable's can hold line breaks and so lines that look like an event's own
(tried with MariaDB 10.11: a comment in CREATE TABLE, a name in backticks). What counts as an event is decided here.
"""

from __future__ import annotations

EVENT_KIND = r"""
function kind_of(line,  fixed) {
  fixed = match(line, /^#[0-9]+ [ 0-9][0-9]:[^\t]* server id [0-9]+  end_log_pos [0-9]+ (CRC32 0x[0-9a-f]+ )?\t/)
  return fixed ? substr(line, RLENGTH + 1) : ""
}
"""
"""A function of awk: what follows the first tab of an event's line, where the server's own words begin, else "".

'Xid = 7', 'GTID 0-41-3 trans', 'Query' and a tab. A table's name stands after 'Table_map: ' and may read like one of
these further on (MariaDB 10.11.18, tried: a name with a tab and 'Xid = 10').
"""

ONE_LINE_TABLE = r"/^Table_map: `([^`]|``)*`[.]`([^`]|``)*` mapped to number [0-9]+( [(]has triggers[)])?$/"
"""awk's pattern of a Table_map whose names end where its line does: behind a break in one stands a statement."""

BINLOG_EVENTS = (
    EVENT_KIND.strip()
    + r"""
{ header = 0; placed = at_place; at_place = 0 }
/^# at [0-9]+$/ && (!text || !end || $3 + 0 == end) { text = 0; at_place = 1; if ($3 + 0 < reached) odd = 1; next }
text { next }
/^#[0-9][0-9][0-9][0-9][0-9][0-9] +[0-9]+:[0-9][0-9]:[0-9][0-9] server id [0-9]+ +end_log_pos [0-9]+ / {
  sum = $8 == "CRC32" ? "with" : "without"; if (sums == "") sums = sum
  kind = kind_of($0)
  said_by_client = kind ~ /^(Query(_compressed)?\tthread_id=|Execute_load_query|User[ _]var)/
  alone = said_by_client || kind ~ /^(Xid = |XID = |(Anonymous_)?GTID[ \t])/
  if (sum != sums || ($7 + 0 && $7 + 0 <= reached) || (alone && !placed)) { odd = 1; next }
  header = 1; end = $7 + 0; text = said_by_client
  if (end) reached = end
}
"""
)
"""The beginning of an awk program: `header` is 1 on the first line of an event, and on no other; `kind` tells of which.

A statement is a Query, or a Query_compressed (log_bin_compress; MariaDB 10.11.18, tried).
What follows the first line of a statement is passed over up to the place where that event ends. `odd` is 1 where the
events of a file, or the places that are printed before them, do not stand in their order (0 is no place), where one
that begins or ends a transaction has no place right before it, or where only some of them have a checksum.
"""

INDEXED = r"""
indexed() { [ "$(stat -L -c %s -- "$1")" -le 4194304 ] && mapfile -t all < <(head -c 4194304 -- "$1"); }
"""
"""`indexed INDEX` reads the names of a binary log's files into `all`; one of more than 4 MiB is none that a server
writes (16,000 names of the longest kind), and a shell would take as much memory as whoever wrote it likes."""

BINLOG_FILES = (
    INDEXED
    + r"""
cd -- "${index%/*}" || { printf 'the folder of its index can not be opened\n'; exit 6; }
[ -e "$index" ] || exit 3
{ [ -f "$index" ] && [ -r "$index" ]; } || { printf 'its index is no file that can be read\n'; exit 6; }
reader=$(command -v mariadb-binlog || command -v mysqlbinlog) || exit 4
indexed "$index" || { printf 'its index is longer than any server writes it\n'; exit 6; }
files=()
for f in "${all[@]}"; do if [ -n "$f" ]; then files+=("$f"); fi; done
usable() {
  why="its index names ${1:0:100}, which is not there"; [ -e "$1" ] || return 1
  why="${1:0:100}, which its index names, is no binary log that can be read"; [ -f "$1" ] && [ -r "$1" ] || return 1
  case $1 in *.[0-9]*) return 0;; *) return 1;; esac
}
"""
)
"""Which files a binary log has, from `$index`: `usable` says why one is not, and never opens a FIFO or a device.

Exit 3: there is no index; 4: no program reads binary logs; 6: why it can't be read is printed.
"""

BINLOG_MARKS = (
    r"""LC_ALL=C TZ=UTC0; export LC_ALL TZ
set -o pipefail
index=$1
"""
    + BINLOG_FILES.strip()
    + r"""
limit=30
show() {
  timeout "$limit" "$reader" --no-defaults --local-load=/proc/none --base64-output=DECODE-ROWS -- "$1" 2>/dev/null
}
unread() { printf '%s\n' "$why"; exit 6; }
events='
"""
    + BINLOG_EVENTS.strip()
    + r"""
'
marks='
BEGIN { xid = "-" }
function out(  done) {
  done = gtid != "" && (xid != "-" || ddl || (said && !rows)) ? "mark " at " " gtid " " xid : ""; number = xid
  gtid = ""; xid = "-"; ddl = named = plain = said = rows = 0
  if (done != "") tell(done)
}
'"$events"'
header {
  named = 0
  if (kind ~ /^GTID [0-9]+-[0-9]+-[0-9]+( |$)/) {
    out(); at = substr($1, 2) " " $2 " " $5; split(kind, part, " "); gtid = part[2]
    ddl = kind ~ / ddl( |$)/; plain = kind !~ / trans( |$)/
  } else if (kind ~ /^(Anonymous_)?GTID\t/) { out(); at = substr($1, 2) " " $2 " " $5; named = 1 }
  else if (kind ~ /^Xid = [0-9]+$/) { xid = substr(kind, 7); out() }
  else if (kind ~ /^XID = X\047/) { xid = 0; out() }
  else if (kind ~ /^Table_map: /) rows = 1
  else if (kind ~ /^Query(_compressed)?\t/ && plain) said = 1
  else if (kind ~ /^Query\t.*\tXid = [0-9]+$/) ddl = 1
}
named && /^SET @@SESSION.GTID_NEXT= / { split($0, part, "\047"); gtid = part[2]; named = 0 }
END {
  if (odd) exit 5
  out(); if (broken || (!n && (cut || reached < size + 0))) exit 6
  newest = most ? most : 64
  if (most && n > most) {
    print first
    for (i = turn - 4; i <= turn; i++) if (turn && i > 0 && i < n - most) print turned[i]
  }
  for (i = (n > newest ? n - newest : 0); i < n; i++) print kept[i % 64]
}'
newest='function tell(s,  i) {
  if (!n) first = s
  if (number != "-") {
    if (n && number + 0 <= last + 0 && (number + last)) {
      turn = n
      for (i = n - 4; i < n; i++) if (i >= 0) turned[i] = kept[i % 64]
      turned[n] = s
    }
    last = number
  }
  kept[n++ % 64] = s
}'
of_file() { show "$1" | awk -v most=50 -v size="$(stat -L -c %s -- "$1")" "$newest $marks"; }
older() {
  local at got= more; limit=8
  for ((at = $1 - 1; at >= 0 && SECONDS < 12; at--)); do
    usable "${files[at]}" || break
    more=$(of_file "${files[at]}") || break
    [ -z "$more" ] || got=$more${got:+$'\n'$got}
    [ "$(wc -l <<< "$got")" -lt 8 ] || break
  done
  [ -z "$got" ] || tail -n 8 <<< "$got"
}
if [ "$2" = newest ]; then
  for ((i = ${#files[@]} - 1; i >= 0; i--)); do
    f=${files[i]}; usable "$f" || unread
    found=$(of_file "$f")
    code=$?; [ "$code" -ne 5 ] || exit 5
    if [ -n "$found" ]; then
      before=$(older "$i")
      [ -z "$before" ] || printf '%s\n' "$before"
      printf '%s\n' "$found"; exit 0
    fi
    why="${f:0:100} can not be read to its end"; [ "$code" -eq 0 ] || unread
  done
  exit 0
fi
start=0 cut=
for ((i = ${#files[@]} - 1; i >= 0; i--)); do
  if ! usable "${files[i]}"; then cut=$why start=$((i + 1)); break; fi
  first=$(show "${files[i]}" | awk "$events"'
    header && kind ~ /^Xid = [0-9]+$/ { print substr(kind, 7); exit }')
  if [ -n "$first" ] && [ "$first" -le "$2" ]; then start=$i; break; fi
done
bound=file-$RANDOM$RANDOM$RANDOM$RANDOM
for f in "${files[@]:start}"; do printf '%s\n' "$bound"; show "$f" || printf '\n%s-broken\n' "$bound"; done |
  awk -v from="$2" -v bound="$bound" -v cut="${cut:+1}" '
    function tell(s) {
      if (number != "-" && number + 0 > 0 && number + 0 < from + 0) {
        if (!on) low = number
        else if (!sure && low != "" && number + 0 > low + 0) { on = n = 0; low = number }
        else sure = 1
      }
      if (on || (number != "-" && number + 0 >= from + 0)) { on = 1; if (n < 64) kept[n++] = s }
    }
    $0 == bound { text = reached = at_place = 0; sums = ""; next }
    $0 == bound "-broken" { broken = 1; exit }
    n >= 64 && header { exit }
    '"$marks"
case ${PIPESTATUS[1]} in 5) exit 5;; 6) why=${cut:-one of its files can not be read to its end}; unread;; esac
exit 0
"""
)
"""Marks of a binary log, one a line: 'mark DATE TIME SERVER GTID XID' (services/facts/binlog/marks.py), times in UTC.

Run as `timeout 30 nice bash -c BINLOG_MARKS pilothouse INDEX newest|XID`: 64 at most, in their order. 'newest': the
newest 50 of the newest file that has any, its first one, those about its last step back of Xids, and before them the
last 8 of the files before it, where they can be read in time. XID: those from the first one on whose Xid is XID or
more; one that stands between lower ones that rise is a local number (wsrep off), and is passed over: what follows it is
not at XID yet. No mark is no transaction of InnoDB: each file was read to its end. Otherwise exit 3, 4 or 6 as above, 5
for a log whose events stand in no order. What lies before a file that can't be read counts like what was purged where
marks follow. A file that a crash left in use is read to where it ends (MariaDB, client/mysqlbinlog.cc:
LOG_EVENT_BINLOG_IN_USE_F).

What is a mark: a transaction with its Xid; one that XA prepared, as Xid 0 (Galera has none: it was written with wsrep
off); a statement, '-', which takes a seqno: DDL, and FLUSH PRIVILEGES, which MariaDB 10.11.18 does not call so. Rows of
Aria or MyISAM alone are none: each node writes its own, without a seqno (MariaDB KB, "MariaDB Galera Cluster - Known
Limitations").

DECODE-ROWS without -v prints no row (MySQL manual, "mysqlbinlog Row Event Display"); --no-defaults keeps option files
and their secrets out. It writes nothing: of a LOAD DATA event, which row format has none of and whoever has the
server's account lays there, root's mysqlbinlog made a file in /tmp as long as that account liked (10.11.18, tried).
--local-load names a folder that is none: it ends there, and the log counts as not read. An Xid stays text: mawk(1)
would print one of 2^31 or more as 2.14748e+09.
"""
