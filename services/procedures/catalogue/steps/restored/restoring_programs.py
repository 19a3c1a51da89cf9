"""The few programs with which a data folder is kept, emptied, given to its server and freed of another's identity.

Each is given to a host as one word; its arguments are words too. A folder that is the top of a file system can't be
renamed: its content is moved into a folder inside it, which gets its name only when all is in it. So what its name
stands for is whole, and nothing is ever removed while it is not there. The data folder is root's until all is in place:
a server that starts early can write nothing into it, and its account can lay no link there.

Each enters the folder once (folders_of_others.py), and acts in what it entered: no name above it is asked a second
time. What takes a path itself (the tool that copies back) is given one only where the whole way is root's alone
(own_path): that can't change under it.
"""

from __future__ import annotations

from services.connections.operator.backup_options import OPTIONS_OF
from services.connections.operator.folders_of_others import WALK
from services.connections.operator.made_by_run import INVENTORY
from services.connections.programs.folder_programs import OWN_PATH

_PLACES = (
    WALK
    + r"""data=$1 aside=$2 kept=./
number() { case $1 in *[!0-9]*) id -u -- "$1";; *) echo "$1";; esac; }
case $aside in "$data"/*) kept=./${aside##*/};; esac
half=$kept.part
others() { find . -mindepth 1 -maxdepth 1 ! -path "$kept" ! -path "$half" ! -name lost+found "$@"; }
entered "$data"
"""
)
"""$1 the data folder, $2 where the old data are kept, $3 the account; `kept` is that place where it is inside."""

_ACCOUNT = r"""account=$(number "$3") || die "there is no account $3"
group=$(getent passwd "$account" | cut -d: -f4); who=$account${group:+:$group}
"""

KEEP_INSIDE = (
    _PLACES
    + _ACCOUNT
    + r"""[ ! -L "$kept" ] && [ ! -L "$half" ] || exit 3
[ ! -e "$kept" ] || exit 4
[ -d "$half" ] || mkdir -m 0700 -- "$half" || exit 5
taken "$account"
[ -d "$half" ] && [ ! -L "$half" ] && [ -O "$half" ] || exit 5
others -exec mv -n -t "$half" -- {} + || exit 6
[ -z "$(others -print -quit)" ] || exit 6
mv -T -- "$half" "$kept"
"""
)
"""What lies in the data folder goes into the folder inside it. Begun again, it goes on where it was.

The folder that takes them is there before the data folder is root's: what was begun is seen by it. Until then the
server's account may lay a link in its place, and root would move what that account chose into /etc (tried: every second
try won). So what it is counts when nobody else can write into the data folder, by its mode or by an access list, whose
mask the group's bits are (acl(5)).
"""

BACK_FROM_INSIDE = (
    _PLACES
    + _ACCOUNT
    + r"""taken "$account"
[ ! -L "$kept" ] && [ ! -L "$half" ] || exit 3
if [ -e "$kept" ]; then
  [ ! -e "$half" ] && [ -z "$(others -print -quit)" ] || exit 4
  mv -T -- "$kept" "$half" || exit 5
fi
[ -d "$half" ] || { chown -h -- "$who" .; exit; }
find "$half" -mindepth 1 -maxdepth 1 -exec mv -n -t . -- {} + || exit 6
rmdir -- "$half" && chown -h -- "$who" .
"""
)
"""The way back; nothing of another name may lie in it when it begins.

Begun again, it goes on where it was. The folder is its server's again last.
"""

MAKE_CLOSED = (
    WALK
    + INVENTORY
    + r"""beside "$1"
[ -e "./$name" ] || [ -L "./$name" ] || mkdir -m 0700 -- "./$name" || exit 73
[ -d "./$name" ] && [ ! -L "./$name" ] || die "$(pwd -P)/$name is no folder of its own"
inside
[ "$(stat -c %u .)" = "$me" ] || die "$(pwd -P) is not root's"
[ -z "$(ls -A .)" ] || die "$(pwd -P) holds something already"
chown -h -- "$me:$(id -g)" . && alone && noted "$1"
"""
)
"""$1 a folder: it is made, empty and root's alone, in one in which nobody else can exchange it."""

TAKE = (
    WALK
    + r"""number() { case $1 in *[!0-9]*) id -u -- "$1";; *) echo "$1";; esac; }
entered "$1"
account=$(number "$2") || die "there is no account $2"
[ -w . ] || exit 1
taken "$account"
"""
)
"""$1 a data folder, $2 its account: it is root's from here on. 1: it can't be written, so it is nobody's to change."""

LEFT_INSIDE = "#sql-pilothouse-left.sst"
EMPTY_BESIDE = (
    _PLACES
    + INVENTORY
    + _ACCOUNT
    + f"left={LEFT_INSIDE}\n"
    + r"""taken "$account"
[ -d "$kept" ] && [ ! -L "$kept" ] && [ "$kept" != ./ ] && [ ! -e "$half" ] || exit 4
uid=$account
if swept "$data"; then exit; fi
[ -d "$kept/$left" ] || mkdir -m 0700 -- "$kept/$left" || exit 5
others -exec mv -n -t "$kept/$left" -- {} + && [ -z "$(others -print -quit)" ] || exit 6
sed -i "s/^/in $left of /" -- "$(note_of "$data").left"
"""
)
"""Removes what the run brought (made_by_run.py), only while the folder that was kept stands inside under its whole
name. What somebody else put there goes into a folder of its own among the old data, and comes back with them."""

COPY_BACK = (
    WALK
    + INVENTORY
    + OWN_PATH
    + r"""data=$1 aside=$2 kept=./; shift 2
case $aside in "$data"/*) kept=./${aside##*/};; esac
odd=$(own_path "${data%/*}") || die "$odd"
entered "$data"; alone
trap : TERM INT HUP
"$@"; code=$?
noted "$data" "$kept" || die 'what was copied back could not be noted'
[ "$code" -eq 0 ] || exit "$code"
sync -f . && echo 'copied back, and on disk'
"""
)
COPIED_BACK = r"completed OK!\s+(copied back, and on disk)\s*\Z"
"""$1 the data folder, $2 where the old data are kept, the rest the command. What it wrote is noted, also where it was
stopped, and on disk before its end is told.

A copy back of mariadb-backup 10.11.18 calls no fsync at all (traced): a host that loses its power within half a minute
has files with holes then, and InnoDB takes pages of zeros for pages that nobody has used yet.
"""

GIVE_TO_SERVER = (
    _PLACES
    + _ACCOUNT
    + r"""alone; closed "$kept" || exit 5
mode=$(if [ "$kept" = ./ ]; then entered "$aside"; fi; stat -c %a .) || exit 5
linked=$(find . -xdev -mindepth 1 -path "$kept" -prune -o -type f -links +1 -print -quit) || exit 5
[ -z "$linked" ] || die "$linked is linked: it would be given away elsewhere too"
if command -v restorecon > /dev/null; then restorecon -R -- "$(pwd -P)"; fi
others -exec chown -R -h -- "$who" {} + && chmod "$mode" -- . && chown -h -- "$who" . || exit 5
"""
)
"""The account, and its group, for all that was brought, and its labels where the host has SELinux.

What is kept inside stays as it is; a folder that was made anew gets the mode of the one that is kept beside it. All
folders are root's until then: nobody lays a hard link in one, which would give away a file elsewhere; chown(1) gives a
folder away behind what lies in it.
"""

WITHOUT_IDENTITY = (
    WALK
    + r"""entered "$1"; alone
find . -mindepth 1 -maxdepth 1 -type f \( -name auto.cnf -o -name galera.cache -o -name 'gcache.page.*' \
  -o -name gvwstate.dat -o -name grastate.dat -o -name '*-relay-bin.*' -o -name 'relay-log*.info' \
  -o -name 'master*.info' -o -name multi-master.info -o -name "${2:-auto.cnf}" \) -delete
"""
)
"""Removes what names another server, its place in a group, its cache and its channels of replication.

$1 the data folder, which is root's still; $2 the name of one more file.
"""

STAYS_WITHIN = r"""stays_within() {
  local one to
  while IFS= read -r -d '' one; do
    to=$(head -c 1025 -- "$one" | tr -d '\0')
    case $to in
      /* | *..* | */ | *$'\n'* | ./*/*/*) ;;
      ./*/*) continue;;
      */*/*) ;;
      */*) continue;;
    esac
    printf '%s names a place that is no table of the backup\n' "$one"; return 1
  done < <(find "$1" -name '*.ren' -print0)
}
"""
"""`stays_within FOLDER`: each .ren file of a backup, by which a prepare renames a table, names one of the backup's own.

mariadb-backup 10.11.18 renames the table's file to whatever path stands there, as root: into /etc/logrotate.d (tried).
Asked of a copy that is root's alone: what stood there when it was asked is what the prepare reads.
"""

PLAIN_OPTIONS = (
    OPTIONS_OF
    + r"""plain_options() {
  local kept=''
  options_of "$1" || return 1
  [ ! -e "$1/backup-my.cnf" ] || { rm -f -- "$1/backup-my.cnf" && printf %s "$kept" > "$1/backup-my.cnf"; }
}
"""
)
"""`plain_options FOLDER`, in root's own copy of a backup: leaves in its backup-my.cnf only what a closed list has.

Anything else in it is told and refused: with an option left out a prepare would be of other data than the backup's. A
copy without the file is left to the tool, which takes none (tried).
"""

FOLDERS = r"""folders() { find "$1/" -type d -printf '%D %i %C@ %P\n' | sha256sum; }
"""
"""`folders FOLDER`: tells the same before and behind a copy only where no folder of it was another one meanwhile.

Who may write into a backup puts a link in the place of one of its folders while root copies it, and the folder back
again: root copies what that leads to (/etc/shadow), and gives it to the server with the data. A rename sets the time of
a folder's last change, which nobody can set back (inode(7), ctime).
"""
