"""Room for a copy, and whose data lies there already (add-node P3, P8)."""

from __future__ import annotations

from services.procedures.checks import Check
from services.procedures.facts_model import ZERO_UUID, Facts
from services.procedures.preflight.parts import unread, verdict


def disk_free(facts: Facts, host: str, needed: int | None, *, what: str = "the copy") -> Check:
    """The data folder's file system of `host` has `needed` bytes; None: how much is needed is not known."""
    seen = facts.host(host)
    blind = []
    if needed is None:
        blind.append("how much is needed is not known")
    if seen.disk_free is None:
        blind.append(unread(seen, "the free disk", "disk", "machine", "ssh"))
    short = needed is not None and seen.disk_free is not None and seen.disk_free < needed
    evidence = "; ".join(blind) or f"{(seen.disk_free or 0) / 1e9:.2f} GB free, {(needed or 0) / 1e9:.2f} GB needed"
    return Check(
        code="DISK-FREE",
        title=f"{host} has room for {what}",
        verdict=verdict(short or blind),
        evidence=evidence,
        why="A full disk ends the transfer near its end and may take the server down.",
        try_=(f"Make room on {host}.",) if short else (),
        host=host,
    )


def datadir_foreign(facts: Facts, host: str) -> Check:
    """grastate.dat names this cluster, none, or the zero UUID: another cluster's data is never erased."""
    seen = facts.host(host)
    uuid = seen.grastate.uuid if seen.grastate is not None else ""
    foreign = uuid not in {"", ZERO_UUID, facts.cluster_id}
    blind = (
        [] if seen.grastate is not None or seen.grastate_absent else [unread(seen, "grastate.dat", "grastate", "ssh")]
    )
    return Check(
        code="DATADIR-FOREIGN",
        title=f"{host} holds no other cluster's data",
        verdict=verdict(foreign, blind),
        evidence="; ".join(blind) or f"grastate.dat of {host}: {uuid or 'none'}; this cluster: {facts.cluster_id}",
        why="An SST erases the data folder, its binary logs too.",
        try_=("Make sure whose data it is, and move it away by hand.",) if foreign else (),
        host=host,
        absolute=foreign,
    )
