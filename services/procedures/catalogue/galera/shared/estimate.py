"""What will bring a joiner up to date, from whom, and how long it takes. Pure; estimates are called 'about'.

Whom a cache serves, and for how long: services.facts.galera.ist. Of the candidates the one with the highest cached
seqno is taken (Galera source gcs_group.cpp). Trials on the lab: a node that is desynced or a donor already is never
chosen; a joiner that is ahead aborts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from services.facts.galera.ist import Ist, Served, cache_told, ist_offers
from services.facts.galera.whole import SYNCED
from services.procedures.catalogue.checks.joiner_state import (
    ahead,
    lies_in,
    must_recover,
    newest_of,
    position_of,
)
from services.procedures.catalogue.checks.parts import galera_of, state_word
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.forked import history_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.server.sessions import Sessions

SST_FIXED_S = 10.0
COPY_BYTES_S = 100e6
PREPARE_BYTES_S = 50e6
APPLY_PER_S = 2_000.0
LEAST_LEFT_S = 600.0


@dataclass(frozen=True, slots=True)
class Donor:
    """A possible donor.

    Attributes:
        ist: it can send what the joiner misses as things are now; against: why it can't, with the numbers, else ''.
        reason: why it stands where it does, for the form.
        left_s: how long it still can at the measured rate; None not known, infinity while nothing is written.
    """

    host: str
    ist: bool
    reason: str
    against: str = ""
    left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """The transfer to expect: its kind, why, how much, about how long; `warning` is what may come in between.

    `pending`: IST or SST is known only when the run has had the joiner's server recover its position.
    """

    kind: Literal["IST", "SST"]
    reason: str
    seconds: float
    data_bytes: int | None = None
    write_sets: int | None = None
    warning: str = ""
    pending: bool = False


def donor_ranking(facts: Facts, joiner: str) -> tuple[Donor, ...]:
    """Return the members as donors, the best first: Synced ones, IST before SST, few clients, a deep cache."""
    newest = newest_of(facts) or 0
    found = []
    for name in (m for m in member_hosts(facts) if m != joiner):
        donor = _donor(facts, joiner, name)
        low, _ = _cached(facts, name)
        depth = low if low is not None else newest
        found.append((not _synced(facts, name), not donor.ist, facts.host(name)[Sessions].clients or 0, depth, donor))
    return tuple(item[-1] for item in sorted(found, key=lambda item: (*item[:-1], item[-1].host)))


def _donor(facts: Facts, joiner: str, name: str) -> Donor:
    one = _served(facts, joiner)[name]
    against = _against(facts, joiner, name, one)
    low, _ = _cached(facts, name)
    _, seqno = position_of(facts, joiner)
    left = one.left_s if not against and seqno is not None else None
    if not _synced(facts, name):
        can = f"{_state(facts, name)}, not Synced: never chosen"
    elif against:
        can = "SST"
    else:
        can = "IST possible" + ("" if left is None or math.isinf(left) else f" for {left:.0f} s at the current rate")
    sessions = facts.host(name)[Sessions].clients or 0
    cache = f"cached from {low}" if low else "cache not known"
    reason = f"{can}, {cache}, {sessions} client session{'' if sessions == 1 else 's'}"
    return Donor(name, not against, reason, against, left)


def _served(facts: Facts, joiner: str) -> dict[str, Served]:
    """Return of each member but the joiner whether it serves it by IST, by what the caches hold."""
    names = [name for name in member_hosts(facts) if name != joiner]
    caches = {n: cache_told(galera_of(facts.host(n)), facts.host(n)[WriteRate].rates) for n in names}
    return ist_offers(position_of(facts, joiner)[1], caches)


def _against(facts: Facts, joiner: str, name: str, one: Served) -> str:
    """Return why this member can't give the joiner what it misses by IST, '' when it can."""
    _, seqno = position_of(facts, joiner)
    why = _joiner_against(facts, joiner)
    if why or seqno is None:
        return why
    return {
        Ist.SERVES: "",
        Ist.NOT_SYNCED: f"{name} is {_state(facts, name)}: only a Synced node is chosen",
        Ist.AHEAD: f"{joiner} is ahead: it stopped at {seqno}, but the cluster is at {one.newest}",
        Ist.PURGED: f"{name} caches {_cached(facts, name)[0]} and newer, but {joiner} needs {seqno + 1}",
        Ist.GAP: f"{seqno} is below the safety gap {one.gap}: Galera would choose the first Synced node, regardless "
        "of IST",
    }.get(one.answer, f"{name} reports no cached range" if _synced(facts, name) else f"{name} is {_state(facts, name)}")


def _joiner_against(facts: Facts, joiner: str) -> str:
    """Return what about the joiner itself rules an IST out, whoever the donor is."""
    uuid, seqno = position_of(facts, joiner)
    if not uuid:
        return f"{joiner} has no usable position"
    if uuid != facts.cluster_id:
        return f"{joiner} has a different history"
    if lies_in(facts, joiner) == "state lost":
        lost = state_word(facts.host(joiner))
        return f"grastate.dat of {joiner} is {lost}: InnoDB's position is valid only for the UUID in that file"
    past = history_of(facts, joiner, next((m for m in member_hosts(facts) if m != joiner), ""))
    if past.outcome == "forked":
        return f"the histories of {joiner} and the cluster have diverged: no IST is started"
    if against := _position_against(facts, joiner, seqno):
        return against
    if past.outcome == "not known":
        return f"whether {joiner} shares the cluster's history is not known: IST is not assumed"
    return ""


def _position_against(facts: Facts, joiner: str, seqno: int | None) -> str:
    if seqno is None:
        return f"the seqno of {joiner} is -1: its server recovers the position first, and the rest depends on it"
    if must_recover(facts, joiner):
        return (
            f"nothing confirms that seqno {seqno} of {joiner} matches its data: its server recovers the position first"
        )
    if ahead(facts, joiner):
        return f"{joiner} is ahead: it stopped at {seqno}, but the cluster is at {newest_of(facts)}"
    return ""


def transfer_expected(facts: Facts, joiner: str, donor: str, *, accepted: bool = False) -> Expected:
    """Return what to expect of this donor.

    Args:
        accepted: a person named the joiner: what lies behind a lost state file may stay unknown.
    """
    _, seqno = position_of(facts, joiner)
    chosen = next((d for d in donor_ranking(facts, joiner) if d.host == donor), None)
    low, last = _cached(facts, donor)
    if chosen is not None and chosen.ist and seqno is not None and last is not None:
        missing = max(0, last - seqno)
        return Expected(
            "IST", f"{donor} caches everything from {low} on, and {joiner} stopped at "
                   f"{seqno}", 10.0 + missing / APPLY_PER_S,
            write_sets=missing, warning=_soon_over(donor, chosen.left_s),
        )  # fmt: skip
    size = facts.host(donor)[DataSize].in_bytes
    pending = must_recover(facts, joiner, accepted=accepted)
    reason = chosen.against if chosen is not None else f"{donor or 'no host'} is not a member that answers"
    copying = (size or 0) / COPY_BYTES_S + (size or 0) / 20 / PREPARE_BYTES_S
    rates = facts.host(donor)[WriteRate].rates
    written = rates.seqno_s if rates is not None else 0.0
    if written >= APPLY_PER_S:
        never = f"{written:.0f} write sets/s are written, about {APPLY_PER_S:.0f} applied: it may never become Synced"
        return Expected("SST", reason, SST_FIXED_S + copying, data_bytes=size, warning=never, pending=pending)
    catch_up = 10.0 + copying * written / (APPLY_PER_S - written)
    return Expected("SST", reason, SST_FIXED_S + copying + catch_up, data_bytes=size, pending=pending)


def _soon_over(donor: str, left_s: float | None) -> str:
    """Return the warning for a cache that will soon have purged what is missed (page add-node, "IST possible?", 4)."""
    if left_s is None or left_s >= LEAST_LEFT_S:
        return ""
    span = f"{left_s / 60:.0f} min" if left_s >= 60.0 else f"{left_s:.0f} s"
    return f"{donor} caches them for {span} more at the current rate: start soon, or choose a donor with a larger cache"


def _synced(facts: Facts, name: str) -> bool:
    galera = galera_of(facts.host(name))
    return galera is not None and galera.local_state == SYNCED


def _state(facts: Facts, name: str) -> str:
    galera = galera_of(facts.host(name))
    return (galera.local_state_comment if galera is not None else "") or "of unknown state"


def _cached(facts: Facts, name: str) -> tuple[int | None, int | None]:
    """Return the oldest seqno kept and the newest committed."""
    galera = galera_of(facts.host(name))
    return (galera.cached_downto, galera.last_committed) if galera is not None else (None, None)
