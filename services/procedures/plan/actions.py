"""What a step does, as data: SQL, a command, a configuration edit, a file, a wait, a question, a checkpoint.

Every action can be stored in the journal; none holds a secret (see CopiedSecret). Its `lines` are what it does, masked:
one text for plan, rehearsal, report and the output of acts. A command or statement is what runs, word for word
(`Command` and `Statement` print themselves masked). The acts on files are the console's own; they are told as a person
would do them, with every line that is set or removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from services.connections.command import MASK, Command
from services.connections.mongo.change import LATER, MongoCommand, SetChange
from services.connections.sql.statement import Statement
from services.lines import lines_of
from services.procedures.plan.condition import Condition
from services.procedures.plan.pair_sources import HostPair, LocalPair, MadePair

WHERE_SET = next(iter(LATER))
"""Metadata of a field that came later than the first journals: they keep it only where it is not its default."""
_OF_OTHERS = "  (if others changed it since: only the lines of this run are removed, or it is kept and reported)"


@dataclass(frozen=True, slots=True)
class Sql:
    """Run one statement on the step's host."""

    statement: Statement

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"{self.statement};",)


@dataclass(frozen=True, slots=True)
class Mongo:
    """Send one command to the MongoDB server of the step's host.

    Attributes:
        again_s: for so long a refusal is tried again, each second: what a mongos refuses while it finds the servers
            that were restarted behind it.
    """

    command: MongoCommand
    again_s: float = field(default=0.0, metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        again = f"   # if refused, again for {self.again_s:g} s" if self.again_s else ""
        return (f"{self.command}{again}",)


@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Change the configuration of the replica set whose primary the step's host is; refused where somebody else did."""

    change: SetChange

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return self.change.lines


@dataclass(frozen=True, slots=True)
class Run:
    """Run one command on the step's host.

    Attributes:
        ok: exit codes that count as success.
        keep: name under which `pattern`'s first group (or the whole stripped output) is kept as a value of the run.
        pattern: regular expression searched in stdout and stderr; no match is a failure of the step.
    """

    command: Command
    ok: tuple[int, ...] = (0,)
    keep: str = ""
    pattern: str = ""

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (str(self.command),)


@dataclass(frozen=True, slots=True)
class Detached:
    """Run a long command that survives the console (systemd-run, else nohup with a status file); re-attached by name.

    Attributes:
        name: unique within the plan; the unit is `pilothouse-RUN-name`.
        keep, pattern: as in Run, over the work's collected output.
        grows: file or folder that the work fills; total: its bytes when all is there. '' and 0: no progress is told.
        apart: what lies in that folder and is not of the work, '' for nothing.
    """

    command: Command
    name: str
    ok: tuple[int, ...] = (0,)
    keep: str = ""
    pattern: str = ""
    grows: str = field(default="", metadata={WHERE_SET: True})
    total: int = field(default=0, metadata={WHERE_SET: True})
    apart: str = field(default="", metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"{self.command}   # detached as pilothouse-RUN-{self.name}: continues without this console",)


@dataclass(frozen=True, slots=True)
class EditOptions:
    """Set or remove options in one section of an option file; comments, order and other lines stay as they are.

    The file as it was is kept beside it as `PATH.pilothouse-RUN` (same owner and mode, not read by the server) until
    the run is over; undo puts it back (or removes the file where there was none).

    Attributes:
        options: (name, value); value None removes the option. A dash or an underscore in a name are the same.
    """

    path: str
    section: str
    options: tuple[tuple[str, str | CopiedSecret | None], ...]

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        settings = (f"- {name}" if value is None else f"+ {name} = {_shown(value)}" for name, value in self.options)
        return (f"edit {self.path} [{self.section}]", *settings)


@dataclass(frozen=True, slots=True)
class EditYaml:
    """Set or remove settings in a YAML configuration file; every other line stays. Kept aside like EditOptions does.

    Attributes:
        settings: (dotted name, value); value None removes the setting.
        needed: False where the file may say so already, and what is proven behind it would show that it did not: one
            that is refused stays as it stands, and is told, so that it keeps no server from its start.
    """

    path: str
    settings: tuple[tuple[str, str | int | None], ...]
    needed: bool = field(default=True, metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        settings = (f"- {name}" if value is None else f"+ {name}: {value}" for name, value in self.settings)
        return (f"edit {self.path}", *settings)


@dataclass(frozen=True, slots=True)
class TryMetadata:
    """Compare the metadata that a scratch server on the step's host holds with those of another config server.

    It reads only, and fails where they differ.

    Attributes:
        port: where the scratch server listens, on the host's loopback alone; host: the other config server.
    """

    port: int
    host: str

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"compare dbHash of config at 127.0.0.1:{self.port} with {self.host}'s",)


@dataclass(frozen=True, slots=True)
class CopiedSecret:
    """A value that is read from another host's option files when the step acts, and shown as ******** everywhere."""

    host: str
    option: str
    section: str = "mysqld"


@dataclass(frozen=True, slots=True)
class PutFile:
    """Make a file of these texts and copied secrets; an existing one is kept aside like EditOptions does."""

    path: str
    content: tuple[str | CopiedSecret, ...]
    mode: str = "0644"
    owner: str = "root:root"

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        text = "".join(_shown(part) for part in self.content)
        return (f"write {self.path} ({self.owner} {self.mode})", *(f"+ {line}" for line in lines_of(text)))


@dataclass(frozen=True, slots=True)
class PutPair:
    """Put a CA certificate, a certificate and its key on the step's host: the key 0600, never in a journal or a plan.

    A pair is made, or read from files, once, on one host; all others get copies of that one: so a repeat after a crash
    never leaves two. The files are new ones: where another one lies already nothing is written. A digest of each is
    kept, by which RemoveFile knows it again.

    Attributes:
        ca, cert, key: where they are put; owner, group: of the key; the other two are root's, for all to read.
    """

    ca: str
    cert: str
    key: str
    source: MadePair | LocalPair | HostPair
    owner: str = "mysql"
    group: str = "mysql"

    @property
    def paths(self) -> tuple[str, str, str]:
        """Return where CA, certificate and key are put."""
        return self.ca, self.cert, self.key

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        modes = ("root:root 0644", "root:root 0644", f"{self.owner}:{self.group} 0600")
        each = zip(self.paths, modes, self.source.origins(self.paths), strict=True)
        return tuple(f"write {path} ({mode})   # {origin}" for path, mode, origin in each)


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """Remove one file; no error when it is missing.

    Attributes:
        wrote: what the run put there. The file goes where it still says only that; of one that somebody else changed
            since, only these lines go, or it is kept and that is told. '': a file of the server's, or of a folder that
            only root enters, which goes whatever it says. The proof is FileWithout with the same text.
        put: a file that PutPair put, of which only a digest was kept: it goes where it still is that one, else it is
            kept and that is told. The proof is FileNotAsPut.
    """

    path: str
    wrote: str = field(default="", metadata={WHERE_SET: True})
    put: bool = field(default=False, metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"remove {self.path}", *((_OF_OTHERS,) if self.wrote or self.put else ()))


@dataclass(frozen=True, slots=True)
class RestoreFile:
    """Put back what EditOptions or PutFile kept aside (or remove the file where there was none): their undo.

    Of a file that somebody else changed since, only the run's own lines are taken out, or it is kept and that is told.

    Attributes:
        whole: put it back whatever stands there: a file that the server itself writes.
    """

    path: str
    whole: bool = field(default=False, metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        restored = f"put back {self.path} as it was before the run"
        return (restored,) if self.whole else (restored, _OF_OTHERS)


Small = Sql | Mongo | Run | EditOptions | EditYaml | PutFile | RemoveFile | RestoreFile
"""Acts of which several may be one."""


@dataclass(frozen=True, slots=True)
class Several:
    """Small acts on one host that only make sense together (a drop-in and its daemon-reload), in this order.

    Repeating all of them must do no harm; none of them keeps a value.
    """

    actions: tuple[Small, ...]

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return tuple(line for part in self.actions for line in part.lines())


@dataclass(frozen=True, slots=True)
class AtPrimary:
    """Commands to whichever of these members of one replica set is its primary when the step acts, or is taken back.

    Another one may lead by then than when the plan was made; the step's host is who led then. Where nobody leads, or
    two say so, nothing is sent. Repeating all of them must do no harm.
    """

    members: tuple[str, ...]
    actions: tuple[Mongo | Reconfigure, ...]

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        first = f"// at whichever of {', '.join(self.members)} is primary then"
        return (first, *(line for part in self.actions for line in part.lines()))


@dataclass(frozen=True, slots=True)
class AtRouter:
    """One command to the first of these mongos that reads its cluster's settings when the step acts, or is taken back.

    All lead to the same cluster; the one that was asked when the plan was made may be gone by then. Where none reads
    them, nothing is sent. Repeating it must do no harm.
    """

    routers: tuple[str, ...]
    action: Mongo

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        sent, others = self.action.lines(), " or ".join(self.routers[1:])
        return (f"// at {self.routers[0]}, or {others} where it does not answer", *sent) if others else sent


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait until every condition holds, at most the step's limit. `reason` ends the sentence 'waits for ...'."""

    conditions: tuple[Condition, ...]
    reason: str

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"wait for {self.reason}",)


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person and wait as long as it takes, watch rules running.

    Attributes:
        kind: 'confirm' (go on or stop), 'typed' (the answer must equal `expect`, a host's name), 'choice'.
        choices: (answer, what it means) for 'choice'; kept under `keep`.
        unattended: what `run --yes` answers; '' means that only a person can (exit code 4, the run waits).
        deed: it asks a person to change a server, which no undo takes back. That it was done is what the step's
            `already` shows.
    """

    question: str
    kind: Literal["confirm", "typed", "choice"] = "confirm"
    expect: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    keep: str = ""
    unattended: str = ""
    deed: bool = field(default=False, metadata={WHERE_SET: True})

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"ask: {self.question}",)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point where the run may rest: nothing half done, the sentence says what is true here."""

    sentence: str

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"rest: {self.sentence}",)


@dataclass(frozen=True, slots=True)
class Continue:
    """The rest of the plan can only be made from what the steps so far found: gather, plan on, show, approve, go on."""

    reason: str

    def lines(self) -> tuple[str, ...]:
        """Return what it does, line by line."""
        return (f"plan on: {self.reason}",)


Action = (
    Sql
    | Mongo
    | Reconfigure
    | TryMetadata
    | Run
    | Detached
    | EditOptions
    | EditYaml
    | PutFile
    | PutPair
    | RemoveFile
    | RestoreFile
    | Several
    | AtPrimary
    | AtRouter
    | WaitFor
    | Ask
    | Checkpoint
    | Continue
)
"""The closed list. Everything but WaitFor, Ask, Checkpoint and Continue changes a host."""


def _shown(value: str | CopiedSecret) -> str:
    if isinstance(value, str):
        return value
    return f"{MASK} (copied from {value.host}: [{value.section}] {value.option})"
