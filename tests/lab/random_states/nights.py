"""Nights with a backup: random states whose nodes come back without an SST, where that can be. Seeds from 10,000.

The verbs are those of any random state, but only the node with the backup goes down; the others fall apart at times.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from tests.lab.random_states import traps, unwritten
from tests.lab.random_states.asking import Asked
from tests.lab.random_states.generator import state_of
from tests.lab.random_states.traps import OF_ANYBODY
from tests.lab.random_states.verbs import MEMBERS, Kind, Person, State, Verb

FIRST = 10_000
BACKUP, LOGS = "/var/lib/lab-backup", "/var/lib/lab-logs"
INCREMENT = "/var/lib/lab-incremental-{number}"
NO_FILTER = "FILTERS-THEN=as far as this person knows nobody sets a filter"
_NEAR = ("--override", "IST-REACHES=the way back itself is tried", "--override", "RACE=the same")
_RETURNS = ("rejoin-from-incrementals", "rejoin-from-incrementals", "snapshot-node", "rejoin-from-binlogs")
_SNAPSHOT = {
    "take": "cp -a {datadir} /var/lib/lab-{snapshot}",
    "offer": "sh -c 'socat TCP-LISTEN:4777,reuseaddr,fork "
    '"EXEC:tar -C /var/lib/lab-{snapshot} -c ." >/dev/null 2>&1 & sleep 0.5\'',
    "bring": "sh -c 'socat -u TCP:{donor_address}:4777 - | tar -x -C {datadir}'",
    "remove": "rm -rf /var/lib/lab-{snapshot}",
}


class Asks(Protocol):
    """Asks for a procedure as one person would."""

    def run(self, procedure: str, host: str = "", *more: str, **inputs: object) -> Asked:
        """Run it to where it rests."""
        ...


def any_state(seed: int) -> State:
    """Return the state of a seed: nights with a backup from FIRST on, a member nobody wrote down, nights with traps."""
    if seed < FIRST:
        return state_of(seed)
    if seed >= traps.FIRST:
        return traps.trapped_state(seed)
    if seed >= unwritten.FIRST:
        return unwritten.unwritten_state(seed)
    dice = random.Random(f"night {seed}")
    plain = state_of(seed)
    host = dice.choice(MEMBERS)
    verbs = [verb for verb in plain.verbs if verb.host == host or verb.kind in OF_ANYBODY]
    verbs.insert(1, Verb(Kind.BACKUP, host))
    if dice.random() < 0.7:
        verbs += [Verb(Kind.WRITE, dice.choice(MEMBERS)), Verb(Kind.KILL, host)]
    verbs.append(Verb(Kind.WRITE, dice.choice([name for name in MEMBERS if name != host])))
    return replace(plain, verbs=tuple(verbs), person=replace(plain.person, returns=dice.choice(_RETURNS)))


def without_sst(
    asking: Asks, name: str, person: Person, synced: tuple[str, ...], chain: tuple[str, ...] = ()
) -> Iterator[Asked]:
    """Bring one node back as this person came for; what is refused is left for add-node.

    Args:
        chain: folders of incrementals on top of the full backup, the oldest first.
    """
    inputs: dict[str, object] = {"joiner": name, "settle": "3 s"}
    more: tuple[str, ...] = ()
    if person.returns == "rejoin-from-incrementals":
        inputs |= {"full": BACKUP, "incrementals": ",".join(chain), "memory": "128 MiB"}
        more = ("--override", "CHAIN-NODE=this person made the backups and saw no SST between them") if chain else ()
    elif person.returns == "rejoin-from-binlogs":
        inputs |= {"backup": BACKUP, "binlogs": LOGS}
        more = ("--override", "COMPARE=every row is compared when the night is over", "--override", NO_FILTER)
        more += _NEAR if chain else ()
    else:
        inputs |= {**_SNAPSHOT, "wait": "5 s"}
        inputs |= {"donor": synced[-1]} if synced else {}  # where nobody is Synced the console has to say so
        more = ("--override", "OTHERS-STAY=three nodes are all that this estate has")
    yield asking.run(person.returns, name, *more, **inputs)
