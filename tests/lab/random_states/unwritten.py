"""A member that nobody wrote down: it is in no inventory and in no wsrep_cluster_address; views alone name it.

Seeds from 20,000. The verbs are those of any random state; at the end that member is often bootstrapped by a colleague,
and serves where the console does not look by itself.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.lab.random_states.generator import state_of
from tests.lab.random_states.verbs import MEMBERS, Kind, State, Verb

FIRST = 20_000


def unwritten_state(seed: int) -> State:
    """Return the state of a seed from FIRST on."""
    dice = random.Random(f"unwritten {seed}")
    plain, host = state_of(seed), dice.choice(MEMBERS)
    verbs = [plain.verbs[0], Verb(Kind.UNWRITTEN, host), *plain.verbs[1:]]
    if dice.random() < 0.6:
        heal = [Verb(Kind.HEAL)] if dice.random() < 0.8 else []
        verbs += [*heal, Verb(Kind.KILL_ALL), Verb(Kind.FOUND, host), Verb(Kind.WRITE, host)]
    return replace(plain, verbs=tuple(verbs))
