"""The form of a recorded situation: what each host of an estate answered at one moment, statement by statement.

    {"about": ..., "source": ..., "at": epoch seconds, "hosts": {NAME: {"address": ..., "ssh": true, "sql": true,
     "status": {...} | {"error": CODE, "sentence": ...},
     "queries": {SQL: {"columns": [...], "rows": [[...]]} | {"error": ...}},
     "commands": {WORDS: {"exit": 0, "stdout": ..., "stderr": ...} | {"error": ...}}}}}

What was not asked when it was recorded is refused here: a test never gets an answer that no server gave.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from services.connections.mongo.document import Reply
from services.connections.ports import Output, Rows, Stream, text
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of, statement_of
from services.errors import AuthFailed, OfflineMode, QueryFailed, Refused, SudoFailed, TimedOut, Unreachable, UserError

HERE = Path(__file__).parent
_COLUMNS = re.compile(r"SELECT ([A-Z_, ]+) FROM (\S+)")
_OF_EVERY_HOST = {
    "ps -p 1 -o pid= -o uid= -o comm=": {"exit": 0, "stdout": "      1     0 systemd\n", "stderr": ""},
}
"""What was not asked yet when these were recorded, and what each of those hosts (each ran systemd) says to it."""
ERRORS: dict[str, type[UserError]] = {
    kind.code: kind for kind in (AuthFailed, OfflineMode, QueryFailed, Refused, SudoFailed, TimedOut, Unreachable)
}


def load(name: str) -> dict[str, Any]:
    """Return a recorded file of this folder."""
    found: dict[str, Any] = json.loads((HERE / name).read_text(encoding="utf-8"))
    if name.startswith("mysql/"):  # the recorder writes these anew: what is drawn of them stands apart
        found["expect"] = json.loads((HERE / "mysql_drawn.json").read_text(encoding="utf-8"))[name]
    return found


def situations() -> list[str]:
    """Return the names of all recorded situations."""
    return sorted(p.relative_to(HERE).as_posix() for p in HERE.glob("situations/*.json"))


def states_of_mysql() -> list[str]:
    """Return the names of the states that real MySQL was brought into (tests/lab/mysql/record.py)."""
    return sorted(p.relative_to(HERE).as_posix() for p in HERE.glob("mysql/*.json"))


def rows(recorded: dict[str, Any]) -> Rows:
    """Return a recorded result set."""
    return Rows(tuple(recorded["columns"]), tuple(tuple(row) for row in recorded["rows"]))


def _failure(host: str, recorded: dict[str, Any]) -> UserError:
    return ERRORS.get(recorded["error"], UserError)(recorded["sentence"], host=host)


class ReplaySession:
    """An ObserverSession that answers from a recording."""

    def __init__(self, name: str, recorded: dict[str, Any]) -> None:
        self._name = name
        self._recorded = recorded
        self.asked: list[str] = []
        self.kind = "mysql"

    @property
    def host(self) -> str:
        return self._name

    @property
    def has_ssh(self) -> bool:
        return bool(self._recorded.get("ssh", True))

    @property
    def has_sql(self) -> bool:
        return bool(self._recorded.get("sql", True))

    @property
    def reached(self) -> tuple[str, ...]:
        return tuple(self._recorded.get("reached", ()))

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        raise QueryFailed("These recordings hold no MongoDB.", host=self.host)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        self.asked.append("SHOW GLOBAL STATUS")
        found = self._recorded.get("status", {"error": "unreachable", "sentence": "Not recorded."})
        if "error" in found:
            raise _failure(self._name, found)
        return dict(found)

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        sql = statement_of(read)
        self.asked.append(sql)
        found = self._recorded.get("queries", {}).get(sql) or self._of_the_whole(sql)
        if found is None:
            raise QueryFailed(f"Not recorded: {sql}", host=self._name)
        if "error" in found:
            raise _failure(self._name, found)
        return rows(found)

    def _of_the_whole(self, sql: str) -> dict[str, Any] | None:
        """Return the columns that are asked for of a table that was recorded with all of its own."""
        asked = _COLUMNS.fullmatch(sql)
        whole = self._recorded.get("queries", {}).get(f"SELECT * FROM {asked[2]}") if asked else None
        if asked is None or whole is None or "error" in whole:
            return whole
        names = [name.strip() for name in asked[1].split(",")]
        places = [whole["columns"].index(name) for name in names]
        return {"columns": names, "rows": [[row[place] for place in places] for row in whole["rows"]]}

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        words = " ".join(command_of(read).argv)
        self.asked.append(words)
        found = self._recorded.get("commands", {}).get(words, _OF_EVERY_HOST.get(words))
        if found is None:
            return Output(127, b"", b"Not recorded.")
        if "error" in found:
            raise _failure(self._name, found)
        return Output(found["exit"], found["stdout"].encode(), found["stderr"].encode())

    def stream(self, read: CommandRead) -> Stream:
        raise Refused("A recording has no streams.", host=self._name)

    def close(self) -> None:
        """Nothing is open."""


class RecordingSession:
    """Wraps a real session and keeps every answer in the form above."""

    def __init__(self, real: Any, address: str) -> None:
        self._real = real
        self.recorded: dict[str, Any] = {
            "address": address, "ssh": real.has_ssh, "sql": real.has_sql, "queries": {}, "commands": {},
        }  # fmt: skip

    @property
    def host(self) -> str:
        return str(self._real.host)

    @property
    def has_ssh(self) -> bool:
        return bool(self._real.has_ssh)

    @property
    def kind(self) -> str:
        return str(self._real.kind)

    @property
    def reached(self) -> tuple[str, ...]:
        return tuple(self._real.reached)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        raise QueryFailed("These recordings hold no MongoDB.", host=self.host)

    @property
    def has_sql(self) -> bool:
        return bool(self._real.has_sql)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        try:
            found: dict[str, str] = self._real.status(limit_s=limit_s)
        except UserError as error:
            self.recorded["status"] = {"error": error.code, "sentence": error.sentence}
            raise
        self.recorded["status"] = dict(found)
        return found

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        sql = statement_of(read)
        try:
            found: Rows = self._real.query(read, limit_s=limit_s)
        except UserError as error:
            self.recorded["queries"][sql] = {"error": error.code, "sentence": error.sentence}
            raise
        plain = [[text(v) if isinstance(v, bytes) else v for v in row] for row in found.rows]
        self.recorded["queries"][sql] = {"columns": list(found.columns), "rows": plain}
        return found

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        words = " ".join(command_of(read).argv)
        try:
            found: Output = self._real.run(read, limit_s=limit_s)
        except UserError as error:
            self.recorded["commands"][words] = {"error": error.code, "sentence": error.sentence}
            raise
        self.recorded["commands"][words] = {
            "exit": found.exit_code, "stdout": found.text, "stderr": found.stderr.decode("utf-8", "replace"),
        }  # fmt: skip
        return found

    def stream(self, read: CommandRead) -> Stream:
        stream: Stream = self._real.stream(read)
        return stream

    def close(self) -> None:
        self._real.close()
