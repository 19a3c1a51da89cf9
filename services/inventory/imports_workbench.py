"""Hosts of MySQL Workbench's connections.xml (a GRT file: typed <value>s, objects with a dict "parameterValues").

Read with defusedxml: a DTD or an entity is refused before anything is expanded. Field names and drivers are those of
Workbench's own db.mgmt.Connection (res/grt/structs.db.mgmt.xml, data/... in its sources): hostName, port, userName,
socket, sshHost ("host:port"), sshUserName, sshKeyFile, useSSL (0 no, 1 if available, 2 require, 3 verify CA, 4 verify
identity), sslCA, sslCert, sslKey. Workbench keeps passwords in the system's keyring, not in this file.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.addresses import is_address, parse_hop, port_of
from services.i18n import tr
from services.inventory.imports import ImportReport, unique_names, vetted
from services.inventory.model import HostEntry, SqlAccess, SshAccess, Tls
from services.visible import as_line
from services.workstation.files import read_bounded
from services.workstation.home import expanded

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MOST_BYTES = 16 * 2**20
_MOST_OF_A_NAME = 100
_MYSQL = "com.mysql.rdbms.mysql"
_TCP, _SOCKET, _SSH = (f"{_MYSQL}.driver.{kind}" for kind in ("native", "native_socket", "native_sshtun"))
_LOCAL = {"127.0.0.1", "localhost", "::1", ""}
_TLS: dict[str, Tls] = {  # never less than Workbench asked for; "if available" becomes the default
    "0": "off",
    "1": "verify",
    "2": "required",
    "3": "verify-ca",
    "4": "verify-identity",
}


def default_path() -> Path:
    """Return where Workbench keeps its connections on this system."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "~")) / "MySQL" / "Workbench" / "connections.xml"
    if sys.platform == "darwin":
        return expanded("~/Library/Application Support/MySQL/Workbench/connections.xml")
    return expanded("~/.mysql/workbench/connections.xml")


def import_workbench(path: str | Path | None = None) -> ImportReport:
    """Return the connections of a Workbench file as hosts."""
    file = expanded(path) if path is not None else default_path()
    root, why = _parse(file)
    if root is None:
        return ImportReport(str(file), problems=(why,))
    hosts: list[HostEntry] = []
    notes: list[str] = []
    problems: list[str] = []
    for connection in root.iter("value"):
        if connection.get("struct-name") != "db.mgmt.Connection":
            continue
        name, parameters = _fields(connection)
        try:
            hosts.append(_host(name, _driver(connection), parameters, notes))
        except ValueError as problem:
            problems.append(f'"{name}": {problem}.')
    if hosts:
        notes.append(tr("Passwords stay in Workbench's own keyring entries; enter them again, or use references."))
    report = ImportReport(str(file), unique_names(hosts), tuple(notes), tuple(problems))
    return vetted(report, {})  # a connection's name is its place


def _parse(file: Path) -> tuple[Element | None, str]:
    from xml.etree.ElementTree import ParseError  # the error type only; the parser is defusedxml's

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(read_bounded(file, _MOST_BYTES), forbid_dtd=True)
    except OSError as problem:
        return None, tr("{file} cannot be read: {problem}.", file=file, problem=problem.strerror or problem)
    except DefusedXmlException as problem:
        return None, tr(
            "{file} is refused: it declares entities or a DTD ({problem}).", file=file, problem=type(problem).__name__
        )
    except (ParseError, ValueError, LookupError, RecursionError) as problem:
        return None, tr("{file} is not XML: {problem}.", file=file, problem=problem)
    if root.tag != "data" or root.get("grt_format") is None:
        return None, tr("{file} is not a Workbench file (no <data grt_format=...>).", file=file)
    return root, ""


def _fields(connection: Element) -> tuple[str, dict[str, str]]:
    """Return the connection's name and its parameterValues."""
    name = ""
    parameters: dict[str, str] = {}
    for value in connection.findall("value"):
        if value.get("key") == "name":
            name = (value.text or "").strip()
        elif value.get("key") == "parameterValues":
            parameters = {str(v.get("key")): (v.text or "").strip() for v in value.findall("value")}
    return name or tr("(no name)"), parameters


def _driver(connection: Element) -> str:
    for link in connection.findall("link"):
        if link.get("key") == "driver":
            return (link.text or "").strip() or _TCP
    return _TCP


def _host(name: str, driver: str, parameters: dict[str, str], notes: list[str]) -> HostEntry:
    """Return one connection as a host; raise ValueError with what is wrong with it."""
    name = " ".join("".join(c for c in name if c.isprintable() or c.isspace()).split()) or tr("(no name)")
    if driver not in {_MYSQL, _TCP, _SOCKET, _SSH}:
        # Sources of a migration (PostgreSQL, SQL Server) have such connections, and ways that are not known here.
        raise ValueError(tr("its driver is {driver}, which is not supported", driver=as_line(driver, _MOST_OF_A_NAME)))
    address = _address(parameters.get("hostName", ""))
    sql = SqlAccess(
        user=_user(parameters.get("userName", "")),
        port=_port(parameters.get("port") or "3306"),
        tls=_TLS.get(parameters.get("useSSL", "1"), "verify"),
        ca=parameters.get("sslCA") or None,
        cert=parameters.get("sslCert") or None,
        key=(parameters.get("sslKey") or None) if parameters.get("sslCert") else None,
    )
    if parameters.get("useSSL") == "2":
        notes.append(
            tr('"{name}": "Require" becomes tls = "required": encrypted, not verified; better: "verify".', name=name)
        )
    if driver == _SOCKET:
        socket = parameters.get("socket") or None
        return HostEntry(name, "localhost", None, replace(sql, via="socket", socket=socket, tls="off"))
    if driver != _SSH:
        return HostEntry(name, address or "127.0.0.1", None, sql)
    gate, port = _gate(parameters.get("sshHost", ""))
    login = _user(parameters.get("sshUserName", ""), needed=False)
    ssh = SshAccess(user=login, port=port, key=parameters.get("sshKeyFile") or None)
    if address in _LOCAL:
        return HostEntry(name, gate, ssh, replace(sql, via="tunnel"))
    notes.append(
        tr(
            '"{name}": Workbench goes through {gate} to {address} and has no login there; '
            "the same user was assumed. Check its SSH login before use.",
            name=name,
            gate=gate,
            address=address,
        )
    )
    hop = f"[{gate}]" if ":" in gate else gate
    jump = (f"{login}@" if login else "") + hop + (f":{port}" if port else "")
    return HostEntry(name, address, SshAccess(user=ssh.user, key=ssh.key, jump=jump), replace(sql, via="tunnel"))


def _gate(text: str) -> tuple[str, int | None]:
    """Return host and port (None: none is named) of "host:port"."""
    if not text:
        raise ValueError(tr("it uses SSH, and no SSH host is set"))
    hop = parse_hop(text)
    if hop is None or hop[0]:
        raise ValueError(tr("its SSH host is invalid"))
    return hop[1], hop[2]


def _address(text: str) -> str:
    if text and not is_address(text):
        raise ValueError(tr("its host is not an address"))
    return text


def _user(text: str, *, needed: bool = True) -> str:
    if (needed and not text) or text.startswith("-") or any(c.isspace() or not c.isprintable() for c in text):
        raise ValueError(tr("its user name is missing or unusable"))
    return text


def _port(text: str) -> int:
    port = port_of(text)
    if port is None:
        raise ValueError(tr("its port is not a number from 1 to 65535"))
    return port
