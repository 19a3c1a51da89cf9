"""The programs that make restored data out of a backup without touching it. For root's shell."""

from __future__ import annotations

from services.connections.operator.as_nobody import AS_NOBODY
from services.connections.operator.folders_of_others import WALK
from services.connections.programs.folder_programs import OWN_PATH
from services.procedures.catalogue.steps.restored.restoring_programs import FOLDERS, PLAIN_OPTIONS, STAYS_WITHIN

PREPARE = (
    AS_NOBODY
    + FOLDERS
    + OWN_PATH
    + PLAIN_OPTIONS
    + STAYS_WITHIN
    + r"""set -u -o pipefail -o noclobber; export LC_ALL=C
copy=$1 work=$2 tool=$3 wanted=$4 part=$2.part
failed() { printf 'failed: %s\n' "$1"; exit 9; }
[ -d "$copy" ] || failed "$copy is no folder"
inside=$(realpath -- "$copy") && place=$(realpath -m -- "$work") || failed 'the folders can not be told'
case $place/ in "$inside"/*) failed 'the copy would lie in the backup itself';; esac
case $inside/ in "$place"/*) failed 'the backup would lie in the copy';; esac
before=$(folders "$copy") || failed 'the folders of the backup could not be listed'
odd=$(find "$copy/" \( ! -type f ! -type d -o -name '*.isl' \) -print -quit) && [ -z "$odd" ] ||
  failed "${odd:-something} in the backup is not a plain file or folder of its own: a link may lead anywhere"
odd=$(own_path "${place%/*}") || failed "$odd"
rm -rf --one-file-system -- "$part" "$part.log" && mkdir -m 0700 -- "$part" || failed 'no folder for the copy'
cp -r --no-preserve=mode,ownership --reflink=auto -- "$copy/." "$part/" || failed 'the backup could not be copied'
[ "$(folders "$copy")" = "$before" ] || failed 'the backup was changed while it was copied'
rm -rf --one-file-system -- "$part"/.pilothouse-* "$part"/'#sql-pilothouse-'* ||
  failed 'what an earlier run kept could not be left out'
odd=$(find "$part" \( ! -type f ! -type d -o -type f -links +1 -o -name '*.isl' \) -print -quit) && [ -z "$odd" ] ||
  failed "${odd:-something} in the copy is not a plain file or folder of its own"
chmod -R u+rwX -- "$part"
odd=$(stays_within "$part") || failed "$odd"
odd=$(plain_options "$part") || failed "${odd:-the options of the backup could not be read}"
said() {
  ! grep -aq 'could not be opened: Error' "$part.log" || return 1
  case $(tail -n 1 -- "$part.log") in *'completed OK!') return 0;; *) return 1;; esac
}
as_nobody "$part" -- "$tool" --prepare --target-dir="$part" > "$part.log" 2>&1 && said ||
  { grep -a 'could not be opened: Error' -- "$part.log"; tail -n 12 -- "$part.log"; rm -f -- "$part.log"
    failed 'the copy could not be prepared'; }
rm -f "$part.log"
for f in "$part/mariadb_backup_galera_info" "$part/xtrabackup_galera_info"; do [ -f "$f" ] && break; done
found=$(head -c 400 -- "$f" | head -n 1); found=${found%%[[:space:]]*}
[ "$found" = "$wanted" ] || failed "the prepared copy stands at ${found:-a position not known}, not at $wanted"
mv -T -- "$part" "$work" || failed 'the copy could not be named'
printf 'prepared: %s\n' "$found"
"""
)
"""`bash -c PREPARE pilothouse BACKUP WORK TOOL UUID:SEQNO`: a copy of every file is prepared, never the backup, and as
nobody: a backup's logs name paths (as_nobody.py).

Without --no-defaults a prepare reads the copy's own backup-my.cnf and no option file of the host; with it the page size
and the files of the system tablespace are not the backup's, and it dies (tried with 10.11.18, pages of 4k). Where it
can't open an Aria table that its log has rows for, it warns, loses them and ends with 'completed OK!' (tried: a grant).

--prepare writes into what it is given; a backup that shares files with another by links would be changed with it. A
backup of a node that keeps older data inside its data folder may have that folder too (mariadb-backup takes a name
without #sql for a schema, seen on 10.11.18): copied back, it would be mixed with what this run keeps. What was looked
at in the backup may be a link by the time it is copied: so the copy, which is root's alone, is looked at too.
"""
PREPARED = r"(?m)^prepared: ([0-9a-f-]{36}:\d+)"

TIDY = (
    WALK
    + r"""data=$1 work=$2 base=$3
case $work in *.pilothouse-prepared) ;; *) exit 4;; esac
(entered "$data"; alone; [ -e ./ibdata1 ]) || exit 3
(beside "$work"; rm -rf --one-file-system -- "./$name") || exit 5
entered "$data"; alone
find . -mindepth 1 -maxdepth 1 -type f \( -name 'xtrabackup_*' -o -name 'mariadb_backup_*' \
  -o -name donor_galera_info -o -name backup-my.cnf \) -delete || exit 6
[ -z "$base" ] || find . -mindepth 1 -maxdepth 1 -type f -name "$base.[0-9]*" -delete
"""
)
REMOVE_COPY = (
    WALK
    + r"""beside "$1"; rm -rf --one-file-system -- "./$name" "./$name.part" "./$name.part.log"
"""
)
"""$1 the copy that PREPARE makes, under a name of the console's own in a folder of root's alone."""
"""`bash -c TIDY pilothouse DATA WORK BASE`: takes the copy away, and what a backup brings beside the data: its own
notes, and the one binary log file that --galera-info adds (tried, 10.11.18), which would stand before the new log's.
"""
