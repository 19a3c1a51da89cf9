"""A real HAProxy on the spare host of the estate, in front of its members, and an application that goes through it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pymysql

from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.host.more_packages import installed
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.states.writer import TABLE, Writer
from tests.lab.procedures.whole import members

HOST, PORT = "new", 3307
ROWS_A_SESSION = 5
_SOCKET = "/run/haproxy/admin.sock"
# HAProxy Configuration Manual: "server", "default-server", "option redispatch". The check only connects.
_CONFIG = """\
global
    user haproxy
    group haproxy
    stats socket {socket} mode 660 level {level}
defaults
    mode tcp
    timeout connect 2s
    timeout client 300s
    timeout server 300s
    default-server inter 500 fall 2 rise 2
listen galera
    bind *:{port}
    balance roundrobin
{servers}
"""


class Balancer:
    """The HAProxy of the test."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self._host = estate.host(HOST)

    def configure(self, *names: str, level: str = "admin") -> None:
        """Restart it in front of these members, and wait until it finds them up."""
        servers = "\n".join(f"    server db-{n} {self._estate.addresses[n]}:3306 check" for n in names)
        text = _CONFIG.format(socket=_SOCKET, level=level, port=PORT, servers=servers)
        self._host.sh("cat > /etc/haproxy/haproxy.cfg && systemctl restart haproxy", stdin=text)
        while_asserts(lambda: self.assert_all_up(len(names)), limit_s=20)

    def forget(self) -> None:
        """Reload it: the new process knows its configuration, and no order that was given at the socket."""
        self._host.sh("systemctl reload haproxy")
        while_asserts(self.assert_all_up, limit_s=20)

    def ask(self, order: str) -> str:
        """What it answers at its stats socket."""
        return self._host.sh(f"socat -t 5 - UNIX-CONNECT:{_SOCKET}", stdin=f"{order}\n").out

    def states(self) -> dict[str, tuple[str, int]]:
        """Server -> (status, sessions)."""
        rows = [line.split(",") for line in self.ask("show stat").splitlines() if line.startswith("galera,db-")]
        return {row[1].removeprefix("db-"): (row[17], int(row[4])) for row in rows}

    def assert_all_up(self, number: int = 3) -> None:
        """Assert that every server is up, and that nobody's order keeps one out."""
        states = self.states()
        assert len(states) == number, states
        assert {status for status, _ in states.values()} == {"UP"}, states
        rows = [line.split(" ") for line in self.ask("show servers state galera").splitlines() if " db-" in line]
        assert {row[6] for row in rows} == {"0"}, rows


@contextmanager
def balanced(estate: Estate) -> Iterator[Balancer]:
    """HAProxy on the spare host, in front of all members."""
    with installed(estate, HOST, ("haproxy",)):
        estate.host(HOST).sh("systemctl disable haproxy")  # no link of it beside the files that a test compares
        balancer = Balancer(estate)
        balancer.configure(*members(estate))
        yield balancer


class BalancedWriter(Writer):
    """An application with short sessions through HAProxy; every error that it sees is kept, with when and where."""

    def __init__(self, estate: Estate) -> None:
        super().__init__(estate, members(estate))
        self.errors: list[str] = []

    def _run(self) -> None:
        row = self._first
        while not self._stop.is_set():
            talk, doing = None, "connecting"
            try:
                talk = self._connect(HOST)
                doing = f"session {talk.thread_id()} of {talk.get_server_info()}"
                with talk.cursor() as cursor:
                    for _ in range(ROWS_A_SESSION):
                        row += 1
                        cursor.execute(f"INSERT INTO {TABLE} VALUES (%s, @@wsrep_node_name, 'through')", (row,))
                        self.acknowledged[row] = HOST
                        self._stop.wait(self._pause)
            except (pymysql.err.Error, OSError) as problem:
                self.errors.append(f"{time.strftime('%H:%M:%S')}, {doing}, row {row}: {problem}")
                self._stop.wait(0.1)
            finally:
                if talk is not None and talk.open:
                    talk.close()

    def _connect(self, host: str) -> pymysql.Connection[pymysql.cursors.Cursor]:
        return connect(self._estate, host)


def connect(estate: Estate, host: str = HOST) -> pymysql.Connection[pymysql.cursors.Cursor]:
    """One session through HAProxy."""
    return pymysql.connect(
        host=estate.addresses[host],
        port=PORT,
        user="sysbench",
        password=vault.load()["sysbench"],
        ssl_disabled=True,  # a server killed before its handshake would leave a socket to the garbage collector
        autocommit=True,
        connect_timeout=4,
        read_timeout=10,
        write_timeout=10,
    )
