"""The checks that only add-node has: the joiner's data, disk, names, and what its configuration will be."""

from __future__ import annotations

from services.procedures.catalogue.choices import member_hosts
from services.procedures.catalogue.joiner_config import not_copied
from services.procedures.catalogue.joining_estimate import Expected, ahead
from services.procedures.checks import Check, Verdict
from services.procedures.facts_model import Facts
from services.procedures.preflight.parts import known, unread, verdict

FREE_TIMES = 1.1
ASIDE = ".pilothouse-before"


def configured(facts: Facts, joiner: str) -> bool:
    """Return whether the host's own files make it a node of this cluster already (a member that was away)."""
    return bool(facts.host(joiner).option("mysqld", "wsrep_cluster_address"))


def aside_path(facts: Facts, joiner: str) -> str:
    """Return where the old data folder is kept."""
    return (facts.host(joiner).datadir or "/var/lib/mysql").rstrip("/") + ASIDE


def transfer_kind(facts: Facts, joiner: str, expected: Expected, *, sst_ok: bool) -> Check:
    """Say what will happen, from what numbers. A joiner that is ahead holds what nobody else has: first look."""
    beyond = ahead(facts, joiner)
    refused = beyond or (expected.kind == "SST" and not sst_ok)
    advice = f"Look for what only {joiner} has in its binary logs, and keep its data folder aside."
    size = f", about {expected.data_bytes / 1e9:.2f} GB" if expected.data_bytes is not None else ""
    sets = f", {expected.write_sets} write sets" if expected.write_sets is not None else ""
    return Check(
        code="TRANSFER",
        title=f"It will come by {expected.kind}",
        verdict=verdict(refused),
        evidence=f"{expected.reason}{size}{sets}; about {expected.seconds:.0f} s",
        why="IST sends what was missed; SST copies everything and takes the donor out of flow control.",
        try_=(advice,)
        if beyond
        else ("Accept an SST (sst_ok), or choose a donor that can send an IST.",)
        if refused
        else (),
    )


def disk(facts: Facts, joiner: str, donor: str, expected: Expected, *, keep: bool) -> Check:
    """The copy must fit, beside the old data while that is kept."""
    host, source = facts.host(joiner), facts.host(donor)
    if expected.kind == "IST":
        return Check("DISK-FREE", f"{joiner} has room", Verdict.PASS, "IST needs no copy", host=joiner)
    blind = [unread(source, "the size of the data", "datadir", "ssh")] if source.data_bytes is None else []
    blind += [unread(host, "the free disk", "disk", "machine", "ssh")] if host.disk_free is None else []
    have, size = (host.disk_free or 0) + (0 if keep else host.data_bytes or 0), source.data_bytes or 0
    short = not blind and have < FREE_TIMES * size
    return Check(
        code="DISK-FREE",
        title=f"{joiner} has room for the data",
        verdict=verdict(short or blind),
        evidence="; ".join(blind) or f"{have / 1e9:.2f} GB for {size / 1e9:.2f} GB of {donor} x {FREE_TIMES}",
        why="A full disk ends the transfer near its end, and the node can't start from it.",
        try_=(f"Make room on {joiner}.",) if short else (),
        host=joiner,
        absolute=short,
    )


def sst_section_copied(facts: Facts, donor: str) -> Check:
    """A new host gets the donor's [sst] section, so that both sides agree."""
    rows = [f"{name} = {value}" for section, name, value in facts.host(donor).options if section == "sst"]
    return Check(
        code="SST-SECTION",
        title="The [sst] sections are equal",
        verdict=Verdict.PASS,
        evidence=f"copied from {donor}: {', '.join(rows) or 'none there'}",
        why="A donor that encrypts and a joiner that does not wait for each other for ever.",
    )


def server_uuids(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """A cloned host brings the server_uuid of its template."""
    mine = _uuid(facts, joiner)
    same = [m for m in members if mine and _uuid(facts, m) == mine]
    return Check(
        code="SERVER-UUID",
        title=f"{joiner} has a server_uuid of its own",
        verdict=Verdict.BLOCK if same else Verdict.PASS,
        evidence=f"{mine or 'none (MariaDB, or not running)'}" + (f", the same as {', '.join(same)}" if same else ""),
        why="Two servers with one server_uuid push each other off their source, and their GTIDs mix.",
        try_=(f"Delete auto.cnf in {joiner}'s data folder while its server is stopped.",) if same else (),
        host=joiner,
    )


def names(facts: Facts, joiner: str, node_name: str, donor: str, members: tuple[str, ...]) -> Check:
    """Donor names match by prefix, so names must not begin with one another: least of all the donor's (page P11)."""
    others = {h.host: h.node_name for h in known(facts, members) if h.host != joiner and h.node_name}
    clash = [
        f"{n} ({m})" for m, n in others.items() if n == node_name or n.startswith(node_name) or node_name.startswith(n)
    ]
    named = others.get(donor, "")
    mistaken = [f"{n} ({m})" for m, n in others.items() if named and m != donor and n.startswith(named)]
    warns = [
        f"{second} ({other}) begins with {first} ({one})"
        for one, first in others.items()
        for other, second in others.items()
        if one not in {other, donor} and second.startswith(first) and (first != second or one < other)
    ]
    warns += [unread(h, "the node name", "sql", "galera") for h in known(facts, members) if not h.node_name]
    said = [f"clashes with {', '.join(clash)}"] if clash else []
    said += [f"the donor's name {named} means {', '.join(mistaken)} too"] if mistaken else []
    return Check(
        code="NODE-NAME",
        title=f"The name {node_name} is free",
        verdict=verdict(clash or mistaken, warns),
        evidence="; ".join([f"members: {', '.join(others.values()) or 'none known'}", *said, *warns]),
        why="Galera matches donor names by prefix: a node could be told to take its data from itself.",
        try_=("Give another name.",) if clash else ("Choose another donor.",) if mistaken else (),
        host=joiner,
    )


def aside_free(facts: Facts, joiner: str) -> Check:
    """An older copy that was kept is somebody's data: it is not written over."""
    left = any("data folder kept aside" in p.sentence for p in facts.host(joiner).problems)
    return Check(
        code="ASIDE-FREE",
        title="No older data folder is kept aside",
        verdict=Verdict.BLOCK if left else Verdict.PASS,
        evidence=f"{aside_path(facts, joiner)} {'exists' if left else 'is not there'}",
        why="The old data folder is renamed to that name.",
        try_=(f"Remove or rename {aside_path(facts, joiner)} on {joiner}.",) if left else (),
        host=joiner,
    )


def own_file_system(facts: Facts, joiner: str) -> bool:
    """Return whether the data folder is the top of a file system: rename(2) refuses such a folder (EBUSY)."""
    host = facts.host(joiner)
    machine = host.node.machine if host.node is not None else None
    disk = machine.data_disk if machine is not None else None
    return disk is not None and bool(host.datadir) and disk.mount.rstrip("/") == host.datadir.rstrip("/")


def aside_possible(facts: Facts, joiner: str, expected: Expected, *, keep: bool) -> Check:
    """A mount point can't be renamed; say what that means for the old data of a node that an SST is coming to."""
    datadir = facts.host(joiner).datadir or "its data folder"
    mounted = expected.kind == "SST" and own_file_system(facts, joiner)
    outcome = verdict(mounted and keep, mounted)
    return Check(
        code="KEEP-DATA",
        title="The old data folder can be kept aside",
        verdict=outcome,
        evidence=f"{datadir} is the top of a file system of its own: it can't be renamed"
        if mounted
        else f"{datadir} can be renamed, or stays (IST)",
        why="Renamed, the old data costs no copying and undo puts it back; otherwise an SST erases it for good.",
        try_=(f"Copy what you need of {datadir} elsewhere, then say no to keeping it.",) if mounted else (),
        host=joiner,
        absolute=outcome is Verdict.BLOCK,  # nothing to override: the rename would fail
    )


def options_left(facts: Facts, joiner: str, donor: str) -> Check:
    """Show which options of the donor the new node does not get."""
    if configured(facts, joiner):
        return Check("OPTIONS", "The node's own configuration stays", Verdict.PASS, f"{joiner} is configured already")
    left = not_copied(facts, donor)
    return Check(
        code="OPTIONS",
        title=f"The other options of {donor}",
        verdict=Verdict.WARN if left else Verdict.PASS,
        evidence=f"not copied: {', '.join(left)}" if left else "all are copied",
        why="Sizes, paths and certificates belong to a host; only what makes nodes one cluster is copied.",
        try_=(f"Look through them, and set on {joiner} what it needs.",) if left else (),
    )


def donors_stay(facts: Facts, donor: str) -> Check:
    """The last full member besides the donor."""
    others = [m for m in member_hosts(facts) if m != donor]
    return Check(
        code="OTHERS-STAY",
        title="A full member stays beside the donor",
        verdict=Verdict.PASS if others else Verdict.WARN,
        evidence=f"{', '.join(others) or 'none'} besides {donor}",
        why="While it sends an SST the donor falls behind and serves old data; balancers take it out.",
    )


def _uuid(facts: Facts, name: str) -> str:
    node = facts.host(name).node
    return node.server.server_uuid if node is not None and node.server is not None else ""
