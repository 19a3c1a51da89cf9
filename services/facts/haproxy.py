"""What a running HAProxy tells: where its stats sockets are, what they may do, and every server behind it.

Sources: HAProxy Configuration Manual 3.1 "stats socket"; Management Guide 2 (-f), 9.1 "CSV format", 9.3 "Unix Socket
commands" (show cli level, show info, show stat, show servers state). Tried on HAProxy 2.6.12.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from ipaddress import ip_address

from services.connections.observer.paths import is_clean, is_haproxy_socket
from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.reading import count, words
from services.lines import lines_of

CONFIG = "/etc/haproxy/haproxy.cfg"
LIMIT_S = 12.0
LEVELS = ("", "user", "operator", "admin")
_SOCKET = re.compile(r"^[ \t]*stats[ \t]+socket[ \t]+(?:unix@)?(/\S+)", re.MULTILINE)
# Configuration Manual 2.3: letters, digits, '-', '_', '.', ':'. Anything else is never put into a command.
_NAME = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)
_MOST_LINES = 20_000


@dataclass(frozen=True, slots=True)
class HaproxyServer:
    """One server of a backend, as a running HAProxy sees it ('show stat' and 'show servers state').

    Attributes:
        status: 'UP', 'DOWN', 'DRAIN', 'MAINT', 'no check', ...: a drained server that is down is shown as 'DOWN'.
        admin: srv_admin_state, a mask: 0x01 and 0x08 are maintenance and drain that somebody ordered here, 0x02 and
            0x10 what it has from the server it tracks, 0x20 a name that doesn't resolve.
    """

    backend: str
    name: str
    address: str
    port: int | None
    status: str
    admin: int | None
    weight: int | None = None
    sessions: int | None = None

    @property
    def ordered_out(self) -> bool | None:
        """Return whether somebody set it to drain or maintenance; None when that was not read."""
        return None if self.admin is None else bool(self.admin & 0x09)

    @property
    def serves(self) -> bool:
        """Return whether it takes new sessions."""
        return self.admin is not None and not self.admin & 0x3B and self.status.startswith(("UP", "no check"))


@dataclass(frozen=True, slots=True)
class Haproxy:
    """One running HAProxy: the stats socket that may do most ('admin' may drain), and its servers.

    Attributes:
        level: 'admin', 'operator', 'user'; '' when it was not read: `fault` says why.
    """

    socket: str
    level: str = ""
    version: str = ""
    pid: int | None = None
    servers: tuple[HaproxyServer, ...] = ()
    fault: str = ""


def show_read(socket: str) -> CommandRead:
    """Return one question to a stats socket."""
    return commands.HAPROXY_SHOWN.read(socket, sudo=True)


def config_paths(table: str) -> tuple[str, ...]:
    """Return what the command lines of running HAProxies name after -f; Debian's file where none does."""
    found = []
    for line in lines_of(table)[:_MOST_LINES]:
        parts = line.split()
        if len(parts) < 3 or parts[2].rsplit("/", 1)[-1] != "haproxy":
            continue
        found += [parts[i + 1] for i, word in enumerate(parts[:-1]) if word == "-f"]
    return tuple(dict.fromkeys(path for path in found if is_clean(path))) or (CONFIG,)


def config_names(listing: str) -> tuple[str, ...]:
    """Return the files of a folder given to -f that are read, by `ls -1`: *.cfg, in order (Management Guide 3, -f)."""
    return tuple(name for name in sorted(listing.split()) if name.endswith(".cfg"))


def sockets_of(text: str) -> tuple[str, ...]:
    """Return the paths of the stats sockets that a configuration names; nothing else of it is kept."""
    return tuple(path for path in _SOCKET.findall(text) if is_haproxy_socket(path))


# -- the answer -------------------------------------------------------------------------------------------------------


def parse_show(socket: str, output: Output | None) -> Haproxy:
    """Return what one stats socket answered; with a fault when it did not."""
    if output is None:
        return Haproxy(socket, fault="the stats socket could not be asked")
    lines = lines_of(output.text)[:_MOST_LINES]
    level = next((line for line in lines[:3] if line in LEVELS[1:]), "")
    if output.exit_code or not level:
        said = words(output.error_text, 200)
        other = "what answered at the stats socket is no HAProxy" if lines else "the stats socket gave no answer"
        return Haproxy(socket, fault=said or other)
    info = dict(line.partition(": ")[::2] for line in lines if ": " in line and "," not in line)
    try:
        servers = _servers(lines)
    except csv.Error:  # a field of 128 kB, say
        return Haproxy(socket, fault="what answered at the stats socket is no HAProxy")
    return Haproxy(socket, level, info.get("Version", ""), count(info.get("Pid")), servers)


def _servers(lines: list[str]) -> tuple[HaproxyServer, ...]:
    states = _states(lines)
    at = next((i for i, line in enumerate(lines) if line.startswith("# pxname,")), len(lines))
    end = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
    found = []
    for row in csv.DictReader([line.removeprefix("# ") for line in lines[at:end]]):
        backend, name = row.get("pxname") or "", row.get("svname") or ""
        state = states.get((backend, name))
        if state is None or not _NAME.fullmatch(backend) or not _NAME.fullmatch(name):
            continue  # frontends, backends and listeners have no state of a server
        sessions, weight = count(row.get("scur")), count(row.get("weight"))
        found.append(replace(state, status=words(row.get("status"), 40), weight=weight, sessions=sessions))
    return tuple(found)


def _states(lines: list[str]) -> dict[tuple[str, str], HaproxyServer]:
    """Return the rows of 'show servers state', format version 1, by backend and server."""
    at = next((i for i, line in enumerate(lines) if line.startswith("# be_id ")), len(lines))
    if at == 0 or at == len(lines) or lines[at - 1].strip() != "1":
        return {}
    columns = lines[at].removeprefix("# ").split(" ")
    found = {}
    for line in lines[at + 1 :]:
        row = dict(zip(columns, line.split(" "), strict=False))
        if backend := row.get("be_name"):
            name = row.get("srv_name", "")
            address = _address(row.get("srv_addr", ""))
            found[backend, name] = HaproxyServer(
                backend, name, address, count(row.get("srv_port")), "", count(row.get("srv_admin_state"))
            )
    return found


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return ""
