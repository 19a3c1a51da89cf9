"""The checks that only add-node has: the joiner's data, disk, names, and what its configuration will be."""

from __future__ import annotations

from dataclasses import replace

from services.facts.server.option_files import group_members
from services.procedures.catalogue.checks.joiner_state import ahead, position_of
from services.procedures.catalogue.checks.parts import (
    READ_IT,
    arbitrators,
    checked,
    galera_of,
    known,
    server_of,
    unread,
    unread_options,
    verdict,
)
from services.procedures.catalogue.checks.transfer import sst_orphans, sst_tools
from services.procedures.catalogue.galera.shared.estimate import Expected
from services.procedures.catalogue.galera.shared.joiner_config import address_of, not_copied
from services.procedures.catalogue.galera.shared.joiner_secrets import may_copy
from services.procedures.catalogue.galera.shared.order import writer_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.sessions import Sessions

FRESH_BYTES = 2 * 2**30
"""More than a server's fresh installation has, its redo log and gcache counted."""
FREE_TIMES, UNPACKED_TIMES = 1.1, 2.1
ASIDE = ".pilothouse-before"


def configured(facts: Facts, joiner: str) -> bool:
    """Return whether the host's own files make it a node of this cluster already (a member that was away)."""
    return bool(facts.host(joiner)[Options].option("mysqld", "wsrep_cluster_address"))


def aside_path(facts: Facts, joiner: str) -> str:
    """Return where the old data folder is kept."""
    return (facts.host(joiner)[DataFolder].path or "/var/lib/mysql").rstrip("/") + ASIDE


def transfer_kind(facts: Facts, joiner: str, expected: Expected, *, sst_ok: bool, given_up: bool = False) -> Check:
    """Say what will happen, from what numbers. A joiner that is ahead holds what nobody else has: first look.

    Args:
        given_up: a person said that the joiner gives up what only it has; it is written to a file first.
    """
    beyond = ahead(facts, joiner) and not given_up
    refused = beyond or (expected.kind == "SST" and not sst_ok)
    size = f", about {expected.data_bytes / 1e9:.2f} GB" if expected.data_bytes is not None else ""
    sets = f", {expected.write_sets} write sets" if expected.write_sets is not None else ""
    return Check(
        code="TRANSFER",
        title="The node joins by IST or SST" if expected.pending else f"The node joins by {expected.kind}",
        verdict=verdict(refused and not expected.pending, expected.warning or expected.pending),
        evidence=f"{expected.reason}{size}{sets}; about {expected.seconds:.0f} s"
        + (f"; {expected.warning}" if expected.warning else ""),
        why="IST sends the missed write sets; SST copies everything and takes the donor out of flow control.",
        try_=("Choose a donor that can send IST.",) if refused and not beyond else (),
        answers=(gives_up(joiner),) if beyond else (Remedy("Accept an SST", "sst_ok", ("yes",)),) if refused else (),
    )


def gives_up(joiner: str) -> Remedy:
    """Return the answer by which a joiner loses what nobody else has."""
    return Remedy(
        f"Discard the transactions that only {joiner} has (they are saved to a file first, then an SST follows)",
        "loser",
        (joiner,),
    )


def disk(facts: Facts, joiner: str, donor: str, expected: Expected, *, keep: bool) -> Check:
    """The copy must fit, beside the old data while that is kept."""
    host, source = facts.host(joiner), facts.host(donor)
    if expected.kind == "IST":
        return Check(
            "DISK-FREE", f"{joiner} has enough disk space", Verdict.PASS, "IST copies no data files", host=joiner
        )
    blind = [unread(source, "the size of the data", "datadir", "ssh")] if source[DataSize].in_bytes is None else []
    blind += [unread(host, "the free disk", "disk", "machine", "ssh")] if host[DataFolder].disk.free is None else []
    have, size = (
        (host[DataFolder].disk.free or 0) + (0 if keep else host[DataSize].in_bytes or 0),
        source[DataSize].in_bytes or 0,
    )
    times, why = (
        (UNPACKED_TIMES, " (it is decompressed next to it)") if _packed(facts, donor, joiner) else (FREE_TIMES, "")
    )
    # While the copy runs the joiner's gcache takes what the others write (page add-node, "Time estimate").
    rates = source[WriteRate].rates
    grown = (rates.bytes_s if rates is not None else 0.0) * expected.seconds
    short = not blind and have < times * size + grown
    room = (
        f"{have / 1e9:.2f} GB for {size / 1e9:.2f} GB of {donor} x {times}{why} and {grown / 1e9:.2f} GB written then"
    )
    old = 0 if keep else host[DataSize].in_bytes or 0
    if old:
        room += f"; this includes {old / 1e9:.2f} GB of old data of {joiner}, which the SST erases first"
    return Check(
        code="DISK-FREE",
        title=f"{joiner} has enough disk space for the data",
        verdict=verdict((short or blind) and not expected.pending, short or blind),
        evidence="; ".join(blind) or room,
        why="With a full disk the transfer fails near its end, and the node cannot start from the data.",
        try_=(f"Free disk space on {joiner}.",) if short else (READ_IT,) if blind else (),
        host=joiner,
        absolute=short and not expected.pending,
    )


def recovered_history(facts: Facts, joiner: str) -> Check:
    """What the joiner's server recovered is this cluster's history, or none."""
    uuid, seqno = position_of(facts, joiner)
    foreign = uuid not in {"", facts.cluster_id}
    return checked(
        "RECOVERED-HISTORY",
        f"{joiner} does not contain another cluster's data",
        block=foreign,
        evidence=f"recovered on {joiner}: {f'{uuid}:{seqno}' if uuid else 'no position'}; cluster: {facts.cluster_id}",
        why="An SST erases the data folder, including its binary logs.",
        try_=("Find out which cluster the data belong to, and move them away yourself.",),
        host=joiner,
        absolute=True,
    )


def _packed(facts: Facts, donor: str, joiner: str) -> bool:
    """Return whether files come compressed one by one (.qp, .zst), or by way of a folder of their own ([sst] tmpdir).

    A stream that is compressed as a whole ([sst] compressor) takes no room.
    """
    given = {(section, name) for h in known(facts, (donor, joiner)) for section, name, _ in h[Options].given}
    return bool(given & {("sst", "tmpdir"), ("backup", "compress")})


def sst_section_copied(facts: Facts, joiner: str, donor: str) -> Check:
    """A new host gets the donor's [sst] section; what its own files say beside that stays, and may differ."""
    rows = {name: value for section, name, value in facts.host(donor)[Options].given if section == "sst"}
    taken = {name: value for name, value in rows.items() if may_copy("sst", name, value)}
    own = {name: value for section, name, value in facts.host(joiner)[Options].given if section == "sst"}
    left = [f"{name} = {value} remains in the files of {joiner}" for name, value in own.items() if name not in rows]
    copied = ", ".join(f"{name} = {value}" for name, value in taken.items())
    blind = unread_options(facts.host(donor), facts.host(joiner))
    return checked(
        "SST-SECTION",
        "The [sst] sections are equal",
        block=left,
        unread=blind,
        evidence="; ".join([*left, *blind, f"copied from {donor}: {copied or 'none there'}"]),
        why="If only one side encrypts, donor and joiner wait for each other forever.",
        try_=(f"Remove it from the files of {joiner}.",),
    )


def server_uuids(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """A cloned host brings the server_uuid of its template."""
    mine = _uuid(facts, joiner)
    same = [m for m in members if mine and _uuid(facts, m) == mine]
    blind = [] if mine or "mariadb" in facts.host(joiner)[Program].text.lower() else [_unread_uuid(facts, joiner)]
    return checked(
        "SERVER-UUID",
        f"{joiner} has a unique server_uuid",
        block=same,
        warn=blind,
        evidence="; ".join(blind)
        or (mine or "MariaDB has none") + (f", the same as {', '.join(same)}" if same else ""),
        why="Two servers with the same server_uuid disconnect each other from their source, and their GTIDs mix.",
        try_=(f"Delete auto.cnf in the data folder of {joiner} while its server is stopped.",) if same else (),
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
    said += [f"the donor's name {named} also matches {', '.join(mistaken)}"] if mistaken else []
    return Check(
        code="NODE-NAME",
        title=f"The name {node_name} is not in use",
        verdict=verdict(clash or mistaken, warns),
        evidence="; ".join([f"members: {', '.join(others.values()) or 'none known'}", *said, *warns]),
        why="Galera matches donor names by prefix: a node could choose itself as the donor.",
        try_=("Choose another name.",) if clash else ("Choose another donor.",) if mistaken else (),
        host=joiner,
    )


def own_file_system(facts: Facts, joiner: str) -> bool:
    """Return whether the data folder is the top of a file system: rename(2) refuses such a folder (EBUSY)."""
    host = facts.host(joiner)
    machine = host.node.machine if host.node is not None else None
    disk = machine.data_disk if machine is not None else None
    return (
        disk is not None and bool(host[DataFolder].path) and disk.mount.rstrip("/") == host[DataFolder].path.rstrip("/")
    )


def options_left(facts: Facts, joiner: str, donor: str) -> Check:
    """Show which options of the donor the new node does not get."""
    if configured(facts, joiner):
        return Check("OPTIONS", "The node's own configuration stays", Verdict.PASS, f"{joiner} is already configured")
    left = not_copied(facts, donor)
    return checked(
        "OPTIONS",
        f"The other options of {donor}",
        warn=left,
        evidence=f"not copied: {', '.join(left)}" if left else "all are copied",
        why="Sizes, paths and certificates are specific to a host; only the options that the cluster needs are copied.",
        try_=(f"Review them, and set those that {joiner} needs.",),
    )


def donors_stay(facts: Facts, donor: str, expected: Expected) -> Check:
    """The last full member besides the donor, and the one that the application writes to."""
    others = [m for m in member_hosts(facts) if m != donor]
    writes = expected.kind == "SST" and writer_of(facts) == donor and bool(facts.host(donor)[Sessions].clients)
    writer = [f"{donor} has the most client sessions: it is probably the writer"] if writes else []
    return Check(
        code="OTHERS-STAY",
        title="A full member stays in addition to the donor",
        verdict=verdict((), writer if others else ["none"]),
        evidence="; ".join([f"{', '.join(others) or 'none'} besides {donor}", *writer]),
        why="While the donor sends an SST, it falls behind and serves old data; load balancers remove it.",
    )


def runs_now(facts: Facts, joiner: str) -> Check:
    """What runs on the joiner is stopped: it must be nobody's member.

    One that can't be asked may hang in an earlier start; the others tell whether they count it among themselves.
    """
    host = facts.host(joiner)
    galera, asked = galera_of(host), server_of(host) is not None
    foreign = galera is not None and galera.cluster_status == "Primary" and galera.state_uuid != facts.cluster_id
    blind = host.server_up is not False and not asked
    members = member_hosts(facts)
    counted = [g.cluster_size for h in known(facts, members) if (g := galera_of(h)) is not None]
    member = blind and any(size != len(members) + arbitrators(facts) for size in counted)
    alone = asked and not foreign
    clients = "" if host[Sessions].clients is None else f" with {host[Sessions].clients} client sessions"
    evidence = f"a server runs on {joiner}{clients}; the run stops it" if alone else f"no server runs on {joiner}"
    if foreign and galera is not None:
        evidence = f"{joiner} is a member of another cluster, {galera.cluster_name or galera.state_uuid}"
    elif blind:
        evidence = f"{unread(host, 'the cluster of the server', 'sql')}; the {len(members)} members count "
        evidence += ", ".join(str(size) for size in dict.fromkeys(counted)) or "nobody"
    return Check(
        code="JOINER-RUNS",
        title=f"No server on {joiner} is in use",
        verdict=verdict(foreign or member, alone or blind),
        evidence=evidence,
        why="A member that only the console cannot query would be stopped and lose its data to an SST.",
        try_=(f"Give the console a login on the server of {joiner}: it may be Synced and serve clients.",)
        if blind
        else (f"Choose another host, or remove {joiner} from that cluster permanently: stop its server yourself.",)
        if foreign
        else (),
        host=joiner,
        absolute=foreign or member,
    )


def runs_outside(facts: Facts, joiner: str) -> Check:
    """No other server of this cluster runs outside its Primary Component: a start between them brings them together.

    Seen on the lab: two sides that were parted had forgotten each other's addresses. The joiner knew both: its start
    was the bridge, and the other side came in by IST, its own past and all.
    """
    serving = member_hosts(facts)
    others = [host for host in facts.hosts if host.host not in {joiner, *serving} and _is_ours(facts, host)]
    outside = [f"{host.host} runs, {_status_words(host)}" for host in others if host.server_up]
    blind = [unread(host, "whether a server runs", "ssh", "sql") for host in others if host.server_up is None]
    names = [host.host for host in others if host.server_up]
    return Check(
        code="RUNS-OUTSIDE",
        title="No other server of the cluster runs outside the Primary Component",
        verdict=verdict(outside, blind),
        evidence="; ".join([*outside, *blind]) or "every other server is a member or stopped",
        why=f"{joiner} has its address too: once {joiner} is up, they find each other, and that server joins by IST "
        "regardless of its history.",
        try_=(f"Bring {', '.join(names)} back first (its history is compared), or stop its server.",) if names else (),
        absolute=bool(outside),
    )


def _is_ours(facts: Facts, host: HostFacts) -> bool:
    galera = galera_of(host)
    return host.host in facts.members or (galera is not None and galera.state_uuid == facts.cluster_id)


def _status_words(host: HostFacts) -> str:
    galera = galera_of(host)
    if galera is None:
        return "and its cluster could not be read"
    return f"its component is {galera.cluster_status or 'of unknown status'}"


def other_tools(facts: Facts, donor: str, members: tuple[str, ...]) -> tuple[Check, ...]:
    """The members beside the donor lend themselves too: the name ends with a comma, and a busy donor is passed over."""
    found = sst_tools(facts, tuple(m for m in members if m != donor))
    return tuple(replace(c, verdict=Verdict.WARN) if c.verdict is Verdict.BLOCK else c for c in found)


def own_cluster(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """A node with a configuration of its own is of this cluster by its name, and looks for one of its members."""
    host = facts.host(joiner)
    if not configured(facts, joiner):
        return Check("CLUSTER-NAME", f"{joiner} is configured for this cluster", Verdict.PASS, "this run configures it")
    galera = [g for h in known(facts, members) if (g := galera_of(h)) is not None and g.cluster_name]
    name, theirs = host[Options].option("mysqld", "wsrep_cluster_name"), galera[0].cluster_name if galera else ""
    sought = group_members(host[Options].option("mysqld", "wsrep_cluster_address") or "")
    addresses = {text for h in known(facts, members) for text in (h.host, h.address, address_of(h)) if text}
    differs = bool(theirs and name) and name != theirs
    other = [f"wsrep_cluster_name of {joiner} is {name}, the cluster's {theirs}"] if differs else []
    strange = (
        []
        if sought & addresses
        else [f"wsrep_cluster_address of {joiner} names {', '.join(sorted(sought)) or 'no node'}"]
    )
    strange += [] if name else [f"the option files of {joiner} do not set wsrep_cluster_name"]
    return checked(
        "CLUSTER-NAME",
        f"{joiner} is configured for this cluster",
        block=other,
        warn=strange,
        good=f"{theirs or name}, {', '.join(sorted(sought))}",
        why="Nodes with another cluster name reject it; with addresses where no node listens it waits forever.",
        try_=(f"Correct the option files of {joiner}.",),
        host=joiner,
    )


def orphans(facts: Facts, joiner: str, *, end: bool) -> tuple[Check, ...]:
    """What an earlier transfer left; accepted to be ended, it is a warning."""
    if not end:
        say_yes = (Remedy("Or let the run end them just before the start", "end_orphans", ("yes",)),)
        return tuple(replace(c, answers=say_yes if c.try_ else ()) for c in sst_orphans(facts, (joiner,)))
    return tuple(
        replace(c, verdict=Verdict.WARN, evidence=f"{c.evidence}; the run ends them just before the start")
        if c.verdict is Verdict.BLOCK
        else c
        for c in sst_orphans(facts, (joiner,))
    )


def _unread_uuid(facts: Facts, joiner: str) -> str:
    return (
        f"{unread(facts.host(joiner), 'the server_uuid', 'sql')}: compare auto.cnf in its data folder with the members'"
    )


def _uuid(facts: Facts, name: str) -> str:
    node = facts.host(name).node
    return node.server.server_uuid if node is not None and node.server is not None else ""
