"""The programs that copy a chain, and prepare a copy once. Each is given to a host as one word."""

from __future__ import annotations

from services.connections.operator.as_nobody import AS_NOBODY
from services.connections.operator.folders_of_others import WALK
from services.connections.programs.folder_programs import OWN_PATH
from services.procedures.catalogue.steps.restored.restoring_programs import FOLDERS, PLAIN_OPTIONS, STAYS_WITHIN

MARK = ".pilothouse-copies"

_CLEAR = rf"""clear() (
  missing() {{ exit 0; }}
  beside "$1"; [ -e "./$name" ] || [ -L "./$name" ] || exit 0
  [ -d "./$name" ] && [ ! -L "./$name" ] || exit 4
  (inside; alone
  [ ! -f ./{MARK} ] || {{ find . -xdev -mindepth 1 ! -path ./{MARK} -delete && rm -f -- ./{MARK}; }}) || exit 5
  rmdir -- "./$name" || exit 4
)
"""
"""Removes a folder of copies by its mark, the mark last; an empty one is nobody's loss. 4: it is not such a folder."""

COPY_CHAIN = rf"""{WALK}{_CLEAR}{FOLDERS}{OWN_PATH}{PLAIN_OPTIONS}{STAYS_WITHIN}place=$1 data=$2; shift 2
[ "$(realpath -m -- "$place")" = "$place" ] || {{ echo "a symbolic link leads to $place"; exit 8; }}
own_path "${{place%/*}}" && own_path "${{data%/*}}" || exit 10
clear "$place" || {{ was=$?; echo "$place is there already"; exit $was; }}
mkdir -p -m 0700 -- "${{place%/*}}" && mkdir -m 0700 -- "$place" && : > "$place/{MARK}" || exit 5
own_path "$place" || exit 10
n=0
for from in "$@"; do
  [ -d "$from" ] && [ ! -L "$from" ] || {{ echo "$from is no folder"; exit 3; }}
  echo "copying $from"
  before=$(folders "$from") && mkdir -m 0700 -- "$place/$n" && cp -a -- "$from/." "$place/$n/" || exit 6
  [ "$(folders "$from")" = "$before" ] || {{ echo "$from was changed while it was copied"; exit 6; }}
  rm -rf --one-file-system -- "$place/$n"/.pilothouse-* "$place/$n"/'#sql-pilothouse-'* || exit 6
  n=$((n+1))
done
linked=$(find "$place" \( ! -type f ! -type d -o -type f -links +1 -o -name '*.isl' \) -print -quit)
[ -z "$linked" ] || {{ echo "$linked is not a plain file of its own, or leads elsewhere"; exit 7; }}
stays_within "$place" || exit 7
while [ "$n" -gt 0 ] && n=$((n-1)); do plain_options "$place/$n" || exit 9; done
n=$#
sync -f -- "$place" && echo "copied: $n folders"
"""
"""$1 the folder of the run's own, $2 the data folder, the rest the backups in their order:
each becomes a plain copy, 0, 1, 2 ... in it.

Begun again it removes what it made, by its own mark, and begins with fresh copies. Copies that share a file with
anything, or whose tables lie elsewhere (.isl), are an error: a prepare writes into them, and waits for ever at a
FIFO. So is one with options that no prepare is given (plain_options), and a way to either folder into which others
than root may write. What an earlier run kept inside the data folder is in a backup as a schema
(rejoin_from_binlogs/restore_programs.py): it is left out, or it would be copied back into what this run keeps there.
"""

PREPARE_ONCE = rf"""export LC_ALL=C
{AS_NOBODY}{OWN_PATH}{PLAIN_OPTIONS}{STAYS_WITHIN}own_path "${{1%/*}}" || exit 10
for copy in "${{1%/*}}"/[0-9]*; do stays_within "$copy" && plain_options "$copy" || exit 9; done
mkdir -- "$1" || {{ echo "this copy was prepared before, wholly or in part: it is not prepared again"; exit 17; }}
place=${{1%/*}}; shift
as_nobody "$place"/[0-9]* -- "$@"
"""
"""$1 a folder that is made just before, beside the copies; the rest the command, run as nobody (as_nobody.py): the
copies are lent to it meanwhile. What has begun once never begins again.

A prepare with --target-dir reads the backup's own backup-my.cnf and no option file of the host (--print-defaults, tried
with mariadb-backup 10.11.18): its page size and the files of its system tablespace. With --no-defaults it takes
neither, and dies on a backup with pages of 4k.
"""

CLEAR_COPIES = rf"""{WALK}{_CLEAR}clear "$1" || {{ was=$?; echo "$1 is not a folder of copies"; exit $was; }}
"""
"""$1 the folder: removed only by the mark that COPY_CHAIN makes in it."""
