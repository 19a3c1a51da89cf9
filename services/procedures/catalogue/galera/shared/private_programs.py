"""The two programs that run a server of their own on the restored data: one replays, one sets the position. For root.

The server is a child of the detached work: it has no option file of its own that could stay, its words come after those
of the option files and win over them (MariaDB KB, "Configuring MariaDB with Option Files"), and it ends with the work,
whatever ends that. It is the account's from its start on (as_server.py). It listens on a socket in a folder that only
root and the server's account may enter.

The data folder and the socket's are the server's account's, which may lay links there: root writes into neither. What
root notes and the server's log lie in a folder that only root may enter; what the server says is looked at before it
is written anywhere, and the client gives no file to whoever answers on that socket. It logs in as root, else as the
server's account by its own name: a new MariaDB has both by unix_socket (MariaDB KB, "Authentication from MariaDB
10.4"); refused as both it ends at once. All data of the server are told to lie in the data folder, whatever its option
files say by then. Rows of a BINLOG statement are applied as a replica applies them (MariaDB KB, "slave_exec_mode"):
what passes over a row that does not fit is switched off, and asked for. They also go where replicate_rewrite_db says
(10.11.18, tried: into another schema, both programs ended with 0 and the GTID was right). Nothing on a command line
takes that back, so a server that has it is refused. Option files that its account may not read, and the unit's server
does, are passed over without a word: then it does not begin (as_server.py).
"""

from __future__ import annotations

from services.connections.operator.as_server import EXEC_AS, SAME_OPTIONS

STATE = "/var/lib/pilothouse/replay"
"""The folder that only root may enter, and that a reboot leaves."""
MARKER = f"{STATE}/state"
"""'begun TARGET' from before the first change on, 'done TARGET GTID STATE' when all of it is in the data."""
PRIVATE = "/run/pilothouse/private"

COMMON = r"""@EXEC_AS@@SAME_OPTIONS@set -u -o pipefail -o noclobber; export LC_ALL=C; umask 077
say() { printf '%s\n' "$1"; }
failed() { [ -z "${log-}" ] || tail -n 15 -- "$log"; say "failed: $1"; exit "${2-9}"; }
folder=/run/pilothouse/private sock=/run/pilothouse/private/server.sock log=
notes=/var/lib/pilothouse/replay marker=/var/lib/pilothouse/replay/state
[ ! -L "$notes" ] && install -d -m 0700 -o root -g root -- "$notes" || failed "the folder $notes could not be made"
client=$(command -v mariadb) || failed 'there is no mariadb client on the host'
server=$(command -v mariadbd || echo /usr/sbin/mariadbd); [ -x "$server" ] || failed 'there is no mariadbd on the host'
account=$(stat -c %U -- "$data") && [ "$account" != root ] || failed "the data folder $data belongs to root"
uid=$(id -u -- "$account") && gid=$(id -g -- "$account") && [ "$uid" -gt 0 ] ||
  failed "there is no account $account that a server may have"
same_options "$unit" || failed "the account $account can not read all option files that $unit's server reads: what a \
private server would do is not known. Let $account read them, or put what they say into a file that it may read" 12
as_root() { login "$by" "$@"; }
login() {
  local user=$1 as=(); shift
  [ "$user" = root ] || as=(runuser -u "$user" --)
  "${as[@]}" "$client" --no-defaults --local-infile=0 --socket="$sock" --user="$user" "$@" 2>&1
}
by=root
let_in() {
  local user said
  for user in root "$account"; do
    said=$(login "$user" --batch --local-infile=0 -e 'SELECT 1') && { by=$user; return 0; }
    case $said in *'ERROR 1045 '*|*'ERROR 1698 '*) ;; *) return 1;; esac
  done
  failed "neither root nor $account is let in over the socket by its own account: $said" 11
}
ask() { as_root --batch --skip-column-names -e "$1"; }
open_parts() { ask 'SELECT COUNT(*) FROM mysql.wsrep_streaming_log'; }
ended() { [ -z "${pid-}" ] || ! kill -0 "$pid" 2>/dev/null; }
end_server() {
  ended && return 0
  kill -TERM "$pid" 2>/dev/null; wait "$pid"; local code=$?
  pid=; return $code
}
stop_server() {
  ended && failed 'the private server was gone before it was ended: what it wrote last may not be in the data' 33
  kill -TERM "$pid" && wait "$pid" || failed 'the private server did not end in order' 33
  pid=
}
trap 'end_server; rm -rf -- "$folder" "$notes/server.log"' EXIT
trap 'exit 143' TERM INT HUP
begin_server() {
  rm -rf -- "$folder"; install -d -m 0750 -o "$account" -g "$account" -- "$folder" || failed 'no folder for the socket'
  rm -f -- "$notes/server.log"; log=$notes/server.log
  exec_as "$server" --datadir="$data" --socket="$sock" --pid-file="$folder/server.pid" --skip-networking \
    --innodb-data-home-dir="$data" --innodb-log-group-home-dir="$data" --innodb-undo-directory="$data" \
    --aria-log-dir-path="$data" \
    --slave-exec-mode=STRICT --slave-skip-errors=OFF --slave-run-triggers-for-rbr=NO \
    --skip-slave-start --event-scheduler=OFF --init-file= --max-allowed-packet=1073741824 --disable-log-error "$@" \
    >"$log" 2>&1 </dev/null &
  pid=$!
  local n=0
  until let_in; do
    ended && failed 'the private server did not start' 10
    n=$((n + 1)); [ "$n" -lt 3600 ] || failed 'the private server did not answer on its socket within 30 min' 11
    sleep 0.5
  done
  case $(ask 'SELECT @@skip_networking, @@event_scheduler') in $'1\tOFF' | $'1\tDISABLED') ;;
  *) failed 'the private server is not private';;
  esac
  [ "$(realpath -- "$(ask 'SELECT @@datadir')")" = "$(realpath -- "$data")" ] || failed 'it runs on another data folder'
  case $(ask "SHOW GLOBAL VARIABLES LIKE 'replicate_rewrite_db'") in ''|$'replicate_rewrite_db\t') ;;
  *) failed 'the private server would put rows into another schema than they were written to (replicate_rewrite_db)';;
  esac
  [ "$(ask 'SELECT @@slave_exec_mode, @@slave_skip_errors, @@slave_run_triggers_for_rbr')" = $'STRICT\tOFF\tNO' ] ||
    failed 'the private server would pass over rows that do not fit, or run triggers a second time'
}
""".replace("@EXEC_AS@", EXEC_AS).replace("@SAME_OPTIONS@", SAME_OPTIONS)

REPLAY = (
    r"""data=$1 logs=$2 start=$3 stop=$4 gtid=$5 target=$6 total=$7 told=$8 unit=$9; shift 9
"""
    + COMMON
    + r"""
own=$data/.pilothouse-replay
as_server() { runuser -u "$account" -- "$@"; }  # in its own folder: root follows no link there
[ ! -e "$marker" ] || failed "a replay began on these data before ($(head -c 200 -- "$marker")): it is not repeated" 20
trap 'end_server; rm -rf -- "$folder" "$notes/server.log"; rm -f -- "$told" "$told.new"' EXIT
[ -e "$data/ibdata1" ] || failed 'no restored data lie there'
[ ! -e "$data/grastate.dat" ] || failed 'the data name a state: a start would join with them' 21
reader=$(command -v mariadb-binlog) || failed 'there is no mariadb-binlog on the host'
cd -- "$logs" || failed 'the folder of the binary logs can not be opened'
as_read() {
  local one f size
  for one in "$@"; do
    f=${one%:*}
    [ -f "$f" ] && [ -r "$f" ] && size=$(stat -L -c %s -- "$f") || failed "$f is no file that can be read" 22
    [ "$size" -eq "${one##*:}" ] || { [ "$one" = "${!#}" ] && [ "$size" -ge "$stop" ]; } ||
      failed "$f has $size bytes, not ${one##*:} as when it was read: another file would be replayed" 22
  done
}
as_read "$@"
printf 'begun %s\n' "$target" > "$marker" && sync -- "$marker" "$notes" || failed 'what is begun could not be noted'
as_server rm -rf -- "$own" && as_server mkdir -m 0750 -- "$own" || failed 'no folder for its own log'
begin_server --wsrep-on=OFF --wsrep-provider=none --log-bin="$own/replay-bin" --log-bin-index="$own/replay-bin.index" \
  --binlog-format=ROW --log-slave-updates=ON --binlog-expire-logs-seconds=1 --max-binlog-size=64M --sync-binlog=0 \
  --innodb-flush-log-at-trx-commit=0 --gtid-strict-mode=OFF --read-only=OFF
[ "$(ask 'SELECT @@wsrep_on, @@wsrep_provider')" = $'0\tnone' ] || failed 'the private server has a wsrep provider'
[ -z "$(ask 'SELECT @@gtid_binlog_pos')" ] || failed 'the private server begins with GTIDs of its own'
case $(open_parts) in 0|*'ERROR 1146 '*) ;;
*) failed 'a transaction of streaming replication was open when the backup was taken: no binary log has its beginning';;
esac
watch_it() {
  local last=${gtid##*-} here before=0 began=$SECONDS done_ rate left
  while sleep 2; do
    here=$(ask 'SELECT @@gtid_binlog_pos' | tr , '\n' | grep "^${gtid%%-*}-" | head -n 1); here=${here##*-}
    case $here in ''|*[!0-9]*) here=$((last - total));; esac
    done_=$((total - last + here)); [ "$done_" -ge 0 ] || done_=0
    rate=$((done_ / (SECONDS - began > 0 ? SECONDS - began : 1)))
    left=-; [ "$rate" -eq 0 ] || left=$(((total - done_) / rate))
    say "replay: $done_ of $total transactions, $rate a second, $left s left"
    printf '%s %s %s %s %s\n' "$(date +%s)" "$done_" "$total" "$rate" "$target" >| "$told.new"
    mv -- "$told.new" "$told"
  done
}
: >| "$told"
watch_it & watcher=$!
began=$SECONDS
"$reader" --no-defaults --local-load=/proc/none --start-position="$start" --stop-position="$stop" -- "${@%:*}" |
  as_root --binary-mode --max-allowed-packet=1073741824
codes="${PIPESTATUS[*]}"
kill "$watcher" 2>/dev/null; wait "$watcher" 2>/dev/null
[ "$codes" = '0 0' ] || failed "the replay broke off: exit codes $codes of mariadb-binlog and mariadb" 30
reached=$(ask 'SELECT @@gtid_binlog_pos') || failed 'its end can not be read' 31
case ,$reached, in
  *",$gtid,"*) ;;
  *) failed "the replay ended at GTID $reached, not at $gtid: it is not whole" 32;;
esac
as_read "$@"
state=$(ask 'SELECT @@gtid_binlog_state')
case $state in *[!0-9,-]*|'') failed 'the GTIDs that the replay reached can not be read' 31;; esac
stop_server
as_server rm -rf -- "$own" || failed 'its own log could not be removed'
rm -f -- "$marker.new"
printf 'done %s %s %s\n' "$target" "$gtid" "$state" > "$marker.new" && sync -- "$marker.new" &&
  mv -- "$marker.new" "$marker" && sync -- "$notes" || failed 'its end could not be noted'
say "replayed: $target $gtid in $((SECONDS - began)) s"
"""
)
"""`bash -c REPLAY pilothouse DATA LOGS START STOP GTID TARGET TRANSACTIONS PROGRESS UNIT FILE:BYTES...`

It counts only where both programs end with 0 and the server's own binary log stands at the planned GTID; else it fails.
Every file must be as long as when it was read, before and behind: one cut off at an event's end shows in neither.
On data on which a replay has begun before it never begins again. PROGRESS holds 'EPOCH DONE TOTAL RATE TARGET'.
"""
REPLAYED = r"(?m)^replayed: (\d+ [0-9-]+) in \d+ s"

POSITION = (
    r"""data=$1 uuid=$2 from=$3 target=$4 gtid=$5 unit=$6
"""
    + COMMON
    + r"""
read -r word number at state < "$marker" || failed 'no replay was noted on these data' 20
[ "$word $number $at" = "done $target $gtid" ] || failed "the data hold another replay: $word $number $at" 21
case $state in *[!0-9,-]*|'') failed 'the GTIDs that the replay reached can not be read' 21;; esac
[ ! -e "$data/grastate.dat" ] || [ ! -s "$data/grastate.dat" ] || failed 'the data name a state already' 22
begin_server --wsrep-on=ON --wsrep-cluster-address= --wsrep-sst-method=mysqldump --wsrep-new-cluster=OFF \
  --wsrep-data-home-dir="$folder" --wsrep-provider-options=gcache.size=16M --wsrep-recover=OFF \
  --wsrep-start-position=00000000-0000-0000-0000-000000000000:-1
stands() { ask "SHOW STATUS LIKE 'wsrep_se_checkpoint'" | cut -f 2 | cut -d ' ' -f 1; }
joined() { ask "SHOW STATUS LIKE 'wsrep_cluster_status'" | cut -f 2; }
[ "$(joined)" != Primary ] || failed 'the private server has joined a cluster' 23
before=$(stands)
case $before in
  "$uuid:$target") ;;
  "$uuid:$from")
    said=$(ask "SET GLOBAL wsrep_start_position='$uuid:$target'")
    case $said in *'ERROR 1231 '*) ;; *) say "it said: ${said:-nothing}";; esac;;
  *) failed "InnoDB stands at ${before:-a position not known}, not at $uuid:$from" 24;;
esac
after=$(stands)
[ "$after" = "$uuid:$target" ] || failed "InnoDB stands at ${after:-a position not known}, not at $uuid:$target" 25
if [ "$(ask 'SELECT @@log_bin')" = 1 ]; then
  for one in log_bin_basename log_bin_index; do
    place=$(ask "SELECT @@$one"); place=${place%/*}
    [ -n "$place" ] && [ "$(realpath -- "$place")" = "$(realpath -- "$data")" ] ||
      failed "the binary log lies in ${place:-a folder not known}, not in $data: an old one would be removed" 27
  done
  ask "SET SESSION wsrep_on=OFF; RESET MASTER; SET GLOBAL gtid_binlog_state='$state'" ||
    failed 'the GTIDs could not be set' 26
fi
stop_server
say "position: $uuid:$target, before $before"
"""
)
"""`bash -c POSITION pilothouse DATA UUID FROM TARGET GTID UNIT`

SET GLOBAL wsrep_start_position fails with ERROR 1231 as nobody is connected, and writes the position into InnoDB all
the same (MariaDB 10.11.18, tried; it needs no grastate.dat, and an sst_method other than 'skip'). wsrep_se_checkpoint
is read from InnoDB, so it proves it. The new binary log begins with the GTIDs of the replay: without them the node
would count from 1, and look like a fork.
"""
POSITIONED = r"(?m)^position: ([0-9a-f-]{36}:\d+), before "

END_PRIVATE = r"""export LC_ALL=C
folder=/run/pilothouse/private; word=--socket=$folder/server.sock
owner=$(stat -c %u -- "$folder" 2>/dev/null)
ours() {
  pids= here=
  for one in /proc/[0-9]*; do
    [ "${one##*/}" = "$$" ] && here=yes
    n=0
    while [ "$n" -lt 16 ] && { IFS= read -r -d "" -n 4096 part || [ -n "$part" ]; }; do
      n=$((n + 1))
      [ "$part" = "$word" ] || continue
      uid=$(stat -c %u -- "$one") && case $uid in 0 | "${owner:-$uid}") pids="$pids ${one##*/}";; esac
      break
    done 2>/dev/null <"$one/cmdline"
  done
  [ "$here" ]
}
ours || { echo 'the processes in /proc could not be read'; exit 2; }
[ -z "$pids" ] || kill -TERM $pids 2>/dev/null
for turn in $(seq 1200); do ours; [ -n "$pids" ] || break; sleep 0.5; done
[ -z "$pids" ] || { kill -KILL $pids 2>/dev/null; sleep 1; ours; }
[ -z "$pids" ] || { echo "still running:$pids"; exit 1; }
for turn in $(seq 20); do [ -e "$folder" ] || break; sleep 0.5; done
rm -rf -- "$folder"
"""
"""Ends a private server and its clients, by the socket in their command lines, and waits until they are gone. For
root's shell, when the work that starts such a server has been ended. What replays then breaks off, and never counts.
A list of processes in which the script is not itself proves nothing (/proc hidden). Both have the word among their
first ones, and are root's or the account's whose the folder is: anybody may begin a process with that word, or one with
a hundred thousand words, which took minutes to read.
"""
