"""The program that reads a chain of binary logs on a host, and tells of each file what a judgement needs.

It only reads. Any line of mysqlbinlog's text may be one that a client wrote: what counts as an event is decided by
BINLOG_EVENTS (connections/programs/binlog_programs.py). What it tells is parsed by services/facts/binlog/survey.py.
"""

from __future__ import annotations

from services.connections.programs.backup_programs import BEGINS
from services.connections.programs.binlog_programs import BINLOG_EVENTS, ONE_LINE_TABLE
from services.facts.binlog.chain import MOST_STRETCHES

_OF_A_FILE = (
    r"""
function n(x) { return sprintf("%.0f", x) }
function anew() {
  above = abovefrom = "-"; zoneddl = zonerows = zoneat = count = ddls = local = stmts = xas = back = holes = missing = 0
  users = 0; userat = stmtat = hole = recent = "-"; headddl = pending = 0; prevx = "-"
}
function weigh(  said_so) {
  gsub(/\/\*[^*]*\*+\//, " ", sql); gsub(/[ \t]+/, " ", sql)
  said_so = sql ~ /CURRENT_(USER|ROLE)/ || sql ~ /CREATE (OR REPLACE )?ROLE /
  said_so = said_so || sql ~ /(CREATE|ALTER) (OR REPLACE )?(DEFINER ?= ?[^ ]+ )?EVENT /
  sql = ""; if (said_so && !users++) userat = n(group)
}
function mixed() { stmts++; if (stmtat == "-") stmtat = n(group) }
function close_group(end,  lost, at_end, part) {
  if (!open) { if (above == "-" && name == atfile && end == at + 0) zoneat = 1; return }
  open = 0; lastgtid = gtid
  if (xid != "-") {
    if (first == "-") first = xid
    if (prevx != "-" && xid + 0 <= prevx + 0) back++
    last = xid; lastend = end; lastof = gtid; lastwhen = when
    if (xid + 0 <= stands + 0 && above == "-") {
      anew()
      below = xid; belowend = end; belowof = gtid; belowwhen = when; prevx = xid
      zoneat = (name == atfile && end == at + 0); return
    }
    if (above == "-") { above = xid; abovefrom = group; if (name == atfile && group == at + 0) zoneat = 1 }
    if (count) {
      lost = xid - prevx - 1 - pending
      if (lost > 0) missing += lost
      if (pending || xid - prevx > 1) {
        if (holes++ < """
    + str(MOST_STRETCHES)
    + r""") hole = (hole == "-" ? "" : hole ",") prevx "-" xid "-" n(pending)
      }
    } else if (prevx == "-") headddl = pending
    at_end = xid "~" when; gsub(",", "~", at_end); recent = recent "," at_end
    if (split(recent, part, ",") > 5) recent = "-," part[3] "," part[4] "," part[5] "," part[6]
    prevx = xid; pending = 0; count++
    if (said) mixed()
    return
  }
  if (above == "-" && name == atfile && (group == at + 0 || end == at + 0)) zoneat = 1
  if (xa) { xas++; return }
  if (ddl && rows) mixed()
  if (ddl || (said && !rows)) { ddls++; pending++; if (above == "-") zoneddl++; return }
  if (said && !rows) return
  local++; if (above == "-") zonerows++
}
BEGIN { by = first = last = lastend = lastof = lastwhen = below = belowend = gtid = lastgtid = version = list = "-"
  begun = belowof = belowwhen = "-"; startup = 0; ending = "open"; anew() }
text && length(sql) < 8000 { sql = sql " " toupper(substr($0, 1, 8000)) }
text && fresh && !/^(SET |use |\/\*|DELIMITER )/ { if (/^(SAVEPOINT|ROLLBACK TO) `/) said--; fresh = 0 }
"""
    + BINLOG_EVENTS.strip()
    + r"""
listing {
  line = $0; sub(/^# /, "", line); list = list line
  if (line ~ /\]$/) listing = 0; else if (!/^# [0-9]/) odd = 1
}
header {
  if (sql != "") weigh()
  from = ended; ended = reached
  if (kind ~ /^Start: binlog v 4, server v [^ \t]+ /) { split(kind, part, " "); version = part[7]; by = $5
    begun = substr($1, 2) "," $2; startup = kind ~ / at startup$/ }
  else if (kind ~ /^Gtid list \[/) { list = substr(kind, 11); listing = list !~ /\]$/ }
  else if (kind ~ /^GTID [0-9]+-[0-9]+-[0-9]+( |$)/) {
    close_group(from); open = 1; group = from; when = substr($1, 2) "," $2 "," $5; split(kind, part, " ")
    gtid = part[2]; ddl = kind ~ / ddl( |$)/; rows = said = xa = 0; xid = "-"
  }
  else if (kind ~ /^Xid = [0-9]+$/) xid = substr(kind, 7)
  else if (kind ~ /^X[AI]D? ?= ?X\047|^XA /) xa = 1
  else if (kind ~ /^Table_map: /) {
    rows = 1
    if (kind !~ """
    + ONE_LINE_TABLE
    + r""") {
      exit broken = 1
    }
  }
  else if (kind ~ /^(Query(_compressed)?\t|Execute_load_query|Intvar|Rand|User[ _]var)/) {
    said++; fresh = kind ~ /^Query/
  }
  else if (kind ~ /^Rotate to [^ \t]+  pos: 4$/) {
    close_group(from); split(kind, part, " "); ending = "rotate:" part[3]
  }
  else if (kind ~ /^Stop$/) { close_group(from); ending = "stop" }
}
END {
  if (broken) exit 9
  weigh()
  if (open && xid == "-") { open = 0; cut = 1 }
  close_group(reached)
  gsub(/[][ ]/, "", list); if (list == "") list = "none"
  printf "file %s size=%s version=%s list=%s first=%s below=%s belowend=%s above=%s abovefrom=%s", name, size,
    version, list, first, below, below == "-" ? "-" : n(belowend), above, above == "-" ? "-" : n(abovefrom)
  printf " zoneddl=%s zonerows=%s zoneat=%s", n(zoneddl), n(zonerows), n(zoneat)
  printf " count=%s last=%s lastend=%s gtid=%s when=%s endgtid=%s headddl=%s tailddl=%s ddl=%s local=%s", n(count),
    last, last == "-" ? "-" : n(lastend), lastof, lastwhen, lastgtid, n(headddl), n(pending), n(ddls), n(local)
  printf " stmts=%s stmtat=%s xa=%s back=%s holes=%s missing=%s hole=%s recent=%s by=%s", n(stmts), stmtat, n(xas),
    n(back), n(holes), n(missing), hole, recent, by
  printf " belowof=%s belowwhen=%s users=%s userat=%s", belowof, belowwhen, n(users), userat
  printf " begun=%s startup=%s", begun, n(startup)
  printf " ending=%s reached=%s odd=%s torn=%s\n", ending, n(reached), odd ? 1 : 0, cut ? 1 : 0
}
"""
)

_BACKUP = (
    r"""LC_ALL=C TZ=UTC0; export LC_ALL TZ
set -o pipefail; shopt -s nullglob
"""
    + BEGINS
    + r"""refused() { printf 'survey: refused %s\n' "$1"; exit 0; }
copy=$1 logs=$2 data=$3
mark=/var/lib/pilothouse/replay/state
[ ! -e "$mark" ] || refused "LEFT a run that was never taken back left $mark: what it replayed into may still lie there"
{ [ -d "$copy" ] && [ -r "$copy" ]; } || refused "NOBACKUP $copy is no folder that can be read on this host"
info() {
  local f
  for f in "$copy/mariadb_backup_$1" "$copy/xtrabackup_$1"; do
    [ -f "$f" ] && [ -r "$f" ] && { head -c 8192 -- "$f" | tr -d '\000'; return 0; }
  done
  return 1
}
said() { info info | sed -n "s/^$1 = //p" | head -n 1; }
galera=$(info galera_info) || refused "BACKUP $copy says no position of Galera: it was made without --galera-info"
galera=${galera%%[[:space:]]*}
uuid=${galera%%:*} stands=${galera#*:}
[[ $uuid =~ ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ && $stands =~ ^[0-9]{1,18}$ ]] ||
  refused 'BACKUP what the backup says of its position can not be read'
read -r atfile at _ <<< "$(info binlog_info)"
[[ ${atfile-} =~ ^[A-Za-z0-9_.@/-]+[.][0-9]+$ && ${at-} =~ ^[0-9]{1,12}$ ]] || { atfile=- at=0; }
atfile=${atfile##*/}
version=$(said server_version); [[ $version =~ ^[0-9A-Za-z.+~:_-]{1,80}$ ]] || version=-
kind=$(info checkpoints | sed -n 's/^backup_type = //p' | head -n 1)
for one in incremental partial; do
  case $(said $one) in N|'') ;; *) kind=$one;; esac
done
packed=$(find "$copy/" -type f \( -name '*.qp' -o -name '*.lz4' -o -name '*.zst' -o -name '*.xbcrypt' -o -name '*.enc' \
  -o -name '*.gz' \) -print -quit) && [ -z "$packed" ] || kind=packed
[[ $kind =~ ^[a-z-]{1,40}$ ]] || kind=unknown
size=$(du -sbD -- "$copy" | cut -f 1); [[ $size =~ ^[0-9]+$ ]] || size=0
elsewhere() { find "$1/" \( -type l -o -name '*.isl' \) -printf '.\n' | wc -l; }
links=$(elsewhere "$copy") || links=-
if [ -L "$data" ]; then oldlinks=1
elif [ -e "$data" ]; then oldlinks=$(elsewhere "$data") || oldlinks=-
else oldlinks=0; fi
own=$(begins "$copy" since)
gtids=$(sed -n 's/^gtids //p' <<< "$own"); [[ $gtids =~ ^[0-9][0-9,-]{4,399}$ ]] || gtids=-
since=$(sed -n 's/^since //p' <<< "$own" | tr ' ' '~'); [[ $since =~ ^[0-9]{6}~[0-9:]{7,8}$ ]] || since=-
"""
)

SURVEY = (
    _BACKUP
    + r"""cd -- "$logs" || refused "NOLOGS $logs is no folder that can be opened on this host"
reader=$(command -v mariadb-binlog) || refused 'BINLOGS there is no mariadb-binlog on the host'
files=() base=
for f in *.[0-9][0-9][0-9][0-9][0-9][0-9]*; do
  case ${f##*.} in *[!0-9]*) continue;; esac
  case $f in aria_log.*|gcache.page.*) continue;; *[!A-Za-z0-9_.@-]*|-*) refused 'BINLOGS a file has an odd name';; esac
  [ -z "$base" ] || [ "$base" = "${f%.*}" ] || refused "BINLOGS of two binary logs files lie there: $base, ${f%.*}"
  base=${f%.*}
  { [ -f "$f" ] && [ -r "$f" ]; } || refused "BINLOGS $f is no file that can be read"
  files+=("$f")
done
[ ${#files[@]} -gt 0 ] || refused 'BINLOGS no binary log lies in the folder'
[ ${#files[@]} -le 5000 ] || refused 'BINLOGS more than 5000 files lie in the folder'
program='"""
    + _OF_A_FILE.strip()
    + r"""'
told=()
for ((i = ${#files[@]} - 1; i >= 0; i--)); do
  f=${files[i]}
  printf 'reads %s, %s of at most %s\n' "$f" "$((${#files[@]} - i))" "${#files[@]}"
  line=$(nice "$reader" --no-defaults --local-load=/proc/none --base64-output=DECODE-ROWS -- "$f" 2>/dev/null |
    awk -v name="$f" -v size="$(stat -L -c %s -- "$f")" -v stands="$stands" -v atfile="$atfile" -v at="$at" "$program")
  code=$?
  [ "$code" -ne 9 ] || refused "BINLOGS a table's name in $f has a line break: what follows it would run as a statement"
  case $line in "file $f "*) ;; *) refused "BINLOGS $f can not be read";; esac
  case $line in *" version=- "*) refused "BINLOGS $f is empty, or no binary log: it does not say what wrote it";; esac
  [ "$code" -eq 0 ] && line="$line broken=0" || line="$line broken=1"
  told=("$line" "${told[@]}")
  low=${line##* first=}; low=${low%% *}
  [ "$low" != - ] && [ "$low" -le "$stands" ] && break
done
printf 'survey: backup uuid=%s stands=%s version=%s log=%s position=%s kind=%s size=%s' \
  "$uuid" "$stands" "$version" "$atfile" "$at" "$kind" "$size"
printf ' links=%s oldlinks=%s gtids=%s since=%s;' "$links" "$oldlinks" "$gtids" "$since"
printf '%s;' "${told[@]}"; echo
"""
)
"""Run as `bash -c SURVEY pilothouse BACKUP LOGS DATA` as root, three folders; of DATA only links are counted.

Tells 'survey: refused WHAT WHY' or 'survey: backup ...;file ...;file ...;', the files in their order, from the newest
that begins at or before the backup on. Of what comes at or before the backup's seqno nothing is counted.

A CREATE TABLE ... SELECT is a statement among rows, also where its GTID says 'ddl' (in its own server's log). Replayed,
the CREATE commits for itself and the rows get the next number (MariaDB 10.11.18, tried): the GTID at the end of the
chain is another one, or two transactions have the same.

A name with a line break is printed as it is, after a '#': what stands behind the break is a statement to the client
that replays, and root's there (MariaDB 10.11.18, tried: `GRANT ALL` in the name of a table). No file with one is taken.

Sources: MariaDB KB, "Files Created by mariadb-backup" (xtrabackup_galera_info, xtrabackup_binlog_info, xtrabackup_info,
xtrabackup_checkpoints; mariadb_backup_* from 11.1 on).
"""
SURVEYED = r"(?m)^survey: (.+)"
