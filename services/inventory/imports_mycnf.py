"""Hosts of ~/.my.cnf: the group [client], and each [clientNAME] (what `--defaults-group-suffix=NAME` would read).

Source: MySQL manual, "Using Option Files" (quoting, escapes, !include, !includedir, `-` and `_` alike, loose- prefix),
"Command Options for Connecting to the Server" (ssl-mode); MariaDB KB, "mariadb command-line client" (ssl options).
"""

from __future__ import annotations

import glob
import re
from pathlib import Path

from services.addresses import is_address
from services.i18n import tr
from services.inventory.imports import ImportReport, unique_names, vetted
from services.inventory.model import HostEntry, SqlAccess, Tls
from services.inventory.option_files import Inclusions
from services.option_values import option_line
from services.secrets import Secret, SecretRef

DEFAULT = Path("~/.my.cnf")
_MOST_INCLUDES = 16
_GROUP = re.compile(r"\[\s*+([^\]]++)\]\s*+(?:#.*)?")
# Groups of one program's version or product are no host's: [client-mariadb], [client-server].
_NOT_A_HOST = {"client-mariadb", "client-server", "client_mariadb"}
_TRUE = {"", "1", "on", "true"}

_MODES: dict[str, Tls] = {  # never less than the client asked for; "preferred" becomes the default
    "disabled": "off",
    "preferred": "verify",
    "required": "required",
    "verify_ca": "verify-ca",
    "verify_identity": "verify-identity",
}


def import_my_cnf(path: str | Path | None = None) -> ImportReport:
    """Return the servers an option file names. Passwords come as `secrets`, never in a host's values."""
    file = Path(path).expanduser() if path is not None else DEFAULT.expanduser()
    reader = _Reader()
    reader.read(file, 0)
    base = reader.groups.get("client", {})
    hosts: list[HostEntry] = []
    secrets: dict[SecretRef, Secret] = {}
    for group, own in reader.groups.items():
        if group != "client" and (not group.startswith("client") or group in _NOT_A_HOST):
            continue
        if group == "client" and "host" not in own and "socket" not in own:
            continue
        options = {**base, **own}
        host = _host(group, options, reader)
        if host is None:
            continue
        hosts.append(host)
        if host.sql is not None and host.sql.password is not None:
            secrets[host.sql.password] = Secret(options["password"])
    named = unique_names(hosts)
    return vetted(ImportReport(str(file), named, tuple(reader.notes), tuple(reader.problems), tuple(secrets.items())))


def _host(group: str, options: dict[str, str], reader: _Reader) -> HostEntry | None:
    suffix = group.removeprefix("client").lstrip("-_")
    address = options.get("host") or "localhost"
    if not is_address(address):
        reader.problems.append(tr("[{group}]: the host is no address.", group=group))
        return None
    port = options.get("port", "3306")
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        reader.problems.append(tr("[{group}]: the port is no number from 1 to 65535.", group=group))
        return None
    if "user" not in options:
        reader.problems.append(tr("[{group}]: there is no user; the client would take your login's name.", group=group))
        return None
    # libmysqlclient reads "localhost" as: the Unix socket of this machine, unless TCP is asked for.
    local = address == "localhost" and options.get("protocol", "").lower() != "tcp"
    user = options["user"]
    name = suffix or address
    ref = SecretRef("keyring", f"{user}@{address}:{port}") if options.get("password") else None
    if ref is not None:
        reader.notes.append(
            tr(
                "[{group}]: its password goes into the keyring as {ref}; delete it from this file.",
                group=group,
                ref=ref,
            )
        )
    sql = SqlAccess(
        user=user,
        password=ref,
        port=int(port),
        via="socket" if local else "direct",
        socket=options.get("socket") if local else None,
        tls="off" if local else _tls(group, options, reader),
        ca=options.get("ssl-ca"),
        cert=options.get("ssl-cert"),
        key=options.get("ssl-key") if options.get("ssl-cert") else None,
    )
    return HostEntry(name, address, None, sql)


def _tls(group: str, options: dict[str, str], reader: _Reader) -> Tls:
    """Return what the client would ask for, at least: MySQL's client reads ssl-mode, MariaDB's the other two."""
    if options.get("ssl-verify-server-cert", "0").lower() in _TRUE:
        return "verify-identity"
    mode = options.get("ssl-mode", "").lower().replace("-", "_")
    if mode == "required":
        reader.notes.append(
            tr('[{group}]: ssl-mode=REQUIRED stays "required": encrypted, not verified; better: "verify".', group=group)
        )
    return _MODES.get(mode, "verify-ca" if "ssl-ca" in options else "verify")


class _Reader:
    """The groups of an option file and what it includes; a later value replaces an earlier one."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, str]] = {}
        self.notes: list[str] = []
        self.problems: list[str] = []
        self._files = Inclusions("!include", _MOST_INCLUDES, self.problems)

    def read(self, file: Path, depth: int) -> None:
        lines = self._files.lines_of(file, depth)
        if lines is None:
            return
        group: dict[str, str] | None = None
        for number, line in enumerate(lines, start=1):
            bare = line.strip()
            if not bare or bare[0] in "#;":
                continue
            if bare.startswith("!"):
                self._include(bare, f"{file}, line {number}", depth)
            elif found := _GROUP.fullmatch(bare):
                group = self.groups.setdefault(found[1].rstrip(), {})
            elif group is None:
                self.problems.append(
                    tr("{file}, line {number}: an option stands before any group.", file=file, number=number)
                )
            else:
                name, value = _option(bare)
                group[name] = value

    def _include(self, line: str, where: str, depth: int) -> None:
        word, _, target = line.partition(" ")
        path = Path(target.strip()).expanduser()
        if word == "!include":
            self.read(path, depth + 1)
        elif word == "!includedir":
            for name in self._files.matching(Path(glob.escape(str(path.absolute()))) / "*.cnf", where):
                self.read(name, depth + 1)
        else:
            self.problems.append(tr("{where}: {word} is not known.", where=where, word=word))


def _option(line: str) -> tuple[str, str]:
    name, value = option_line(line)
    return name.lower().replace("_", "-").removeprefix("loose-"), value
