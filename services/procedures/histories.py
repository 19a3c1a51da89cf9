"""Do two nodes share their past? The same state UUID and seqno alone never show it. Pure.

After a partition and a bootstrap on one side both sides count on from the same seqno under the same UUID, and IST
"succeeds" between the forks while their data differ. 'Not known' is an answer; 'same' needs evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.procedures.facts_model import Facts

Outcome = Literal["same", "forked", "not known"]


@dataclass(frozen=True, slots=True)
class Histories:
    """How the pasts of two nodes stand to each other.

    Attributes:
        evidence: by what: 'the binary logs of s1 and s3 agree at Xid 18 (GTID 0-41-14)'.
        shared_to: the last seqno that both surely share, None where that is not known (forked only).
        missing: what would have to be read to know, one sentence each (not known only).
    """

    outcome: Outcome
    evidence: str
    shared_to: int | None = None
    missing: tuple[str, ...] = ()


def histories(facts: Facts, joiner: str, donor: str) -> Histories:
    """Compare what the two nodes' own traces tell; a node that was never seen before has none."""
    for seen in facts.two_primaries:
        sides = [place for place, hosts in enumerate(seen.sides) if joiner in hosts or donor in hosts]
        if len(sides) > 1:
            return Histories("forked", seen.evidence)
    return Histories("not known", f"nothing was read of the pasts of {joiner} and {donor}")
