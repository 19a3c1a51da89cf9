"""The one script that ends what a broken transfer left on a host. Needs bash, stat and /proc, and no procps."""

from __future__ import annotations

ORPHANS = r"wsrep_sst_|socat .*:4444|xbstream|mbstream"
END_ORPHANS = (
    'account=$1 pattern=$2; case $account in *[!0-9]*) account=$(id -u -- "$account") || exit 3;; esac\n'
    "left() {\n"
    "  pids= here=\n"
    '  for one in $(stat -c "%u:%n" /proc/[0-9]* 2>/dev/null); do\n'
    "    uid=${one%%:*} folder=${one#*:} pid=${one##*/}\n"
    '    [ "$pid" = "$$" ] && here=yes\n'
    '    [ "$uid" = "$account" ] || continue\n'
    "    line= n=0\n"
    '    while [ "$n" -lt 64 ] && { IFS= read -r -d "" -n 4096 word || [ -n "$word" ]; }; do\n'
    '      line="$line$word " n=$((n + 1)); done 2>/dev/null <"$folder/cmdline"\n'
    '    case $line in *"$pattern"*) continue;; esac\n'
    '    [[ ${line% } =~ $pattern ]] && pids="$pids $pid"\n'
    "  done\n"
    '  [ "$here" ]\n'
    "}\n"
    'gone() { left && [ -z "$pids" ]; }\n'
    "gone && exit 0\n"
    '[ "$here" ] || { echo "the processes in /proc could not be read" >&2; exit 2; }\n'
    "kill -TERM $pids 2>/dev/null\n"
    "for turn in 1 2 3 4 5 6 7 8 9 10; do gone && exit 0; sleep 0.5; done\n"
    "kill -KILL $pids 2>/dev/null\n"
    'sleep 0.5; gone || { echo "still running:$pids" >&2; exit 1; }'
)
"""Ends an SST's processes of one account (a name or a uid), and proves it. For root's shell.

A process' folder in /proc belongs to its effective account, and cmdline holds its words, each ended by a NUL, empty for
a zombie (man proc(5)): what pgrep -u -f reads, on hosts without procps too. A list in which the script doesn't find
itself proves nothing (/proc hidden or not mounted). A command line with the pattern's own text in it is this script's.
First words alone are read: a hundred thousand took minutes, and that account may begin as many processes as it likes.
"""
