"""Which cluster's data lies there: the state files, InnoDB and our own history, side by side. Pure.

State files are no voters: two damaged ones outvoted the right one and what this console itself had seen (on the lab).
What disagrees is shown with who says it, and a person looks; nobody is advised to leave out what our history supports.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.galera.state_files import ZERO_UUID
from services.procedures.catalogue.checks.parts import checked, state_file, unread_state
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.shared.positions import NodePosition, standings
from services.procedures.plan.checks import Check
from services.procedures.plan.parts.galera.data_folder import DataFolder


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of one node's cluster: by its state file, by its server or InnoDB, by our own history."""

    host: str
    file: str = ""
    data: str = ""
    seen: str = ""

    @property
    def told(self) -> frozenset[str]:
        """Return the state UUIDs that the node itself tells."""
        return frozenset({self.file, self.data} - {"", ZERO_UUID})


def one_cluster(party: Party) -> Check:
    """Different UUIDs are different histories; so is one that our own history contradicts."""
    found = standings(party.facts, party.hosts)
    said = tuple(_said(party, one) for one in found)
    uuids = frozenset(uuid for one in said for uuid in one.told)
    known = party.facts.cluster_id
    moved = [one for one in said if one.seen and one.told and one.seen not in one.told]
    bad = len(uuids) > 1 or bool(known and uuids - {known})
    blind = [line for one in said if not one.told for line in unread_state(party.host(one.host))]
    rows = "; ".join(_row(party, one) for one in said)
    return checked(
        "UUID-MISMATCH",
        "One state UUID on all nodes",
        block=bad,
        warn=bool(moved),
        unread=blind,
        evidence="; ".join([rows, *blind]),
        why="Nodes with different UUIDs have different data, and their seqnos cannot be compared. A state file can "
        "be damaged; the UUIDs that this console saw came from the servers themselves.",
        try_=_advice(said, uuids, known) if bad else (),
        commands=(f"--cluster {next(iter(uuids))}",) if bad and _founded_anew(said, uuids) else (),
        absolute=True,
    )


def _said(party: Party, found: NodePosition) -> Said:
    host = party.host(found.host)
    seen = next((m.cluster_uuid for m in host.remembered if m.cluster_uuid), "")
    data = found.uuid if found.source in {"recovered", "running"} else ""
    state = host[DataFolder].grastate
    return Said(found.host, state.uuid if state is not None else "", data, seen)


def _row(party: Party, said: Said) -> str:
    host = party.host(said.host)
    sources = [f"grastate.dat {said.file or state_file(host)}"]
    sources += [f"its data {said.data}"] if said.data else []
    memory = next((m for m in host.remembered if m.cluster_uuid), None)
    if memory is not None and memory.cluster_uuid not in said.told:
        sources.append(f"the console saw it in {memory.cluster_uuid}{_when(party.facts.at, memory.at)}")
    elif memory is not None:
        sources.append(f"the console saw it there as well{_when(party.facts.at, memory.at)}")
    return f"{said.host}: {', '.join(sources)}"


def _when(now: float, at: float | None) -> str:
    """Return ', 3 h ago'."""
    if at is None:
        return ""
    age = max(0.0, now - at)
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if age >= size:
            return f", {age / size:.0f} {unit} ago"
    return f", {age:.0f} s ago"


def _against(said: tuple[Said, ...]) -> list[str]:
    """Return the hosts whose data contradicts what this console saw."""
    return [one.host for one in said if one.seen and one.told - {one.seen}]


def _founded_anew(said: tuple[Said, ...], told: frozenset[str]) -> bool:
    """Return whether all data name one other cluster than the one this console saw."""
    return len(told) == 1 and bool(_against(said))


def _advice(said: tuple[Said, ...], told: frozenset[str], known: str) -> tuple[str, ...]:
    """Return what to do. A node is called foreign only where our own history saw it in that other cluster."""
    against = _against(said)
    foreign = [one.host for one in said if one.seen and one.seen != known and one.seen in told]
    found = []
    if against:
        found.append(f"Inspect the data of {', '.join(against)} yourself: it contradicts what this console saw.")
    if foreign:
        found.append(f"Leave {', '.join(foreign)} out: this console saw it in that other cluster.")
    if _founded_anew(said, told):
        found.append(f"If the cluster was bootstrapped from new data, name it by its state UUID, {next(iter(told))}.")
    return tuple(found) or ("Find out the UUID of this cluster, from a backup or from a console that saw it.",)
