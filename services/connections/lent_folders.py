"""A folder of root's that a program works in as another account, and that is looked through before root goes on in it.

A backup tool obeys what lies in a backup: mariadb-backup 10.11.18 renames a table's file to whatever path a `.ren` file
beside it holds (tried: as root, into /etc/logrotate.d). So no such program runs as root on data that another account
wrote. It works on root's own copy, which is lent to the server's account meanwhile: nobody gets into it from above, as
the folder in which it lies is closed (0700); the program gets there by the folder that root has entered for it
(/proc/self/cwd, /proc/self/fd/3, proc(5)). Where a word in a backup leads, that account could go by itself.
"""

from __future__ import annotations

from services.connections.folders_of_others import AS

LENT = (
    AS
    + r"""plainly() {
  local odd
  odd=$(find . -xdev \( ! -type f ! -type d -o -type f -links +1 -o -name '*.isl' \) -print -quit) && [ -z "$odd" ] ||
    { printf '%s in %s is no plain file or folder of its own\n' "${odd:-something}" "$1"; exit 7; }
}
roots() {
  beside "$1"; [ "$(stat -c %a .)" = 700 ] || die "$(pwd -P) is open to others than root"
  [ -d "./$name" ] && [ ! -L "./$name" ] || die "$(pwd -P)/$name is no folder of its own"
  inside; taken "$(stat -c %u .)" u=rwx,go=; closed; plainly "$1"
}
lent() (
  roots "$1"; chown -R -h -- "$uid:$gid" . && chmod -R u+rwX,go=,a-s -- . || exit 73
)
taken_back() (
  roots "$1"; chown -R -h -- "$me:$(id -g)" . && chmod -R u+rwX,go=,a-s -- . || exit 73
)
with_lent() {
  local first=$1 second=$2 ended; shift 2
  (lent "$first") && { [ -z "$second" ] || (lent "$second"); } || return
  ( if [ -n "$second" ]; then entered "$second"; exec 3< .; set -- "$@" --incremental-dir=/proc/self/fd/3; fi
    entered "$first"; own "$@" --target-dir=/proc/self/cwd < /dev/null ); ended=$?
  (taken_back "$first") && { [ -z "$second" ] || (taken_back "$second"); } || return
  return $ended
}
"""
)
"""`with_lent FOLDER [FOLDER] TOOL...`, the account being the program's first word: a prepare of the first, with the
second as its increment. Both are root's, in a folder that root alone may enter, before and behind it; else it fails.

What comes back has no link, pipe, device or `.isl` file in it, no file that is linked elsewhere, and no setuid bit.
`closed` takes each folder before what lies in it is looked at: whose the files are by then counts for nothing.
"""
