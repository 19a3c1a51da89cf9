"""The stretches before and after a change that a person marked by hand and named: kept until a person removes them.

A mark is of the samples of one inventory or one recording (`about`): in another one its stretches mean nothing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, delete, desc, func, insert, select

from services.boundary import bounded
from services.clock import Clock
from services.errors import BadInput
from services.history.marked_change import MOST, ChangeMark, Stretch, name_taken, refuse_order
from services.history.state import schema
from services.history.state.file import speaking, writing
from services.history.store_errors import store_told
from services.i18n import tr

_LONGEST_PERSON = 190


@bounded(store_told)
class ChangeMarks:
    """The marks of one inventory or recording in a state store. Thread-safe. All methods raise StoreError only,
    `keep` BadInput besides."""

    def __init__(self, engine: Engine, name: str, clock: Clock, about: str) -> None:
        """Use `StateStore.change_marks`."""
        self._engine = engine
        self.name = name
        self._clock = clock
        self._about = about

    def all(self) -> tuple[ChangeMark, ...]:
        """Return what is kept, the newest first."""
        rows = schema.change_mark
        wanted = select(rows).where(rows.c.about == self._about).order_by(desc(rows.c.id)).limit(MOST)
        with speaking(self.name), self._engine.connect() as connection:
            return tuple(_mark(row) for row in connection.execute(wanted))

    def keep(self, name: str, before: Stretch, after: Stretch, by: str) -> ChangeMark:
        """Keep two stretches under a name; durable.

        Args:
            name: as `good_name` of sampling/change/naming.py returns it.

        Raises:
            BadInput: the name is taken; the stretches can't be compared; MOST are kept already.
        """
        refuse_order(before, after)
        values: dict[str, Any] = {
            "name": name,
            "made_at": self._clock.wall(),
            "made_by": by[:_LONGEST_PERSON],
        }
        moments = {"before_start": before[0], "before_end": before[1], "after_start": after[0], "after_end": after[1]}
        rows = schema.change_mark
        with writing(self._engine, self.name, durable=True) as connection:
            own = rows.c.about == self._about
            if connection.execute(select(rows.c.id).where(own, rows.c.name == values["name"])).first() is not None:
                raise name_taken(name)
            if (connection.scalar(select(func.count()).select_from(rows).where(own)) or 0) >= MOST:
                raise BadInput(tr("There are already {n} marks: remove some.", n=MOST))
            made = connection.execute(insert(rows).values(about=self._about, **values, **moments))
            assert made.inserted_primary_key is not None  # one row was inserted: it has its key
            number = int(made.inserted_primary_key[0])
        return ChangeMark(number, values["name"], before, after, values["made_at"], values["made_by"])

    def remove(self, number: int) -> bool:
        """Remove a mark; return whether there was one. The samples stay."""
        rows = schema.change_mark
        with writing(self._engine, self.name) as connection:
            gone = connection.execute(delete(rows).where(rows.c.about == self._about, rows.c.id == number))
            return gone.rowcount > 0


def _mark(row: Any) -> ChangeMark:
    before, after = (row.before_start, row.before_end), (row.after_start, row.after_end)
    return ChangeMark(row.id, row.name, before, after, row.made_at, row.made_by)
