"""A server's program, run as the server's account from its start on: it never begins as root.

mysqld and mariadbd with --user open files in the data folder before they become that account (HOST.lower-test,
O_CREAT): a link there leads root to any file. As the account they read what the account may read; what stands in option
files that it may not read is not known to such a start, so that one is refused where they say more to root.
"""

from __future__ import annotations

AS_SERVER = r"""same_options() {
  local all some
  all=$(my_print_defaults --mysqld 2>/dev/null | sha256sum) &&
    some=$(own my_print_defaults --mysqld 2>/dev/null | sha256sum) && [ "$all" = "$some" ] ||
    die "the server's account can not read all option files: what a server would do with them is not known"
}
exec_as() {
  exec setpriv --reuid="$uid" --regid="$gid" --init-groups --inh-caps=-all --no-new-privs -- "$@"
}
"""
"""Behind what sets uid and gid (folders_of_others.AS). `same_options` goes on only where root and the account read the
same; what they read is held against each other by its sum, as passwords stand there. `exec_as` ends the shell: the
program has its process, and the account's further groups (keys are often a group's)."""
