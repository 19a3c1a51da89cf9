"""The donors that are named: Galera matches them by prefix, and takes an address for a name that nobody has (P12)."""

from __future__ import annotations

import ipaddress

from services.procedures.catalogue.checks.parts import checked, galera_of, known, unread, verdict
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options


def donor_names(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """wsrep_sst_donor of each host names members, holds no address, and is no prefix of several names."""
    names = tuple(dict.fromkeys(h.node_name for h in known(facts, facts.members or hosts) if h.node_name))
    return tuple(_donor(host, names) for host in known(facts, hosts))


def _donor(host: HostFacts, names: tuple[str, ...]) -> Check:
    galera = galera_of(host)
    text = (galera.sst_donor if galera is not None else "") or host[Options].option("mysqld", "wsrep_sst_donor") or ""
    blocks, warns = [], []
    blind = (
        [unread(host, "which donors are named", "options", "ssh")] if galera is None and not host[Options].known else []
    )
    for donor in (part.strip() for part in text.split(",") if part.strip()):
        matched = [name for name in names if name.startswith(donor)]
        if _is_address(donor):
            blocks.append(f"{donor} is an address, not a node's name")
        elif donor == host.node_name:
            blocks.append(f"{donor} is the node itself")
        elif donor not in names and len(matched) != 1:
            blocks.append(f"{donor} matches {', '.join(matched)}" if matched else f"{donor} is no member's name")
        elif len(matched) > 1:
            blocks.append(f"{donor} matches {', '.join(matched)} by prefix")
    if text and not text.rstrip().endswith(","):
        warns.append("no comma at its end: while that donor is busy the node waits for ever")
    return Check(
        code="DONOR-NAMES",
        title=f"The donors that {host.host} names are good",
        each="The donors that the nodes name are good",
        verdict=verdict(blocks, [*warns, *blind]),
        not_known=bool(blind),
        evidence="; ".join([*(blind or [f"wsrep_sst_donor of {host.host}: {text or '(none)'}"]), *blocks, *warns]),
        why="Galera matches donors by prefix; one that nobody has makes the joiner end at once or ask for ever.",
        try_=("Name members, with a comma at the end, or leave the option empty.",) if blocks or warns else (),
        host=host.host,
    )


def named_donor(facts: Facts, node: str, donor: str) -> Check:
    """The name that this run will write for the donor of a node means that donor alone (page add-node, P11)."""
    name = facts.host(donor).node_name
    others = [h for h in known(facts, facts.members) if h.host != donor and name and h.node_name.startswith(name)]
    told = [f"{h.node_name} ({h.host}{', the node itself' if h.host == node else ''})" for h in others]
    clash = [f"{name} of {donor} is the beginning of {', '.join(told)}"] if told else []
    blind = [unread(h, "the node name", "sql", "galera") for h in known(facts, (donor, node)) if not h.node_name]
    return checked(
        "DONOR-PREFIX",
        f"The donor that {node} will ask is {donor} and nobody else",
        each="The donor that each node will ask is one alone",
        block=clash,
        unread=blind,
        good=f"no other member's name begins with {name}",
        why="Galera matches donors by prefix: the node could ask another one, or itself, and take an SST or none.",
        try_=("Choose another donor, or rename one of them (wsrep_node_name).",),
        host=node,
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
