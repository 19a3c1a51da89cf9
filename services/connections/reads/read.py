"""What a caller hands to the Observer road: the name of a read and its values. Never a text, never words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

Value = str | int


@dataclass(frozen=True, slots=True)
class SqlRead:
    """A statement of the registry, by its name.

    Attributes:
        values: what its parameters are, in their order; held against their kinds when it is sent.
    """

    name: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandRead:
    """A command of the registry, by its name.

    Attributes:
        values: what its parameters are, in their order; held against their kinds when it is sent.
        sudo: as root where the login is not root.
        c_locale: with LC_ALL=C, so that what it prints can be told by its words.
    """

    name: str
    values: tuple[Value, ...] = ()
    sudo: bool = False
    c_locale: bool = False

    def as_root(self, *, sudo: bool = True) -> Self:
        """Return the same read as root, or as the login."""
        return self if self.sudo == sudo else replace(self, sudo=sudo)

    def in_c_locale(self) -> Self:
        """Return the same read in the C locale."""
        return self if self.c_locale else replace(self, c_locale=True)
