"""Events longer than a reader takes: cut and told, never lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from services.events import Event
from services.history.long_events import MOST_CUT, MOST_WHOLE, event_json
from services.history.recordings.bounds import MOST_EVENT
from services.history.store import HistoryStore
from services.types import Health
from tests.unit.history.conftest import START

Open = Callable[..., HistoryStore]


@pytest.mark.parametrize("letter", ["x", "\x01", "é", "𝄞"])
def test_that_an_event_longer_than_is_read_is_kept_with_the_beginning_of_its_sentence(
    open_store: Open, letter: str
) -> None:
    event = Event(START, "connection", "db1 said " + letter * MOST_EVENT, Health.BAD, "c", "db1")
    store = open_store()
    store.append_event(event)
    store.flush()
    (read,) = store.events(START, START)
    assert read.text.startswith("db1 said ")
    assert read.text.endswith(f"… (cut here: {9 + MOST_EVENT - 7_000} characters more)")
    assert (read.at, read.health, read.node_id) == (START, Health.BAD, "db1")
    assert len(event_json(event)) <= MOST_EVENT


def test_that_an_event_that_an_older_program_wrote_whole_is_read_cut(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.append_event(Event(START, "note", "before"))
    store.flush()
    store.close()
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    with connection:
        for number, length in enumerate((MOST_EVENT, MOST_WHOLE, *[MOST_EVENT] * MOST_CUT), 1):
            data = msgspec.json.encode(Event(START + number, "note", "y" * length)).decode()
            row = (START + number, data)
            connection.execute("INSERT INTO event (at, spans, key, data) VALUES (?, 0, '', ?)", row)
    connection.close()
    read = open_store().events(START, START + 100)
    assert [event.at - START for event in read] == [0, *range(3, MOST_CUT + 3)], "a few of them, none beyond measure"
    assert all(event.text.startswith("yyy") and "(cut here: " in event.text for event in read[1:])
