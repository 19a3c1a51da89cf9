"""A frozen program that tells what of a data folder lies elsewhere: links in it, mounts inside it. It only reads.

InnoDB notes a tablespace that lies elsewhere (DATA DIRECTORY) in an .isl file (MariaDB KB, "InnoDB File-Per-Table
Tablespaces"); MyISAM and people use symbolic links. A file system that is mounted inside the folder stays where it is
when the folder is renamed, and is mounted over what was put in its place when the host boots again (fstab(5)).
"""

from __future__ import annotations

ELSEWHERE = r"""export LC_ALL=C; set -o pipefail
data=$1
tell() { printf '%s %s\n' "$1" "$(printf %s "$2" | tr -c ' -~' '?' | head -c 512)"; }
while read -r _ _ _ _ at _; do
  case $at in "$data"/*) tell mount "$at";; esac
done < /proc/self/mountinfo || exit 3
if [ -e "$data" ] || [ -L "$data" ]; then
  find "$data" \( -type l -o -name '*.isl' \) -print0 | {
    n=0
    while IFS= read -r -d '' one; do n=$((n+1)); [ $n -gt 20 ] || tell link "$one"; done
  } || exit 4
fi
echo end
"""
"""Run as `timeout 30 nice bash -c ELSEWHERE pilothouse FOLDER`: each link, *.isl file and mount on a line, then 'end'.

Without its last word the folder was not searched to its end. The folder itself is told where it is a link.
"""
