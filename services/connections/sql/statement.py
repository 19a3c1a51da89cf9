"""SQL for servers as structure: keywords, names and values, so that no statement is ever pasted together.

Quoting follows the MySQL manual "String Literals" and "Schema Object Names" (MariaDB: "String Literals", "Identifier
Names"); backslash is escaped too, which NO_BACKSLASH_ESCAPES would read literally: values with a backslash are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[A-Z][A-Z0-9_]*( [A-Z][A-Z0-9_]*)*")
_VARIABLE = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Keyword:
    """Words of the language, upper case: `SET GLOBAL`, `ON`."""

    text: str

    def __post_init__(self) -> None:
        if not _WORD.fullmatch(self.text):
            message = f"not SQL keywords: {self.text!r}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Variable:
    """A system variable's name, lower case."""

    text: str

    def __post_init__(self) -> None:
        if not _VARIABLE.fullmatch(self.text):
            message = f"not a system variable's name: {self.text!r}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Running:
    """A system variable as the server runs with it now: `@@GLOBAL.name`."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class Name:
    """A schema object's name; quoted with backticks."""

    text: str


@dataclass(frozen=True, slots=True)
class Value:
    """A literal; text is quoted."""

    value: str | int | None

    def __post_init__(self) -> None:
        if isinstance(self.value, str) and ("\\" in self.value or "\0" in self.value):
            message = "a text value cannot hold a backslash or NUL"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Sign:
    """An operator or bracket of the closed list."""

    text: str

    def __post_init__(self) -> None:
        if self.text not in {"=", "(", ")", ",", ".", "@"}:
            message = f"not an SQL sign: {self.text!r}"
            raise ValueError(message)


Bit = Keyword | Variable | Running | Name | Value | Sign


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. `str` is its whole text: it can hold no secret, because no bit can."""

    bits: tuple[Bit, ...]

    def __str__(self) -> str:
        return " ".join(_rendered(bit) for bit in self.bits).replace(" = ", "=")


def _rendered(bit: Bit) -> str:
    if isinstance(bit, Running):
        return f"@@GLOBAL.{bit.variable.text}"
    if isinstance(bit, Name):
        return "`" + bit.text.replace("`", "``") + "`"
    if isinstance(bit, Value):
        if bit.value is None:
            return "NULL"
        return str(bit.value) if isinstance(bit.value, int) else "'" + bit.value.replace("'", "''") + "'"
    return bit.text


def set_global(variable: str, value: str | int | Keyword) -> Statement:
    """Return `SET GLOBAL variable=value`; text is quoted, a Keyword (ON, OFF, ALL, NONE) is not."""
    right = value if isinstance(value, Keyword) else Value(value)
    return Statement((Keyword("SET GLOBAL"), Variable(variable), Sign("="), right))


def set_back(variable: str, ours: str, before: str) -> Statement:
    """Return what gives a text variable `before` back where it still is `ours`, and leaves every other value as it is.

    The right side of SET is an expression, so that one statement reads and sets (MariaDB KB "SET"; MySQL manual "SET
    Syntax for Variable Assignment"): what somebody else sets meanwhile is never lost.
    """
    name = Variable(variable)
    still = (Running(name), Sign("="), Value(ours))
    chosen = (Keyword("IF"), Sign("("), *still, Sign(","), Value(before), Sign(","), Running(name), Sign(")"))
    return Statement((Keyword("SET GLOBAL"), name, Sign("="), *chosen))


def set_provider_option(option: str, value: str | int) -> Statement:
    """Return `SET GLOBAL wsrep_provider_options='option=value'` (Galera documentation: "Setting Galera Parameters")."""
    if not re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", option) or not re.fullmatch(r"[-A-Za-z0-9_.]+", str(value)):
        message = f"not a provider option and a plain value: {option!r}, {value!r}"
        raise ValueError(message)
    return set_global("wsrep_provider_options", f"{option}={value}")
