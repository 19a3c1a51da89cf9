"""Folders of another account, made, copied and emptied by root: what lies in them is touched as that account alone.

Whoever may write into a folder can put a link, or another folder, in the place of a name between two words of root's
program. So root has two ways only, of which the folder itself decides, entered folder by folder as in operator_files:
- in a folder that nobody but root may write to, root makes, renames and removes a name: nobody else can exchange it;
- everywhere else each act is the account's own (setpriv(1)): where a link leads, that account could go by itself.
What a name stood for is held by its open folder (/proc/self/fd, proc(5)), and no link is followed but the one to a
journal on a disk of its own, as the account. It is the one helper for all families.

setpriv is in util-linux 2.24 and newer; the rest is in coreutils 8.30, findutils 4.6.
"""

from __future__ import annotations

from services.connections.command import Command
from services.connections.operator.as_server import WHOM
from services.connections.operator.files import ENTER
from services.connections.operator.made_by_run import INVENTORY

WALK = (
    ENTER
    + r"""inside() {
  _was=$(pwd -P); cd -P -- "./$name" || exit 73
  [ "$(pwd -P)" = "${_was%/}/$name" ] || die "$_was/$name was replaced at that moment"
}
into() { follow=yes; go "$1/x"; }
entered() {
  follow=; go "$1"
  [ -d "./$name" ] && [ ! -L "./$name" ] || die "$(pwd -P)/$name is no folder of its own"
  inside
}
alone() { root_only || die "others than root may write into $(pwd -P)"; }
beside() { follow=; go "$1"; alone; }
taken() {
  case $(stat -c %u .) in
    "$me"|"${1:-$me}") ;;
    *) (cd -P .. && root_only) || die "$(pwd -P) belongs to another account";;
  esac
  chown -h -- "$me:$(id -g)" . && chmod "${2:-go-w}" -- . || exit 5
  alone
}
closed() {
  find . -xdev -mindepth 1 -path "${1:--}" -prune -o -type d \( ! -uid "$me" -o -perm /022 \) \
    -execdir chown -h -- "$me:$(id -g)" {} \; -execdir chmod go-w -- {} \;
}
"""
)
"""What root does in a folder that it has entered.

`entered` goes into a folder, not by a link in its place. `beside` stands in the folder in which a name lies, and goes
on only where that is root's alone. `taken` makes the folder root's that was entered: from there on nobody else changes
a name in it, also who has it open (the right is asked at each rename); `closed` does so with all folders below, each
before what lies in it is looked at (find(1), -execdir), but for one of them.
"""
AS = (
    WALK
    + INVENTORY
    + WHOM
    + r"""whom "$1"; shift
own() { setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all --no-new-privs -- "$@"; }
acts() { as=own; if root_only; then as=; fi; }
above() { follow=; go "$1"; acts; }
its() { [ "$(stat -c %u .)" = "$uid" ] || die "$(pwd -P) belongs to another account"; }
made() {
  above "$1"
  if [ -e "./$name" ] || [ -L "./$name" ]; then
    case "$(stat -c '%u %a %F' "./$name")" in
      "$uid "*' directory') ;;
      "$me 700 directory") [ -z "$(ls -A "./$name")" ] || die "$(pwd -P)/$name holds what is root's";;
      *) die "$(pwd -P)/$name is no folder of that account";;
    esac
  else $as mkdir -m 0700 -- "./$name" || exit 73; fi
  [ -n "$as" ] || chown -h -- "$uid:$gid" "./$name" || exit 73
  inside; its
}
gone() (
  missing() { exit 0; }
  rm -f -- "$(note_of "$1").left"
  above "$1"; [ -e "./$name" ] || [ -L "./$name" ] || exit 0
  [ -d "./$name" ] && [ ! -L "./$name" ] || die "$(pwd -P)/$name is no folder any more"
  (inside
   case $(stat -c %u .) in "$uid") swept "$1" own;; "$me") of_run "$1"; alone; swept "$1";; *) its;; esac) || exit
  $as rmdir -- "./$name" || exit 73
)
"""
)
"""The same as an account, which is the first word: what is not root's alone to change is done by `own`, as him."""
MAKE = (
    AS
    + r"""made "$1"
own chmod -- "$2" . || exit 73
[ -n "$(ls -A .)" ] || noted "$1" || die 'what is made could not be noted'
"""
)
"""$1 the account, $2 a folder: it is made for it, empty, with mode $3. One of its own may be there."""

COPY = (
    AS
    + r"""free() { if [ -e "./$name" ] || [ -L "./$name" ]; then die "$(pwd -P)/$name is there already"; fi; }
(above "$2"; free) || exit
gone "$2.part" || [ "$?" -eq 1 ] || exit 73
into "$1"; its; exec 3<.
made "$2.part"
[ -z "$(ls -A .)" ] || die "$(pwd -P) holds what no run made"
noted "$2.part" '' /proc/self/fd/3/ - || die 'what is copied could not be noted'
own find /proc/self/fd/3/ -mindepth 1 -maxdepth 1 ! -name lost+found -exec cp -a --reflink=auto -t . -- {} + || exit 73
if [ -L ./journal ]; then
  own rm -- ./journal && own mkdir -m 0700 ./journal || exit 73
  own cp -a --reflink=auto -- /proc/self/fd/3/journal/. ./journal/ || exit 73
fi
odd=$(own find . ! -type f ! -type d -print -quit) && [ -z "$odd" ] || die "${odd#./} is no file and no folder"
own chmod --reference=/proc/self/fd/3/ . && own sync -f . || exit 73
noted "$2" || die 'what was copied could not be noted'
above "$2"; free
$as mv -T -- "./$name.part" "./$name" || exit 73
"""
)
"""$1 the account, $2 a folder of it, $3 where its whole copy goes: FOLDER.part until it is whole and on disk."""

REMOVE = (
    AS
    + r"""for each do gone "$each" || [ "$?" -eq 1 ] || exit 73; done
"""
)
"""$1 the account, then folders that were made for it: with what a run or a server made in them (made_by_run.py). One in
which something else lies stays with that. What is not there is no error."""

PUT_AWAY = (
    AS
    + r"""folder=$1 aside=$2 came=$3
above "$folder"
[ -d "./${aside##*/}" ] && [ ! -L "./${aside##*/}" ] ||
  die "$aside is not there: what lies in $folder may be the old data"
if [ -e "./$name" ] || [ -L "./$name" ]; then
  gone "$came" || [ "$?" -eq 1 ] || exit 73
  if [ -e "./${came##*/}" ]; then die "$came holds what no run made"; fi
  moved=$(note_of "$folder")
  [ ! -f "$moved" ] || mv -fT -- "$moved" "$(note_of "$came")" || exit 73
  $as mv -T -- "./$name" "./${came##*/}" || exit 73
fi
gone "$came" || [ "$?" -eq 1 ] || exit 73
"""
)
"""$1 the account, $2 a folder that a run made, $3 where the older one is kept, $4 a name beside them: the run's is
called so, and then removed as by REMOVE. Without the older one nothing is done."""

EMPTY = (
    AS
    + r"""into "$1"; its; swept "$1" own || [ "$?" -eq 1 ] || exit 73
"""
)
"""$1 the account, $2 a folder of it: what is the account's in it, under a name that a server uses, is removed."""

RENAME = (
    AS
    + r"""above "$1"; [ -e "./$name" ] || [ -L "./$name" ] || exit 1
[ "$(stat -c '%u %F' "./$name")" = "$uid directory" ] || die "$(pwd -P)/$name is no folder of that account"
[ "${1%/*}" = "${2%/*}" ] || die 'it would get into another folder'
to=${2##*/}; case $to in ''|.|..) die 'no name of a folder';; esac
if [ -e "./$to" ] || [ -L "./$to" ]; then die "$(pwd -P)/$to is there already"; fi
$as mv -T -- "./$name" "./$to" || exit 73
"""
)
"""$1 the account, $2 a folder of it, $3 its new name in the same folder. 1: there is none of the first name."""

INSIDE = (
    AS
    + r"""into "$1"; its; shift
own "$@"
"""
)
"""$1 the account, $2 a folder of it, then a command: it runs there, as the account."""


def made(folder: str, account: str, mode: str = "0700") -> Command:
    """Return the command that makes a folder for an account: 'UID:GID', or its name or number on the host."""
    return _shell(MAKE, account, folder, mode)


def copied(source: str, target: str, account: str) -> Command:
    """Return the command that copies a folder of an account, whole, or the target is not there."""
    return _shell(COPY, account, source, target)


def removed(account: str, *folders: str) -> Command:
    """Return the command that removes what a run and a server made of folders; what else lies there stays, noted."""
    return _shell(REMOVE, account, *folders)


def put_away(folder: str, aside: str, came: str, account: str) -> Command:
    """Return the command that removes a run's folder, under another name first, while an older one is kept."""
    return _shell(PUT_AWAY, account, folder, aside, came)


def emptied(folder: str, account: str) -> Command:
    """Return the command that removes from a folder of an account what a server has made there."""
    return _shell(EMPTY, account, folder)


def renamed(folder: str, new: str, account: str) -> Command:
    """Return the command that gives a folder of an account another name; it ends with 1 where it is not there."""
    return _shell(RENAME, account, folder, new)


def inside(folder: str, account: str, *argv: str) -> Command:
    """Return the command that runs another one in a folder of an account, as that account."""
    return _shell(INSIDE, account, folder, *argv)


def _shell(script: str, *words: str) -> Command:
    return Command(("bash", "-c", script, "pilothouse", *words), sudo=True)
