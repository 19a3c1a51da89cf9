"""Whether what a person typed may stand in an inventory entry: the checks that the inventory's file is read with."""

from __future__ import annotations

from services.inventory import fields


def is_address(typed: str) -> bool:
    """Return whether this is an IP address or a host's name."""
    return _passes(fields.address, typed)


def is_login(typed: str) -> bool:
    """Return whether this is a user's name on a host."""
    return _passes(fields.login, typed)


def is_way(typed: str) -> bool:
    """Return whether this is one jump host, or several divided by commas."""
    return _passes(fields.hops, typed)


def _passes(check: fields.Check, typed: str) -> bool:
    try:
        check(typed)
    except fields.BadValue:
        return False
    return True
