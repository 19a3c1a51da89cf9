"""Reads of one host that never raise: a failed read leaves its reason, and a dead road is not tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from services.clock import Clock
from services.connections.mongo.document import Document
from services.connections.ports import ObserverSession, Output, Rows, text
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import program_of
from services.errors import AuthFailed, SudoFailed, TimedOut, Unreachable, UserError
from services.facts.model import Problem
from services.facts.server.cut_texts import read_variables
from services.procedures.plan.part import Company, Reading

T = TypeVar("T")
_SQL_S = 4.0


class Reader:
    """The reading session of one host, with the reasons of what could not be read. One thread at a time."""

    def __init__(self, session: ObserverSession, clock: Clock) -> None:
        self.session = session
        self.clock = clock
        self.problems: list[Problem] = []
        self.sudo_works: bool | None = None
        self.operator: Reading | None = None
        self.company = Company()
        self._told: dict[CommandRead, str | None] = {}
        self._variables: Mapping[str, str] | None = None
        self._variables_asked = False
        self._ssh_dead = not session.has_ssh
        self._sql_dead = not session.has_sql

    @property
    def host(self) -> str:
        """Return the host's name."""
        return self.session.host

    @property
    def newest_problem(self) -> tuple[str, str]:
        """Return (code, sentence) of what failed last, ('', '') where nothing did."""
        return (self.problems[-1].code, self.problems[-1].sentence) if self.problems else ("", "")

    def note(self, part: str, sentence: str, code: str = "") -> None:
        """Remember why a part is missing; the same reason once."""
        problem = Problem(part, sentence, code)
        if problem not in self.problems:
            self.problems.append(problem)

    def run(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> Output | None:
        """Return what a command left, None when it could not run. One for root: as root, else as the login."""
        if self._ssh_dead:
            return None
        as_root = read.sudo and self.sudo_works is not False
        try:
            output = self.session.run(read.as_root(sudo=as_root).in_c_locale(), limit_s=limit_s)
        except SudoFailed as error:
            self.sudo_works = False
            self.note("root", error.sentence, error.code)
            return self.run(part, read.as_root(sudo=False), limit_s=limit_s)
        except (Unreachable, AuthFailed) as error:
            self._ssh_dead = not isinstance(error, TimedOut)  # one slow command does not make a host unreachable
            self.note(part, error.sentence, error.code)
            return None
        except UserError as error:
            self.note(part, error.sentence, error.code)
            return None
        if as_root:
            self.sudo_works = True
        return output

    def command(self, read: CommandRead, limit_s: float) -> Output | None:
        """Return what a read of the host's traces left, None when it could not run: its part is 'history'."""
        return self.run("history", read, limit_s=limit_s)

    def text(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> str | None:
        """Return a command's output when it ended well, else None with the reason noted."""
        output = self.run(part, read, limit_s=limit_s)
        if output is None:
            return None
        if output.exit_code:
            said = output.error_text[:200]
            self.note(part, said or f"{program_of(read)} ended with exit code {output.exit_code}.", "read-failed")
            return None
        return output.text

    def shared(self, part: str, read: CommandRead) -> str | None:
        """Return the same of a read that several parts are made from: it is made once in a gathering."""
        if read not in self._told:
            self._told[read] = self.text(part, read)
        return self._told[read]

    def query(self, part: str, read: SqlRead, *, limit_s: float = 4.0) -> Rows | None:
        """Return rows, None when the server did not give them."""
        return self._of_server(part, lambda: self.session.query(read, limit_s=limit_s))

    def ask(self, part: str, read: MongoRead, *, limit_s: float = 4.0) -> Document | None:
        """Return the answer of a MongoDB server, None when it did not give one."""
        return self._of_server(part, lambda: self.session.ask(read, limit_s=limit_s).body)

    def _of_server(self, part: str, asked: Callable[[], T]) -> T | None:
        if self._sql_dead:
            return None
        try:
            return asked()
        except (Unreachable, AuthFailed) as error:
            self._sql_dead = True
            self.note(part, error.sentence, error.code)
        except UserError as error:
            self.note(part, error.sentence, error.code)
        return None

    def shared_variables(self, part: str) -> Mapping[str, str] | None:
        """Return the server's global variables, long ones whole, None when it did not give them."""
        if not self._variables_asked:
            self._variables_asked = True
            self._variables = self._of_server(
                part, lambda: read_variables(lambda read: self.session.query(read, limit_s=_SQL_S))
            )
        return self._variables

    def one(self, part: str, read: SqlRead) -> str | None:
        """Return the first value of the first row as text; '' for NULL or no row, None when it could not be read."""
        rows = self.query(part, read)
        if rows is None:
            return None
        return text(rows.rows[0][0]) if rows.rows and rows.rows[0] else ""
