"""Frozen programs that tell who may change what a path leads to, and by which program a process runs. They only read.

A server tells its own program and folders, and whoever has its account says them for it: so both are taken from the
kernel, and from the owner and the mode of every folder on the way.
"""

from __future__ import annotations

_WAY = r"""export LC_ALL=C
way() {
  local at list
  at=$(realpath -e -- "$1") || exit 1
  while :; do
    case $(ls -ld -- "$at") in ??????????+*) list=+;; *) list=;; esac
    stat -c "at %A$list %u %g %n" -- "$at" || exit 1
    [ "$at" != / ] || break
    at=${at%/*}; at=${at:-/}
  done
  echo end
}
"""
WAY_OF = (
    _WAY
    + r"""way "$1"
"""
)
"""Run as `timeout 8 bash -c WAY_OF pilothouse PATH`: 'at MODE UID GID PATH' of what a path leads to and of each folder
above it, up to '/', then 'end'. MODE is as ls(1) has it: a '+' behind it is an access list. 1: no such path."""

RUN_BY = (
    _WAY
    + r"""exe=$(readlink -- "/proc/$1/exe") && [ "/proc/$1/exe" -ef "$exe" ] || exit 1
grep -E '^(Uid|Gid):' "/proc/$1/status"
way "$exe"
"""
)
"""Run as `timeout 8 bash -c RUN_BY pilothouse PID`: the user and group numbers of a process (proc(5), status), then the
way to its program. The file that runs has to be the one of that name: not replaced since, nor of another file system.
"""
