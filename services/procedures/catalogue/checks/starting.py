"""Can the server come up again: room for temporary files, names that lead somewhere. A stop asks for it first.

And whether InnoDB would start as usual: an innodb_force_recovery that somebody's repair left behind.
"""

from __future__ import annotations

from services.facts.server.option_files import group_members
from services.facts.server.values import OFF_WORDS
from services.procedures.catalogue.checks.parts import checked, known, unread, verdict
from services.procedures.conditions.server.stopped import ends_it
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.inputs import number_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.machine.unit import Unit, at_the_limit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting, names_in_options
from services.procedures.plan.parts.server.variables import Variables

LEAST_ROOM = 100 * 2**20
"""What a server's start takes on its data volume: its temporary tablespace, a new binary log."""
LEAST_TEMPORARY = 16 * 2**20
"""What the scripts of a start and of an SST write: logs of some kilobytes, and what the server sorts in a file."""


def temporary_space(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """No room for temporary files: the unit's own start script fails, and so does an SST on either side."""
    return tuple(_room(host) for host in known(facts, hosts))


def _room(host: HostFacts) -> Check:
    starting = host[Starting]
    full = [
        f"{free / 1e6:.0f} MB are free at {path} of {host.host}"
        for path, free in starting.temporary
        if free is not None and free < LEAST_TEMPORARY
    ]
    dark = [path for path, free in starting.temporary if free is None]
    blind = [
        unread(host, f"the free space at {', '.join(dark) or 'the folder for temporary files'}", "temporary", "ssh")
    ]
    blind = blind if dark or not starting.temporary else []
    free = ", ".join(f"{free / 1e9:.2f} GB at {path}" for path, free in starting.temporary if free is not None)
    return checked(
        "TEMP-SPACE",
        f"{host.host} has space for temporary files",
        each="Each host has space for temporary files",
        block=full,
        unread=blind,
        good=f"free on {host.host}: {free}",
        why="If its scripts cannot write there, the server does not start and an SST fails.",
        try_=(f"Free at least {LEAST_TEMPORARY / 1e6:.0f} MB there on {host.host}.",),
        host=host.host,
    )


def data_space(facts: Facts, hosts: tuple[str, ...], away_s: float) -> tuple[Check, ...]:
    """A data volume without room: the server comes up no more, or fails while it takes what it missed.

    Args:
        away_s: how long each is away: what the cluster writes meanwhile comes to it, into data and binary log.
    """
    return tuple(_data_room(host, away_s) for host in known(facts, hosts))


def _data_room(host: HostFacts, away_s: float) -> Check:
    folder, rates = host[DataFolder], host[WriteRate].rates
    free = folder.disk.free
    needed = LEAST_ROOM + int(2 * (rates.bytes_s if rates is not None else 0.0) * away_s)
    blind = [unread(host, "the free disk", "disk", "machine", "ssh")] if free is None else []
    room = "" if free is None else f"{free / 1e9:.2f} GB are free at {folder.path or 'its data folder'} of {host.host}"
    full = [f"{room}; a restart needs {needed / 1e9:.2f} GB"] if free is not None and free < needed else []
    return checked(
        "DISK-FREE",
        f"{host.host} has space on its data volume",
        each="Each node has space on its data volume",
        block=full,
        unread=blind,
        good=room,
        why="InnoDB recreates its temporary tablespace at each start, and the missed write sets are written then: a "
        "full disk makes the start fail, and the node stays down.",
        try_=(f"Free disk space on {host.host} before its server is stopped.",),
        host=host.host,
    )


def stops_at_once(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """A server that is up and not ready, which only waits for its cluster, may heed no stop [lab]."""
    return tuple(_heeds_a_stop(host) for host in known(facts, hosts))


def _heeds_a_stop(host: HostFacts) -> Check:
    name, unit = host.host, host[Unit]
    state = f"{unit.name} on {name} is {unit.active_state} ({unit.sub_state or '?'})"
    waits = (
        f"{state}: its server waits for its cluster or a donor, or recovers; systemd allows a stop "
        f"{unit.stop_limit or 'an unknown time'} (TimeoutStopSec){at_the_limit(unit.kills)}"
    )
    blind = [] if unit.active_state else [unread(host, "the state of the unit", "unit", "machine", "ssh")]
    return Check(
        code="STOP-WAITS",
        title=f"The server of {name} stops promptly",
        each="Each server stops promptly",
        verdict=verdict((), unit.waits or blind),
        not_known=bool(blind),
        evidence=waits if unit.waits else "; ".join(blind) or state,
        why="A server that waits for a Primary Component may ignore SIGTERM: the run then waits at its first step.",
        try_=(f"If it only waits for its cluster, {ends_it(unit.name or 'mariadb.service', name)}.",)
        if unit.waits
        else (),
        host=name,
    )


def names_known(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """A node none of whose members' names resolves does not start; one name that resolves is enough for it [lab]."""
    return tuple(_names(host) for host in known(facts, hosts))


def _names(host: HostFacts) -> Check:
    starting = host[Starting]
    lost = [name for name, there in starting.names if there is False]
    looked_up = dict(starting.names)
    dark = [name for name, there in starting.names if there is None]
    dark += [name for name in names_in_options(host) if name not in looked_up]
    members = group_members(host[Options].option("mysqld", "wsrep_cluster_address") or "")
    nobody = bool(members) and members <= {*lost}
    own = [name for name in lost if name not in members]
    bad = [f"{host.host} resolves none of the names in wsrep_cluster_address: {', '.join(lost)}"] if nobody else []
    bad += [f"{host.host} does not resolve its own name {name}" for name in own]
    odd = [] if bad or not lost else [f"{host.host} does not resolve {', '.join(lost)}"]
    odd += [unread(host, f"the address of {', '.join(dark)}", "names", "ssh")] if dark else []
    odd += [] if host[Options].known else [unread(host, "which names the option files contain", "options", "ssh")]
    good = ", ".join(name for name, there in starting.names if there)
    return Check(
        code="NAMES",
        title=f"{host.host} resolves the names in its option files",
        each="Each host resolves the names in its option files",
        verdict=verdict(bad, odd),
        not_known=not bad and not lost and bool(odd),
        evidence="; ".join([*bad, *odd]) or (f"{host.host} resolves {good}" if good else "they contain only addresses"),
        why="A server that resolves none of the members' names does not start; the others continue without it.",
        try_=(f"Repair DNS or /etc/hosts of {host.host}, or use addresses in its option files.",) if bad or odd else (),
        host=host.host,
    )


def innodb_as_usual(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """No option left of a repair has InnoDB read past damage, or start so that nothing can be written.

    Lab, MariaDB 10.11: with innodb_force_recovery 1 to 4 a node comes up as a full member, whatever it passed over;
    with 5 and 6 it does not come up. With 6 the redo log is not read (MariaDB KB "InnoDB Recovery Modes"): the position
    recovered then was ten write sets short of what the node had acknowledged.
    """
    return tuple(_as_usual(host) for host in known(facts, hosts))


def _as_usual(host: HostFacts) -> Check:
    name = host.host
    wrong = [f"{told} in the option files of {name}" for told in _unusual(host, files=True)]
    wrong += [f"{told} on the running server of {name}" for told in _unusual(host, files=False)]
    blind = [] if host[Options].known else [unread(host, "the InnoDB options", "options", "ssh")]
    return checked(
        "FORCED-RECOVERY",
        f"InnoDB of {name} starts normally",
        each="InnoDB of each node starts normally",
        block=wrong,
        unread=blind,
        good=f"no innodb_force_recovery and no innodb_read_only on {name}",
        why="InnoDB then ignores damage, which may spread to the others, reports an older position, or accepts no "
        "writes.",
        try_=(
            f"Remove it from the option files of {name}.",
            f"If its data are damaged, start from another node, and bring {name} back by SST.",
        ),
        host=name,
        absolute=True,
    )


def _unusual(host: HostFacts, *, files: bool) -> list[str]:
    """Return what the option files, or the running server, say of the two options where it is not the default."""
    found = []
    for option in ("innodb_force_recovery", "innodb_read_only"):
        value = host[Options].option("mysqld", option) if files else host[Variables].value(option)
        forced = option == "innodb_force_recovery" and number_of(value or "") != 0
        read_only = option == "innodb_read_only" and (value or "").strip().lower() not in OFF_WORDS
        if value is not None and (forced or read_only):
            found.append(f"{option} = {value or 'ON'}")
    return found
