"""Under which key a host is remembered: two inventories may call different machines by one name.

Hosts are called db1, db2 and db3 everywhere, and one data folder serves all inventories of a workstation. So a name
belongs to the address it was first kept with. Another inventory's host of that name at another address is
remembered apart; the same inventory's host that got another address is the same host, and takes its memory along.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

_SETTING = "host.address.{}"
"""The setting that says to whom a name belongs: {"address": ..., "inventory": its mark}."""
_LONGEST_NAME = 150


class HostKeys:
    """The keys of one inventory's hosts; whoever stands in no inventory has its own name as its key."""

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        self._keys = dict(keys or {})
        self._names = {key: name for name, key in self._keys.items()}

    def key(self, name: str) -> str:
        """Return under which key a host is remembered."""
        return self._keys.get(name, name)

    def name(self, key: str) -> str:
        """Return the host's name here; what another inventory's host of a name of ours is kept under stays a key."""
        if key in self._names:
            return self._names[key]
        return f"{key} (of another inventory)" if key in self._keys else key


def host_keys(
    mark: str, hosts: Mapping[str, str], get: Callable[[str], str], put: Callable[[str, str], None]
) -> HostKeys:
    """Return the keys of an inventory's hosts; names that belong to nobody yet belong to it from now on.

    Args:
        mark: what the inventory's file signs with (services/sampling/past/own_past.py).
        hosts: name -> address, as a person wrote them.
        get, put: read ('' where there is none) and write a setting of the store.
    """
    return HostKeys(
        {
            name: _key(mark, name, address.strip().lower(), get, put)
            for name, address in hosts.items()
            if address.strip() and len(name) <= _LONGEST_NAME
        }
    )


def _key(mark: str, name: str, address: str, get: Callable[[str], str], put: Callable[[str, str], None]) -> str:
    owner = _owner(get(_SETTING.format(name)))
    if owner is not None and owner[0] != address and owner[1] != mark:
        return f"{name}@{address}"[:190]
    if owner is None or owner[0] != address:
        put(_SETTING.format(name), json.dumps({"address": address, "inventory": mark}))
    return name


def _owner(kept: str) -> tuple[str, str] | None:
    try:
        document = json.loads(kept)
        return str(document["address"]), str(document["inventory"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
