"""Whose data lies in the data folder already (add-node P8)."""

from __future__ import annotations

from services.facts.galera.state_files import ZERO_UUID
from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_folder import DataFolder


def datadir_foreign(facts: Facts, host: str) -> Check:
    """grastate.dat names this cluster, none, or the zero UUID: another cluster's data is never erased."""
    seen = facts.host(host)
    folder = seen[DataFolder]
    uuid = folder.grastate.uuid if folder.grastate is not None else ""
    foreign = uuid not in {"", ZERO_UUID, facts.cluster_id}
    state_known = folder.grastate is not None or folder.grastate_absent
    blind = [] if state_known else [unread(seen, "grastate.dat", "grastate", "ssh")]
    return checked(
        "DATADIR-FOREIGN",
        f"{host} does not contain another cluster's data",
        block=foreign,
        warn=blind,
        evidence="; ".join(blind) or f"grastate.dat of {host}: {uuid or 'none'}; this cluster: {facts.cluster_id}",
        why="An SST erases the data folder, including its binary logs.",
        try_=("Find out which cluster the data belong to, and move them away yourself.",) if foreign else (),
        host=host,
        absolute=True,
    )
