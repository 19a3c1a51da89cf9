"""CanonicalizeHostname: which of CanonicalDomains knows a short name (man ssh_config(5)), within bounds.

Not supported: CanonicalizePermittedCNAMEs (a name that leads to another one is kept as it was asked for) and
AddressFamily; both choose only under which name a host's key is looked for, so the worst is a question to a person.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from services.addresses import is_address, is_ip
from services.connections.names import addresses_of
from services.errors import BadInput, TimedOut
from services.i18n import tr

MOST_S = 5.0
"""Of all domains together."""
MOST_DOMAINS = 8
"""OpenSSH takes 32 (readconf.h, MAX_CANON_DOMAINS); each is a question to the resolver, on every connection."""


def canonical_name(host: str, options: Mapping[str, Any], *, jumps: bool) -> str | None:
    """Return the full name of `host`, or itself where no domain knows it; None where ssh_config wants no look.

    Args:
        jumps: it is reached through other hosts or a program; then 'yes' asks nobody, and 'always' does.
    """
    wanted = str(options.get("canonicalizehostname", "no")).lower()
    if wanted not in ({"always"} if jumps else {"yes", "true", "always"}) or is_ip(host):
        return None
    if host.rstrip(".").count(".") > _dots(options):
        return None
    domains = str(options.get("canonicaldomains", "")).split()
    if [one.lower() for one in domains] == ["none"]:
        domains = []
    if len(domains) > MOST_DOMAINS:
        raise BadInput(tr("ssh_config: {word} names more than {n} domains.", word="CanonicalDomains", n=MOST_DOMAINS))
    until = time.monotonic() + MOST_S
    for domain in domains:
        name = f"{host.rstrip('.')}.{domain.strip('.')}"
        if is_address(name) and _is_known(name, host, until):
            return name
    if str(options.get("canonicalizefallbacklocal", "yes")).lower() in {"yes", "true"}:
        return host
    raise no_domain_knows(host)


def no_domain_knows(host: str) -> BadInput:
    """Return the error for a short name that no domain knows and that may not be asked for as it is."""
    return BadInput(
        tr(
            "ssh_config: the name servers find {host} in none of the CanonicalDomains, and "
            "CanonicalizeFallbackLocal no forbids looking up the unqualified name.",
            host=host,
        ),
        safe=tr("No host was contacted."),
        try_=(
            tr("Check the name, the DNS servers and whether the VPN is up."),
            tr("Or write the host's address or full name into the inventory."),
        ),
    )


def _is_known(name: str, host: str, until: float) -> bool:
    try:
        return bool(addresses_of(name, None, until - time.monotonic()))
    except TimeoutError:
        # The short name is not tried in its place: it may be another host's.
        raise TimedOut(
            tr(
                "The name servers did not answer within {limit:g} s which of the CanonicalDomains in "
                "ssh_config contains {host}.",
                limit=MOST_S,
                host=host,
            ),
            try_=(tr("Check the DNS servers and whether the VPN is up."),),
        ) from None
    except (OSError, UnicodeError):
        return False


def _dots(options: Mapping[str, Any]) -> int:
    text = str(options.get("canonicalizemaxdots", "1"))
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise BadInput(tr('ssh_config: "{text}" is not a number for {key}.', text=text, key="CanonicalizeMaxDots"))
    return int(text)
