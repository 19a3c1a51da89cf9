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
from services.connections.operator_files import ENTER

_AS = (
    ENTER
    + r"""case $1 in
  *:*) uid=${1%%:*} gid=${1#*:};;
  *) entry=$(getent passwd "$1") || die "there is no account $1"
    entry=${entry#*:*:} uid=${entry%%:*} entry=${entry#*:} gid=${entry%%:*};;
esac; shift
case $uid$gid in *[!0-9]*|'') die 'an account has a number';; esac
[ "$uid" -gt 0 ] || die 'a folder of root is no folder of a server'
own() { setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all --no-new-privs -- "$@"; }
above() { follow=; go "$1"; as=own; if root_only; then as=; fi; }
into() { follow=yes; go "$1/x"; }
inside() {
  was=$(pwd -P); cd -P -- "./$name" || exit 73
  [ "$(pwd -P)" = "${was%/}/$name" ] || die "$was/$name was replaced at that moment"
}
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
  above "$1"; [ -e "./$name" ] || [ -L "./$name" ] || exit 0
  [ -d "./$name" ] && [ ! -L "./$name" ] || die "$(pwd -P)/$name is no folder any more"
  (inside
   case $(stat -c %u .) in "$uid") own find . -xdev -mindepth 1 -delete || exit 73;; "$me") ;; *) its;; esac) || exit 73
  $as rmdir -- "./$name" || exit 73
)
"""
)
MAKE = (
    _AS
    + r"""made "$1"
own chmod -- "$2" . || exit 73
"""
)
"""$1 the account, $2 a folder: it is made for it, empty, with mode $3. One of its own may be there."""

COPY = (
    _AS
    + r"""gone "$2.part" || exit 73
into "$1"; its; exec 3<.
made "$2.part"
own find /proc/self/fd/3/ -mindepth 1 -maxdepth 1 ! -name lost+found -exec cp -a --reflink=auto -t . -- {} + || exit 73
if [ -L ./journal ]; then
  own rm -- ./journal && own mkdir -m 0700 ./journal || exit 73
  own cp -a --reflink=auto -- /proc/self/fd/3/journal/. ./journal/ || exit 73
fi
odd=$(own find . ! -type f ! -type d -print -quit) && [ -z "$odd" ] || die "${odd#./} is no file and no folder"
own chmod --reference=/proc/self/fd/3/ . && own sync -f . || exit 73
above "$2"
if [ -e "./$name" ] || [ -L "./$name" ]; then die "$(pwd -P)/$name is there already"; fi
$as mv -T -- "./$name.part" "./$name" || exit 73
"""
)
"""$1 the account, $2 a folder of it, $3 where its whole copy goes: FOLDER.part until it is whole and on disk."""

REMOVE = (
    _AS
    + r"""for each do gone "$each" || exit 73; done
"""
)
"""$1 the account, then folders that were made for it: with all in them. What is not there is no error."""

EMPTY = (
    _AS
    + r"""into "$1"; its; shift; first=yes
for each do
  if [ -n "$first" ]; then set --; first=; fi
  set -- "$@" -o -name "$each"
done
shift
own find . -xdev -mindepth 1 -maxdepth 1 \( "$@" \) -exec rm -rf --one-file-system -- {} +
"""
)
"""$1 the account, $2 a folder of it, then patterns of names: what is called so in it is removed, and no more."""


RENAME = (
    _AS
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
    _AS
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
    """Return the command that removes folders of an account that were made for it."""
    return _shell(REMOVE, account, *folders)


def emptied(folder: str, account: str, *names: str) -> Command:
    """Return the command that removes from a folder of an account what has one of these names."""
    return _shell(EMPTY, account, folder, *names)


def renamed(folder: str, new: str, account: str) -> Command:
    """Return the command that gives a folder of an account another name; it ends with 1 where it is not there."""
    return _shell(RENAME, account, folder, new)


def inside(folder: str, account: str, *argv: str) -> Command:
    """Return the command that runs another one in a folder of an account, as that account."""
    return _shell(INSIDE, account, folder, *argv)


def _shell(script: str, *words: str) -> Command:
    return Command(("sh", "-c", script, "pilothouse", *words), sudo=True)
