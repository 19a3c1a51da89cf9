"""Option files and what they give, with every secret masked before it is kept. Pure parsers.

Sources: MariaDB KB "Configuring MariaDB with Option Files" (order, groups, !include, !includedir), "mariadb-defaults /
my_print_defaults"; MySQL manual "Using Option Files".
"""

from __future__ import annotations

import posixpath
import re

from services.connections.command import MASK
from services.facts.harmless_options import is_secret, normal
from services.facts.masking import masked
from services.lines import lines_of

ROOT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
"""The files a packaged server reads first, in its order; the others come by !includedir."""
SERVER_GROUPS = ("mysqld", "server")
"""What MySQL's server reads; MariaDB's my_print_defaults knows its own groups as --mysqld, MySQL's doesn't."""
_LINE = re.compile(r"^([\s#;]*)([A-Za-z][A-Za-z0-9_.-]*)(\s*=\s*)(.*)$")
_INCLUDE = re.compile(r"^\s*!(include|includedir)\s+(\S+)\s*$")
_MOST = 256 * 1024


def parse_defaults(text: str, section: str) -> tuple[tuple[str, str, str], ...]:
    """Return (section, option, value) of `my_print_defaults GROUP`, in its order (the last one counts).

    A flag without a value gives ''; a value not known to be harmless is ********, an empty one stays ''.
    """
    found = []
    for line in lines_of(text[:_MOST]):
        if not line.startswith("--"):
            continue
        name, _, value = line[2:].partition("=")
        option = normal(name)
        if option:
            found.append((section, option, MASK if value and is_secret(option) else masked(value)))
    return tuple(found)


def sst_user(text: str) -> str:
    """Return the account of wsrep_sst_auth ('user:password') in my_print_defaults' output, '' for none."""
    found = re.findall(r"^--wsrep[-_]sst[-_]auth=([^:\n]*)", text[:_MOST], re.MULTILINE)
    return found[-1] if found else ""


def masked_file(text: str) -> str:
    """Return an option file's text with the values of secrets replaced, everything else as it is."""
    return "".join(_masked_line(line) for line in text[:_MOST].splitlines(keepends=True))


def _masked_line(line: str) -> str:
    body = line.rstrip("\r\n")
    found = _LINE.match(body)
    if found is not None and found.group(4).strip() and is_secret(found.group(2)):
        return f"{found.group(1)}{found.group(2)}{found.group(3)}{MASK}{line[len(body) :]}"
    return masked(body) + line[len(body) :]


def includes(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the (clean absolute path, whether it is a folder) that an option file includes, in order."""
    found = []
    for line in lines_of(text[:_MOST]):
        seen = _INCLUDE.match(line)
        if seen is not None and seen.group(2).startswith("/"):
            found.append((posixpath.normpath(seen.group(2)), seen.group(1) == "includedir"))
    return tuple(found)


def read_in_folder(listing: str) -> tuple[str, ...]:
    """Return the file names of `ls -1 FOLDER` that a server reads: *.cnf, in the order of their names."""
    return tuple(sorted(name for name in listing.split() if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@:+-]*\.cnf", name)))


def provider_options_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return (option, value) of wsrep_provider_options' text, secrets (socket.ssl_password_file is a path) masked."""
    found = []
    for part in text[:32768].strip().strip("\"'").split(";"):
        name, separator, value = part.partition("=")
        if separator and name.strip():
            found.append((name.strip(), value.strip()))
    return tuple(found)


def group_members(cluster_address: str) -> frozenset[str]:
    """Return the hosts, without their ports, that a wsrep_cluster_address names ('gcomm://a,b:4567,[::1]:4567?x=y')."""
    parts = (part.strip() for part in cluster_address.partition("://")[2].partition("?")[0].split(","))
    return frozenset(_without_port(part) for part in parts if part)


def _without_port(address: str) -> str:
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address
