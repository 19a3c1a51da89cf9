"""What may stand in the tables of a host: each key, its check, the sentence when it fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from services.addresses import is_address, is_login, parse_hop
from services.errors import BadInput
from services.i18n import tr
from services.inventory.kinds import FIRST, KINDS, MYSQL, InstanceKind
from services.inventory.lookalikes import is_seen_whole
from services.inventory.trust import is_place
from services.secrets import SecretRef


class BadValue(Exception):  # noqa: N818 - it names the value, not a breakdown
    """A value that can't stand there; the text ends the sentence '"key" must ...'."""


Check = Callable[[object], Any]
"""Returns the value for the model, or raises BadValue."""

# MySQL manual, "Schema Object Names": letters, digits, $ and _ need no quotes. Both parts are needed: an Observer
# session has no default schema.
TABLE_NAME = re.compile(r"[A-Za-z0-9_$]+\.[A-Za-z0-9_$]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def text(value: object) -> str:
    """A string of one line, not empty."""
    if not isinstance(value, str):
        raise BadValue(tr("be a string in quotes"))
    if not value.strip():
        raise BadValue(tr("not be empty"))
    if any(ord(c) < 32 or ord(c) == 127 for c in value):
        raise BadValue(tr("not contain control characters"))
    return value


def name(value: object) -> str:
    """A name of a host or a cluster, all of it seen."""
    found = text(value)
    if not is_seen_whole(found):
        raise BadValue(tr("not begin or end with a space, nor contain invisible characters"))
    return found


def word(value: object) -> str:
    """A string without blanks that no program could take for an option."""
    found = text(value)
    if found.startswith("-") or any(c.isspace() for c in found):
        raise BadValue(tr("contain no spaces and not begin with a dash"))
    return found


def address(value: object) -> str:
    """An IP address or a host's name."""
    found = word(value)
    if not is_address(found):
        raise BadValue(tr("be an IP address, or a host name of letters, digits, dots, '-' and '_'"))
    return found


def login(value: object) -> str:
    """A user's name on a host."""
    found = word(value)
    if not is_login(found):
        raise BadValue(tr("contain no shell metacharacters"))
    return found


def optional_login(value: object) -> str:
    """A user's name on a host; the empty one is ssh_config's, where [defaults] have another."""
    return "" if value == "" else login(value)


def hops(value: object) -> str:
    """One or more jump hosts, divided by commas."""
    found = word(value)
    if found.lower() != "none" and any(parse_hop(hop) is None for hop in found.split(",")):
        raise BadValue(tr("be written as user@host:port"))
    return found


def optional_path(value: object) -> str:
    """A path; the empty one has a meaning (no ssh_config at all)."""
    return "" if value == "" else text(value)


def port(value: object) -> int:
    """A TCP port."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65535:
        raise BadValue(tr("be a whole number from 1 to 65535"))
    return value


def count(value: object) -> int:
    """A number of nodes."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise BadValue(tr("be a whole number from 1 to 1000"))
    return value


def networks(value: object) -> tuple[str, ...]:
    """Networks and addresses that may be asked once a member names them; never 'anybody'."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadValue(tr('be a list of networks in quotes: ["10.0.3.0/24"]'))
    for one in value:
        if not is_place(one):
            raise BadValue(
                tr('contain networks ("10.0.3.0/24"; at most /8, or /32 for IPv6), IP addresses or host names')
            )
    return tuple(value)


def retired(value: object) -> tuple[str, ...]:
    """Members that left for good, by node name, address or UUID."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() == one != "" for one in value):
        raise BadValue(tr('be a list of names, addresses or UUIDs in quotes: ["db3"]'))
    return tuple(value)


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise BadValue(tr("be true or false"))
    return value


def secret(value: object) -> SecretRef:
    """A reference to a secret. What stood there is not quoted: it may be the secret."""
    advice = tr('be a reference, not the secret itself: "keyring:NAME", "env:VARIABLE" or "fd:NUMBER"')
    if not isinstance(value, str):
        raise BadValue(advice)
    try:
        found = SecretRef.parse(value)
    except BadInput:
        raise BadValue(advice) from None
    if found.scheme == "fd" and not found.name.isdecimal():
        raise BadValue(tr('name a file descriptor by its number ("fd:3")'))
    if found.scheme == "env" and not _VARIABLE.fullmatch(found.name):
        raise BadValue(tr('name an environment variable ("env:DB_PASSWORD")'))
    return found


def choice(*allowed: str) -> Check:
    """One of a closed list."""

    def check(value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise BadValue(tr("be one of ") + ", ".join(f'"{a}"' for a in allowed))
        return value

    return check


def tls(value: object) -> str:
    """How TLS is judged. `prefer`, the word for "take what there is", is read as what is done now: `verify`."""
    return "verify" if value == "prefer" else str(_TLS(value))


_TLS = choice("verify", "verify-identity", "verify-ca", "required", "off")


def table(value: object) -> str:
    """schema.table, both plain identifiers."""
    if not isinstance(value, str) or not TABLE_NAME.fullmatch(value):
        raise BadValue(tr('be written schema.table, with letters, digits, "_" and "$" only'))
    return value


SSH: dict[str, Check] = {
    "user": optional_login,
    "port": port,
    "key": text,
    "passphrase": secret,
    "password": secret,
    "sudo": choice("none", "nopasswd", "password"),
    "sudo_password": secret,
    "known_hosts": text,
    "jump": hops,
    "config": optional_path,
    "agent": flag,
    "certificate": text,
}
ACCOUNT: dict[str, Check] = {
    "user": word,
    "password": secret,
    "port": port,
    "via": choice("direct", "tunnel", "socket"),
    "socket": text,
    "tls": tls,
    "ca": text,
    "cert": text,
    "key": text,
    "heartbeat_table": table,
    "operator_user": word,
    "operator_password": secret,
    "source": word,
    "mechanism": choice("scram", "x509"),
}
"""What the account of a server may have; which of it a kind has, that kind's entry says (kinds.py)."""


def of_kind(kind: InstanceKind) -> dict[str, Check]:
    """Return what may stand in the table of a kind of server."""
    return {name: ACCOUNT[name] for name in kind.fields}


SQL = of_kind(MYSQL)
WAYS: Mapping[str, Mapping[str, Check]] = {"ssh": SSH, **{way: of_kind(kind) for way, kind in FIRST.items()}}
"""What may stand in [host.ssh], and in the table of each kind of server; and in the same tables of [defaults]."""

_KIND: Mapping[str, Check] = {"kind": choice(*KINDS)}
INSTANCE: Mapping[str, Check] = {**_KIND, **ACCOUNT}
"""What may stand in [[host.instance]] of any kind."""


def of_instance(kind: object) -> Mapping[str, Check]:
    """Return what may stand in [[host.instance]] of the kind that it names; of an unknown one everything."""
    found = KINDS.get(kind) if isinstance(kind, str) else None
    return INSTANCE if found is None else {**_KIND, **of_kind(found)}
