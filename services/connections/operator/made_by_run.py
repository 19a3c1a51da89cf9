"""What a run made on a host, noted when it was made, so that an undo removes that and no more.

A folder's inventory lies where root alone writes: which folder it is, and what came into it, each by number, birth,
type and name (inode(7); a number alone may be given again at once: find(1), %B). What a server made there since has
the names that servers use, and its account; all else is somebody's, stays where it lies, and is told.
"""

from __future__ import annotations

import hashlib

NOTES = "/var/lib/pilothouse/made"
SERVERS_NAMES = (
    *("ibdata*", "ib_logfile*", "ibtmp*", "ib_buffer_pool", "undo*", "#*", "aria_log*", "*.ibd", "*.frm", "*.MY[DI]"),
    *("*.MA[DI]", "*.CS[VM]", "*.AR[ZM]", "*.par", "*.TR[GN]", "*.opt", "*.isl", "*.cfg", "*.sdi", "*.MRG"),
    *("grastate.dat", "gvwstate.dat", "galera.cache", "gcache.page.*", "*.[0-9][0-9][0-9][0-9][0-9][0-9]", "*.index"),
    *("*.state", "*.info", "*upgrade_info", "*upgrade_history", "*.log", "*.log.*", "*auto.cnf", "grastate.dat.*"),
    *("ca*.pem", "client-*.pem", "server-*.pem", "ib_lru_dump"),
    *("private_key.pem", "public_key.pem", "*.pid", "*.err", "*.sock", "*.lock", "sst_in_progress"),
    *("xtrabackup_*", "mariadb_backup_*", "donor_galera_info", "backup-my.cnf", "*.delta", "*.meta", "*.zst", "*.qp"),
    *("*.lz4", "rsync_sst_complete", "pilothouse-files"),
    *("WiredTiger*", "*.wt", "storage.bson", "j._[0-9]*", "prealloc.[0-9]*", "lsn", "metrics.*", "*.ns", "*.[0-9]"),
    *("*.[0-9][0-9]",),
)
"""What MariaDB, MySQL, Galera, their backups and MongoDB 3.2 call their files (seen on the lab's servers).

Folders have no such names: one that is left empty goes.
"""

INVENTORY = r"""note_of() { printf '%s/%s' /var/lib/pilothouse/made "$(printf %s "$1" | sha256sum | cut -c 1-32)"; }
noted() {
  local note; note=$(note_of "$1"); mkdir -p -m 0700 -- "${note%/*}" || return 1
  { stat --printf '%d:%i\0' . &&
    find "${3:-.}" -xdev -mindepth 1 -path "${2:-./}" -prune -o -printf "${4:-%i,%B@} %y %P\0"; } > "$note.new" &&
    mv -fT -- "$note.new" "$note"
}
of_run() {
  local one; IFS= read -r -d '' one < "$(note_of "$1")" && [ "$one" = "$(stat -c %d:%i .)" ] ||
    die "no run made $(pwd -P)"
}
swept() {
  local note left one id kind rest owner path count=0 found; local -A made=(); local files=() folders=()
  note=$(note_of "$1"); left=$note.left; shift; rm -f -- "$left"
  [ "$#" -gt 0 ] || closed "${kept:--}" || die "the folders in $(pwd -P) could not be taken"
  if [ -f "$note" ]; then
    { IFS= read -r -d '' one
      if [ "$one" = "$(stat -c %d:%i .)" ]; then while IFS= read -r -d '' one; do made[$one]=1; done; fi; } < "$note"
  fi
  while IFS= read -r -d '' one; do
    id=${one%% *} rest=${one#* }; kind=${rest%% *} rest=${rest#* }; owner=${rest%% *} path=${rest#* }
    if [ -z "${made[$id $kind $path]-}${made[- $kind $path]-}" ]; then
      case $owner in "$me"|"${uid:-$me}") ;; *) continue;; esac
      [ "$kind" = d ] || servers "${path##*/}" || continue
    fi
    if [ "$kind" = d ]; then folders+=("./$path"); else files+=("./$path"); fi
  done < <(find . -xdev -depth -mindepth 1 ! -path "${kept:-./}" ! -path "${kept:-./}/*" ! -path ./lost+found \
    -printf '%i,%B@ %y %U %P\0')
  [ "${#files[@]}" -eq 0 ] || printf '%s\0' "${files[@]}" | "$@" xargs -0 rm -f --
  [ "${#folders[@]}" -eq 0 ] || printf '%s\0' "${folders[@]}" | "$@" xargs -0 rmdir --ignore-fail-on-non-empty --
  found=$(find . -xdev -mindepth 1 -path "${kept:-./}" -prune -o -path ./lost+found -prune -o ! -type d -printf '%P\n' |
    tr -c ' -~\n' '?')
  [ -n "$found" ] || found=$(find . -xdev -mindepth 1 -path "${kept:-./}" -prune -o -path ./lost+found -prune -o -print)
  rm -f -- "$note"
  [ -n "$found" ] || return 0
  count=$(printf '%s\n' "$found" | wc -l)
  printf '%s: %s, as %s\n' "$(pwd -P)" "$count" "$(printf '%s\n' "$found" | head -n 5 | cut -c 1-80 | paste -sd , -)" \
    > "$left"
  return 1
}
servers() {
  case $1 in
PATTERNS) ;;
  *) return 1;; esac
}
""".replace("PATTERNS", "|".join(one.replace("#", "\\#") for one in SERVERS_NAMES))
"""For bash, behind folders_of_others.WALK, in the folder that was entered:

`noted FOLDER [BUT] [SOURCE] [ID]` writes its inventory down: all that lies in it but for one name; or, with '-' for
their numbers, the names that are to come into it from a source. `of_run FOLDER` goes on only where it is the folder
that was noted. `swept FOLDER [AS...]` removes what is in the inventory or a server's, by a command before it, else as
root, whose all folders below are then before anything in them is named (`closed`): who has one open still would lay a
link in a name's place (tried: root deleted its own file, ten of ten). 1: something stays, and what it is stands beside
the note.
"""


def left_note(folder: str) -> str:
    """Return the file on a host that tells what an undo has left in a folder."""
    return f"{NOTES}/{hashlib.sha256(folder.encode()).hexdigest()[:32]}.left"
