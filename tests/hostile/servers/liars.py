"""Database servers that let in, answer what is asked, and lie: texts, numbers, names and crowds that no server has."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from tests.hostile.servers.listener import Listener, Script
from tests.hostile.servers.mysql_server import OK, let_in, take
from tests.unit.connections import packets as p

Reply = dict[str, str] | list[dict[str, str]]
Liar = Callable[[str, float], Reply]
"""(statement, seconds since the start) -> names with texts, or rows."""

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c6159"
HTML = "<img src='file:///etc/passwd'><b>x</b>"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe\u2066 &lt;i&gt;"
CROWD = 3000


def _status(seconds: float) -> dict[str, str]:
    counters = ("Questions", "Com_select", "Com_insert", "Bytes_sent", "Innodb_rows_read")
    return {
        "Uptime": str(int(1000 + seconds)), "Threads_running": "2", "Threads_connected": "3",
        **{name: str(int(1000 * seconds) + at) for at, name in enumerate(counters)},
    }  # fmt: skip


def _variables(number: int) -> dict[str, str]:
    return {
        "version": "10.11.18-MariaDB-log", "version_comment": "x", "hostname": f"db{number}", "port": "3306",
        "server_id": str(number), "server_uid": f"uid{number}", "log_bin": "ON", "datadir": "/var/lib/mysql/",
        "max_connections": "151", "innodb_buffer_pool_size": "134217728",
    }  # fmt: skip


def _galera(number: int) -> tuple[dict[str, str], dict[str, str]]:
    status = {
        "wsrep_cluster_status": "Primary", "wsrep_cluster_state_uuid": f"{UUID}{number:02}",
        "wsrep_local_state_uuid": f"{UUID}{number:02}", "wsrep_cluster_conf_id": "3", "wsrep_cluster_size": "1",
        "wsrep_local_state": "4", "wsrep_local_state_comment": "Synced", "wsrep_ready": "ON", "wsrep_connected": "ON",
        "wsrep_gcomm_uuid": f"{UUID}{number + 50:02}", "wsrep_last_committed": "77", "wsrep_provider_name": "Galera",
        "wsrep_incoming_addresses": "127.0.0.1:3306", "wsrep_local_recv_queue": "0", "wsrep_local_send_queue": "0",
    }  # fmt: skip
    variables = {
        "wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so", "wsrep_cluster_name": "c",
        "wsrep_node_name": f"node{number}", "wsrep_cluster_address": "gcomm://127.0.0.1",
        "wsrep_trx_fragment_size": "0", "wsrep_provider_options": "gcache.size = 128M; pc.weight = 1",
    }  # fmt: skip
    return status, variables


def _channel(at: int) -> dict[str, str]:
    return {
        "Connection_name": f"c{at}", "Master_Host": f"10.{at >> 8 & 255}.{at & 255}.1", "Master_Port": "3306",
        "Slave_IO_Running": "Yes", "Slave_SQL_Running": "No", "Seconds_Behind_Master": str(at), "Last_IO_Error": "x",
        "Last_SQL_Error": "", "Using_Gtid": "Slave_Pos", "Gtid_IO_Pos": "0-1-9", "Gtid_Slave_Pos": "0-1-7",
    }  # fmt: skip


def _process(at: int) -> dict[str, str]:
    return {"Id": str(at), "User": "app", "Host": f"10.9.{at >> 8 & 255}.{at & 255}:5", "db": "x", "Command": "Query",
            "Time": "1", "State": "commit", "Info": "COMMIT"}  # fmt: skip


def _replica(at: int) -> dict[str, str]:
    return {"Server_id": str(at), "Host": f"10.8.{at >> 8 & 255}.{at & 255}", "Port": "3306", "Master_id": "1"}


def _member(at: int) -> dict[str, str]:
    return {"node_uuid": f"{UUID}{at % 90:02}", "node_name": f"m{at}", "node_incoming_address": f"10.7.0.{at % 250}:1"}


def truth(number: int, *, galera: bool = False, crowd: int = 1) -> Liar:
    """Return a server as they are."""
    status, variables = _galera(number) if galera else ({}, {})

    def tell(statement: str, seconds: float) -> Reply:
        if statement.startswith("SHOW GLOBAL STATUS"):
            return {**_status(seconds), **status}
        if statement.startswith("SHOW GLOBAL VARIABLES"):
            return {**_variables(number), **variables}
        if "PROCESSLIST" in statement:
            return [_process(at) for at in range(crowd)]
        if "cluster_members" in statement:
            return [_member(at) for at in range(crowd)]
        if statement.startswith(("SHOW ALL SLAVES", "SHOW SLAVE STATUS", "SHOW REPLICA STATUS")):
            return [_channel(at) for at in range(crowd - 1)]
        return [_replica(at) for at in range(crowd - 1)]

    return tell


def _changed(tell: Liar, change: Callable[[str, str, float], str], keep: tuple[str, ...] = ()) -> Liar:
    """Return a server each of whose texts is changed, but for names that decide what it is asked at all."""

    def lie(statement: str, seconds: float) -> Reply:
        said = tell(statement, seconds)
        rows = [said] if isinstance(said, dict) else said
        lies = [{n: v if n in keep else change(n, v, seconds) for n, v in row.items()} for row in rows]
        return lies[0] if isinstance(said, dict) else lies

    return lie


_SHAPE = ("version", "wsrep_on", "wsrep_provider", "log_bin", "wsrep_trx_fragment_size")
_NUMBERS = ("²", "1e300", "9" * 5000, "-1", "nan", "inf", "18446744073709551615", "٣", "", "1e-320", "0-1-²", "[ ², ]")


def _inventing(number: int) -> Liar:
    def tell(statement: str, seconds: float) -> Reply:
        said = truth(number)(statement, seconds)
        if statement.startswith("SHOW GLOBAL STATUS") and isinstance(said, dict):
            said |= {f"Made_up_{int(seconds)}_{at}": str(at) for at in range(CROWD)}
        return said

    return tell


def _flapping(number: int) -> Liar:
    def change(name: str, value: str, seconds: float) -> str:
        if name == "wsrep_local_state":
            return str(int(seconds) % 5)
        if name == "Uptime":
            return str(int(seconds * 7919) % 100_000)
        return f"{value}{int(seconds)}"

    return _changed(truth(number, galera=True), change, _SHAPE)


LIARS: dict[str, Liar] = {
    "markup in every text": _changed(truth(11, galera=True, crowd=3), lambda n, v, _: f"{v}{HTML}", _SHAPE),
    "escapes in every text": _changed(truth(12, galera=True, crowd=3), lambda n, v, _: f"{ESCAPES}{v}\x1b", _SHAPE),
    "only escapes": _changed(truth(13, galera=True, crowd=3), lambda n, v, _: ESCAPES, _SHAPE),
    "numbers that are none": _changed(
        truth(14, galera=True, crowd=3), lambda n, v, s: _NUMBERS[(len(n) + int(s)) % len(_NUMBERS)], _SHAPE
    ),
    "texts of 20 kB": _changed(truth(15, galera=True, crowd=3), lambda n, v, _: v + "x" * 20_000, _SHAPE),
    "new names each second": _inventing(16),
    "another server each second": _flapping(17),
    "thousands of everything": truth(18, galera=True, crowd=CROWD),
}  # fmt: skip
HONEST = truth(1)


def speaking(tell: Liar) -> Script:
    """Return a server that lets in, and answers by `tell`."""
    began = time.monotonic()

    def script(sock: socket.socket, over: threading.Event) -> None:
        let_in(sock)
        while not over.is_set():
            statement = take(sock)[1:].decode("utf-8", "replace")
            if not statement.startswith(("SHOW", "SELECT")):
                sock.sendall(p.packets([OK], 1))
                continue
            said = tell(statement, time.monotonic() - began)
            sock.sendall(_packed(said if isinstance(said, list) else _pairs(said)))

    return script


def _pairs(said: dict[str, str]) -> list[dict[str, str]]:
    return [{"Variable_name": name, "Value": value} for name, value in said.items()]


def _packed(rows: list[dict[str, str]]) -> bytes:
    columns = list(rows[0]) if rows else ["a", "b"]
    return p.result([p.column(name) for name in columns], [[row[c].encode() for c in columns] for row in rows])


def liar(name: str) -> Listener:
    """Start one of them."""
    return Listener(speaking(HONEST if name == "honest" else LIARS[name]))
