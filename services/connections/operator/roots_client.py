"""How root's own client of the server is begun on a host: by no option file but root's own.

Who has the server's account owns a conf.d on many hosts, and every client that root begins reads it. Tried with MariaDB
10.11.18: `plugin-dir` and `default-auth` had root load a library of theirs; `tee=PATH` makes a file, or opens one, as
soon as the option is read, and no word behind it takes that back (--skip-tee, --disable-tee; --no-tee is unknown).
`host` sends root's password elsewhere, `init-command` says what it likes, `pager` and `character-sets-dir` name
programs and files. So none of it is read (--no-defaults, --defaults-file: MariaDB KB "Configuring MariaDB with Option
Files", MySQL manual "Command-Line Options that Affect Option-File Handling"), but where root's socket is: a path, which
that account may answer at anyway.
"""

from __future__ import annotations

ROOTS_FILE = r"""own=$HOME/.my.cnf from=--no-defaults
if [ -n "$(find -L "$own" -maxdepth 0 -type f -user "$(id -u)" ! -perm /022 2>/dev/null)" ]; then
  from=--defaults-file=$own
elif [ -e "$own" ]; then
  echo "pilothouse: $own is another's, or others may write it: it is not read" >&2
fi
"""
"""Sets `from`, the first word of a client: root's own option file, or none at all. In no program is a word of the form
that systemd-run(1) expands (a name in braces behind a dollar sign)."""

ROOTS_CLIENT = (
    ROOTS_FILE
    + r"""program=$1; shift
socket=$(my_print_defaults client client-server client-mariadb mariadb-client mysql 2>/dev/null </dev/null |
  sed -n 's/^--socket=//p' | tail -n 1)
[ -z "$socket" ] || set -- "--socket=$socket" "$@"
exec "$program" "$from" --batch --local-infile=0 --plugin-dir= "$@"
"""
)
"""Run as `bash -c ROOTS_CLIENT pilothouse mysql [WORD...]`.

A server that is not ours may ask root's client for any file of its host: local-infile is off. An empty plugin-dir means
the client's own folder.
"""


def roots_client(program: str, *words: str) -> tuple[str, ...]:
    """Return the words that begin root's client; what a word says comes last, and counts."""
    return ("bash", "-c", ROOTS_CLIENT, "pilothouse", program, *words)
