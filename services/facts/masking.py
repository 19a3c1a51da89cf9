"""Passwords in text for people, replaced: in statements that a server logs, in settings, in what programs print. Pure.

Three rules, the first that fits: from where on a statement or a program's words hold a secret all is masked, since
after a quote inside one nothing is sure of its end; a setting's value is masked alone, so that the settings beside it
stay; what a program prints after a telling word is masked to the end of its line.
"""

from __future__ import annotations

import re

from services.connections.command import MASK

_STATEMENT = re.compile(
    r"(\bidentified\b[^'\"]{0,200}?\b(?:by|via|with)\b|(?:\b|old_)password\s{0,9}[('\"]|\bset\s{1,9}password\b"
    r"|\b(?:master|source)_password\b|(?<![^\s'\"])--password\s|(?<![^\s'\"])--?(?:wsrep[-_])?(?:sst[-_])?auth[\s=]"
    r"|(?<![^\s'\"])-p(?=\S))\s*\S.*",
    re.IGNORECASE | re.DOTALL,
)
"""A server logs statements that failed with all that they hold (`Query: 'CREATE USER ... IDENTIFIED BY ...'`).

A comment may stand in the middle of one: `IDENTIFIED/**/BY`, `identified /*!50000 by*/` (MySQL manual, "Comments").
"""
_QUOTED = r"\"(?:[^\"\\]|\\.|\"\")*\"?|'(?:[^'\\]|\\.|'')*'?"
"""A string of SQL: a quote inside stands twice or after a backslash (MySQL manual, "String Literals")."""
_SETTING = re.compile(
    r"((?:password|passwd|passphrase|sst[-_]auth|secret|pwd|token|api[-_]?key|encrypt[-_]key)"
    rf"(?:\s{{0,9}}(?::=|[=:])\s{{0,9}}|\s{{1,9}}(?=['\"])))({_QUOTED}|[^\s;,]+)",
    re.IGNORECASE | re.DOTALL,
)
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,128}:)([^\s'\"]{1,256})@", re.IGNORECASE)
"""A password in an address (`CONNECTION='mysql://user:password@host/…'`, MariaDB KB "FederatedX"; RFC 3986, 3.2.1)."""
_TELLING = re.compile(
    r"((?:wsrep[-_]sst[-_]auth|passw(?:or)?d[a-z_-]{0,40}|passphrase|identified\s+by|secret[a-z_-]{0,40})"
    r"(?:\s*[=:]\s*|\s+))(\S.*)",
    re.IGNORECASE,
)
"""What programs print of passwords although nobody asked: `mariadbd --help --verbose` shows wsrep_sst_auth."""
_EMPTY = re.compile(r"\(No default value\)|\*+|['\"]{2}|NULL|(?:NO|YES)\)?")


def masked(text: str) -> str:
    """Return a text with the passwords of statements and settings in it replaced."""
    shown = _STATEMENT.sub(lambda found: f"{found.group(1)} {MASK}", text)
    shown = _URL.sub(lambda found: f"{found.group(1)}{MASK}@", shown)
    return _SETTING.sub(_without_value, shown)


def masked_line(line: str) -> str:
    """Return a line that a program printed, nobody knows which, with all replaced that may be a password."""
    return masked(_TELLING.sub(_without_value, line))


def _without_value(found: re.Match[str]) -> str:
    """Replace a value; what says that there is none, or whether there was one, stays."""
    return found.group() if _EMPTY.fullmatch(found.group(2).strip()) else f"{found.group(1)}{MASK}"
