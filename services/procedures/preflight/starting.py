"""Can the server come up again: room for temporary files, names that lead somewhere. A stop asks for it first."""

from __future__ import annotations

from services.procedures.checks import Check
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.gather_options import group_members
from services.procedures.preflight.parts import known, unread, verdict

LEAST_TEMPORARY = 16 * 2**20
"""What the scripts of a start and of an SST write: logs of some kilobytes, and what the server sorts in a file."""


def temporary_space(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """No room for temporary files: the unit's own start script fails, and so does an SST on either side."""
    return tuple(_room(host) for host in known(facts, hosts))


def _room(host: HostFacts) -> Check:
    full = [
        f"{free / 1e6:.0f} MB are free at {path} of {host.host}"
        for path, free in host.temporary
        if free is not None and free < LEAST_TEMPORARY
    ]
    dark = [path for path, free in host.temporary if free is None]
    blind = [unread(host, f"the room at {', '.join(dark) or 'the folder for temporary files'}", "temporary", "ssh")]
    blind = blind if dark or not host.temporary else []
    free = ", ".join(f"{free / 1e9:.2f} GB at {path}" for path, free in host.temporary if free is not None)
    return Check(
        code="TEMP-SPACE",
        title=f"{host.host} has room for temporary files",
        verdict=verdict(full, blind),
        evidence="; ".join([*full, *blind]) or f"free on {host.host}: {free}",
        why="A server whose scripts can't write there does not start, and an SST breaks off.",
        try_=(f"Make room there on {host.host}: at least {LEAST_TEMPORARY / 1e6:.0f} MB.",) if full else (),
        host=host.host,
    )


def names_known(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """A node none of whose members' names resolves does not start; one name that resolves is enough for it [lab]."""
    return tuple(_names(host) for host in known(facts, hosts))


def _names(host: HostFacts) -> Check:
    lost = [name for name, there in host.names if there is False]
    dark = [name for name, there in host.names if there is None]
    members = group_members(host.option("mysqld", "wsrep_cluster_address") or "")
    nobody = bool(members) and members <= {*lost}
    own = [name for name in lost if name not in members]
    bad = [f"{host.host} knows none of the names it looks for its cluster by: {', '.join(lost)}"] if nobody else []
    bad += [f"{host.host} does not know its own name {name}" for name in own]
    odd = [] if bad or not lost else [f"{host.host} does not know the name {', '.join(lost)}"]
    odd += [unread(host, f"what {', '.join(dark)} is", "names", "ssh")] if dark else []
    odd += [] if host.options else [unread(host, "which names the option files give", "options", "ssh")]
    good = ", ".join(name for name, there in host.names if there)
    return Check(
        code="NAMES",
        title=f"The names in the option files of {host.host} lead to an address",
        verdict=verdict(bad, odd),
        evidence="; ".join([*bad, *odd]) or (f"{host.host} resolves {good}" if good else "only addresses stand there"),
        why="A server that resolves none of its members' names ends its start; the others go on without it.",
        try_=(f"Repair DNS or /etc/hosts of {host.host}, or write addresses into its option files.",)
        if bad or odd
        else (),
        host=host.host,
    )
