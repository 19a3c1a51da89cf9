"""`topology` and `check` remember what they read, look twice at a split brain, and live without a memory."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli.one_look import SECOND_LOOK_S, look
from services.clock import ManualClock
from services.discovery.model import NOT_SETTLED, TWO_PRIMARIES, EstateSnapshot
from services.history.state.store import StateStore
from tests.unit.discovery.families.test_two_primaries import split
from tests.unit.discovery.scenes import AT, STATE, estate, member, only


def calm() -> EstateSnapshot:
    return estate(*(member(n, last_committed=120 + n) for n in (1, 2, 3)))


def after(*looks: EstateSnapshot) -> Callable[[], EstateSnapshot]:
    left: Iterator[EstateSnapshot] = iter(looks)
    return lambda: next(left)


def test_that_a_look_is_remembered_with_who_looked(tmp_path: Path) -> None:
    options = Namespace(data=tmp_path)
    assert look(options, "check", after(calm())) == calm()
    with StateStore.open(tmp_path / "state.sqlite") as state:
        (memory,) = state.positions("db2")
        assert (memory.cluster_uuid, memory.source, memory.seqno, memory.read_by) == (STATE, "running", 122, "check")
        assert state.node_history("db2")[0].seqno == 122


def test_that_a_split_brain_is_looked_at_twice_and_told_until_it_is_settled(tmp_path: Path) -> None:
    options, clock = Namespace(data=tmp_path), ManualClock()
    began = clock.monotonic()
    shown = look(options, "topology", after(split(), split(AT + 2)), clock)
    assert clock.monotonic() - began == SECOND_LOOK_S
    assert [p.code for p in only(shown).problems] == [TWO_PRIMARIES]
    later = look(options, "check", after(calm()), clock)
    assert [p.code for p in only(later).problems] == [NOT_SETTLED]
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.splits().settle(STATE, "ada", "n3 was emptied")
    assert look(options, "check", after(calm()), clock) == calm()


def test_that_a_second_look_that_finds_it_healed_leaves_nothing_behind(tmp_path: Path) -> None:
    options = Namespace(data=tmp_path)
    assert look(options, "check", after(split(), calm()), ManualClock()) == calm()
    with StateStore.open(tmp_path / "state.sqlite") as state:
        assert state.splits().all() == ()


def test_that_a_memory_that_can_not_be_used_stops_no_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "state.sqlite").write_bytes(b"no database at all, and longer than a page's header is" * 20)
    assert look(Namespace(data=tmp_path), "check", after(calm())) == calm()
    (tmp_path / "file").write_text("in the way")
    assert look(Namespace(data=tmp_path / "file"), "topology", after(calm())) == calm()
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "The readings are not saved, and earlier findings are not known"
    ] * 2
