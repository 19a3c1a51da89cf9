"""What will bring a joiner up to date, from whom, and how long it takes. Pure; estimates are called 'about'.

Source of the donor selection: Galera source gcs_group.cpp (group_find_ist_donor): candidates have the joiner's next
write set cached, the safety gap holds, and of the candidates the one with the highest cached seqno is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.procedures.catalogue.choices import member_hosts
from services.procedures.facts_model import ZERO_UUID, Facts
from services.sampling.ist_reach import safe_gap

SST_FIXED_S = 10.0
COPY_BYTES_S = 100e6
PREPARE_BYTES_S = 50e6
APPLY_PER_S = 2_000.0


@dataclass(frozen=True, slots=True)
class Donor:
    """A possible donor and why it stands where it does; `ist` is whether it can send what the joiner misses."""

    host: str
    ist: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Expected:
    """The transfer to expect: its kind, why, how much, and about how long."""

    kind: Literal["IST", "SST"]
    reason: str
    seconds: float
    data_bytes: int | None = None
    write_sets: int | None = None


def position_of(facts: Facts, joiner: str) -> tuple[str, int | None]:
    """Return (uuid, seqno) that the joiner's data folder says; ('', None) without a usable one."""
    state = facts.host(joiner).grastate
    if state is None or state.uuid in {"", ZERO_UUID} or facts.host(joiner).sst_in_progress:
        return "", None
    known = state.seqno if state.seqno is not None and state.seqno >= 0 else None
    return state.uuid, known


def donor_ranking(facts: Facts, joiner: str) -> tuple[Donor, ...]:
    """Return the members as donors, the best first: IST before SST, few clients, a deep cache."""
    uuid, seqno = position_of(facts, joiner)
    members = tuple(m for m in member_hosts(facts) if m != joiner)
    cached = {m: _cached(facts, m) for m in members}
    newest = max((last for _, last in cached.values()), default=0)
    lowest = min((low for low, _ in cached.values() if low is not None), default=None)
    found = []
    for name in members:
        low, _ = cached[name]
        gap_ok = lowest is not None and seqno is not None and seqno >= safe_gap(lowest, newest)
        able = uuid == facts.cluster_id and seqno is not None and low is not None and low <= seqno + 1 and gap_ok
        sessions = facts.host(name).client_sessions or 0
        cache = f"cached from {low}" if low is not None else "cache not known"
        why = f"{'IST possible' if able else 'SST'}, {cache}, {sessions} client session{'' if sessions == 1 else 's'}"
        found.append((not able, sessions, low if low is not None else newest, name, Donor(name, able, why)))
    return tuple(item[-1] for item in sorted(found, key=lambda item: item[:-1]))


def transfer_expected(facts: Facts, joiner: str, donor: str) -> Expected:
    """Return what to expect of this donor."""
    uuid, seqno = position_of(facts, joiner)
    chosen = next((d for d in donor_ranking(facts, joiner) if d.host == donor), None)
    low, last = _cached(facts, donor)
    if chosen is not None and chosen.ist and seqno is not None:
        missing = max(0, last - seqno)
        return Expected(
            "IST", f"{donor} has everything from {low} on, {joiner} stopped at {seqno}", 10.0 + missing / APPLY_PER_S,
            write_sets=missing,
        )  # fmt: skip
    size = facts.host(donor).data_bytes
    if not uuid:
        reason = f"{joiner} has no usable position"
    elif uuid != facts.cluster_id:
        reason = f"{joiner} has another history"
    elif seqno is None:
        reason = f"{joiner}'s position is -1: if its server recovers one that is cached, IST follows after all"
    else:
        reason = f"{donor} has {low} and newer cached, {joiner} would need {seqno + 1}"
    seconds = SST_FIXED_S + (size or 0) / COPY_BYTES_S + (size or 0) / 20 / PREPARE_BYTES_S + 10.0
    return Expected("SST", reason, seconds, data_bytes=size)


def _cached(facts: Facts, name: str) -> tuple[int | None, int]:
    node = facts.host(name).node
    galera = node.galera if node is not None else None
    if galera is None:
        return None, 0
    return galera.cached_downto, galera.last_committed or 0
