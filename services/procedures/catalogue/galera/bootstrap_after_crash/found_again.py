"""Does each node that joins look where somebody is by then? By its wsrep_cluster_address alone it finds the others."""

from __future__ import annotations

from services.facts.server.option_files import group_members
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.shared.joiner_config import address_of
from services.procedures.plan.checks import Check
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting


def finds_the_first(party: Party, chosen: str, order: tuple[str, ...]) -> Check:
    """A node whose option files name nobody who is up when it starts waits without end (seen on the lab).

    A name that is no host's here and that the node did not resolve may be anybody's: then nothing is said.

    Args:
        order: those that join the chosen one, in their order.
    """
    up: list[str] = [chosen]
    lost: dict[str, str] = {}
    for name in order:
        sought = _sought(party, name)
        if sought and not sought & _words(party, up) and sought <= _words(party, list(party.everyone)):
            lost[name] = (
                f"wsrep_cluster_address of {name} names only {', '.join(sorted(sought))}, none of which is up by then"
            )
        up.append(name)
    where = address_of(party.host(chosen)) or chosen
    return Check(
        code="JOINS-FIRST",
        title=f"Each joining node has the address of {chosen} or of a node that is up by then",
        verdict=verdict(lost),
        evidence="; ".join(lost.values()) or f"{', '.join(order) or 'no node'} will find it by wsrep_cluster_address",
        why="Otherwise it waits forever: it contacts only the hosts in its wsrep_cluster_address.",
        try_=tuple(f"Add {where} to wsrep_cluster_address of {name}." for name in lost),
    )


def _sought(party: Party, name: str) -> set[str]:
    host = party.host(name)
    named = group_members(host[Options].option("mysqld", "wsrep_cluster_address") or "")
    found = dict(host[Starting].addresses)
    return {text for one in named for text in (found.get(one) or (one,))}


def _words(party: Party, names: list[str]) -> set[str]:
    hosts = [party.host(name) for name in names]
    return {text for host in hosts for text in (host.host, host.address, host.node_name, address_of(host)) if text}
