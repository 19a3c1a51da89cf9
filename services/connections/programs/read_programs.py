"""The few programs that the Observer road may run on a host, as frozen texts of the registry (reads).

A program is given to the host as one word (`bash -c TEXT pilothouse ARG...`); its arguments are words too, so nothing
that a person typed is ever read as shell. Each text only reads: /proc, and `stat -f` of the data directory.
"""

from __future__ import annotations

from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH

MONGODB_DAEMONS = ("mongod", "mongos")

TCP_TRY = ': < "/dev/tcp/$1/$2"'
"""One TCP connection, opened and closed without a byte (man bash(1), REDIRECTION: /dev/tcp/host/port).

Run as `timeout 3 bash -c TCP_TRY pilothouse HOST PORT`: exit 0 is open, 124 no answer (man timeout(1)), else stderr
says.
"""

HAPROXY_SHOW = "printf 'show cli level;show info;show stat;show servers state\\n' | socat -t 5 - \"UNIX-CONNECT:$1\""
"""What HAProxy tells of itself at its stats socket: four commands that only show (HAProxy Management Guide 9.3, "Unix
Socket commands"; a semicolon parts two). socat(1): -t waits for the answer after our side has ended.

Run as `timeout 8 bash -c HAPROXY_SHOW pilothouse SOCKET`.
"""

STAMP = r"[0-9][0-9-]+[T ] ?[0-9:.]+(Z|[+-][0-9][0-9]:[0-9][0-9])?( +[0-9]+)? "
"""What a line of a server's error log begins with, as an extended expression for awk and Python: the time and a thread.

MySQL writes UTC, or local time with its offset (log_timestamps=SYSTEM); MariaDB local time alone; 5.5 no thread.
"""
CLIENT_SPEAKS = (
    r"rror \047|([Qq]uery|QUERY)(: | \047| [(]0x)|SQL: |sql: |tatement: |[Dd]uplicate entry \047"
    r"|(^|[^a-z])[Tt]able [\047`]"
    r"|initiates vote on |(request|granted): [(]|MDL conflict|Event Scheduler: \[|blob data\]$|`"
    r"|([Cc]olumn|[Ff]ield|[Ii]ndex|[Kk]ey|[Nn]ame|[Dd]atabase|[Cc]onstraint|[Vv]iew) \047"
)
"""What stands before a client's words in a line of a server's error log, as an extended expression for awk and Python.

A failed statement, with its error before it (`Error '%s' on query. Default database: '%s'. Query: '%s'`, MariaDB
sql/log_event_server.cc; "WSREP: Ignoring error '%s' on query…", sql/wsrep_mysqld.cc), the statements of a conflict
("SQL: ", "request: (", "MDL conflict"), of "TO isolation failed" ("sql: ") and of a crash ("Query (0x"), an unsafe one
("Statement: "), a value or a table's name in a message, a vote on an error (which tells it), an event's message. What
stands in backticks is a name of a client's, line breaks and all ("Cannot add field `%s` in table", InnoDB).
journalctl shows a line with control characters as "blob data", and hides which one it is.
"""
QUERY_PRINTED = r"query id [0-9]"
MYSQL_CODE, MYSQL_SPEAKS = r"\[MY-[0-9]", r"(rror \047|[Qq]uery: |SQL: )"
CLIENT_SPEAKS_FAR = f"{QUERY_PRINTED}|{MYSQL_CODE}.*{MYSQL_SPEAKS}"
"""The same where more can follow: InnoDB prints 3000 characters of a statement, MySQL 8192 (LOG_BUFF_MAX)."""
DATABASE_NAMED = r"to db: \047"
FOLDER_NAMED = r"Invalid [(]old[?][)] table or database name \047"
"""MariaDB's complaint about a file or a folder whose name is no schema's, each time the schemas are listed.

The name is as it lies on the disk, and a client lays one there: CREATE TABLE `#mysql50#x\'` with a line break and more
behind it (tried with 10.11.18: the lines that follow look like the server's). It ends with a quote at a line's end.
"""
NEAR, FAR, NAME_LENGTH, FILE_NAME_LENGTH = 1100, 8300, 70, 265
"""How far a client's words go from there. MariaDB cuts its messages at 1023 bytes (MAX_SLAVE_ERRMSG and the log's own
buffer; both tried with 10.11.18); a database's name has 64 characters, a
file's 255 bytes (inode(7), NAME_MAX)."""
ONE_MESSAGE_S = 10
"""The lines of one message come to journald at once: what it stamps so much later is another one's."""
PEER = (
    r"(connection established to|declaring) [0-9a-f]+(-[0-9a-f]+)? (at )?(tcp|ssl):[^ ]+"
    r"|Member [0-9.]+ [(].*[)] requested state transfer from "
    r"|[(][0-9a-f]+(-[0-9a-f]+)?, .(tcp|ssl):[^ ]+[)] listening at "
)
"""Whom the provider met: a member by its short UUID and address, one that a donor was asked for by its name; and the
short UUID of each of its own starts (gcomm/src/gmcast.cpp, evs_proto.cpp; gcs/src/gcs_group.cpp)."""
MOST_PEERS = 500
LEFT_OUT, START_LEFT_OUT = "left out", "left out start"
"""What stands for a line of a view, and of a server's start, where a client's words can stand."""

LOG_NEWEST, LOG_CUT = 2**27, "pilothouse: older lines are not read"
VIEWS_OF_LOG = (
    r"""LC_ALL=C; export LC_ALL
cut=
newest() {
  [ -f "$1" ] || { printf '%s is not a plain file\n' "$1" >&2; return 1; }
  [ "$(stat -L -c %s -- "$1")" -le @NEWEST@ ] || cut=yes
  tail -c @NEWEST@ -- "$1" | { ulimit -v 524288; tac; }
}
if [ "$1" = journal ]; then journalctl -u "$2" -r -o short-unix --no-pager -q
else newest "$2"; [ "$cut" ] || [ ! -e "$2.1" ] || newest "$2.1"; [ -z "$cut" ] || printf '%s\n' '@CUT@'; fi |
  awk -v journal="$1" '
    function show(older) {
      for (; head <= tail && older - at[head] > @FAR@; head++) {
        if (text[head] != "" && (text[head] !~ /^(refused|@LEFT_OUT@|@START_LEFT_OUT@)$/ || last != text[head]) &&
            (of_start[head] != 2 || (!met[text[head]]++ && ++peers <= @PEERS@))) {
          print text[head]; fflush(); last = text[head]
        }
        delete text[head]; delete at[head]; delete when[head]; delete of_start[head]
      }
      if (near < head) near = head
      while (near <= tail && older - at[near] > 130) near++
    }
    function drop(open) {
      for (i = near; i <= tail; i++) if (text[i] == "refused" && (open || bare[i])) { tail = i; return }
    }
    function leave_out(from) {
      for (i = tail; i >= head && at[i] > from; i--)
        if (text[i] !~ /^(refused)?$/ && (!journal || when[i] <= $1 + @MESSAGE_S@))
          text[i] = at[i] > stamped || of_start[i] == 2 ? "" \
            : of_start[i] || text[i] == "@START_LEFT_OUT@" ? "@START_LEFT_OUT@" : "@LEFT_OUT@"
    }
    function spoken() {
      if (chars ~ /@SPEAKS_FAR@/) { leave_out(before - @FAR@); return 1 }
      if (match(chars, /@SPEAKS@/)) {
        first = RSTART; named = match(chars, /@FOLDER@/) && RSTART < first
        leave_out(here - first - (named ? @FILE_NAME@ : @NEAR@)); return 1
      }
      if (match(chars, /@NAMED@/)) { leave_out(here - RSTART - RLENGTH - @NAME@); return 1 }
      return 0
    }
    BEGIN { head = near = 1; own = 0; journal = journal == "journal" }
    !journal && $0 == "@CUT@" { cut = 1; next }
    {
      bytes += length($0) + 1; chars = $0
      if (journal) sub(/^[^ ]+ [^ ]+ [^:]*: /, "", chars)
      if (chars ~ /[\200-\277]/) gsub(/[\200-\277]/, "", chars)
      before = here; here += length(chars) + 1; stamped = own; show(before)
      if (chars ~ /^([0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ]|[0-9][0-9][0-9][0-9][0-9][0-9] )/) own = here
      if (bytes >= mark + 8000000) { mark = bytes; print "read " bytes " " (refused + 0); fflush() }
      ends = index($0, "(using password: ")
      if (index($0, "Access denied for user ") &&
          $0 ~ /(^|: )@STAMP@\[(Warning|Note)\] .*Access denied for user /) {
        refused++; drop(!ends)
        if (chars !~ /^@STAMP@\[(Warning|Note)\] (\[[A-Za-z0-9-]+\] )*Access denied/)
          spoken()
        text[++tail] = "refused"; at[tail] = here; bare[tail] = 0
      } else if (ends) { spoken(); text[++tail] = "refused"; at[tail] = here; bare[tail] = 1 }
      else if (spoken()) next
      else if (/(View|Recovered view from SST):$|  id: [0-9a-f-]+:|  status: [a-z]|[0-9]+: [0-9a-f]+-[0-9a-f-]+, / ||
               /New COMPONENT: primary = yes|Prepared IST receiver for 0-|SST received: /) {
        text[++tail] = $0; at[tail] = here; when[tail] = $1 + 0; of_start[tail] = 0
      } else if (own == here && / as process [0-9]|[Ll]oading provider |ready for connections/) {
        text[++tail] = $0; at[tail] = here; when[tail] = $1 + 0; of_start[tail] = 1
      } else if (own == here && match(chars, /@PEER@/)) {
        text[++tail] = "peer " substr(chars, RSTART, RLENGTH)
        at[tail] = here; when[tail] = $1 + 0; of_start[tail] = 2
      }
    }
    END { drop(cut); if (cut) show(here); else show(here + 10000); print "read " (bytes + 0) " " (refused + 0) }' |
  head -c 1500000
""".replace("@SPEAKS_FAR@", CLIENT_SPEAKS_FAR)
    .replace("@NEWEST@", str(LOG_NEWEST))
    .replace("@CUT@", LOG_CUT)
    .replace("@STAMP@", STAMP)
    .replace("@PEER@", PEER)
    .replace("@PEERS@", str(MOST_PEERS))
    .replace("@SPEAKS@", CLIENT_SPEAKS)
    .replace("@NAMED@", DATABASE_NAMED)
    .replace("@FOLDER@", FOLDER_NAMED)
    .replace("@FAR@", str(FAR))
    .replace("@NEAR@", str(NEAR))
    .replace("@NAME@", str(NAME_LENGTH))
    .replace("@FILE_NAME@", str(FILE_NAME_LENGTH))
    .replace("@MESSAGE_S@", str(ONE_MESSAGE_S))
    .replace("@LEFT_OUT@", LEFT_OUT)
    .replace("@START_LEFT_OUT@", START_LEFT_OUT)
)
"""The lines of a server's log that tell of Primary views, of its starts and of whom its provider met, newest first
(primary_views, ran_alone, log_peers); of the last ones 'peer' and the words, each once.

Run as `timeout 20 nice bash -c VIEWS_OF_LOG pilothouse journal UNIT`, or `... file LOG`: man journalctl(1) (-r),
tac(1), timeout(1) (124: out of time; what was found by then stands). 'read BYTES REFUSED' says how far it came, every
8 MB and at the end, and how many refused logins stand there.

Of a log file the newest 128 MiB are read, more than its 20 s suffice for on most hosts, and of its predecessor as much:
tac(1) keeps a line whole in memory, and one without an end would take the host's (half a gigabyte at most). What stands
within a client's longest message behind the cut is not told: the message's beginning may have been cut off. A line of
a client's that looks like the cut's own only takes more away.

A client that may not log in writes its name into the log, line breaks and all (MariaDB, log_warnings 2; tried with
10.11). A name has 128 characters at most (MariaDB KB, "Identifier Names"): what stands that near before the end of one,
back to the server's own line, is left out, whatever in it looks like a server's line. Each refused login is told as
'refused', so that pieces of several names never become one view.

A statement that failed stands there too, and other words of clients (CLIENT_SPEAKS). What begins within their longest
message is left out. A view begins with a stamp of the server: what comes before the next one is the client's alone; any
other may be the server's, and is told as 'left out': views from before it are not known to be the last ones before it.
A line of a start is told as 'left out start': whether a server ran without the cluster then is not known.
"""

SST_LOGIN = r"""LC_ALL=C; export LC_ALL
given() { my_print_defaults --mysqld 2>/dev/null | sed -n "s/^--$1=//p" | tail -n 1; }
auth=$(given 'wsrep[-_]sst[-_]auth') socket=$(given socket) as=$(given user)
client=$(command -v mariadb || command -v mysql) || exit 4
case $auth in *:*) MYSQL_PWD=${auth#*:};; *) MYSQL_PWD=;; esac; export MYSQL_PWD
exec runuser -u "${as:-mysql}" -- "$client" --no-defaults --connect-timeout=3 ${socket:+--socket="$socket"} \
  --user="${auth%%:*}" --batch --local-infile=0 -e 'SELECT 1'
"""
"""A login at the server by its socket with the account and the password of wsrep_sst_auth, as the script of an SST logs
in: as the server's own user, whom a login by unix_socket asks for (runuser(1)). It asks for a 1; the password stays on
the host, in no process's words (MySQL manual, "Environment Variables": MYSQL_PWD).

Run as `timeout 8 bash -c SST_LOGIN pilothouse`.
"""

SOCKET_LOGIN = r"""LC_ALL=C; export LC_ALL
[ -S "$1" ] || exit 3
client=$(command -v mariadb || command -v mysql) || exit 4
account=$(stat -c %U -- "$1")
for user in root "$account"; do
  as=(); [ "$user" = root ] || as=(runuser -u "$user" --)
  said=$("${as[@]}" "$client" --no-defaults --connect-timeout=3 --socket="$1" --user="$user" --batch \
    --local-infile=0 -e 'SELECT 1' 2>&1) && { printf 'in %s\n' "$user"; exit 0; }
  case $said in *'ERROR 1045 '*|*'ERROR 1698 '*) ;; *) printf '%s\n' "$said" | head -c 400 >&2; exit 5;; esac
done
printf 'refused root %s\n' "$account"
"""
"""Does root, or the server's account by its own name, log in over a socket without a password, whatever option files
say? A private server on restored data knows no other way in. 'in USER' or 'refused root ACCOUNT'; else 3: no socket
there, 4: no client, 5: the server did not answer, and why.

Run as `timeout 8 bash -c SOCKET_LOGIN pilothouse SOCKET`.
"""

START_LINE = r"""LC_ALL=C; export LC_ALL
shown=$(systemctl show -p LoadState,Environment,EnvironmentFiles,ExecStart,ExecStartPre "$1") || exit 3
manager=$(systemctl show-environment) || exit 3
names=$(printf '%s\n' "$shown" | grep '^ExecStart' | grep -o '[$][{]*[A-Za-z_][A-Za-z0-9_]*' | tr -d '${')
names="MYSQLD_OPTS EXTRA_ARGS _WSREP_NEW_CLUSTER _WSREP_START_POSITION $names"
own=$(printf '%s\n' "$shown" | sed -n 's/^Environment=//p')
printf '%s\n' "$shown" | grep -E '^(LoadState|ExecStart|ExecStartPre)='
for n in $names; do
  printf '%s\n' "$manager" | sed -n "s/^$n=/manager $n=/p"
  case " $own" in *[\ \"\']"$n="*) printf 'unit %s\n' "$own";; esac
done
files=$(printf '%s\n' "$shown" | sed -n 's/^EnvironmentFiles=\(.*\) (ignore_errors=[a-z]*)$/file \1/p')
printf '%s\nscript %s\n' "$files" /etc/default/mysql /etc/default/mariadb /etc/sysconfig/mysql |
while read -r kind pattern; do
  [ -n "$pattern" ] || continue
  IFS=; for f in $pattern; do
    said=$(stat -- "$f" 2>&1 >/dev/null)
    case $said in *'No such file'*|*'Not a directory'*) continue;; esac
    unset IFS
    at=$(printf '%s %s' "$kind" "$f" | tr -c ' -~' '?')
    [ -f "$f" ] && [ "$(stat -L -c %s -- "$f")" -le 65536 ] &&
      text=$(timeout 2 head -c 65536 -- "$f" 2>/dev/null) || { printf 'unread %s\n' "$at"; continue; }
    text=$(printf '%s\n' "$text" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta')
    for n in $names; do
      printf '%s\n' "$text" | sed -n "s|^[ \t]*$n=|$n=|p" | while IFS= read -r line; do
        printf '%s %s\n' "$at" "$line"
      done
    done
  done; unset IFS
done
"""
"""What systemd would start a unit's server with, beside its option files: the command of the unit, and of all variables
only those that it names, or that MariaDB's and Percona's units and scripts are known to take words from.

They stand in systemd's own environment (`systemctl set-environment`), in Environment= and in the files of
EnvironmentFile=, the later one counts (systemd.exec(5), "Environment"). MariaDB's galera_new_cluster leaves
_WSREP_NEW_CLUSTER in the first, in newer versions in a file under /run, when it is broken off. What else stands there
stays on the host: it may be a secret. The folder of such a file may be the account's (/run/mysqld), and its name any.

Run as `timeout 8 bash -c START_LINE pilothouse UNIT`; 3: systemd did not answer.
"""

DATA_BORN = r"""LC_ALL=C; TZ=UTC; export LC_ALL TZ
began=$(systemctl show -p ExecMainStartTimestamp "$1") && began=${began#*=} && [ -n "$began" ] || exit 3
date -d "$began" '+began %s' && stat -c 'born %W' -- "$2/ibdata1"
"""
"""When systemd started a unit's server, and when the file of its data folder that only an SST replaces was made, both
as the host's clock said then (stat(1): %W, 0 where the file system doesn't know; systemctl(1)). No client sets either.

Run as `timeout 8 bash -c DATA_BORN pilothouse UNIT DATADIR`; 3: systemd did not answer, or knows of no start.
"""

_STAMP = r"([0-9.]+ [^ ]+ [^ :]+: )?[-0-9T:.+Z ]+\[[A-Za-z]+\] "
_PASSED = rf"^{_STAMP}(\[MY-[0-9]+\] )?(\[[A-Za-z]+\] )?(WSREP: )?####### Passing WS "
LOG_LINES = 20_000
_LESS = f" | {{ ulimit -v 524288; sed -E '/{_PASSED}/d' | tail -n {LOG_LINES}; }}"
LOG_OF_UNIT = 'set -o pipefail; journalctl -u "$1" --since "$2" -o short-unix --no-pager' + _LESS
"""A unit's journal from a moment on (`@EPOCH`, man systemd.time(7)), without the line that Percona's provider logs for
every write set of an IST (galera/src/ist.cpp, "####### Passing WS"): thousands of them push the proof out of any tail.
Only a line that is that and nothing else goes: one that holds a client's statement tells what the lines after it are.

Run as `timeout 30 bash -c LOG_OF_UNIT pilothouse UNIT @EPOCH`. sed(1) ends well without a line, so a failure is
journalctl's own, or that a line or the tail has more than half a gigabyte: whoever writes the log would have sed take
as much of the host's memory as he likes.
"""

LOG_OF_FILE = 'set -o pipefail; tail -c 1000000000 -- "$1"' + _LESS
"""The same of an error log file: its newest gigabyte. Run as `timeout 30 bash -c LOG_OF_FILE pilothouse FILE`."""

READ_PROGRAMS: tuple[str, ...] = (OS_LOOP, OS_LOOP_SH)
"""Every program text the allow-list accepts after `bash -c` (the first) or `sh -c` (the second)."""
