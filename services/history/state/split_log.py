"""Two Primary Components of one state UUID that were seen at once: kept until a person settles them, then as history.

One row a story: later looks at the same sides widen it. Settled rows stay, with who settled them and why.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, desc, insert, select, update

from services.boundary import bounded
from services.clock import Clock
from services.discovery.model import NotSettled, PrimariesApart
from services.history.state import schema
from services.history.state.file import speaking, writing
from services.history.store_errors import store_told

_LONGEST_NAME = 190


@dataclass(frozen=True, slots=True)
class Split:
    """One story of two Primary Components. `settled_at` None: not settled; the words are a person's."""

    number: int
    cluster_uuid: str
    cluster_name: str
    sides: tuple[tuple[str, ...], ...]
    evidence: str
    first_seen: float
    last_seen: float
    seen_by: str
    settled_at: float | None = None
    settled_by: str = ""
    settled_words: str = ""

    @property
    def not_settled(self) -> NotSettled:
        """Return it as discovery tells of it."""
        return NotSettled(
            self.number,
            self.cluster_uuid,
            self.cluster_name,
            self.sides,
            self.first_seen,
            self.last_seen,
            self.evidence,
        )


def joined_sides(
    old: tuple[tuple[str, ...], ...], new: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...] | None:
    """Return the sides of both sightings as one; None where they contradict each other: then they are two stories."""
    sides = [set(side) for side in old]
    for side in new:
        homes = [known for known in sides if known & set(side)]
        if len(homes) > 1:
            return None
        if homes:
            homes[0].update(side)
        else:
            sides.append(set(side))
    names = [name for side in sides for name in side]
    if len(names) != len(set(names)):
        return None
    return tuple(sorted(tuple(sorted(side)) for side in sides))


@bounded(store_told)
class SplitLog:
    """The stories of one state store. Thread-safe: every call is a transaction. All methods raise StoreError only."""

    def __init__(self, engine: Engine, name: str, clock: Clock) -> None:
        """Use `StateStore.splits`."""
        self._engine = engine
        self.name = name
        self._clock = clock

    def note(self, seen: PrimariesApart, seen_by: str) -> bool:
        """Keep a sighting: one more look at an open story with these sides, else a new one. Durable.

        Returns whether it is a new one.
        """
        rows = schema.two_primaries
        with writing(self._engine, self.name, durable=True) as connection:
            still = select(rows).where(rows.c.cluster_uuid == seen.cluster_uuid, rows.c.settled_at.is_(None))
            for row in connection.execute(still.order_by(rows.c.id)).all():
                sides = joined_sides(_sides(row.sides), seen.sides)
                if sides is not None:
                    moved = {"sides": json.dumps(sides), "last_seen": max(row.last_seen, seen.at)}
                    connection.execute(update(rows).where(rows.c.id == row.id).values(**moved))
                    return False
            connection.execute(
                insert(rows).values(
                    cluster_uuid=seen.cluster_uuid,
                    cluster_name=seen.cluster_name[:_LONGEST_NAME],
                    sides=json.dumps(seen.sides),
                    evidence=seen.evidence,
                    first_seen=seen.at,
                    last_seen=seen.at,
                    seen_by=seen_by[:_LONGEST_NAME],
                    settled_by="",
                    settled_words="",
                )
            )
        return True

    def open(self, cluster_uuid: str = "") -> tuple[Split, ...]:
        """Return what is not settled, of one cluster or of all, the oldest first."""
        rows = schema.two_primaries
        wanted = select(rows).where(rows.c.settled_at.is_(None)).order_by(rows.c.id)
        if cluster_uuid:
            wanted = wanted.where(rows.c.cluster_uuid == cluster_uuid)
        return self._read(wanted)

    def all(self) -> tuple[Split, ...]:
        """Return every story, settled ones too, the newest first."""
        return self._read(select(schema.two_primaries).order_by(desc(schema.two_primaries.c.id)))

    def settle(self, cluster_uuid: str, by: str, words: str) -> tuple[Split, ...]:
        """Settle what is open of a cluster, by a person's word; return what was settled now, () for nothing."""
        rows, now = schema.two_primaries, self._clock.wall()
        still = (rows.c.cluster_uuid == cluster_uuid, rows.c.settled_at.is_(None))
        with writing(self._engine, self.name, durable=True) as connection:
            found = [row.id for row in connection.execute(select(rows.c.id).where(*still))]
            for number in found:
                values = {"settled_at": now, "settled_by": by[:_LONGEST_NAME], "settled_words": words}
                connection.execute(update(rows).where(rows.c.id == number, still[1]).values(**values))
        return self._read(select(rows).where(rows.c.id.in_(found)).order_by(rows.c.id))

    def gave_up(self, cluster_uuid: str, names: frozenset[str], by: str, words: str) -> tuple[Split, ...]:
        """Take a host that gave up its side, and came back with the other one's data, out of its side of each story.

        A story is settled with the last host of a side. Durable; returns what was settled now.

        Args:
            names: what the host goes by: a story may know it by its node's name.
        """
        rows, now, found = schema.two_primaries, self._clock.wall(), []
        still = (rows.c.cluster_uuid == cluster_uuid, rows.c.settled_at.is_(None))
        with writing(self._engine, self.name, durable=True) as connection:
            for row in connection.execute(select(rows).where(*still).order_by(rows.c.id)).all():
                sides = _sides(row.sides)
                left = tuple(side for one in sides if (side := tuple(name for name in one if name not in names)))
                if left == sides:
                    continue
                values: dict[str, Any] = {"sides": json.dumps(left)}
                if len(left) < 2:
                    values = {"settled_at": now, "settled_by": by[:_LONGEST_NAME], "settled_words": words}
                    found.append(row.id)
                connection.execute(update(rows).where(rows.c.id == row.id, still[1]).values(**values))
        return self._read(select(rows).where(rows.c.id.in_(found)).order_by(rows.c.id))

    def _read(self, statement: Any) -> tuple[Split, ...]:
        with speaking(self.name), self._engine.connect() as connection:
            return tuple(_split(row) for row in connection.execute(statement))


def _sides(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(str(name) for name in side) for side in json.loads(text))


def _split(row: Any) -> Split:
    return Split(
        row.id, row.cluster_uuid, row.cluster_name, _sides(row.sides), row.evidence, row.first_seen, row.last_seen,
        row.seen_by, row.settled_at, row.settled_by, row.settled_words,
    )  # fmt: skip
