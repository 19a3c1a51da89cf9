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

AS_UNIT = (
    r"""die() { printf '%s\n' "$*" >&2; exit 73; }
"""
    + WHOM
    + EXEC_AS
    + r"""options_of() {
  { (unset HOME; "$@" my_print_defaults --mysqld) || (unset HOME; "$@" my_print_defaults mysqld server); } 2>/dev/null
}
as_account() { (exec_as "$@"); }
as_unit() {
  local user
  whom "$1"; user=$(systemctl show -p User -- "$2" 2>/dev/null); user=${user#User=}
  case $user in
    ''|root|0) [ "$(options_of | sha256sum)" = "$(options_of as_account | sha256sum)" ] ||
      die "$2 begins its server as root, and its account can not read all option files: what it would do is not known";;
    *) whom "$user";;
  esac
}
"""
)
"""`as_unit ACCOUNT UNIT` sets uid and gid: the account as which the unit begins its server, else the data folder's.

Where the unit begins it as root, the server reads option files that are root's alone; as the account it passes over
them and says nothing (tried). So it goes on only where both read the same; what they read is held against each other by
its sum, as passwords stand there. MySQL's my_print_defaults has no --mysqld."""
