"""The programs that copy a chain, and prepare a copy once. Each is given to a host as one word."""

from __future__ import annotations

MARK = ".pilothouse-copies"

COPY_CHAIN = rf"""umask 077; export LC_ALL=C
work=$1; shift
[ "$(realpath -m -- "$work")" = "$work" ] || {{ echo "a symbolic link leads to $work"; exit 8; }}
if [ -e "$work" ] || [ -L "$work" ]; then
  [ -d "$work" ] && [ ! -L "$work" ] && [ -f "$work/{MARK}" ] || {{ echo "$work is there already"; exit 4; }}
  rm -rf --one-file-system -- "$work" || exit 5
fi
mkdir -p -m 0700 -- "${{work%/*}}" && mkdir -m 0700 -- "$work" && : > "$work/{MARK}" || exit 5
n=0
for from in "$@"; do
  [ -d "$from" ] && [ ! -L "$from" ] || {{ echo "$from is no folder"; exit 3; }}
  echo "copying $from"
  mkdir -m 0700 -- "$work/$n" && cp -a -- "$from/." "$work/$n/" || exit 6
  n=$((n+1))
done
linked=$(find "$work" \( -type l -o -type f -links +1 \) -print -quit)
[ -z "$linked" ] || {{ echo "$linked is a link, not a copy"; exit 7; }}
sync -f -- "$work" && echo "copied: $n folders"
"""
"""$1 the folder of the run's own, the rest the backups in their order: each becomes a plain copy, 0, 1, 2 ... in it.

Begun again it removes what it made, by its own mark, and begins with fresh copies. Copies that share a file with
anything are an error: a prepare writes into them.
"""

PREPARE_ONCE = r"""export LC_ALL=C
mkdir -- "$1" || { echo "this copy was prepared before, wholly or in part: it is not prepared again"; exit 17; }
shift
exec "$@"
"""
"""$1 a folder that is made just before; the rest the command. What has begun once on a copy never begins again."""

CLEAR_COPIES = rf"""[ -e "$1" ] || [ -L "$1" ] || exit 0
[ -d "$1" ] && [ ! -L "$1" ] && [ -f "$1/{MARK}" ] || {{ echo "$1 is not a folder of copies"; exit 4; }}
rm -rf --one-file-system -- "$1"
"""
"""$1 the folder: removed only by the mark that COPY_CHAIN makes in it."""
