"""A statement cut into tokens, for the allow-list. What a server could read in two ways is refused, not guessed.

Quoting depends on the session's sql_mode (MySQL manual, "Server SQL Modes"; "String Literals"; "Comments"): ANSI_QUOTES
turns "..." into a name, NO_BACKSLASH_ESCAPES changes where a string ends, ORACLE and MSSQL bring more. So this
tokenizer knows only what means the same in every mode: '...' with '' inside, `...`, and no backslash anywhere. All
comments are refused but a plain one of harmless letters; the executable /*! and /*M! and hints /*+ never pass. Nothing
beyond ASCII passes, in quotes neither: there too a character set could read another text (MySQL manual, "Connection
Character Sets and Collations").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from services.errors import Refused

Kind = Literal["word", "name", "string", "number", "system", "op", "end"]

MOST_CHARACTERS = 20_000

_SPACE = " \t\r\n"
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NUMBER = re.compile(r"(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)(?![A-Za-z0-9_$.])")
_SYSTEM = re.compile(r"@@(?:(?:global|session|local)\.)?[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_$@`])", re.IGNORECASE)
_COMMENT = re.compile(r"/\* [A-Za-z0-9 _.,=-]* \*/")
_OPERATORS = ("<=>", "<>", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".")

# Each is a sentence's end: "A statement with ... is not read."
_FORBIDDEN = (
    ("\0", "a NUL"),
    ("\\", "a backslash (its meaning depends on the server's mode)"),
    ('"', "a double quote (its meaning depends on the server's mode; write strings in single quotes)"),
    (";", "a semicolon (one statement at a time)"),
    (":=", "an assignment"),
    ("#", "a comment"),
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: word (bare identifier or keyword), name (from backticks), string, number, system (@@x), op, end.
        text: as meant: a word in lower case, a name or string without its quotes; raw: the same in its own case.
        tight: nothing stands between it and the token before. NAME( and NAME ( are different things to a server.
    """

    kind: Kind
    text: str
    tight: bool
    raw: str = ""


def tokens_of(sql: str) -> tuple[Token, ...]:
    """Return the statement's tokens and an end token; raise Refused for what has no single meaning."""
    if len(sql) > MOST_CHARACTERS:
        raise Refused(f"The Observer road refuses a statement of more than {MOST_CHARACTERS} characters.")
    for mark, what in _FORBIDDEN:
        if mark in sql:
            raise Refused(f"The Observer road refuses a statement that holds {what}.")
    if strange := next((c for c in sql if not c.isascii()), None):
        raise Refused(f"The Observer road refuses a statement that holds {_named(strange)}.")
    found: list[Token] = []
    pos = 0
    tight = False
    while pos < len(sql):
        character = sql[pos]
        if character in _SPACE:
            pos, tight = pos + 1, False
            continue
        if comment := _COMMENT.match(sql, pos):
            pos, tight = comment.end(), False
            continue
        token, pos = _token(sql, pos, tight=tight)
        found.append(token)
        tight = True
    found.append(Token("end", "", tight=False))
    return tuple(found)


def _token(sql: str, pos: int, *, tight: bool) -> tuple[Token, int]:
    character = sql[pos]
    if character in "'`":
        return _quoted(sql, pos, tight=tight)
    if sql.startswith(("--", "/*"), pos):
        raise Refused("The Observer road refuses a statement that holds a comment, a hint or two minus signs.")
    if word := _WORD.match(sql, pos):
        return Token("word", word[0].lower(), tight, word[0]), word.end()
    if number := _NUMBER.match(sql, pos):
        return Token("number", number[0], tight), number.end()
    if system := _SYSTEM.match(sql, pos):
        return Token("system", system[0].lower(), tight), system.end()
    for operator in _OPERATORS:
        if sql.startswith(operator, pos):
            return Token("op", operator, tight), pos + len(operator)
    raise Refused(f"The Observer road refuses a statement that holds {_named(character)} outside quotes.")


def _quoted(sql: str, pos: int, *, tight: bool) -> tuple[Token, int]:
    """Read '...' or `...`; the quote doubled inside stands for itself."""
    quote = sql[pos]
    parts: list[str] = []
    start = pos + 1
    while True:
        end = sql.find(quote, start)
        if end < 0:
            raise Refused("The Observer road refuses a statement whose quotes do not close.")
        parts.append(sql[start:end])
        if sql[end + 1 : end + 2] != quote:
            break
        parts.append(quote)
        start = end + 2
    text = "".join(parts)
    if any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise Refused("The Observer road refuses a statement with control characters inside quotes.")
    if quote == "`" and (not text or text != text.strip()):
        raise Refused("The Observer road refuses an empty or padded name in backticks.")
    return Token("string" if quote == "'" else "name", text, tight, text), end + 1


def _named(character: str) -> str:
    return f'"{character}"' if character.isprintable() and character.isascii() else f"U+{ord(character):04X}"
