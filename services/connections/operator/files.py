"""Files as root on a host whose folders may be others': no link that another user laid is followed, or written through.

A path is entered folder by folder. A symbolic link counts only in a folder that nobody but root may write to; the
folder that was entered must stand where the path says (pwd -P: getcwd(3)), so that one swapped in at that moment is
told. New files are made in a folder of our own there (mktemp(1): 0700): nobody else can lay anything in it, and it is
on the same file system, so mv(1) -T is one rename(2), which replaces a link and never follows one. `..` stays the
folder that was entered: who may not write to a folder can't move it to another one (rename(2), EACCES).

All of it is in coreutils 8.30 (RHEL 8: 8.30; Debian 11: 8.32) and newer: dd conv=excl oflag=nofollow, cp
--attributes-only, mktemp -d, mv -T, stat -c, sync FILE (coreutils NEWS: 7.0, 8.6, 8.24). Shells: dash and bash.
"""

from __future__ import annotations

import re

from services.connections.command import Command
from services.connections.ports import FileSeen, Output
from services.errors import Unreachable, UserError
from services.i18n import mark, tr
from services.secrets import Secret

_OWNER_AND_MODE = re.compile(r"(\d{1,10}:\d{1,10}) ([0-7]{1,5})\s*", re.ASCII)

ROOT_ONLY = r"""me=$(id -u)
root_only() {
  case "$(stat -c '%u %g %a' .)" in
    "$me "*[2367]) return 1;;
    "$me 0 "*[2367]?) case $(ls -ld .) in ??????????+*) return 1;; esac;;
    "$me "*[2367]?) return 1;;
    "$me "*) ;;
    *) return 1;;
  esac
}
"""
"""`root_only`: nobody but root may make, rename or remove a name in the folder that was entered.

Root's group may (0775 root:root), but for an access list: the group's bits are its mask then (acl(5)); ls(1) shows '+'.
"""
ENTER = (
    ROOT_ONLY
    + r"""umask 077; export LC_ALL=C
die() { printf '%s\n' "$*" >&2; exit 73; }
_of_root() {
  [ -n "$_rest" ] || return 1
  case "$(stat -c '%u:%a' .)" in "$me:"[1357][0-7][0-7][0-7]) ;; *) return 1;; esac
  [ "$(stat -c %u "./$_part" 2>&1)" = "$me" ]
}
go() {
  _rest=$1 _hops=0 alone=yes; cd / || exit 73
  while :; do
    while case $_rest in /*) ;; *) false;; esac; do _rest=${_rest#/}; done
    _part=${_rest%%/*}
    case $_rest in */*) _rest=${_rest#*/};; *) _rest=;; esac
    root_only || _of_root || alone=
    case $_part in '') die 'no name of a file';; .) continue;; ..) cd -P .. || exit 73; continue;; esac
    if [ -L "./$_part" ] && [ -n "$_rest$follow" ]; then
      root_only || die "$(pwd -P)/$_part is a symbolic link in a folder that others than root may write to"
      _hops=$((_hops+1)); [ $_hops -le 40 ] || die 'too many symbolic links'
      _to=$(readlink -- "./$_part") || die "$_part can not be read"
      case $_to in /*) cd /;; esac
      _rest=$_to${_rest:+/$_rest}; continue
    fi
    if [ -z "$_rest" ]; then name=$_part; return; fi
    [ -e "./$_part" ] || missing
    _was=$(pwd -P); cd -P -- "./$_part" || exit 73
    [ "$(pwd -P)" = "${_was%/}/$_part" ] || die "$_was/$_part was replaced at that moment"
  done
}
missing() { die "there is no folder $(pwd -P)/$_part"; }
"""
)
"""`go PATH` stands in the folder of its last `name`; `alone` is 'yes' where nobody but root may change the way to it.

In a folder of root's with the sticky bit (/tmp) nobody renames what is root's (`_of_root`)."""
_STAGE = r"""stage() {
  [ ! -d "./$name" ] || die "$(pwd -P)/$name is a folder"
  own
}
own() {
  was=$(pwd -P); own=$(mktemp -d ./.pilothouse-XXXXXXXXXX) && cd -P -- "$own" || exit 73
  [ "$(pwd -P)" = "${was%/}/${own#./}" ] || die "$own was replaced at that moment"
  case "$(stat -c '%u %a' .)" in "$me 700"|"$me 2700") ;; *) die "$own was replaced at that moment";; esac
  trap 'rm -f ./new ./held; rmdir -- "../${own#./}" 2>/dev/null' EXIT; trap 'exit 73' HUP INT TERM PIPE
}
held() {
  file=./$name
  [ -z "$alone" ] || return 0
  own; file=./held; ln -PT -- "../$name" ./held || die "$was/$name could not be held"
  [ "$(stat -c '%i %h' -- "../$name")" = "$(stat -c '%i 2' ./held)" ] ||
    die "$was/$name has another name, or was replaced at that moment"
}
no_link() { [ ! -L "./$name" ] || die "$(pwd -P)/$name is a symbolic link"; }
plain() { [ -f "$1" ] && [ ! -L "$1" ]; }
into_place() { sync -- ./new && mv -fT -- ./new "../$name" || exit 73; }
"""
WRITE = (
    ENTER
    + _STAGE
    + r"""follow=$5; go "$1"; [ -n "$5" ] || no_link; stage
keep=all; [ -n "$alone" ] || keep=context
dd of=./new conv=excl,fsync oflag=nofollow status=none || exit 73
if plain "../$name"; then cp -PT --attributes-only --preserve=$keep -- "../$name" ./new 2>/dev/null; touch ./new; fi
plain ./new && [ "$(stat -c %s ./new)" = "$4" ] || die 'not all of the content arrived'
chown -h -- "$3" ./new && chmod -- "$2" ./new || exit 73
into_place"""
)
"""$1 path, $2 mode, $3 owner, $4 bytes, $5 '' for no link in its place. Label, ACL and attributes of the replaced file
stay, of one that others may exchange the label alone; one that breaks off (the connection was lost) replaces nothing.
"""
READ = (
    ENTER
    + _STAGE
    + r"""missing() { printf 'none - - %s\n' "${alone:-no}"; exit 0; }
follow=$2; go "$1"; no_link
[ -e "./$name" ] || missing
held; plain "$file" || die "$1 is not a plain file"
mine=no; [ "$(stat -c %u -- "$file")" != "$me" ] || mine=yes
printf '%s %s %s\n' "$(stat -c '%u:%g %a' -- "$file")" "$mine" "${alone:-no}"
[ "$3" -eq 0 ] ||
  timeout 10 dd if="$file" iflag=nofollow,nonblock,count_bytes,fullblock bs=64K count="$3" status=none || exit 73"""
)
"""$1 path, $2 '' for no link in its place, $3 bytes at most. It tells a line, and then the content: owner and mode, or
that there is none; whether it is root's own; whether nobody but root may change the way to it."""
COPY = (
    ENTER
    + _STAGE
    + r"""of_root() { [ -n "$alone" ] || die "others than root may change the way to $1"; }
follow=yes; go "$1"; of_root "$1"; plain "./$name" || die "$(pwd -P)/$name is not a plain file"
from=$(pwd -P); from=${from%/}/$name; go "$2"; of_root "$2"; stage
cp -PT --preserve=all -- "$from" ./new || exit 73
plain ./new || die "$from was replaced at that moment"
into_place"""
)
"""$1 source, $2 target: with owner, mode, times, label and ACL. Only where both ways are root's alone."""
REMOVE = (
    ENTER
    + r"""missing() { exit 0; }
for each do (follow=; go "$each"; rm -f -- "./$name") || exit 73; done"""
)
"""Each a file, or a link itself; what is not there is no error."""
MAKE = (
    ENTER
    + r"""mode=$2; missing() { mkdir -m "$mode" -- "./$_part" || exit 73; }
follow=; go "$1/x"
"""
)
"""$1 a folder, $2 a mode: those of its path that are not there are made, for root."""


class NotWritten(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """A file was left as it was: something stands in its way that root does not follow, or the disk is full.

    Attributes:
        sure: it ended by its own word, before the file was replaced; a program that was killed may have replaced it.
    """

    code = "not-written"
    sure = True


class NotRead(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """A file was not read: something stands in its way that root does not follow, or it is no plain file."""

    code = "not-read"


def written(path: str, content: Secret, mode: str, owner: str, *, follow: bool = True) -> Command:
    """Return the command that makes or replaces a file by what stands on its standard input."""
    size = len(content.reveal().encode("utf-8", "surrogateescape"))
    return _shell(WRITE, path, mode, owner, str(size), _word(follow), stdin=content)


def read_command(path: str, most: int, *, follow: bool = True) -> Command:
    """Return the command that tells of a file, and its first bytes."""
    return _shell(READ, path, _word(follow), str(most))


def _word(yes: bool) -> str:
    return "yes" if yes else ""


def copied(source: str, target: str) -> Command:
    """Return the command that copies a file over another, or to where there is none."""
    return _shell(COPY, source, target)


def removed(*paths: str) -> Command:
    """Return the command that removes files."""
    return _shell(REMOVE, *paths)


def folder_made(path: str, mode: str = "0755") -> Command:
    """Return the command that makes a folder and those above it."""
    return _shell(MAKE, path, mode)


def named(command: Command) -> str:
    """Return what a command does, for a sentence: of one of these what becomes of which file, else the command."""
    does = _DOES.get(command.argv[2]) if len(command.argv) > _WORDS_AT else None
    return command.brief if does is None else tr(does, path=command.argv[_WORDS_AT])


_WORDS_AT, _OWN_WORD = 4, 73
_DOES = {
    WRITE: mark("Writing {path}"),
    READ: mark("Reading {path}"),
    COPY: mark("Copying {path}"),
    REMOVE: mark("Removing {path}"),
    MAKE: mark("Creating the folder {path}"),
}


def need_done(output: Output, path: str, host: str) -> None:
    """Raise NotWritten with the host's own words unless one of these commands has ended well."""
    if output.exit_code:
        why = output.error_text or tr("exit code {code}", code=output.exit_code)
        sure = output.exit_code == _OWN_WORD
        problem = NotWritten(
            tr("{path} was not changed: {why}", path=path, why=why),
            host=host,
            safe=tr("The file is unchanged.") if sure else tr("The file is either unchanged or completely replaced."),
            try_=(tr("Check the permissions and the contents of its folder, then plan again."),),
        )
        problem.sure = sure
        raise problem


def file_seen(output: Output, path: str, host: str) -> FileSeen:
    """Return what a reading command has told. Raises NotRead where it was refused; Unreachable where it broke off."""
    why = output.error_text or tr("exit code {code}", code=output.exit_code)
    if output.exit_code not in {0, _OWN_WORD}:
        raise Unreachable(tr("{path} was not read: {why}", path=path, why=why), host=host)
    line, ended, content = output.stdout.partition(b"\n")
    *owned, mine, alone = line.decode("ascii", "replace").split(" ") if line.count(b" ") == 3 else ("", "", "")
    found = owner_and_mode(" ".join(owned))
    if output.exit_code or not ended or (found is None and owned != ["none", "-"]):
        raise NotRead(
            tr("{path} was not read: {why}", path=path, why=why),
            host=host,
            safe=tr("Nothing was written."),
            try_=(tr("Check the permissions and the contents of its folder, then plan again."),),
        )
    owner, mode = found or ("", "")
    there = found is not None
    return FileSeen(there, content if there else b"", owner, mode, own=mine == "yes", alone=alone == "yes")


def _shell(script: str, *words: str, stdin: Secret | None = None) -> Command:
    return Command(("sh", "-c", script, "pilothouse", *words), sudo=True, stdin=stdin)


def owner_and_mode(text: str) -> tuple[str, str] | None:
    """Return ('0:0', '0644') of `stat -c '%u:%g %a'`, without setuid, setgid and sticky bits; None for anything else.

    The owner becomes an argument of root's chown: it is two numbers and nothing more.
    """
    found = _OWNER_AND_MODE.fullmatch(text)
    return (found[1], f"{int(found[2], 8) & 0o777:04o}") if found is not None else None
