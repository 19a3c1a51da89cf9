"""The scripts that bring a copied data folder, and look through it before a server may touch it."""

from __future__ import annotations

from services.connections.operator.folders_of_others import WALK
from services.connections.operator.made_by_run import INVENTORY
from services.connections.programs.folder_programs import OWN_PATH
from services.procedures.catalogue.galera.snapshot_node.hold import FILES

NONE_BUT_ROOT = f'{OWN_PATH}own_path "${{1%/*}}"'
"""For root's bash: FOLDER: nobody but root can put another one in its place while root works in it by its name."""

LIST_S, SYNC_S = 600, 900
"""So long the files may be listed, and what the host still has of them in memory may take to its disk."""

BRING = (
    WALK
    + INVENTORY
    + f"sync_s={SYNC_S}\n"
    + r"""folder=$1 aside=$2 run=$3 kept=./; shift 3
case $aside in "$folder"/*) kept=./${aside##*/};; esac
trap : TERM INT HUP
bash -c "$run" pilothouse "$@"; code=$?
(entered "$folder"; noted "$folder" "$kept") || echo "pilothouse: what it brought into $folder could not be noted"
[ "$code" -eq 0 ] || exit "$code"
timeout -k 10 "$sync_s" sync -f -- "$folder" && exit
echo "pilothouse: what it brought into $folder is not known to be on the disk (sync -f)"; exit 71
"""
)
"""For root's bash: FOLDER ASIDE RUN LIMIT_S COMMAND...: as RUN; what it brought is noted, also where it went wrong or
was stopped, and is on the disk before its end is told.

Its step is not done again, and the look behind it sees lengths: after a loss of power it would pass over holes.
"""

LOOK_THROUGH = (
    WALK
    + FILES
    + f"list_s={LIST_S} sync_s={SYNC_S}\n"
    + r"""folder=$1 aside=$2 of=$3 scope=$4 kept=./
no() { echo "pilothouse: $*" >&2; exit 3; }
die() { no "$@"; }
ours() { find . -mindepth 1 -path "$kept" -prune -o "$@"; }
(entered "$folder") || exit
ends=yes
case $aside in "$folder"/*) ;; *) if mountpoint -q -- "$folder"; then ends=; fi;; esac
if [ -n "$ends" ]; then
  systemctl stop "$scope"; code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 5 ] || no "what your command left running could not be ended ($scope)"
fi
case $aside in "$folder"/*) mode=go-w kept=./${aside##*/};; *) mode=0700;; esac
entered "$folder"
(taken "$me" "$mode") && closed "$kept" || no "$folder could not be made root's"
list=./$listed_as
for one in ibdata1 grastate.dat; do
  [ -f "./$one" ] && [ ! -L "./$one" ] || no "$folder has no $one: this is no server's data folder"
done
link=$(ours \( -type l -o -name '*.isl' \) -print -quit) || no "$folder could not be searched"
[ -z "$link" ] || no "$link leads out of $folder"
link=$(ours -type f -links +1 -print -quit) || no "$folder could not be searched"
[ -z "$link" ] || no "$link is linked: a server that writes it changes it elsewhere too"
odd=$(ours \( ! -type f ! -type d ! -type s -o -type f -perm /6000 \) -print -quit) ||
  no "$folder could not be searched"
[ -z "$odd" ] || no "$odd is a pipe, a device or a program that runs as another account"
while read -r _ at _; do
  case $at in "$folder"/*) no "$at is a file system of its own";; esac
done </proc/mounts
[ -f "$list" ] && [ "$(head -n 1 -- "$list")" = "$of" ] && [ "$(tail -n 1 -- "$list")" = end ] ||
  no "$list is not that of $of, or not whole: this is no copy of what was taken under the lock"
lost=$(files . "$kept" "$list_s" | awk -F '\t' '
  NR == FNR { have[$2] = $1; next }
  FNR == 1 || $0 == "end" || ($2 in have && ($2 !~ /[.](ibd|MYD|MYI|MAD|MAI)$/ || have[$2] + 0 >= $1 + 0)) { next }
  n++ == 0 { one = $2 }
  END { if (n) print "files of the donor are missing here, or shorter: " n ", as " one }' - "$list") ||
  no "the files in $folder could not be held against the donor's"
[ -z "$lost" ] || no "$lost"
[ -w . ] || no "$folder cannot be written"
ours -maxdepth 1 \( -type s -o -type f \( -name '*.pid' -o -name sst_in_progress -o -name 'ibtmp*' \
  -o -name '*.pilothouse-*' \) \) -exec rm -f -- {} + || no "what the donor's run left could not be removed"
timeout -k 10 "$sync_s" sync -f . || no "the copy in $folder is not known to be on the disk (sync -f)"
"""
)
"""For root's bash: FOLDER ASIDE (what is kept inside it stays untouched) NAME (of the mark) SCOPE (of the command).

Nothing is repaired: what is odd is refused. The list of the donor's files that was made under the lock came with the
copy: that shows it is of this lock, and that no table's file was left behind (`ssh ... tar | tar` ends well where the
far tar could not read one). It stays until the copy is made the joiner's own: a look may be repeated. What the
operator's command left at work is ended before, for it may still copy; not where a volume is attached, which it serves.

A symbolic link, an .isl file (where InnoDB notes a tablespace that lies elsewhere), a hard link or a mount inside has
parts of the data lie in two places at once: on the joiner, on the donor, in the snapshot itself. A device that root
made on the donor (rsync -a brings it) would be given to the server's account here: a whole disk, past every right. A
pipe is waited on for ever. The folder is root's again before it is looked at, for what brings it (tar, a mounted
volume) gives it the donor's owner: what was seen in it stays so until it is given to its server, with the mode of the
folder that is kept beside it.

The copy is on the disk before it counts: cp, tar and rsync call no fsync (sync(1), -f; syncfs(2) tells a write that
failed), and InnoDB takes pages of zeros for pages that nobody has used yet.
"""
