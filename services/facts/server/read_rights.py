"""What an account may read of tables, from the lines of SHOW GRANTS. Pure.

Sources: MariaDB KB and MySQL manual, "SHOW GRANTS", "GRANT" (a schema's name is a pattern: _ and % stand for others,
a backslash takes that away; partial revokes; roles). CHECKSUM TABLE wants SELECT on the whole table, not on columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_QUOTED = r"(?:`(?:[^`]|``)*`|'(?:[^']|'')*'|[^\s`'.@]+)"
_ROW = re.compile(rf"(GRANT|REVOKE) (.+?) ON ({_QUOTED}|\*)\.({_QUOTED}|\*) (?:TO|FROM) ({_QUOTED}(?:@{_QUOTED})?)")
_ROLE = re.compile(r"GRANT (?!.* ON )|SET DEFAULT ROLE ", re.IGNORECASE)
_READS = frozenset({"SELECT", "ALL", "ALL PRIVILEGES"})


@dataclass(frozen=True, slots=True)
class ReadRights:
    """What the lines say.

    Attributes:
        account: as GRANT takes it, '' where no line named it; granted: (schema, table) that may be read, '*' = each.
        roles: it has roles, or some rights are revoked in part: what the lines don't grant is not known then.
    """

    account: str = ""
    granted: tuple[tuple[str, str], ...] = ()
    roles: bool = False

    def reads(self, table: str) -> bool | None:
        """Return whether 'schema.table' may be read whole; None where the lines don't tell."""
        schema, _, name = table.partition(".")
        if any(_means(wanted, schema) and one in {"*", name} for wanted, one in self.granted):
            return True
        return None if self.roles or not self.account else False


def parse_read_rights(lines: Sequence[str]) -> ReadRights:
    """Return what the lines of SHOW GRANTS say of reading."""
    granted, account, roles = [], "", False
    for line in lines:
        found = _ROW.match(line)
        if found is None:
            roles = roles or _ROLE.match(line) is not None
            continue
        kind, rights, schema, table, whose = found.groups()
        account = account or (whose if "@" in whose else "")  # a role's line, and PUBLIC's, name no account
        if not _READS & {part.strip().upper() for part in rights.split(",")}:
            continue
        if kind == "REVOKE":
            return ReadRights(account, (), roles=True)
        granted.append((_plain(schema), _plain(table)))
    return ReadRights(account, tuple(granted), roles)


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name.strip("'")


def _means(pattern: str, schema: str) -> bool:
    """Return whether a schema's name in a grant means this schema."""
    if pattern == "*":
        return True
    signs = {"%": ".*", "_": "."}
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    words = (re.escape(p[1:]) if len(p) == 2 else signs.get(p, re.escape(p)) for p in parts)
    return re.fullmatch("".join(words), schema, re.DOTALL) is not None
