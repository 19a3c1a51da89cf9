"""Looking into the data of a plan: every dataclass inside a value, and what an action does to a server. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from services.procedures.plan.actions import Action, Detached, Run
from services.procedures.plan.condition import Condition, Declared

_SERVER_START = re.compile(
    r"systemctl (?:re)?start (?:--\S+ )*(?:mariadb|mysql|mysqld)(?:@(?!bootstrap)\S+?)?(?:\.service)?(?: --\S+)*"
)
_FOUNDING = re.compile(r"galera_new_cluster|systemctl (?:re)?start (?:--\S+ )*mysql@bootstrap(?:\.service)?(?: --\S+)*")

_NAMES: dict[type, tuple[str, ...] | None] = {}


def parts(value: object) -> Iterator[object]:
    """Yield every dataclass inside a value, itself first, in the order in which they stand there.

    Not recursive, and each type is looked at once: the rules of a long plan ask for a million values.
    """
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if isinstance(one, tuple):
            left.extend(reversed(one))
        elif names := _names_of(type(one)):
            yield one
            left.extend([getattr(one, name) for name in names])
        elif names is not None:
            yield one


def _names_of(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass, the last one first; None for any other type."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in reversed(fields(kind))) if is_dataclass(kind) else None
    return _NAMES[kind]


def of(kind: type, value: object) -> Iterator[object]:
    """Yield what of one kind is inside a value."""
    return (part for part in parts(value) if isinstance(part, kind))


def declared(value: object) -> Iterator[Declared]:
    """Yield what each condition inside a value declares."""
    return (part.declared() for part in parts(value) if isinstance(part, Condition))


def starts_a_server(action: Action) -> bool:
    """Return whether an action starts a database server that joins others; a bootstrap founds, and takes nothing."""
    return any(_SERVER_START.fullmatch(line) for line in _commands(action))


def founds(action: Action) -> bool:
    """Return whether an action bootstraps a server: it becomes a Primary Component alone."""
    return any(_FOUNDING.fullmatch(line) for line in _commands(action))


def _commands(action: Action) -> tuple[str, ...]:
    return tuple(" ".join(part.command.argv) for part in parts(action) if isinstance(part, Run | Detached))
