"""Option files and what they give, with every secret masked before it is kept. Pure parsers.

Sources: MariaDB KB "Configuring MariaDB with Option Files" (order, groups, !include, !includedir), "mariadb-defaults /
my_print_defaults"; MySQL manual "Using Option Files".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from services.addresses import is_ip
from services.connections.command import MASK
from services.facts.masking import masked
from services.facts.reading import without_port
from services.facts.server.harmless_options import is_secret, normal
from services.lines import lines_of
from services.option_values import option_lines

ROOT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
"""The files a packaged server reads first, in its order; the others come by !includedir."""
SERVER_GROUPS = ("mysqld", "server")
"""What MySQL's server reads; MariaDB's my_print_defaults knows its own groups as --mysqld, MySQL's doesn't."""
_LINE = re.compile(r"^([\s#;]*)([A-Za-z][A-Za-z0-9_.-]*)(\s*=\s*)(.*)$")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}", re.ASCII)
_READ = re.compile(r"\.?[A-Za-z0-9_][A-Za-z0-9_.@:+-]*\.cnf|\.cnf", re.ASCII)
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


def printed(text: str) -> dict[str, str]:
    """Return what my_print_defaults prints, `--name=value` a line, as the option's name -> its last value.

    Secrets are in it as they are: nothing of this is kept nor shown.
    """
    pairs = (line[2:].partition("=") for line in lines_of(text) if line.startswith("--"))
    return {normal(name): value for name, _, value in pairs}


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
    found = (line for line in option_lines(text[:_MOST]) if line.kind in {"include", "includedir"})
    return tuple(
        (posixpath.normpath(line.name), line.kind == "includedir") for line in found if line.name.startswith("/")
    )


def read_in_folder(listing: str) -> tuple[str, ...]:
    """Return the file names of `ls -1A FOLDER` that a server reads: *.cnf, hidden ones too, by their names.

    One with a sign that no read takes is left out: the server reads it all the same.
    """
    return tuple(sorted(name for name in lines_of(listing) if _READ.fullmatch(name)))


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
    return frozenset(without_port(bare) for part in cluster_addresses(cluster_address) if (bare := part.strip()))


def cluster_addresses(text: str) -> tuple[str, ...]:
    """Return the members that a wsrep_cluster_address names, as they are written there and in their order."""
    return tuple(part for part in text.partition("://")[2].partition("?")[0].split(",") if part)


def named_hosts(cluster_address: str, own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names (no addresses) among the members of a wsrep_cluster_address and a node's own addresses.

    Args:
        own: wsrep_node_address and wsrep_sst_receive_address, which may be 'AUTO' (MariaDB KB, "Galera Cluster System
            Variables").
    """
    parts = [*sorted(group_members(cluster_address)), *(without_port(text) for text in own)]
    wanted = [part for part in parts if _NAME.fullmatch(part) and part.upper() != "AUTO" and not is_ip(part)]
    return tuple(dict.fromkeys(wanted))


def sst_programs(options: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """Return the programs that [sst] calls besides its method's own: 'pigz' of 'compressor = "/usr/bin/pigz -p 4"'.

    Args:
        options: (section, option, value), see `parse_defaults`.
    """
    named = (
        value.split()[0].rsplit("/", 1)[-1]
        for section, option, value in options
        if section == "sst" and option in {"compressor", "decompressor"} and value.split()
    )
    return tuple(dict.fromkeys(named))
