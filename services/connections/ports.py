"""What facts, samplers and steps see of a host: an Observer session, rows, output, a stream. No driver types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from services.connections.command import Command
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.sql.statement import Statement
from services.secrets import Secret

if TYPE_CHECKING:  # a port is asked for by SQL estates too
    from services.connections.mongo.change import MongoCommand, SetChange
    from services.connections.mongo.document import Document, Reply
    from services.connections.reads.mongo import MongoRead

SqlValue = str | bytes | int | float | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A result set. `columns` as the server named them; one tuple per row, in the same order."""

    columns: tuple[str, ...]
    rows: tuple[tuple[SqlValue, ...], ...]

    def dicts(self) -> tuple[dict[str, SqlValue], ...]:
        """Return the rows keyed by column name (a repeated name keeps its first value)."""
        return tuple(dict(reversed(list(zip(self.columns, row, strict=False)))) for row in self.rows)

    def pairs(self) -> dict[str, str]:
        """Return a two-column result (SHOW STATUS, SHOW VARIABLES) as name -> text; NULL becomes ''."""
        return {text(row[0]): text(row[1]) for row in self.rows if len(row) >= 2}


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file as an act reads it: all of it is of one and the same file, whatever stands there a moment later.

    Attributes:
        there: it exists. owner: 'uid:gid', mode: four octal digits without setuid, setgid and sticky.
        own: it is root's. alone: nobody but root may change the way to it, also where there is none.
    """

    there: bool
    content: bytes = b""
    owner: str = ""
    mode: str = ""
    own: bool = False
    alone: bool = False

    @property
    def text(self) -> str | None:
        """Return its text, None where there is no such file."""
        return self.content.decode("utf-8", "surrogateescape") if self.there else None


def text(value: SqlValue) -> str:
    """Return a value as text; bytes are decoded leniently because servers do send invalid UTF-8."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


MOST_LINE = 16_000
"""Characters. The longest line that is read for a reason is a process's arguments or a set of GTIDs."""


MOST_LINES = 200_000
"""Of one output: 8 MB of a log have half as many."""
_OTHER_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What else ends a line for `str.splitlines`, and ends none on a host."""


def few_lines(text: str) -> str:
    """Return the first 200,000 lines of a text; where there were more, the last one is '…'.

    Millions of empty lines would hold the interpreter's lock, and with it the window, for as long as they are split.
    """
    for end in _OTHER_ENDS:
        if text.count(end) > MOST_LINES // 4:
            text = text.replace(end, " ")
    if text.count("\n") <= MOST_LINES:
        return text
    return "\n".join((*text.split("\n", MOST_LINES)[:MOST_LINES], "…"))


def short_lines(text: str) -> str:
    """Return text without what is beyond 16,000 characters of a line; a line that was cut ends with '…'."""
    if len(text) <= MOST_LINE or max(map(len, text.split("\n"))) <= MOST_LINE:
        return text
    return "\n".join(line if len(line) <= MOST_LINE else f"{line[:MOST_LINE]}…" for line in text.split("\n"))


@dataclass(frozen=True, slots=True)
class Output:
    """What a finished command left: exit code, output, errors (both cut at the session's limit)."""

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Return stdout, decoded leniently: what parsers may search, at most 200,000 lines of 16,000 characters."""
        return short_lines(few_lines(self.stdout.decode("utf-8", "replace")))

    @property
    def error_text(self) -> str:
        """Return stderr, decoded leniently, without blanks around it."""
        return self.stderr.decode("utf-8", "replace").strip()


class Stream(Protocol):
    """A long-lived remote command's output."""

    def lines(self, *, limit_s: float) -> Iterator[bytes]:
        """Yield lines without their newline as they come; raise TimedOut after `limit_s` of silence, stop at end."""

    def close(self) -> None:
        """End the remote command (its stdin closes) and the channel; idempotent."""


class ObserverSession(Protocol):
    """The reading road to one host (law 2). It takes reads of the registry by their names; all else raises Refused.

    One session belongs to one lane (thread) at a time. All methods raise UserError subclasses, never a driver's error.
    """

    @property
    def host(self) -> str:
        """Return the inventory name of the host."""

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        """Send one statement of the registry with a statement time limit; (re)connects when needed."""

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS as name -> text, over the fastest reader there is."""

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        """Send one command of the registry to a MongoDB server; (re)connects when needed."""

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        """Run one command of the registry on the host (with sudo where the read asks for it)."""

    def stream(self, read: CommandRead) -> Stream:
        """Start a long-lived command of the registry."""

    def try_now(self) -> None:
        """Skip what is left of a backoff: something shows that the host or its server is back."""

    @property
    def has_ssh(self) -> bool:
        """Return whether the inventory gives an SSH way by which this session reads the host itself."""

    @property
    def has_sql(self) -> bool:
        """Return whether the inventory gives a way into the server of this host."""

    @property
    def kind(self) -> str:
        """Return what that server is: a kind's code of the inventory (services/inventory/kinds.py)."""

    @property
    def reached(self) -> tuple[str, ...]:
        """Return where SSH leads, as far as is known yet: ssh_config's HostName, and the address that answered."""

    def close(self) -> None:
        """Close everything; idempotent."""


class OperatorSession(Protocol):
    """The changing road to one host (law 2). Only the engine's arms give one, only for the hosts of a running plan.

    Every method raises UserError subclasses only. A call refused because the arms were laid down raises Refused.
    """

    @property
    def host(self) -> str:
        """Return the inventory name of the host."""

    def execute(self, statement: Statement, *, limit_s: float = 10.0) -> Rows:
        """Run one statement that changes the server (an empty result when it returns no rows)."""

    def change(self, command: MongoCommand, *, limit_s: float = 10.0) -> Document:
        """Send one command that changes a MongoDB server; a write that it did not make is an error."""

    def reconfigure(self, change: SetChange, *, limit_s: float = 30.0) -> Document:
        """Change the configuration of the replica set whose primary the server is."""

    def metadata(self, *, port: int | None = None, limit_s: float = 30.0) -> Document:
        """Return a server's answer to dbHash of the cluster's metadata.

        Args:
            port: of a scratch server on the host's loopback, asked through SSH; None: the host's own server.
        """

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        """Run one command that changes the host (with sudo where the command asks for it)."""

    def look_file(self, path: str, *, whole: bool = True, follow: bool = True, limit_s: float = 10.0) -> FileSeen:
        """Return a file with its owner and mode, read as root where the login may become it.

        Args:
            whole: with its content. follow: a link of root's in its place is; else any is refused.
        """

    def read_file(self, path: str, *, limit_s: float = 10.0) -> bytes | None:
        """Return a file's bytes (as root where the login may become it), None when it does not exist."""

    def write_file(
        self,
        path: str,
        content: Secret,
        *,
        mode: str = "0644",
        owner: str = "root:root",
        follow: bool = True,
        limit_s: float = 10.0,
    ) -> None:
        """Replace or make a file in one atomic rename; the content travels by standard input, never a command line.

        Args:
            follow: a link of root's in its place stays one, its target is replaced; else any is refused.
        """

    def close(self) -> None:
        """Close everything; idempotent."""
