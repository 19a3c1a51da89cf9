"""Nights with traps: what looks right and is not. Seeds from 21,000; each has one or two of them.

A backup chain that was half copied, a filter by a unit's environment, the empty state file of an SST that never began,
older data kept inside the data folder, a member that nobody wrote down; with and without a backup to come back from.
From 22,000 the node that goes down loses its data folder too, so that the ways back without an SST have to do it all.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.lab.random_states.generator import state_of
from tests.lab.random_states.verbs import FILTERS, FOLDERS, HALVES, MEMBERS, Kind, Person, State, Verb

FIRST, LOST = 21_000, 22_000
OF_ANYBODY = frozenset(
    {Kind.WRITE, Kind.LOOK, Kind.PART, Kind.HEAL, Kind.BOOTSTRAP, Kind.PAUSE, Kind.RESUME, Kind.COPY}
)
"""What may happen to the other members of a night with a backup: without a Primary Component nothing rejoins."""
_HARMLESS = frozenset({Kind.WRITE, Kind.LOOK, Kind.PAUSE, Kind.RESUME, Kind.COPY})
_TRAPS = {Kind.HALF: 3.0, Kind.FILTER: 3.0, Kind.NEVER: 3.0, Kind.KEPT: 2.5, Kind.UNWRITTEN: 1.0}
_RETURNS = ("rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node", "add-node")


def trapped_state(seed: int) -> State:
    """Return the state of a seed from FIRST on."""
    dice = random.Random(f"traps {seed}")
    plain, host = state_of(seed), dice.choice(MEMBERS)
    traps = set(dice.choices(tuple(_TRAPS), tuple(_TRAPS.values()), k=2))
    if Kind.HALF in traps and dice.random() < 0.7:
        traps.discard(Kind.NEVER)  # an empty state file is refused before the backup is looked at
    lost = seed >= LOST
    if lost:
        traps -= {Kind.NEVER, Kind.KEPT}
    night = Kind.HALF in traps or lost or dice.random() < 0.5
    verbs = [plain.verbs[0], *_opening(dice, host, traps)]
    if night:
        harmless = _HARMLESS if lost else OF_ANYBODY
        verbs += [*_backed_up(dice, host), *(one for one in plain.verbs[1:] if one.kind in harmless)]
        verbs += _down(dice, host, traps, lost=lost)
    else:
        verbs += [*_never(dice, host, traps), *plain.verbs[1:]]
    verbs = [_past_the_filter(dice, verb, verbs) for verb in verbs]
    return replace(plain, verbs=tuple(verbs), person=_person(dice, plain.person, traps, night=night))


def _past_the_filter(dice: random.Random, verb: Verb, verbs: list[Verb]) -> Verb:
    """Let clients write through the others: what a server leaves out of its binary log it sends to no member either.

    Such rows stand on it alone, in a cluster whose members are all Synced (tried, MariaDB 10.11.18, Galera 26.4.23).
    """
    filtered = next((one.host for one in verbs if one.kind is Kind.FILTER), "")
    return _write(dice, filtered) if verb.kind is Kind.WRITE and verb.host == filtered else verb


def _opening(dice: random.Random, host: str, traps: set[Kind]) -> Iterator[Verb]:
    if Kind.UNWRITTEN in traps:
        yield Verb(Kind.UNWRITTEN, dice.choice(MEMBERS))
    if Kind.FILTER in traps:
        yield Verb(Kind.FILTER, dice.choice(MEMBERS), dice.choice(FILTERS))
        yield _write(dice, "")
    if Kind.KEPT in traps:
        yield Verb(Kind.KEPT, host if dice.random() < 0.7 else dice.choice(MEMBERS), dice.choice(FOLDERS))


def _backed_up(dice: random.Random, host: str) -> Iterator[Verb]:
    """Yield a full backup and two incrementals, rows before each."""
    yield Verb(Kind.BACKUP, host)
    for _ in range(2):
        yield _write(dice, host)
        yield Verb(Kind.INCREMENT, host)


def _down(dice: random.Random, host: str, traps: set[Kind], *, lost: bool) -> Iterator[Verb]:
    """Yield how the node with the backup goes down, and what becomes of its backup and its state meanwhile."""
    yield _write(dice, host)
    yield Verb(dice.choice((Kind.KILL, Kind.KILL, Kind.STOP)), host)
    if lost:
        yield Verb(Kind.LOST, host)
    if Kind.HALF in traps:
        yield Verb(Kind.HALF, host, dice.choice(HALVES))
    yield from _never(dice, host, traps, down=True)
    yield _write(dice, host)


def _never(dice: random.Random, host: str, traps: set[Kind], *, down: bool = False) -> Iterator[Verb]:
    if Kind.NEVER in traps:
        yield from () if down else (Verb(Kind.STOP, host),)
        yield from (_write(dice, host), Verb(Kind.NEVER, host), _write(dice, host))


def _write(dice: random.Random, away: str) -> Verb:
    return Verb(Kind.WRITE, dice.choice([name for name in MEMBERS if name != away]))


def _person(dice: random.Random, plain: Person, traps: set[Kind], *, night: bool) -> Person:
    """Return who comes: for a half-copied chain to use it, as a rule; most confirm what they came for."""
    returns = "rejoin-from-incrementals" if Kind.HALF in traps and dice.random() < 0.9 else dice.choice(_RETURNS)
    if Kind.FILTER in traps and Kind.HALF not in traps and dice.random() < 0.6:
        returns = "rejoin-from-binlogs"
    return replace(plain, returns=returns if night else "add-node", confirms=plain.confirms or dice.random() < 0.5)
