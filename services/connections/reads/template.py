"""A text of the registry with its parameters: how a read's name and values become what is sent, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.connections.command import Command
from services.connections.reads.kinds import Kind
from services.connections.reads.read import CommandRead, SqlRead, Value
from services.errors import Refused
from services.i18n import tr
from services.visible import visible

_MOST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class SqlTemplate:
    """One statement: its pieces joined, each parameter written as its kind says."""

    name: str
    pieces: tuple[str | Kind, ...]

    def read(self, *values: Value) -> SqlRead:
        """Return the read with these values; they are held against their kinds when it is sent."""
        return SqlRead(self.name, values)

    def bound(self, values: tuple[Value, ...]) -> str:
        """Return the whole text. Raises Refused where a value is not of its kind."""
        return "".join(_filled(self.name, self.pieces, values))


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """One command: program and words, each parameter exactly one word (the last may stand for several).

    Attributes:
        root: it may run as root; what the login reads as well never does.
    """

    name: str
    words: tuple[str | Kind, ...]
    root: bool = False

    def read(self, *values: Value, sudo: bool = False) -> CommandRead:
        """Return the read with these values; they are held against their kinds when it is sent."""
        return CommandRead(self.name, values, sudo)

    def bound(self, read: CommandRead) -> Command:
        """Return the whole command. Raises Refused where a value is not of its kind, or it is no read for root."""
        if read.sudo and not self.root:
            raise Refused(
                tr("The Observer refuses the read '{name}' as root: it does not need root.", name=self.name),
                safe=tr("Nothing was sent to the host."),
            )
        words = tuple(_filled(self.name, self.words, read.values))
        kinds = [piece for piece in self.words if isinstance(piece, Kind)]
        plain = next((str(value) for kind, value in zip(kinds, read.values, strict=False) if kind.plain), "")
        environment = (("LC_ALL", "C"),) if read.c_locale else ()
        return Command(words, sudo=read.sudo, environment=environment, plain=plain)


def _filled(name: str, pieces: Sequence[str | Kind], values: tuple[Value, ...]) -> list[str]:
    """Return the pieces with each parameter's value written in its place."""
    kinds = [piece for piece in pieces if isinstance(piece, Kind)]
    most = kinds[-1].most if kinds else 1
    if not len(kinds) <= len(values) <= len(kinds) + most - 1:
        raise Refused(
            tr(
                "The Observer refuses the read '{name}': it received {count} values and takes {least}.",
                name=name, count=len(values), least=len(kinds),
            ),
            safe=tr("Nothing was sent to the host."),
        )  # fmt: skip
    left = list(values)
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
            continue
        count = len(left) if piece is kinds[-1] and piece.most > 1 else 1
        found += [_written(name, piece, value) for value in left[:count]]
        del left[:count]
    return found


def _written(name: str, kind: Kind, value: Value) -> str:
    if kind.fits(value):
        return kind.written(value)
    shown = visible("".join(c if c.isprintable() else "\ufffd" for c in str(value)[:_MOST_SHOWN]))
    raise Refused(
        tr(
            "The Observer refuses the read '{name}': \u201c{shown}\u201d is not {called}.",
            name=name, shown=shown, called=tr(kind.called),
        ),
        safe=tr("Nothing was sent to the host."),
        try_=(tr("The permitted reads are listed in resources/docs/observer.md."),),
    )  # fmt: skip
