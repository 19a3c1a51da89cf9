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
        [unread(host, "which donors wsrep_sst_donor names", "options", "ssh")]
        if galera is None and not host[Options].known
        else []
    )
    for donor in (part.strip() for part in text.split(",") if part.strip()):
        matched = [name for name in names if name.startswith(donor)]
        if _is_address(donor):
            blocks.append(f"{donor} is an address, not a node's name")
        elif donor == host.node_name:
            blocks.append(f"{donor} is the node itself")
        elif donor not in names and len(matched) != 1:
            blocks.append(f"{donor} matches {', '.join(matched)}" if matched else f"no member is named {donor}")
        elif len(matched) > 1:
            blocks.append(f"{donor} matches {', '.join(matched)} by prefix")
    if text and not text.rstrip().endswith(","):
        warns.append("no trailing comma: while that donor is busy, the node waits forever")
    return Check(
        code="DONOR-NAMES",
        title=f"wsrep_sst_donor of {host.host} names valid donors",
        each="wsrep_sst_donor of each node names valid donors",
        verdict=verdict(blocks, [*warns, *blind]),
        not_known=bool(blind),
        evidence="; ".join([*(blind or [f"wsrep_sst_donor of {host.host}: {text or '(none)'}"]), *blocks, *warns]),
        why="Galera matches donor names by prefix; with a name that no member has, the joiner stops at once or asks "
        "forever.",
        try_=("List member names with a trailing comma, or leave the option empty.",) if blocks or warns else (),
        host=host.host,
    )


def named_donor(facts: Facts, node: str, donor: str) -> Check:
    """The name that this run will write for the donor of a node means that donor alone (page add-node, P11)."""
    name = facts.host(donor).node_name
    others = [h for h in known(facts, facts.members) if h.host != donor and name and h.node_name.startswith(name)]
    matches = [f"{h.node_name} ({h.host}{', the node itself' if h.host == node else ''})" for h in others]
    clash = [f"{name} of {donor} is a prefix of {', '.join(matches)}"] if matches else []
    blind = [unread(h, "the node name", "sql", "galera") for h in known(facts, (donor, node)) if not h.node_name]
    return checked(
        "DONOR-PREFIX",
        f"{node} asks {donor} and no other node for its donor",
        each="Each node's donor name matches exactly one member",
        block=clash,
        unread=blind,
        good=f"no other member's name begins with {name}",
        why="Galera matches donor names by prefix: the node could ask another member, or itself, and get an SST or "
        "nothing.",
        try_=("Choose another donor, or rename one of the nodes (wsrep_node_name).",),
        host=node,
    )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
