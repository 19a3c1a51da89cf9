"""The one script that ends what a broken transfer left on a host. Needs bash, stat and /proc, and no procps."""

from __future__ import annotations

ORPHANS = r"^(wsrep_sst_[a-z0-9_]+|xbstream|mbstream|socat .*:4444)( |$)"
END_ORPHANS = (
    'account=$1 pattern=$2; case $account in *[!0-9]*) account=$(id -u -- "$account") || exit 3;; esac\n'
    "under_a_server() {\n"
    "  up=$1 m=0\n"
    '  while [ "$up" -gt 1 ] && [ "$m" -lt 16 ]; do\n'
    "    over= m=$((m + 1))\n"
    "    while read -r -n 200 key value _; do case $key in\n"
    "      Name:) case $value in mysqld|mariadbd) return 0;; esac;;\n"
    "      PPid:) over=$value; break;;\n"
    '    esac; done 2>/dev/null <"/proc/$up/status"\n'
    '    case $over in ""|*[!0-9]*) return 1;; esac; up=$over\n'
    "  done\n"
    "  return 1\n"
    "}\n"
    "left() {\n"
    "  pids= here= blind=\n"
    '  for one in $(stat -c "%u:%n" /proc/[0-9]* 2>/dev/null); do\n'
    "    uid=${one%%:*} folder=${one#*:} pid=${one##*/}\n"
    '    [ "$pid" = "$$" ] && here=yes\n'
    '    [ "$uid" = "$account" ] || continue\n'
    "    line= n=0 script=\n"
    '    while [ "$n" -lt 64 ] && { IFS= read -r -d "" -n 4096 word || [ -n "$word" ]; }; do\n'
    "      n=$((n + 1))\n"
    '      if [ "$n" -eq 1 ]; then\n'
    "        word=${word##*/}\n"
    "        case $word in sh|bash|dash|ksh|perl|python*) script=follows; continue;; esac\n"
    '      elif [ "$script" ]; then\n'
    "        case $word in --*) continue;; -*c*) break;; -*) continue;; esac\n"
    "        word=${word##*/} script=\n"
    "      fi\n"
    '      line="$line$word "\n'
    '    done 2>/dev/null <"$folder/cmdline"\n'
    "    [[ ${line% } =~ $pattern ]] || continue\n"
    '    if [ "$folder/ns/pid" -ef "/proc/$$/ns/pid" ]; then under_a_server "$pid" || pids="$pids $pid"\n'
    '    elif [ ! -e "$folder/ns/pid" ] && [ -e "$folder/cmdline" ]; then blind=yes; fi\n'
    "  done\n"
    '  [ "$here" ] && [ -z "$blind" ]\n'
    "}\n"
    'gone() { left && [ -z "$pids" ]; }\n'
    "gone && exit 0\n"
    '[ "$here" ] && [ -z "$blind" ] || { echo "the processes in /proc could not be read" >&2; exit 2; }\n'
    "kill -TERM $pids 2>/dev/null\n"
    "for turn in 1 2 3 4 5 6 7 8 9 10; do gone && exit 0; sleep 0.5; done\n"
    "kill -KILL $pids 2>/dev/null\n"
    'sleep 0.5; gone || { echo "still running:$pids" >&2; exit 1; }'
)
"""Ends an SST's processes of one account (a name or a uid), and proves it. For root's shell.

A process' folder in /proc belongs to its effective account, and cmdline holds its words, each ended by a NUL, empty for
a zombie (man proc(5)): what pgrep -u -f reads, on hosts without procps too. A list in which the script doesn't find
itself proves nothing (/proc hidden or not mounted). What counts is the program, or the script that it interprets: a
server started with --wsrep_sst_method, an editor and a search name one among their words. What runs below a living
server is that server's transfer (a second instance has the same account), and a container has process numbers of its
own with accounts of the same number: neither was left behind.
First words alone are read: a hundred thousand took minutes, and that account may begin as many processes as it likes.
"""
