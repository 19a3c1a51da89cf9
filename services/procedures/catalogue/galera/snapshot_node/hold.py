"""The scripts that run the operator's command on the donor, under a read lock that ends by itself, and its removal.

What binds the lock, each alone enough (all tried on MariaDB 10.11.18, Galera 26.4):
- it is a session of one client, a child of the script: the script, its unit or its host gone, the client reads the end
  of its input and ends, and the server takes the lock away; it has nothing to do with the console;
- the server itself ends the session when the command takes too long (wait_timeout), also when every process stands
  still (SIGSTOP);
- it is waited for at most so long (lock_wait_timeout), then the session is killed: nobody stands behind it for longer;
- the command runs under timeout(1) and without the client's pipes: what it leaves behind holds no lock. A command that
  leaves something at work in its own group (`cp ... &`) counts for nothing: that would go on copying behind the lock.
A lock that was lost before the command had ended is found by its session, which answers with the same number only while
it is the one that took the lock, and by grastate.dat: it holds the exact seqno only while the provider stands still.

The client asks by the socket of this host's server alone, whatever root's option files say of a host or a port (a
~/.my.cnf with `host=` would have another server locked), and a server with another data folder is not asked for a lock.
Who has the server's account may answer on that socket: root's client gives it no file (--local-infile).

What a lock does not do: InnoDB goes on writing pages and statistics under FLUSH TABLES WITH READ LOCK (seen eight
seconds after it was had, nobody writing). Files that are copied one after another are one state only where no page was
written and no checkpoint moved meanwhile. So such a copy begins when nothing is left to be written, and counts only
where the server's counters are the same behind it. A snapshot of a whole volume is one moment and needs none of that.

What no counter is compared of: tables of Aria, MyISAM and CSV. The lock itself closes them and keeps every statement
from writing them; what the server writes by itself into mysql.slow_log and mysql.general_log, and Aria's own log, may
move under a copy. The position that is proven later is InnoDB's, too. (Aria_pagecache_writes also counts the temporary
tables of those who only read: held against it a copy would be refused for nothing.)

The script runs in a scope of systemd with a name that the plan knows: to stop that ends it, its client and the
operator's command, on every way out, also where the console that began it is gone (systemd-run(1), --scope).

Sources: MariaDB KB "FLUSH" (FLUSH TABLES WITH READ LOCK), "Server System Variables" (lock_wait_timeout, wait_timeout),
"InnoDB Status Variables"; bash(1), Coprocesses; timeout(1); sync(1), -f.
"""

from __future__ import annotations

from services.connections.operator.folders_of_others import AS
from services.connections.operator.roots_client import ROOTS_FILE

LISTED = "pilothouse-files"
"""The list of the donor's files that is made under the lock in its data folder, and travels with the copy."""
FILES = rf"""listed_as={LISTED}
files() {{
  timeout "$3" find "$1" -ignore_readdir_race -path "$2" -prune -o ! -name '#sql*' -type f \
    \( -name '*.ibd' -o -name '*.frm' -o -name '*.MYD' -o -name '*.MYI' -o -name '*.MAD' -o -name '*.MAI' \
    -o -name '*.CSV' -o -name '*.CSM' -o -name '*.MRG' -o -name '*.ARZ' -o -name '*.par' -o -name '*.TRG' \
    -o -name '*.TRN' -o -name db.opt -o -name 'ibdata*' -o -name 'ib_logfile*' -o -name 'undo[0-9]*' \
    -o -name 'aria_log*' \) -printf '%s\t%P\n'
}}
"""
"""`files FOLDER BUT LIMIT_S`: bytes and name of the files of tables, of InnoDB and of Aria, but not what is in BUT.

Nobody makes or removes one under the read lock; what a statement that is under way makes for itself is left out.
"""
KEEP = "/var/lib/pilothouse"
"""Folder of the marks of what the runs left on a host for later; it is there after a restart of the host too."""

VOLUME, COPY = "volume", "copy"
STOP_S = 12
"""So long what is stopped has until it is killed: the lock's session is given its end within ten."""


def held(state_uuid: str) -> str:
    """Return what the script says last when the snapshot counts; its group is the seqno under the lock.

    It is plain hex and dashes. The operator's own lines begin with '| ': none of them can say this.
    """
    return rf"^pilothouse: snapshot at {state_uuid}:([0-9]+) after "


def scope_of(what: str, snapshot: str) -> str:
    """Return the name of the scope in which a command of the run works: 'lock' or 'bring'."""
    return f"pilothouse-{what}-{snapshot}.scope"


def in_scope(unit: str, *words: str) -> tuple[str, ...]:
    """Return a command that runs the words in a scope of that name, and ends with their exit code.

    A scope that was stopped is inactive only when no process is left in it, whatever the command began.
    """
    how = ("--quiet", "--scope", "--collect", f"--unit={unit}", f"--property=TimeoutStopSec={STOP_S}")
    return ("systemd-run", *how, "--", *words)


_UNDER_LOCK = r"""folder=$1 mark=$2 way=$3 wait_s=$4 quiet_s=$5 limit_s=$6 dirty=$7; shift 7
said=$(mktemp) || exit 70
client= number= job= line= listed=
end() { code=$1; shift; printf 'pilothouse: %s\n' "$*"; exit "$code"; }
clean() {
  trap '' TERM INT HUP
  if [ -n "$job" ]; then kill -TERM "$job" 2>/dev/null; fi
  exec 8>&- 9<&-
  disown -a 2>/dev/null
  if [ -n "$client" ]; then kill -KILL "$client" 2>/dev/null; fi
  if [ -n "$number" ]; then timeout 10 "${program[@]}" -e "KILL CONNECTION $number" >/dev/null 2>&1; fi
  rm -f -- "$said" "$mark.files"
  if [ -n "$listed" ]; then (into "$folder"; acts; $as rm -f -- "./$listed"); fi
}
trap clean EXIT
trap 'exit 71' TERM INT HUP
trap '' PIPE
ask() { printf '%s\n' "$1" 2>/dev/null >&8; }
answer() {
  line=
  IFS= read -r -t "$1" line <&9 || return 1
  case $line in "$2 "*) line=${line#"$2 "};; *) return 1;; esac
}
state() {
  timeout 5 head -c 4096 -- "$folder/grastate.dat" | sed -n 's/^uuid: *//p;s/^seqno: */:/p' | tr -d '\n'
}
counters() {
  ask "SELECT CONCAT('counters ', GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME SEPARATOR ' '))
    FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('INNODB_BUFFER_POOL_PAGES_DIRTY',
    'INNODB_DATA_WRITES', 'INNODB_LSN_LAST_CHECKPOINT', 'INNODB_PAGES_WRITTEN');"
  answer 10 counters
}

program=$(command -v mariadb || command -v mysql) || end 72 "no client program of the server is there"
socket=$(my_print_defaults --mysqld 2>/dev/null | sed -n 's/^--socket=//p' | tail -n 1)
program=("$program" "$from" --batch --local-infile=0 --plugin-dir= --protocol=socket --host=localhost)
case $socket in /*) program+=("--socket=$socket");; ?*) program+=("--socket=$folder/$socket");; esac
link=$(timeout 300 find "$folder" \( -type l -o -name '*.isl' \) -print -quit) || end 72 "$folder could not be searched"
[ -z "$link" ] || end 72 "$link leads out of $folder: what it leads to would not be in the snapshot"
kept=$(find "$folder" -maxdepth 1 \( -name '.pilothouse-before*' -o -name '#sql-pilothouse-before*' \) -print -quit)
[ -z "$kept" ] || end 72 "$kept holds older data: they would be written into those that the joiner keeps"
while read -r _ at _; do
  case $at in "$folder"/*) end 72 "$at is a file system of its own: it would not be in the snapshot";; esac
done </proc/mounts

coproc DB { exec "${program[@]}" --skip-column-names --unbuffered --skip-reconnect 2>&1; }
client=$DB_PID
exec 8>&"${DB[1]}" 9<&"${DB[0]}"
eval "exec ${DB[1]}>&- ${DB[0]}<&-"
most=$((limit_s + quiet_s + 120))
ask "SET SESSION lock_wait_timeout=$wait_s, wait_timeout=$most, interactive_timeout=$most;
  SELECT CONCAT('session ', CONNECTION_ID(), ' ', @@datadir);"
answer 20 session || end 73 "the server gave no session: ${line:-no answer}"
number=${line%% *} at=${line#* }
[ "$(realpath -m -- "$at")" = "$(realpath -m -- "$folder")" ] ||
  end 73 "the server that answers has its data in $at, not in $folder: nothing was locked"
ask "FLUSH TABLES WITH READ LOCK; SELECT CONCAT('locked ', CONNECTION_ID());"
answer $((wait_s + 2)) locked || end 74 "the read lock was not had within $wait_s s: it was given up"
began=$SECONDS
at=$(state)
[[ $at =~ ^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+$ ]] || end 75 "grastate.dat tells no position: ${at:-none}"
printf 'pilothouse: the read lock is held at %s\n' "$at"
if [ "$way" = copy ]; then
  before=
  while :; do
    counters || end 75 "the server does not tell what it writes: ${line:-no answer}"
    case $line in "0 "*) [ "$line" != "$before" ] || break;; esac
    before=$line
    [ $((SECONDS - began)) -le "$quiet_s" ] || end 79 "InnoDB did not come to rest within $quiet_s s"
    sleep 1
  done
  if [ -n "$dirty" ]; then
    ask "SET GLOBAL innodb_max_dirty_pages_pct=$dirty; SELECT CONCAT('set ', 1);"
    answer 10 set || end 75 "the server does not answer: ${line:-nothing}"
  fi
  counters || end 75 "the server does not tell what it writes: ${line:-no answer}"
  before=${line#* }
fi
listed=$listed_as
install -d -m 0700 -- "${mark%/*}" && { echo "${mark##*/}" && files "$folder" '' 60 && echo end; } >"$mark.files" &&
  (into "$folder"; acts; $as rm -f -- "./$listed"
   $as dd of="./$listed" conv=excl oflag=nofollow status=none <"$mark.files") && rm -f -- "$mark.files" ||
  end 75 "the list of the files in $folder could not be written"
timeout 60 sync -f -- "$folder" || end 75 "the file system of $folder could not be written out within 60 s"
: >"$mark" && timeout 10 sync -- "$mark" "${mark%/*}" || end 75 "$mark could not be written"
timeout -k 10 "$limit_s" "$@" >"$said" 2>&1 </dev/null 8>&- 9<&- &
job=$! lost=
while kill -0 "$job" 2>/dev/null; do
  kill -0 "$client" 2>/dev/null || { lost=yes; kill -TERM "$job" 2>/dev/null; break; }
  sleep 0.2
done
wait "$job"; code=$?
for _ in 1 2 3 4 5; do kill -0 -- "-$job" 2>/dev/null || break; sleep 0.2; done
left=
if kill -0 -- "-$job" 2>/dev/null; then left=yes; kill -TERM -- "-$job" 2>/dev/null; fi
job=
ask "SELECT CONCAT('still ', CONNECTION_ID());"
answer 10 still && [ "$line" = "$number" ] && [ "$(state)" = "$at" ] || lost=yes
wrote=
if [ "$way" = copy ] && [ -z "$lost" ]; then
  counters && [ "${line#* }" = "$before" ] || wrote=yes
fi
ask "UNLOCK TABLES; SELECT CONCAT('unlocked ', CONNECTION_ID());"
answer 30 unlocked && number=
took=$((SECONDS - began))
tail -c 20000 -- "$said" | sed 's/^/| /'
[ "$code" -ne 124 ] && [ "$code" -ne 137 ] || end 76 "the command did not end within $limit_s s, and was ended"
[ -z "$lost" ] || end 78 "the read lock was lost before the command had ended: its snapshot does not count"
[ "$code" -eq 0 ] || end 77 "the command ended with exit code $code"
[ -z "$left" ] || end 77 "the command ended and left something at work, which the read lock did not wait for"
[ -z "$wrote" ] || end 79 "InnoDB wrote while files were copied: they are no one state, and do not count"
end 0 "snapshot at $at after $took s under the read lock"
"""
HOLD = AS + FILES + ROOTS_FILE + _UNDER_LOCK
"""For root's bash: ACCOUNT FOLDER MARK WAY WAIT_S QUIET_S LIMIT_S DIRTY_PCT COMMAND...; seconds, whole.

MARK is written right before the command begins, onto the disk: from then on a snapshot may be there, after a cut of
the host's power too. DIRTY_PCT is what
innodb_max_dirty_pages_pct was before the run lowered it, '' where the run left it alone: under the lock it is put back,
for a page that nobody needs on the disk is better written later. Exit: 0 it counts; 72 to 75, 79 (no rest) nothing was
begun; 76 to 78, 79 it does not count; 71 it was ended. Whatever it is, the lock is gone. The list of the files is
written into the folder by its account: no link that it lays there leads root's writing elsewhere.
"""

RUN = r"""LC_ALL=C; export LC_ALL; umask 022
limit_s=$1; shift
said=$(mktemp) || exit 70
trap 'rm -f -- "$said"' EXIT
timeout -k 10 "$limit_s" "$@" >"$said" 2>&1 </dev/null
code=$?
tail -c 20000 -- "$said" | sed 's/^/| /'
[ "$code" -ne 124 ] && [ "$code" -ne 137 ] || echo "pilothouse: it did not end within $limit_s s, and was ended"
exit "$code"
"""
"""For root's bash: LIMIT_S COMMAND...: the command's own exit code; its output cut, each line after '| '.

Through a file: what the command leaves behind in the background would hold a pipe open for ever.
"""

OFFER = r"""LC_ALL=C; export LC_ALL
unit=$1 limit_s=$2; shift 2
said=$(mktemp) || exit 70
trap 'rm -f -- "$said"' EXIT
systemd-run --quiet --collect --unit="$unit" --service-type=oneshot --remain-after-exit \
  --property=TimeoutStartSec="$limit_s" --property=StandardOutput="file:$said" --property=StandardError=inherit \
  -- "${@//\$/\$\$}"
code=$?
tail -c 20000 -- "$said" | sed 's/^/| /'
exit "$code"
"""
"""For root's bash: UNIT LIMIT_S COMMAND...: the command as a unit of its own, whose name the plan knows.

What the command leaves running (a program that serves the snapshot) lives in the unit, and ends when that is stopped. A
oneshot is waited for until its command has ended (man systemd.service(5), Type=; systemd-run(1)); `$$` is a `$` there.
"""

_UNLOCKED = r"""unit=$1 state=$2/grastate.dat n=0
systemctl stop "$unit"; code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 5 ] || exit "$code"
(missing() { exit 0; }; into "$2"; acts; $as rm -f -- "./$listed_as")
while :; do
  seqno=$(set -o pipefail; timeout 5 head -c 4096 -- "$state" | sed -n 's/^seqno: *//p') || exit 3
  [ "$seqno" != -1 ] || exit 0
  pgrep -x 'mariadbd|mysqld' >/dev/null; [ "$?" -ne 1 ] || exit 0
  [ "$n" -lt 20 ] || { echo "pilothouse: a read lock is held still: $state says $seqno"; exit 4; }
  n=$((n + 1)); sleep 0.5
done
"""
UNLOCK = AS + FILES + _UNLOCKED
"""For root's bash: ACCOUNT SCOPE FOLDER: ends what holds the lock, and comes back when the provider goes on (seqno -1)
or no server runs. 5 of systemctl(1): there is no such unit.
"""

REMOVE = r"""mark=$1; shift
none() { echo "pilothouse: no snapshot of this run is there"; exit 0; }
[ -e "$mark" ] || none
exec 9<"$mark" && flock -w "$2" 9 || { echo "pilothouse: the command that removes it is at work already"; exit 8; }
[ -e "$mark" ] || none
bash -c "$1" pilothouse "${@:2}" 9<&- || exit
rm -f -- "$mark"
"""
"""For root's bash: MARK RUN LIMIT_S COMMAND...: nothing where the mark is not there; it goes behind the snapshot.

One at a time: a console that lost its connection, or waited too long, begins the removal again while the first still
works. That waits for the first, and does nothing where it went well.
"""
