"""What may stand as the address of a host: an IP address, or a name of a host's letters. Pure.

People write addresses down, files are imported, servers name others (a member list, Master_Host, a replica's host).
Each reaches the resolver, a line of known_hosts and ssh_config's tokens (%h, %n): with a shell's letters in it a name
is a command there, so OpenSSH refuses it (misc.c, valid_hostname and valid_ruser; CVE-2023-51385); with a comma or a
'*' it is a pattern; and '0x7f.0.0.3' or '127.1' is an address that no filter reads as what it is (inet_aton(3)).
"""

from __future__ import annotations

import ipaddress
import re

_MOST = 253
"""Characters of a whole name (RFC 1035, 2.3.4)."""
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.){0,126}[A-Za-z0-9_][A-Za-z0-9_-]{0,62}\.?")
"""RFC 1123, 2.1, and the underscore that many sites have in theirs."""
_MOST_DIGITS = 100
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_ZONE = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_OF_A_SHELL = frozenset("'`\"$;&<>|(){}")
_OF_A_PATTERN = frozenset("\\,")
_HOP = re.compile(r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^:]+))(?::(?P<port>\d{1,5}))?/?")
_KEY_NAME = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%/+=-]*|\[[A-Za-z0-9_.:%-]+\]:\d{1,5}")


def is_address(text: str) -> bool:
    """Return whether the text is an IP address as inet_pton(3) reads it, or a name that can only be a name.

    A name whose last label is a number would be read as an IPv4 address in a form of its own (WHATWG URL Standard,
    "ends in a number checker"), so it is none. A name of other scripts is written as the resolver asks for it: 'xn--…'.
    """
    if ":" in text:
        address, zoned, zone = text.partition("%")
        return _is_ip(address, ipaddress.IPv6Address) and (not zoned or _ZONE.fullmatch(zone) is not None)
    if _is_ip(text, ipaddress.IPv4Address):
        return True
    if len(text) > _MOST or _NAME.fullmatch(text) is None:
        return False
    return _NUMBER.fullmatch(text.rstrip(".").rpartition(".")[2]) is None


def _is_ip(text: str, kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def is_ip(text: str) -> bool:
    """Return whether it is an IP address, with or without a zone."""
    bare = text.partition("%")[0]
    return _is_ip(bare, ipaddress.IPv4Address) or _is_ip(bare, ipaddress.IPv6Address)


def is_login(text: str) -> bool:
    """Return whether a user's name can stand in a program's line as it is, as OpenSSH judges it ('$' is barred too)."""
    if text.startswith("-") or text.endswith("\\") or not text.isprintable() or _OF_A_SHELL.intersection(text):
        return False
    return re.search(r"\s-", text) is None


def is_host_name_of_ssh(text: str) -> bool:
    """Return whether OpenSSH would put this HostName into a program's line: a person's own file may name odd ones."""
    bare = not any(c.isspace() for c in text) and text.isprintable()
    return bare and not text.startswith("-") and not (_OF_A_SHELL | _OF_A_PATTERN).intersection(text)


def is_key_name(text: str) -> bool:
    """Return whether a line of known_hosts under this name speaks of one host only: no pattern, no list, no marker."""
    return _KEY_NAME.fullmatch(text) is not None


def parse_hop(text: str) -> tuple[str, str, int | None] | None:
    """Return (user or '', host, port) of one hop, `[user@]host[:port]` or an ssh:// URI; None where it is none."""
    found = _HOP.fullmatch(text.strip())
    if found is None:
        return None
    user, host, port = found["user"] or "", found["v6"] or found["host"], found["port"]
    if not is_address(host) or not is_login(user) or (port is not None and not 1 <= int(port) <= 65535):
        return None
    return user, host, int(port) if port else None


def port_of(text: str) -> int | None:
    """Return a port that is written as a number from 1 to 65535; None for anything else."""
    written = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if written and 1 <= int(text) <= 65535 else None


def is_this_machine(address: str) -> bool:
    """Return whether an address speaks of whoever uses it: loopback or unspecified, in any of their forms."""
    if address.startswith(("127.", "localhost", "ip6-localhost", "ip6-loopback")):
        return True
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return any(one.is_loopback or one.is_unspecified for one in (found, mapped) if one is not None)
