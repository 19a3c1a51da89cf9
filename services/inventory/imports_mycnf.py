"""Hosts of ~/.my.cnf: the group [client], and each [clientNAME] (what `--defaults-group-suffix=NAME` would read).

Sources: services/option_values.py (comments, quotes, escapes, inclusions, order); MySQL manual, "Using Option Files"
(`-` and `_` alike, loose- prefix; a file that others may write to is ignored; ten inclusions deep is the most),
"Command Options for Connecting to the Server" (ssl-mode); MariaDB KB, "mariadb command-line client" (ssl options).
"""

from __future__ import annotations

import glob
import os
import socket
import stat
from pathlib import Path

from services.addresses import is_address, port_of
from services.i18n import tr
from services.inventory.imports import ImportReport, unique_names, vetted
from services.inventory.model import HostEntry, SqlAccess, Tls
from services.inventory.option_files import Inclusions
from services.option_values import OptionLine, option_lines, plain_name
from services.secrets import Secret, SecretRef
from services.visible import as_line
from services.workstation.home import expanded

DEFAULT = Path("~/.my.cnf")
_MOST_INCLUDES = 10
# Groups of one program's version or product are no host's: [client-mariadb], [client-server].
_NOT_A_HOST = {"client-mariadb", "client-server", "client_mariadb"}
_NAMES_A_SERVER = {"host", "socket"}
_MOST_OF_NAMES = 300
_TRUE = {"", "1", "on", "true"}
_LOGIN_PATHS = bytes(4)
"""How mysql_config_editor's file begins (MySQL source, client/mysql_config_editor.cc: an unused number of 4 bytes)."""

_MODES: dict[str, Tls] = {  # never less than the client asked for; "preferred" becomes the default
    "disabled": "off",
    "preferred": "verify",
    "required": "required",
    "verify_ca": "verify-ca",
    "verify_identity": "verify-identity",
}


def import_my_cnf(path: str | Path | None = None) -> ImportReport:
    """Return the servers an option file names. Passwords come as `secrets`, never in a host's values."""
    file = expanded(path if path is not None else DEFAULT)
    reader = _Reader()
    reader.read(file, 0)
    hosts: list[HostEntry] = []
    places: list[str] = []
    secrets: dict[SecretRef, Secret] = {}
    groups = [group for group in reader.groups if group.startswith("client") and group not in _NOT_A_HOST]
    for group in groups:
        options = reader.of("client", group)
        if group == "client" and not options.keys() & _NAMES_A_SERVER:
            _tell_of_common_values(options, reader, alone=groups == ["client"])
            continue
        host = _host(group, options, reader)
        if host is None:
            continue
        hosts.append(host)
        places.append(f"[{group}]")
        if host.sql is not None and host.sql.password is not None:
            secrets[host.sql.password] = Secret(options["password"])
    _tell_of_other_groups(reader, groups)
    named = unique_names(hosts)
    report = ImportReport(str(file), named, tuple(reader.notes), tuple(reader.problems), tuple(secrets.items()))
    return vetted(report, {host.name: place for host, place in zip(named, places, strict=True)})


def _tell_of_common_values(options: dict[str, str], reader: _Reader, *, alone: bool) -> None:
    """Say of a [client] that is no server why it is none; it is a fault where nothing else is in the file."""
    if options.keys() & {"user", "password"}:
        words = tr(
            "[client] names neither a host nor a socket: it is not a host, and its values apply to [clientNAME]."
        )
        (reader.problems if alone else reader.notes).append(words)


def _tell_of_other_groups(reader: _Reader, groups: list[str]) -> None:
    """Name the groups that have a host and are not every client's: [mysql], [mysqldump]."""
    others = [f"[{one}]" for one in reader.groups if one not in groups and "host" in reader.of(one)]
    if others:
        names = as_line(", ".join(others), _MOST_OF_NAMES)
        reader.notes.append(
            tr("Groups of individual programs are left out, with the hosts they name: {names}.", names=names)
        )


def _host(group: str, options: dict[str, str], reader: _Reader) -> HostEntry | None:
    suffix = group.removeprefix("client").lstrip("-_")
    address = options.get("host") or "localhost"
    if not is_address(address):
        reader.problems.append(tr("[{group}]: the host is not an address.", group=group))
        return None
    port = port_of(options.get("port", "3306"))
    if port is None:
        reader.problems.append(tr("[{group}]: the port is not a number from 1 to 65535.", group=group))
        return None
    if "user" not in options:
        reader.problems.append(tr("[{group}]: no user is set; the client would use your login name.", group=group))
        return None
    # libmysqlclient reads "localhost" as: the Unix socket of this machine, unless TCP is asked for, or is all there is.
    local = address == "localhost" and options.get("protocol", "").lower() != "tcp" and hasattr(socket, "AF_UNIX")
    user = options["user"]
    name = suffix or address
    if _no_text(options.get("password", "")):
        reader.problems.append(
            tr(
                "[{group}]: its password, as the client reads it, is not UTF-8 text and is not stored. Write "
                "it in quotes and in UTF-8, or type it when prompted.",
                group=group,
            )
        )
        del options["password"]
    if any(_no_text(value) for value in options.values()):
        reader.problems.append(tr("[{group}]: one of its values is not UTF-8 text.", group=group))
        return None
    ref = SecretRef("keyring", f"{user}@{address}:{port}") if options.get("password") else None
    if ref is not None:
        reader.notes.append(
            tr(
                "[{group}]: its password is stored in the keyring as {ref}; delete it from this file.",
                group=group,
                ref=ref,
            )
        )
    sql = SqlAccess(
        user=user,
        password=ref,
        port=port,
        via="socket" if local else "direct",
        socket=options.get("socket") if local else None,
        tls="off" if local else _tls(group, options, reader),
        ca=options.get("ssl-ca"),
        cert=options.get("ssl-cert"),
        key=options.get("ssl-key") if options.get("ssl-cert") else None,
    )
    return HostEntry(name, address, None, sql)


def _no_text(value: str) -> bool:
    return any("\udc80" <= sign <= "\udcff" for sign in value)


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
    """The options of an option file and what it includes, in the order in which the clients read them."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str, str]] = []
        self.notes: list[str] = []
        self.problems: list[str] = []
        self._files = Inclusions("!include", _MOST_INCLUDES, self.problems)

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups, in small letters: case does not count."""
        return tuple(dict.fromkeys(group for group, _, _ in self.options))

    def of(self, *groups: str) -> dict[str, str]:
        """Return the options of several groups; a later line replaces an earlier one, whatever its group."""
        return {name: value for group, name, value in self.options if group in groups}

    def read(self, file: Path, depth: int) -> None:
        if _others_may_write(file):
            words = tr("{file} is not read: other users may write to it, and the clients ignore it.", file=file)
            self.problems.append(words)
            return
        data = self._files.bytes_of(file, depth)
        if data is not None and data.startswith(_LOGIN_PATHS):
            words = tr("{file} contains obfuscated login paths, which are not read: mysql_config_editor print --all "
                "lists their hosts.", file=file)  # fmt: skip
            self.problems.append(words)
            return
        for line in option_lines(data.decode("utf-8", "surrogateescape")) if data is not None else ():
            where = f"{file}, line {line.number}"
            if line.kind == "option":
                self.options.append((line.group.lower(), plain_name(line.name), line.value or ""))
            elif line.kind == "broken":
                self.problems.append(
                    tr("{where}: the clients refuse the file here; nothing after this line is read.", where=where)
                )
            elif line.kind != "group":
                self._include(line, where, depth)

    def _include(self, line: OptionLine, where: str, depth: int) -> None:
        path = expanded(line.name)
        if line.kind == "include":
            self.read(path, depth + 1)
        elif line.kind == "includedir" and not path.is_dir():
            self.problems.append(
                tr("{where}: {path} is not a folder; the clients refuse the file.", where=where, path=path)
            )
        elif line.kind == "includedir":
            pattern = Path(glob.escape(str(path.absolute()))) / "*.cnf"
            for name in sorted(self._files.matching(pattern, where), key=lambda one: os.fsencode(one.name)):
                self.read(name, depth + 1)
        else:
            self.problems.append(tr("{where}: {word} is not known.", where=where, word=f"!{line.name}"))


def _others_may_write(file: Path) -> bool:
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return False  # reading it says what is wrong
    return os.name == "posix" and stat.S_ISREG(mode) and bool(mode & stat.S_IWOTH)
