"""Would a start found a cluster of its own instead of joining this one? (page bootstrap-after-crash, pitfalls)"""

from __future__ import annotations

from services.procedures.checks import Check
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.gather_options import group_members
from services.procedures.preflight.parts import known, unread, verdict

_OFF = frozenset({"0", "off", "no", "false"})


def joins_others(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """The option files name other members to join, and don't say wsrep_new_cluster (left there after a bootstrap)."""
    return tuple(_joins(host) for host in known(facts, hosts))


def _joins(host: HostFacts) -> Check:
    address, new = host.option("mysqld", "wsrep_cluster_address"), host.option("mysqld", "wsrep_new_cluster")
    wrong = []
    if new is not None and new.strip().lower() not in _OFF:
        wrong.append(f"wsrep_new_cluster stands in the option files of {host.host}")
    if address is not None and not group_members(address):
        wrong.append(f"wsrep_cluster_address of {host.host} is {address or 'empty'}: it names nobody to join")
    blind = [] if host.options else [unread(host, "which members the option files name", "options", "ssh")]
    told = f"wsrep_cluster_address of {host.host}: {address}" if address else "not set in the option files"
    return Check(
        code="JOINS-OTHERS",
        title=f"{host.host} joins this cluster when it starts",
        verdict=verdict(wrong, blind),
        evidence="; ".join([*wrong, *blind]) or told,
        why="A node that names nobody to join founds a cluster of its own at every start, or refuses to start.",
        try_=(f"Name the members in wsrep_cluster_address of {host.host}, and remove wsrep_new_cluster.",)
        if wrong
        else (),
        host=host.host,
        absolute=bool(wrong),
    )
