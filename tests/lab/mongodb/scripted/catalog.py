"""The metadata of a sharded cluster as a mongos reads and writes them: three mirrors, or a replica set.

Mirrors are written all or none: where one does not answer the catalog can't be changed, and can still be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.lab.mongodb.scripted.wire import Doc, Refused, ask

_NETWORK = (OSError, EOFError)
_FIND_PRIMARY_S = 5.0


class Catalog:
    """The config servers, by the string in force."""

    def __init__(self, string: str, log: Callable[[str], None]) -> None:
        self.string = string
        self._log = log
        self._given = hosts_of(string)

    @property
    def mirrored(self) -> bool:
        """Whether they are mirrors."""
        return "/" not in self.string

    @property
    def hosts(self) -> list[str]:
        """The config servers in use."""
        return hosts_of(self.string)

    def read(self, command: Doc) -> Doc:
        """Ask the first mirror that answers, or any member that has data. Raises Refused, OSError."""
        return self._read("config", command)

    def rows(self, collection: str, wanted: Doc | None = None) -> list[Doc]:
        """Documents of the config database."""
        asked: Doc = {"find": collection, "filter": wanted or {}, "batchSize": 1000}
        found: list[Doc] = self.read(asked)["cursor"]["firstBatch"]
        return found

    def _read(self, database: str, command: Doc) -> Doc:
        problem: Exception = Refused(0, "None of the hosts answered")
        for host in self.hosts:
            try:
                return ask(host, command, database=database, slave_ok=not self.mirrored)
            except _NETWORK as lost:
                problem = lost
            except Refused as refused:
                if self.mirrored:
                    raise
                problem = refused
        raise problem

    def write(self, command: Doc, *, lock: str = "") -> Doc:
        """Change the config database. Raises Refused with the words of the real one.

        lock: what is locked first, by a write of its own; a write without one fails in other words.
        """
        if not self.mirrored:
            concern = {"w": "majority", "wtimeout": 15_000}
            return ask(self._primary(), {**command, "writeConcern": concern}, database="config", limit_s=20)
        self._prepare(lock)
        answers = [ask(host, command, database="config") for host in self.hosts]
        return answers[0]

    def _prepare(self, lock: str) -> None:
        failed = ""
        for host in self.hosts:
            try:
                if not ask(host, {"isMaster": 1}, limit_s=2.0)["ismaster"]:
                    failed += f" {host}: not master"
            except _NETWORK:
                name = host.rpartition(":")[0]
                failed += (
                    f" {host} ({name}) failed:9001 socket exception [CONNECT_ERROR] server [couldn't connect to server"
                )
                failed += f" {host}, connection attempt failed] "
        if failed:
            if not lock:
                raise Refused(25, "Could not verify that config servers were active and reachable before write")
            words = f"SyncClusterConnection::update prepare failed: {failed}"
            raise Refused(13663, f"exception creating distributed lock {lock} :: caused by :: {words}")

    def _primary(self) -> str:
        deadline = time.monotonic() + _FIND_PRIMARY_S
        while True:
            found = primary_of(self.hosts)
            if found:
                return found
            if time.monotonic() >= deadline:
                name = self.string.partition("/")[0]
                raise Refused(133, f'could not find host matching read preference {{ mode: "primary" }} for set {name}')
            time.sleep(0.1)

    def look(self) -> None:
        """Swap to the replica set where a config server is one of it, and follow its members from then on."""
        for host in dict.fromkeys((*self.hosts, *self._given)):
            try:
                reply = ask(host, {"isMaster": 1}, limit_s=1.0)
            except (*_NETWORK, Refused):
                continue
            if reply.get("configsvr") == 1 and reply.get("setName") and "hosts" in reply:
                members = sorted(
                    reply["hosts"] + reply.get("passives", []), key=lambda one: int(one.rpartition(":")[2])
                )
                if self.mirrored:
                    self._log(
                        "I SHARDING Swapping sharding Catalog Manager from mirrored (SCCC) to replica set (CSRS) mode"
                    )
                self.string = f"{reply['setName']}/{','.join(members)}"
                return


def hosts_of(string: str) -> list[str]:
    """The servers of a connection string."""
    return [one for one in string.rpartition("/")[2].split(",") if one]


def primary_of(hosts: list[str]) -> str:
    """The member that takes writes, '' where none does."""
    for host in hosts:
        try:
            reply = ask(host, {"isMaster": 1}, limit_s=1.0)
        except (*_NETWORK, Refused):
            continue
        if reply["ismaster"]:
            return host
        if reply.get("primary"):
            try:
                if ask(reply["primary"], {"isMaster": 1}, limit_s=1.0)["ismaster"]:
                    return str(reply["primary"])
            except (*_NETWORK, Refused):
                continue
    return ""
