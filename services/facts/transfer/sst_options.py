"""What the scripts of a state transfer read of a host's option files, in their order. Pure.

Source: MariaDB 10.11.18, /usr/bin/wsrep_sst_common (parse_cnf: of several groups the first that gives a value, within
a group the last one; check_server_ssl_config: tca, tcert and tkey of [sst] win over every ssl-ca, ssl-cert, ssl-key)
and /usr/bin/wsrep_sst_mariabackup (encgroups='--mysqld|sst|xtrabackup|mariabackup'). The scripts read them anew each
time they run: no server has to be restarted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.facts.server.harmless_options import normal
from services.lines import lines_of

GROUPS = ("mysqld", "sst", "xtrabackup", "mariabackup")
"""In the order in which the scripts look; 'mysqld' stands for all groups that the server itself reads (--mysqld)."""
FROM_ALL = frozenset({
    "encrypt", "ssl_mode", "ssl_ca", "ssl_capath", "ssl_cert", "ssl_key", "ssl_dhparams", "encrypt_algo",
    "encrypt_format", "encrypt_key", "encrypt_key_file", "encrypt_threads", "encrypt_chunk_size", "compress",
    "compress_chunk_size", "compress_threads", "backup_threads", "tmpdir",
})  # fmt: skip
"""Options that are looked for in all the groups."""
FROM_BACKUP = frozenset({"inno_backup_opts", "inno_apply_opts", "inno_move_opts", "use_memory"})
"""Those looked for in [sst], [xtrabackup] and [mariabackup]. All others are read from [sst] alone."""
TLS_OF_SST = ("tca", "tcapath", "tcert", "tkey")
"""Once one of them is set in [sst], ssl_ca and the others count no more."""

_HEAD = re.compile(r"\s*\[([^\]]+)\]")
_MOST_LINES = 20_000
Given = tuple[str, str, str]
"""Group, option with underscores, value: in the order of my_print_defaults."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an option stands: the file, the section as it is written there, the line from 1 on; secrets masked."""

    path: str
    section: str
    option: str
    value: str
    line: int = 0


def groups_of(option: str) -> tuple[str, ...]:
    """Return the groups in which the scripts look for an option, in their order."""
    name = normal(option)
    if name in FROM_ALL:
        return GROUPS
    return GROUPS[1:] if name in FROM_BACKUP else ("sst",)


def effective(given: Iterable[Given], option: str) -> str | None:
    """Return the value that the scripts use, None where they find none (an empty one is none, as parse_cnf has it)."""
    name, found = normal(option), tuple(given)
    for group in groups_of(name):
        values = [value.strip() for one, known, value in found if one == group and known == name]
        if values and values[-1]:
            return values[-1]
    return None


def chosen(given: Iterable[Given], options: Iterable[str]) -> Mapping[str, str | None]:
    """Return what the scripts use of each of these options."""
    found = tuple(given)
    return {normal(option): effective(found, option) for option in options}


def pair_files(given: Iterable[Given]) -> tuple[str, str, str]:
    """Return the files of CA, certificate and key that the scripts use with encrypt=2 to 4; '' for one not set."""
    found = tuple(given)
    old = [effective(found, option) for option in TLS_OF_SST]
    if any(old):
        ca, _, cert, key = old
    else:
        ca, cert, key = (effective(found, option) for option in ("ssl_ca", "ssl_cert", "ssl_key"))
    return ca or "", cert or "", key or ""


def places(files: Iterable[tuple[str, str]]) -> tuple[Place, ...]:
    """Return every option of the sections [sst], [xtrabackup], [mariabackup] of these option files, in their order.

    Args:
        files: path and text of each, as read.
    """
    found = []
    for path, text in files:
        section = ""
        for number, line in enumerate(lines_of(text)[:_MOST_LINES], 1):
            head = _HEAD.match(line)
            if head is not None:
                section = head.group(1).strip()
            elif section in GROUPS[1:] and (option := _option(line)) is not None:
                found.append(Place(path, section, *option, line=number))
    return tuple(found)


def _option(line: str) -> tuple[str, str] | None:
    body = line.strip()
    if not body or body[0] in "#;!":
        return None
    name, _, value = body.partition("=")
    return normal(name), _bare(value.strip())


def _bare(value: str) -> str:
    """Return a value without its quotes, or without a comment behind it."""
    if value[:1] in {'"', "'"}:
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value
    return value.partition("#")[0].strip()
