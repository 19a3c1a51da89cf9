"""Marked changes in a recording: those it holds travel with it without who made them; nothing of a file is believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.events import Event
from services.history.marked_change import LONGEST_NAME, MOST, ChangeMark
from services.history.recordings.recorded_marks import META, about_recording, as_text, read_marks, within
from services.history.recordings.recording import finish_recording, open_recording, record_to
from services.sampling.replay import Replay
from services.series import Sample
from services.types import Health

NOW = 1_795_200_000.0


def mark(name: str, first: float = NOW, last: float = NOW + 90.0) -> ChangeMark:
    middle = (first + last) / 2
    return ChangeMark(7, name, (first, middle), (middle, last), NOW + 500.0, "ada@desk2")


def recorded(path: Path, *marks: ChangeMark) -> Replay:
    clock = ManualClock(NOW)
    store = record_to(path, clock=clock, title="orders")
    for n in range(100):
        store.append(Sample("db1", NOW + n, 100.0 + n, {"threads_running": 4.0}, "u:1"))
        clock.advance(1.0)
    store.close()
    finish_recording(path, marks=marks)
    return Replay(path, clock)


def test_that_a_recording_carries_the_marks_that_it_holds_and_nobodys_name(tmp_path: Path) -> None:
    held, early, late = mark("redo 2 GB, größer"), mark("early", first=NOW - 60), mark("late", last=NOW + 900)
    path = tmp_path / "night.pilothouse"
    replay = recorded(path, held, early, late)
    (found,) = replay.marks()
    assert (found.number, found.name, found.before, found.after) == (0, held.name, held.before, held.after)
    assert (found.made_at, found.made_by) == (held.made_at, "")
    assert b"ada@desk2" not in path.read_bytes()
    replay.close()


def test_that_a_recording_without_marks_has_none(tmp_path: Path) -> None:
    replay = recorded(tmp_path / "night.pilothouse")
    assert replay.marks() == ()
    replay.close()


def test_that_a_recording_carries_what_others_did_in_its_span_and_nothing_else(tmp_path: Path) -> None:
    path, clock = tmp_path / "night.pilothouse", ManualClock(NOW)
    store = record_to(path, clock=clock, title="orders")
    for n in range(100):
        store.append(Sample("db1", NOW + n, 100.0 + n, {"threads_running": 4.0}, "u:1"))
        clock.advance(1.0)
    store.close()
    moments = (NOW - 5, NOW + 40, NOW + 200)
    told = tuple(Event(at, "step", f"step at {at:.0f}", Health.TRANSFER, "c", key=f"run:1:{at:.0f}") for at in moments)
    finish_recording(path, events=told)
    recording = open_recording(path, clock)
    assert [event for event in recording.events(NOW - 900, NOW + 900) if event.kind == "step"] == [told[1]]
    recording.close()


GOOD = ["redo", NOW, NOW + 10, NOW + 20, NOW + 30, NOW + 40]


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "7", "{}", "[[]]", "[7]", '["redo"]', "[" * 5_000, "{" * 9_000, json.dumps([GOOD]) + "x",
        json.dumps([[*GOOD, 1]]), json.dumps([[7, *GOOD[1:]]]), json.dumps([["", *GOOD[1:]]]),
        json.dumps([["redo", NOW, NOW, NOW + 20, NOW + 30, NOW]]), json.dumps([["redo", True, *GOOD[2:]]]),
        json.dumps([["redo", NOW, NOW + 25, NOW + 20, NOW + 30, NOW]]), '[["redo", 1, 2, 3, 1e999, 5]]',
        '[["redo", 1, 2, NaN, 4, 5]]', json.dumps([["redo", "1", *GOOD[2:]]]), json.dumps([["redo", -5, *GOOD[2:]]]),
        json.dumps([["x" * 70_000, *GOOD[1:]]]), '[["redo", 1, 2, 3, 1' + "0" * 4_400 + ", 5]]",
    ],
)  # fmt: skip
def test_that_what_is_no_mark_is_left_out(text: str) -> None:
    assert read_marks({META: text}) == ()


def test_that_a_good_mark_beside_bad_ones_is_read_and_its_name_can_not_lie() -> None:
    text = json.dumps([[1], ["a\x1b[2J\u202eb" + "x" * 300, *GOOD[1:]], "x"])
    (found,) = read_marks({META: text})
    assert len(found.name) <= LONGEST_NAME + 1
    assert not {"\x1b", "\u202e"} & set(found.name)
    assert len(read_marks({META: json.dumps([GOOD] * (MOST + 50))})) <= MOST


def test_that_as_many_as_can_be_kept_are_read_again() -> None:
    many = tuple(mark(f"{n} " + "ü" * 56) for n in range(MOST))
    assert [found.name for found in read_marks({META: as_text(many)})] == [one.name for one in many]


def test_that_a_recording_is_known_again_wherever_it_lies(tmp_path: Path) -> None:
    one, two = about_recording("orders", (NOW, NOW + 9)), about_recording("orders", (NOW, NOW + 10))
    assert one == about_recording("orders", (NOW, NOW + 9))
    assert one != two
    assert within((mark("a"),), (NOW, NOW + 90)) == (mark("a"),)
