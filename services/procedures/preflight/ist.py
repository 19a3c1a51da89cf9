"""Who could give a node its missed write sets by IST, by the rules of Galera's donor selection (add-node, "IST?").

Galera source gcs_group.cpp (the safety gap: services.sampling.ist_reach.safe_gap); trials on the lab.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.procedures.checks import Check, Verdict
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.preflight.parts import galera_of, known
from services.sampling.ist_reach import remaining_s, safe_gap

SYNCED = 4


@dataclass(frozen=True, slots=True)
class Donor:
    """One possible donor.

    Attributes:
        ist: the node can come back by IST from here as things are now; reason: why (not), with the numbers.
        left_s: how long that lasts at the measured rate; None unknown, infinity while nothing is written.
        chosen: Galera's own choice among those who can, when nobody is named: the highest cached_downto.
    """

    host: str
    node_name: str
    ist: bool
    reason: str
    left_s: float | None = None
    chosen: bool = False


def donors_for_ist(facts: Facts, position: int | None, uuid: str, joiner: str = "") -> tuple[Donor, ...]:
    """Return the Synced members as donors for a node that stands at uuid:position, the one that lasts longest first.

    Args:
        joiner: left out as a donor.
    """
    members = [
        (h, g)
        for h in known(facts, facts.members)
        if h.host != joiner and (g := galera_of(h)) is not None and g.cluster_status == "Primary"
    ]
    last = max((g.last_committed for _, g in members if g.last_committed is not None), default=None)
    cached = [g.cached_downto for _, g in members if g.cached_downto]
    lowest = min(cached, default=None)
    found = [_donor(facts, h, position, uuid, last, lowest) for h, g in members if g.local_state == SYNCED]
    able = [d for d in found if d.ist]
    choice = max(able, key=lambda d: (_downto(facts, d.host), d.host), default=None)
    ranked = sorted(found, key=lambda d: (not d.ist, _downto(facts, d.host) or math.inf, d.host))
    return tuple(
        Donor(d.host, d.node_name, d.ist, d.reason, d.left_s, chosen=choice is not None and d.host == choice.host)
        for d in ranked
    )


def _downto(facts: Facts, host: str) -> int:
    galera = galera_of(facts.host(host))
    return galera.cached_downto or 0 if galera is not None else 0


def _donor(
    facts: Facts, host: HostFacts, position: int | None, uuid: str, last: int | None, lowest: int | None
) -> Donor:
    galera = galera_of(host)
    downto = galera.cached_downto if galera is not None else None
    why = ""
    left: float | None = None
    if uuid != facts.cluster_id:
        why = f"its state UUID is {uuid or 'none'}, the cluster's {facts.cluster_id}"
    elif position is None or position < 0:
        why = "its position is not known"
    elif last is None or not downto or lowest is None:
        why = f"{host.host} tells no cached range"
    elif position > last:
        why = f"it is ahead: {position}, the cluster is at {last}"
    elif downto > position + 1:
        why = f"{host.host} keeps write sets from {downto} on; {position + 1} is needed"
    elif position < (gap := safe_gap(lowest, last)):
        why = f"{position} is below the safety gap {gap}: Galera would take the first Synced node, IST or not"
    else:
        rate = host.rates.seqno_s if host.rates is not None else math.nan
        left = remaining_s(position, downto, last, rate, lowest)
    good = f"{host.host} keeps {downto} to {last}; {(position or 0) + 1} is needed"
    return Donor(host.host, host.node_name or host.host, not why, why or good, left)


def ist_reach(facts: Facts, hosts: tuple[str, ...], away_s: float, margin: float = 3.0) -> tuple[Check, ...]:
    """Some other member's cache lasts `margin` times as long as each of `hosts` will be away (rolling P2)."""
    checks = []
    for name in dict.fromkeys(hosts):
        reaches = {h.host: reach for h in known(facts, facts.members) if h.host != name and (reach := _lasts(h))}
        best = max(reaches.values(), default=None)
        enough = best is not None and best >= margin * away_s
        shown = ", ".join(f"{h}: {'no end' if math.isinf(r) else f'{r:.0f} s'}" for h, r in reaches.items())
        checks.append(
            Check(
                code="IST-REACH",
                title=f"{name} can come back by IST",
                verdict=Verdict.PASS if enough else Verdict.WARN,
                evidence=f"{shown or 'no cache is known'}; {margin:g} times {away_s:.0f} s are wanted",
                why="A node that misses more than the others keep comes back by SST, with a donor at work for it.",
                try_=() if enough else (f"Freeze the cache of another node while {name} is away.",),
                host=name,
            )
        )
    return tuple(checks)


def _lasts(host: HostFacts) -> float | None:
    """Return seconds that the node's cached range lasts at the measured rate; None unknown."""
    galera = galera_of(host)
    if galera is None or not galera.cached_downto or galera.last_committed is None or host.rates is None:
        return None
    held = galera.last_committed - galera.cached_downto + 1
    return math.inf if host.rates.seqno_s <= 0 else held / host.rates.seqno_s
