"""A state from a seed: 3 to 8 verbs that make sense one after the other, with writes and looks between them. Pure.

The generator keeps its own rough picture (who is up, who is cut off) so that verbs meet something to act on. It need
not be right: what a verb really did is read on the servers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.lab.random_states.verbs import DAMAGES, MEMBERS, Kind, Person, State, Verb

FEWEST, MOST = 3, 8
TESTED = (47, 55, 162, 167, 182, 197, 198)
"""Seeds that the lab's tests try: the cheapest that have every verb, every damage and each way it can end."""
_AFTER = ("rolling-restart", "rolling-restart", "desync-for-backup", "freeze-gcache", "bootstrap-after-crash", "", "")


@dataclass
class _Picture:
    up: set[str] = field(default_factory=lambda: set(MEMBERS))
    parted: str = ""
    paused: str = ""
    copied: str = ""
    apart: bool = False  # the side that was cut off was bootstrapped
    heals: bool = True  # at the end wires are whole
    dark: bool = True  # at the end nobody serves


def state_of(seed: int) -> State:
    """Return the state of a seed."""
    dice = random.Random(seed)
    picture, verbs = _Picture(heals=dice.random() < 0.8, dark=dice.random() < 0.6), [_write(dice, set(MEMBERS))]
    count, wanted = 0, dice.randint(FEWEST, MOST - 1)  # the last verb may make one more necessary at the end
    while count + len(_ending(picture)) < wanted:
        verbs.append(_next(dice, picture))
        count += 1
        _keep(picture, verbs[-1])
        verbs += _between(dice, picture)
    for verb in _ending(picture):
        verbs.append(verb)
        _keep(picture, verb)
    person = Person(
        confirms=dice.random() < 0.85,
        accepts=dice.random() < 0.5,
        itself=not picture.parted and dice.random() < 0.3,
        after=dice.choice(_AFTER),
        node=dice.choice(MEMBERS),
    )
    return State(seed, tuple(verbs), person)


def _next(dice: random.Random, picture: _Picture) -> Verb:
    weighed = tuple(_possible(dice, picture))
    return dice.choices([verb for verb, _ in weighed], [weight for _, weight in weighed])[0]


def _possible(dice: random.Random, picture: _Picture) -> Iterator[tuple[Verb, float]]:
    """Yield each verb that has something to act on, with its weight."""
    for name in MEMBERS:
        yield from _on_running(name, picture) if name in picture.up else _on_stopped(dice, name, picture)
    if len(picture.up) > 1:
        yield Verb(Kind.KILL_ALL), 2.0
    if picture.parted:
        yield Verb(Kind.HEAL), 1.0
    if picture.paused:
        yield Verb(Kind.RESUME, picture.paused), 3.0


def _on_running(name: str, picture: _Picture) -> Iterator[tuple[Verb, float]]:
    yield Verb(Kind.KILL, name), 1.0
    yield Verb(Kind.STOP, name), 0.5
    if not picture.copied:
        yield Verb(Kind.COPY, name), 1.0
    if not picture.parted and len(picture.up) > 1:
        yield Verb(Kind.PART, name), 1.2
    if picture.parted == name and not picture.apart:
        yield Verb(Kind.BOOTSTRAP, name), 6.0
    if not picture.paused and len(picture.up) > 1:
        yield Verb(Kind.PAUSE, name), 0.3


def _on_stopped(dice: random.Random, name: str, picture: _Picture) -> Iterator[tuple[Verb, float]]:
    yield Verb(Kind.FOUND, name), 1.2
    yield Verb(Kind.START, name), 0.6
    yield Verb(Kind.GRASTATE, name, dice.choice(DAMAGES)), 1.0
    yield Verb(Kind.GVWSTATE, name), 0.3
    yield Verb(Kind.SAFE, name), 0.4
    yield Verb(Kind.GCACHE, name), 0.4
    yield Verb(Kind.FOUNDS, name), 0.3
    if picture.copied == name:
        yield Verb(Kind.RESTORE, name), 12.0


def _keep(picture: _Picture, verb: Verb) -> None:
    """Take a verb over into the picture."""
    if verb.kind is Kind.KILL_ALL:
        picture.up, picture.paused, picture.apart = set(), "", False
    elif verb.kind in {Kind.KILL, Kind.STOP}:
        picture.up.discard(verb.host)
        picture.paused = "" if picture.paused == verb.host else picture.paused
    elif verb.kind in {Kind.START, Kind.FOUND}:
        picture.up.add(verb.host)
    elif verb.kind is Kind.PART:
        picture.parted, picture.apart = verb.host, False
    elif verb.kind is Kind.HEAL:
        picture.parted = ""
    elif verb.kind is Kind.BOOTSTRAP:
        picture.apart = True
    elif verb.kind in {Kind.PAUSE, Kind.RESUME}:
        picture.paused = verb.host if verb.kind is Kind.PAUSE else ""
    elif verb.kind is Kind.COPY:
        picture.copied = verb.host
    elif verb.kind is Kind.RESTORE:
        picture.copied = ""


def _between(dice: random.Random, picture: _Picture) -> Iterator[Verb]:
    """Yield what goes on meanwhile: clients write on each side, the console looks now and then."""
    sides = [picture.up & {picture.parted}, picture.up - {picture.parted}]
    for side in sides:
        if side - {picture.paused} and dice.random() < 0.75:
            yield _write(dice, side - {picture.paused})
    if dice.random() < 0.15:
        yield Verb(Kind.LOOK)


def _write(dice: random.Random, hosts: set[str]) -> Verb:
    return Verb(Kind.WRITE, dice.choice(sorted(hosts)))


def _ending(picture: _Picture) -> tuple[Verb, ...]:
    """Return the end of the breaking: most often nobody serves any more when the console is asked, and wires are whole.

    A server that is held is let go: a console that waits as long as the unit's own stop limit is no finding.
    """
    found = [Verb(Kind.RESUME, picture.paused)] if picture.paused else []
    found += [Verb(Kind.HEAL)] if picture.parted and picture.heals else []
    found += [Verb(Kind.KILL_ALL)] if picture.up and picture.dark else []
    return tuple(found)
