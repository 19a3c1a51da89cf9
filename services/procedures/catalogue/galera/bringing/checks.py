"""What is judged before a backup is brought: programs, port, room on the node, the donor's health and load. Pure."""

from __future__ import annotations

from services.facts.sst_address import SST_PORT
from services.procedures.catalogue.checks.parts import galera_of, known, listed, unread, verdict
from services.procedures.catalogue.galera.bringing.way import HOST, NOW, Way
from services.procedures.catalogue.galera.rejoin_from_incrementals.forecast import GROWTH
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.links import Listening
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.server.sessions import Sessions

RATE_BYTES_S = 100e6
"""An estimate of a road without a bound."""
Wants = tuple[tuple[str, str], ...]
"""Folders of the node that what was brought is put into afterwards, once more, and what for."""


def size_of(facts: Facts, way: Way, of_folders: int | None) -> int | None:
    """Return the bytes that come; of a backup made now those of the donor's data folder; None = not known."""
    return facts.host(way.source)[DataSize].in_bytes if way.kind == NOW else of_folders


def bringing_checks(facts: Facts, way: Way, size: int | None, wants: Wants) -> tuple[Check, ...]:
    """Return the checks of a bringing. `size`: the bytes that come, None = not known."""
    return (
        _access(facts, way),
        _tools(facts, way),
        _port(facts, way),
        _room(facts, way, size, wants),
        *((_donor(facts, way),) if way.kind == NOW else ()),
        _load(facts, way, size),
    )


def _access(facts: Facts, way: Way) -> Check:
    wrong = []
    for host in known(facts, (way.source, way.joiner)):
        if host.is_root is None:
            wrong.append(unread(host, "whether the login may become root", "root", "ssh"))
        elif not host.is_root:
            wrong.append(f"the login on {host.host} is not root and may not become it")
    return Check(
        code="BRING-ACCESS",
        title="The console may work on both ends",
        verdict=verdict(wrong),
        evidence="; ".join(wrong) or f"root on {way.source} and {way.joiner}",
        why="One end sends and the other unpacks, both as root: nobody else reads the data on the way.",
        try_=("Give the login sudo rights on that host.",) if wrong else (),
        absolute=bool(wrong),
    )


def _tools(facts: Facts, way: Way) -> Check:
    now = way.kind == NOW
    needed = {
        way.source: ("socat", *(("mariadb-backup",) if now else ()), *(("pv",) if way.rate and not now else ())),
        way.joiner: ("socat", "systemd-run", *(("mbstream",) if now else ())),
    }
    blind = [unread(h, "which programs are there", "programs", "ssh") for h in known(facts, tuple(needed))
             if not h[Tools].there]  # fmt: skip
    lacking = [f"{name} lacks {one}" for name, tools in needed.items() for one in tools
               if facts.host(name)[Tools].there and one not in facts.host(name)[Tools].there]  # fmt: skip
    told = "; ".join(f"{name}: {', '.join(tools)}" for name, tools in needed.items())
    return Check(
        code="BRING-TOOLS",
        title="The programs that bring it are on both ends",
        verdict=verdict([*lacking, *blind]),
        evidence="; ".join([*lacking, *blind]) or told,
        why="The backup is streamed over TLS by socat, and unpacked by a unit that may write into one folder alone.",
        try_=("Install them, or bring the backup by hand.",) if lacking else (),
        absolute=bool(lacking),
    )


def _port(facts: Facts, way: Way) -> Check:
    host = facts.host(way.joiner)
    ports = host[Listening].ports
    taken = ports is not None and SST_PORT in ports
    return Check(
        code="BRING-PORT",
        title=f"Port {SST_PORT} of {way.joiner} is free",
        verdict=verdict(taken, ports is None),
        not_known=ports is None,
        evidence=f"something listens on port {SST_PORT} of {way.joiner}" if taken
        else unread(host, "what listens", "listening", "ssh") if ports is None else "nothing listens there",
        why="It is the port of an SST, which firewalls between the nodes let through.",
        try_=("End what listens there; a transfer that was given up may hold it.",) if taken else (),
        host=way.joiner,
        absolute=taken,
    )  # fmt: skip


def _room(facts: Facts, way: Way, size: int | None, wants: Wants) -> Check:
    """The node has room for what comes, and for what is made of it: each of these is one more copy."""
    volumes, host = dict[str, tuple[int, int | None, list[str]]](), facts.host(way.joiner)
    for path, what in ((way.place, "what is brought"), *wants):
        disk = host[Volumes].of(path)
        mount = disk.mount if disk is not None else f"? {path}"
        needed, free, told = volumes.get(mount, (0, disk.free if disk is not None else None, []))
        volumes[mount] = (needed + int((size or 0) * GROWTH), free, [*told, what])
    blind = [f"what is free on {mount} is not known" for mount, (_, free, _) in volumes.items() if free is None]
    blind += ["how much comes is not known"] if size is None else []
    short = [mount for mount, (needed, free, _) in volumes.items() if free is not None and free < needed]
    told = [
        f"{mount}: {'not known' if free is None else f'{free / 1e9:.2f} GB'} free, {needed / 1e9:.2f} GB needed at most"
        f" ({' and '.join(what)})"
        for mount, (needed, free, what) in volumes.items()
    ]
    return Check(
        code="BRING-ROOM",
        title=f"{way.joiner} has room for the backup and its restore",
        verdict=verdict([*blind, *short]),
        evidence="; ".join([*blind, *told]),
        why="What is brought is kept unprepared until the node is back; its copy and the new data lie beside it.",
        try_=("Make room, or name a folder on another volume.",) if blind or short else (),
        host=way.joiner,
        absolute=bool(short),
    )


def _donor(facts: Facts, way: Way) -> Check:
    """The one that makes it is Synced, and not the only one that serves."""
    galera = galera_of(facts.host(way.source))
    state = (galera.local_state_comment if galera is not None else "") or "no answer"
    wrong = galera is None or state != "Synced" or galera.cluster_status != "Primary"
    others = [
        name for name in member_hosts(facts)
        if name not in {way.source, way.joiner} and (g := galera_of(facts.host(name))) is not None
        and g.local_state_comment == "Synced"
    ]  # fmt: skip
    return Check(
        code="BRING-DONOR",
        title=f"{way.source} may make a backup now",
        verdict=verdict(wrong or not others),
        evidence=f"{way.source}: {state}; Synced besides: {listed(others)}",
        why="At its end it is desynced for moments, with its writes held (BACKUP STAGE BLOCK_COMMIT): others must "
        "serve meanwhile.",
        try_=("Choose a Synced member.",) if wrong else ("Bring another node back first, or at a quiet hour.",)
        if not others else (),
        host=way.source,
        absolute=wrong,
    )  # fmt: skip


def _load(facts: Facts, way: Way, size: int | None) -> Check:
    """What it takes, and from whom: a person approves it by approving the plan."""
    host = facts.host(way.source)
    clients = host[Sessions].clients
    server = bool(host.server_up)
    busy = [f"{clients} client session{'' if clients == 1 else 's'} on {way.source}"] if clients else []
    blind = [unread(host, "the process list", "processes", "sql")] if server and clients is None else []
    much = "an amount that is not known" if size is None else f"{size / 1e9:.2f} GB at most"
    bound = f"at most {way.rate / 1e6:.0f} MB/s" if way.rate else "as fast as disks and network are"
    twice = ", read twice" if way.kind == HOST else ""
    takes = f"{much}{twice}, {bound}, from {way.source} to {way.joiner}"
    return Check(
        code="BRING-LOAD",
        title="Bringing the backup is a load",
        verdict=verdict((), [*busy, *blind]),
        not_known=bool(blind) and not busy,
        evidence="; ".join([takes, *busy, *blind]),
        why="The group's own traffic goes over the same network: clusters became unstable when a transfer took all.",
        try_=("Give a rate, or bring it at a quiet hour.",) if busy and not way.rate else (),
        to_read=True,
    )
