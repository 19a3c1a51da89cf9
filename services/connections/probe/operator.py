"""The operator's account in the Test: does it log in, and may it what procedures need? Read-only, like every test."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from services.connections.ports import text
from services.connections.reads import statements
from services.connections.reads.registry import statement_of
from services.connections.sql.session import SqlLink

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.connections.limits import Limits
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry
    from services.secrets import Vault

CHANGING_RIGHTS = frozenset({"ALL PRIVILEGES", "SUPER", "SYSTEM_VARIABLES_ADMIN"})
"""Any one allows SET GLOBAL of the wsrep variables (MariaDB KB "GRANT": SUPER; MySQL: SYSTEM_VARIABLES_ADMIN)."""
_ROW = re.compile(r"^GRANT (.+?) ON (\S+) TO ", re.IGNORECASE)


def changing_rights(
    entry: HostEntry, vault: Vault, through: Callable[[], SshLink] | None, limits: Limits
) -> frozenset[str]:
    """Log in as the operator over an observer's session (read-only) and return which of the rights it has.

    Raises UserError subclasses: no login, no answer.
    """
    access = entry.sql
    assert access is not None
    assert access.operator_user is not None
    account = replace(access, user=access.operator_user, password=access.operator_password)
    session = SqlLink.open(
        replace(entry, sql=account), vault, through, limits=limits, limit_s=limits.handshake_s
    )  # with an observer's setup: every transaction is read-only
    try:
        session.query(statement_of(statements.ONE), limit_s=5.0)
        rows = session.query(statement_of(statements.GRANTS), limit_s=5.0)
    finally:
        session.close()
    return rights_in(tuple(text(row[0]) for row in rows.rows if row))


def rights_in(grants: tuple[str, ...]) -> frozenset[str]:
    """Return which of the changing rights the lines of SHOW GRANTS give on the whole server."""
    rights: set[str] = set()
    for grant in grants:
        found = _ROW.match(grant)
        if found is not None and found.group(2).replace("`", "") == "*.*":
            rights |= {part.strip().upper() for part in found.group(1).split(",")}
    return frozenset(rights & CHANGING_RIGHTS)
