"""The few programs with which a data folder is kept, emptied, given to its server and freed of another's identity.

Each is given to a host as one word; its arguments are words too. A folder that is the top of a file system can't be
renamed: its content is moved into a folder inside it, which gets its name only when all is in it. So what its name
stands for is whole, and nothing is ever removed while it is not there. The data folder is root's until all is in place:
a server that starts early can write nothing into it, and its account can lay no link there.
"""

from __future__ import annotations

from services.connections.backup_options import OPTIONS_OF

_PLACES = r"""export LC_ALL=C
data=$1 aside=$2 part=$2.part
others() { find "$data" -mindepth 1 -maxdepth 1 ! -path "$aside" ! -path "$part" ! -name lost+found "$@"; }
[ -d "$data" ] && [ ! -L "$data" ] && [ ! -L "$aside" ] && [ ! -L "$part" ] || exit 3
"""

_ACCOUNT = r"""group=$(getent passwd "$3" | cut -d: -f4); who=$3${group:+:$group}
"""

KEEP_INSIDE = (
    _PLACES
    + r"""[ ! -e "$aside" ] || exit 4
mkdir -p -m 0700 -- "$part" || exit 5
chown -h -- root:root "$data" && chmod go-w -- "$data" || exit 5
[ -d "$part" ] && [ ! -L "$part" ] && [ -O "$part" ] || exit 5
others -exec mv -n -t "$part" -- {} + || exit 6
[ -z "$(others -print -quit)" ] || exit 6
mv -T -- "$part" "$aside"
"""
)
"""$1 the data folder, $2 the folder inside it that takes what lies there. Begun again, it goes on where it was.

The folder that takes them is there before the data folder is root's: what was begun is seen by it. Until then the
server's account may lay a link in its place, and root would move what that account chose into /etc (tried: every second
try won). So what it is counts when nobody else can write into the data folder, by its mode or by an access list, whose
mask the group's bits are (acl(5)).
"""

BACK_FROM_INSIDE = (
    _PLACES
    + _ACCOUNT
    + r"""chown -h -- root:root "$data" && chmod go-w -- "$data" || exit 5
if [ -e "$aside" ]; then
  [ ! -e "$part" ] && [ -z "$(others -print -quit)" ] || exit 4
  mv -T -- "$aside" "$part" || exit 5
fi
[ -d "$part" ] || { chown -h -- "$who" "$data"; exit; }
find "$part" -mindepth 1 -maxdepth 1 -exec mv -n -t "$data" -- {} + || exit 6
rmdir -- "$part" && chown -h -- "$who" "$data"
"""
)
"""The way back, $3 the account whose the data folder is; nothing of another name may lie in it when it begins.

Begun again, it goes on where it was. The folder is its server's again last.
"""

EMPTY_BESIDE = (
    _PLACES
    + r"""[ -d "$aside" ] && [ ! -e "$part" ] || exit 4
others -exec rm -rf --one-file-system -- {} +
"""
)
"""Removes what the run brought: only while the folder that was kept stands inside under its whole name."""

COPY_BACK = r"""export LC_ALL=C
data=$1; shift
"$@" || exit
sync -f -- "$data" && echo 'copied back, and on disk'
"""
COPIED_BACK = r"completed OK!\s+(copied back, and on disk)\s*\Z"
"""$1 the data folder, the rest the command. What it wrote is on disk before its end is told.

A copy back of mariadb-backup 10.11.18 calls no fsync at all (traced): a host that loses its power within half a minute
has files with holes then, and InnoDB takes pages of zeros for pages that nobody has used yet.
"""

GIVE_TO_SERVER = (
    _PLACES
    + _ACCOUNT
    + r"""others -exec chown -R -h -- "$who" {} + || exit 5
if [ "${aside%/*}" != "$data" ]; then chmod --reference="$aside" -- "$data" || exit 5; fi
chown -h -- "$who" "$data" || exit 5
if command -v restorecon > /dev/null; then restorecon -R -- "$data"; fi
"""
)
"""Account $3, and its group, for all that was brought, and its labels where the host has SELinux.

What is kept inside stays as it is; a folder that was made anew gets the mode of the one that is kept beside it.
"""

WITHOUT_IDENTITY = r"""export LC_ALL=C
[ -d "$1" ] && [ ! -L "$1" ] || exit 3
find "$1" -mindepth 1 -maxdepth 1 -type f \( -name auto.cnf -o -name galera.cache -o -name 'gcache.page.*' \
  -o -name gvwstate.dat -o -name grastate.dat -o -name '*-relay-bin.*' -o -name 'relay-log*.info' \
  -o -name 'master*.info' -o -name multi-master.info \) -delete
"""
"""Removes what names another server, its place in a group, its cache and its channels of replication."""

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
