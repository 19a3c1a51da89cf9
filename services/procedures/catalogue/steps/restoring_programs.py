"""The few programs with which a data folder is kept, emptied, given to its server and freed of another's identity.

Each is given to a host as one word; its arguments are words too. A folder that is the top of a file system can't be
renamed: its content is moved into a folder inside it, which gets its name only when all is in it. So what its name
stands for is whole, and nothing is ever removed while it is not there. The data folder is root's until all is in place:
a server that starts early can write nothing into it, and its account can lay no link there.
"""

from __future__ import annotations

_PLACES = r"""export LC_ALL=C
data=$1 aside=$2 part=$2.part
others() { find "$data" -mindepth 1 -maxdepth 1 ! -path "$aside" ! -path "$part" ! -name lost+found "$@"; }
[ -d "$data" ] && [ ! -L "$data" ] && [ ! -L "$aside" ] && [ ! -L "$part" ] || exit 3
"""

KEEP_INSIDE = (
    _PLACES
    + r"""[ ! -e "$aside" ] || exit 4
chown -h -- root:root "$data" || exit 5
mkdir -p -m 0700 -- "$part" || exit 5
others -exec mv -n -t "$part" -- {} + || exit 6
[ -z "$(others -print -quit)" ] || exit 6
mv -T -- "$part" "$aside"
"""
)
"""$1 the data folder, $2 the folder inside it that takes what lies there. Begun again, it goes on where it was."""

BACK_FROM_INSIDE = (
    _PLACES
    + r"""chown -h -- root:root "$data" || exit 5
if [ -e "$aside" ]; then
  [ ! -e "$part" ] && [ -z "$(others -print -quit)" ] || exit 4
  mv -T -- "$aside" "$part" || exit 5
fi
[ -d "$part" ] || { chown -h -- mysql:mysql "$data"; exit; }
find "$part" -mindepth 1 -maxdepth 1 -exec mv -n -t "$data" -- {} + || exit 6
rmdir -- "$part" && chown -h -- mysql:mysql "$data"
"""
)
"""The way back: nothing of another name may lie in the folder when it begins; begun again, it goes on where it was."""

EMPTY_BESIDE = (
    _PLACES
    + r"""[ -d "$aside" ] && [ ! -e "$part" ] || exit 4
others -exec rm -rf --one-file-system -- {} +
"""
)
"""Removes what the run brought: only while the folder that was kept stands inside under its whole name."""

GIVE_TO_SERVER = (
    _PLACES
    + r"""others -exec chown -R -h -- mysql:mysql {} + || exit 5
chown -h -- mysql:mysql "$data" || exit 5
if command -v restorecon > /dev/null; then restorecon -R -- "$data"; fi
"""
)
"""Owner of all that was brought, and its labels where the host has SELinux; what is kept inside stays as it is."""

WITHOUT_IDENTITY = r"""export LC_ALL=C
[ -d "$1" ] && [ ! -L "$1" ] || exit 3
find "$1" -mindepth 1 -maxdepth 1 -type f \( -name auto.cnf -o -name galera.cache -o -name 'gcache.page.*' \
  -o -name gvwstate.dat -o -name grastate.dat -o -name '*-relay-bin.*' -o -name 'relay-log*.info' \
  -o -name 'master*.info' -o -name multi-master.info \) -delete
"""
"""Removes what names another server, its place in a group, its cache and its channels of replication."""

END_WORK = r"""export LC_ALL=C
at_work() {
  local p
  for p in /proc/[0-9]*; do
    tr '\0' '\n' 2>/dev/null < "$p/cmdline" | awk -v w="$1" '
      $0 == "pilothouse-end" { own = 1 } $0 == w || index($0, w "/") { found = 1 } END { exit !(found && !own) }
    ' && echo "${p#/proc/}"
  done
}
n=0
while pids=$(at_work "$1"); [ -n "$pids" ]; do
  [ $n -lt 40 ] || exit 6
  if [ $n -lt 20 ]; then kill -s TERM -- $pids 2>/dev/null; else kill -s KILL -- $pids 2>/dev/null; fi
  n=$((n+1)); sleep 0.5
done
"""
"""Run as `bash -c END_WORK pilothouse-end FOLDER`: ends each process that has the folder, or what lies in it, among its
words, and comes back when none is left. Work that goes on without the console must not write into what an undo moves.
"""
