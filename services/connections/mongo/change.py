"""What a procedure may send to a MongoDB server: commands as structure, and a change of a set's configuration as data.

Printed, both are what a person would type into the shell; none can hold a secret. A configuration is never pasted into
a plan: it is read, changed and sent back where it is changed, with every field that nobody here knows of as it was
(MongoDB manual, "replSetReconfig": the whole document, its version above the one that stands).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from services.i18n import mark

LATER = {"where-set": True}
"""Of a field that came later than the first journals (see plan/actions.py)."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\$(set|unset)")
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_SETTING = re.compile(r"[a-z][A-Za-z]*|members\.\d{1,4}\.[a-z][A-Za-z]*|settings\.[a-z][A-Za-z]*")

ROLES_TO_CHANGE = mark(
    'Give the inventory an account for changes ("operator_user") with the roles "clusterManager", '
    '"readWriteAnyDatabase" and "dbAdminAnyDatabase" of the database admin.'
)
"""What an account lacks that may not change a server (MongoDB manual, "Built-In Roles")."""

CLEARS_SETS = mark(
    "a role with this privilege, granted to the account: db.getSiblingDB('admin').createRole({role: "
    "'clearsSets', privileges: [{resource: {db: 'local', collection: 'system.replset'}, actions: ['find', "
    "'remove']}], roles: []}); db.getSiblingDB('admin').grantRolesToUser(ACCOUNT, ['clearsSets'])"
)
"""What an account needs besides to remove a set's configuration from a server's data: no built-in role may."""

Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Documents:
    """A list of documents."""

    items: tuple[Fields, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One field: its name, and its value."""

    name: str
    value: Plain | Fields | Documents

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            message = f"not a field's name: {self.name!r}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Fields:
    """A document, in the order of its fields."""

    pairs: tuple[Pair, ...]

    def as_dict(self) -> dict[str, object]:
        """Return it as it is sent."""
        return {pair.name: _sent(pair.value) for pair in self.pairs}


@dataclass(frozen=True, slots=True)
class MongoCommand:
    """One command: the database it is sent to, and its document, the command's name first."""

    database: str
    document: Fields

    def __post_init__(self) -> None:
        if not _DATABASE.fullmatch(self.database) or not self.document.pairs:
            message = f"not a command to a database: {self.database!r}"
            raise ValueError(message)

    def __str__(self) -> str:
        return f"db.getSiblingDB({json.dumps(self.database)}).runCommand({_shown(self.document)})"


@dataclass(frozen=True, slots=True)
class SetChange:
    """A change of a replica set's configuration, made for one version of it.

    Attributes:
        version: of the configuration that it is made for; another one is not touched: somebody else changed it.
        settings: (where, value): 'protocolVersion', 'settings.NAME', 'members.ID.NAME' (ID: the member's _id).
        adds: members that come to it, whole; removes: the _id of members that leave it.
        newer: a newer version is changed too, in these settings alone: of an undo, which is not held up by what others
            have changed in it since.
    """

    version: int
    settings: tuple[tuple[str, Plain], ...] = field(default=())
    adds: tuple[Fields, ...] = field(default=(), metadata=LATER)
    removes: tuple[int, ...] = field(default=(), metadata=LATER)
    newer: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        if self.newer and (self.adds or self.removes):
            message = "a change of members is made for one version"
            raise ValueError(message)
        for where, _ in self.settings:
            if not _SETTING.fullmatch(where):
                message = f"not a setting of a replica set: {where!r}"
                raise ValueError(message)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what a person would type."""
        return (
            f"cfg = rs.conf()   // only while cfg.version is {self.version}{' or newer' if self.newer else ''}",
            *(f"{_place(where)} = {json.dumps(value)}" for where, value in self.settings),
            *(f"cfg.members.push({_shown(one)})" for one in self.adds),
            *(f"cfg.members = cfg.members.filter(m => m._id != {one})" for one in self.removes),
            "rs.reconfig(cfg)",
        )


def command(database: str, **words: Plain | Fields | Documents) -> MongoCommand:
    """Return a command out of its words, in their order."""
    return MongoCommand(database, fields(**words))


def fields(**words: Plain | Fields | Documents) -> Fields:
    """Return a document out of its fields, in their order."""
    return Fields(tuple(Pair(name, value) for name, value in words.items()))


def _place(where: str) -> str:
    kind, _, rest = where.partition(".")
    if kind != "members":
        return f"cfg.{where}"
    member, _, name = rest.partition(".")
    return f"cfg.members.find(m => m._id == {member}).{name}"


def _sent(value: object) -> object:
    if isinstance(value, Fields):
        return value.as_dict()
    if isinstance(value, Documents):
        return [one.as_dict() for one in value.items]
    return value


def _shown(value: object) -> str:
    if isinstance(value, Fields):
        return "{" + ", ".join(f"{pair.name}: {_shown(pair.value)}" for pair in value.pairs) + "}"
    if isinstance(value, Documents):
        return "[" + ", ".join(map(_shown, value.items)) + "]"
    return json.dumps(value)
