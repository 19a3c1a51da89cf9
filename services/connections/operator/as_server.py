"""A server's program, run as the server's account from its start on: it never begins as root.

mysqld and mariadbd with --user open a file in the data folder before they become that account (HOST.lower-test,
O_CREAT): a link there led root to any file, /etc/nologin too (tried with MariaDB 10.11.18). Nothing else is theirs as
root that they need: they open logs, keys and data as the account, and a unit with a User= begins them so itself.
"""

from __future__ import annotations

WHOM = r"""whom() {
  local entry
  case $1 in
    *:*) uid=${1%%:*} gid=${1#*:};;
    *) entry=$(getent passwd "$1") || die "there is no account $1"
      entry=${entry#*:*:} uid=${entry%%:*} entry=${entry#*:} gid=${entry%%:*};;
  esac
  case $uid$gid in *[!0-9]*|'') die 'an account has a number';; esac
  [ "$uid" -gt 0 ] || die 'a folder of root is no folder of a server'
}
"""
"""`whom ACCOUNT`, 'UID:GID', or its name or number on the host, sets uid and gid; never root's."""

EXEC_AS = r"""exec_as() {
  local files; files=$(ulimit -Hn)
  [ "$files" = unlimited ] || [ "$files" -ge 65536 ] || ulimit -Hn 65536 2>/dev/null || :
  unset HOME
  exec setpriv --reuid="$uid" --regid="$gid" --init-groups --inh-caps=-all --no-new-privs -- "$@"
}
"""
"""`exec_as PROGRAM...`, behind what sets uid and gid: the shell becomes the program, as the account in all its groups
(keys are often a group's). It may open as many files as if root had begun it, and reads no .my.cnf of root's."""

SAME_OPTIONS = r"""options_of() {
  { (unset HOME; "$@" my_print_defaults --mysqld) || (unset HOME; "$@" my_print_defaults mysqld server); } 2>/dev/null
}
as_account() { (exec_as "$@"); }
user_of() { local found; found=$(systemctl show -p User -- "$1" 2>/dev/null); printf '%s' "${found#User=}"; }
as_begun() {
  local user=$1 uid gid; shift
  case $user in
    ''|root|0) "$@";;
    *) (uid=$(id -u -- "$user") gid=$(id -g -- "$user") && exec_as "$@");;
  esac
}
same_options() { [ "$(options_of as_begun "$(user_of "$1")" | sha256sum)" = "$(options_of as_account | sha256sum)" ]; }
"""
"""`same_options UNIT`, behind EXEC_AS and what sets uid and gid: whether that account reads the options that the unit's
server does, which the unit may begin as root, or as another account. What the account may not read it passes over, and
says nothing (10.11.18, tried). Passwords stand there: sums are held against each other, and no option is told."""

_OF_ACCOUNT = (
    r"""die() { printf '%s\n' "$*" >&2; exit 73; }
"""
    + WHOM
    + EXEC_AS
    + SAME_OPTIONS
)
AS_UNIT = (
    _OF_ACCOUNT
    + r"""as_unit() {
  local user
  whom "$1"; user=$(user_of "$2")
  case $user in
    ''|root|0) same_options "$2" ||
      die "$2 begins its server as root, and its account can not read all option files: what it would do is not known";;
    *) whom "$user";;
  esac
}
"""
)
"""`as_unit ACCOUNT UNIT` sets uid and gid: the account as which the unit begins its server, else the data folder's.

Where the unit begins it as root, the server reads option files that are root's alone: it goes on only where the account
reads the same. MySQL's my_print_defaults has no --mysqld."""

OPTIONS_READ = (
    _OF_ACCOUNT
    + r"""LC_ALL=C; export LC_ALL; set -o pipefail
command -v my_print_defaults >/dev/null || die 'there is no my_print_defaults'
whom "$2"
same_options "$1" && echo same || echo differ
"""
)
"""Whether the account reads what the unit's server reads of option files: 'same' or 'differ', and no option.

Run as `timeout 8 bash -c OPTIONS_READ pilothouse UNIT UID`, for root.
"""
