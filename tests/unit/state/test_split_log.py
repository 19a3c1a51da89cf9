"""Two Primary Components once seen: one row a story, open until you settle it, and history afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from services.clock import ManualClock
from services.discovery.model import PrimariesApart
from services.history.state.split_log import joined_sides
from services.history.state.store import StateStore

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
SEEN = PrimariesApart(UUID, "orders", 100.0, (("n1", "n2"), ("n3",)), "each answered Primary")


def test_that_later_looks_at_the_same_sides_are_one_story(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        log = store.splits()
        log.note(SEEN, "check")
        log.note(replace(SEEN, at=130.0, sides=(("n1",), ("n3", "n4"))), "watch")
    with StateStore.open(tmp_path / "s") as store:
        (one,) = store.splits().open(UUID)
        assert one.sides == (("n1", "n2"), ("n3", "n4"))
        assert (one.first_seen, one.last_seen, one.seen_by) == (100.0, 130.0, "check")
        assert (one.cluster_name, one.evidence, one.settled_at) == ("orders", "each answered Primary", None)
        assert one.not_settled.sides == one.sides
        assert store.splits().open("another") == ()


def test_that_sides_which_contradict_an_open_story_are_another_one(tmp_path: Path) -> None:
    assert joined_sides((("n1", "n2"), ("n3",)), (("n1", "n3"), ("n2",))) is None
    assert joined_sides((("n1",), ("n3",)), (("n1", "n2"), ("n2", "n3"))) is None
    with StateStore.open(tmp_path / "s") as store:
        log = store.splits()
        log.note(SEEN, "check")
        log.note(replace(SEEN, at=900.0, sides=(("n1",), ("n2", "n3"))), "check")
        assert len(log.open()) == 2


def test_that_a_person_settles_it_and_it_stays_as_history(tmp_path: Path) -> None:
    clock = ManualClock()
    with StateStore.open(tmp_path / "s", clock=clock) as store:
        log = store.splits()
        log.note(SEEN, "check")
        log.note(replace(SEEN, cluster_uuid="other", cluster_name="stock"), "check")
        (settled,) = log.settle(UUID, "ada@desk", "n3 was emptied; its 275 rows are in case 812")
        assert (settled.settled_at, settled.settled_by) == (clock.wall(), "ada@desk")
        assert [one.cluster_name for one in log.open()] == ["stock"]
        assert log.settle(UUID, "bob", "again") == ()
        assert {one.settled_words for one in log.all()} == {"n3 was emptied; its 275 rows are in case 812", ""}


def test_that_a_settled_one_that_is_seen_again_is_a_new_story(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        log = store.splits()
        log.note(SEEN, "check")
        log.settle(UUID, "ada", "done")
        log.note(replace(SEEN, at=500.0), "watch")
        (one,) = log.open(UUID)
        assert (one.first_seen, one.settled_by) == (500.0, "")
        assert len(log.all()) == 2


def test_that_a_side_whose_last_host_gave_up_settles_the_story_by_whatever_name_it_knows_it(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        log = store.splits()
        log.note(replace(SEEN, sides=(("n1", "n2"), ("n3", "node-4"))), "check")
        log.note(replace(SEEN, cluster_uuid="other"), "check")
        assert log.gave_up(UUID, frozenset({"n9"}), "run 7", "n9 gave up its side") == ()
        assert log.gave_up(UUID, frozenset({"n3"}), "run 7", "n3 gave up its side") == ()
        (left,) = log.open(UUID)
        assert left.sides == (("n1", "n2"), ("node-4",))
        (settled,) = log.gave_up(UUID, frozenset({"n4", "node-4"}), "run 8", "n4 gave up its side")
        assert (settled.settled_by, settled.settled_words) == ("run 8", "n4 gave up its side")
        assert log.open(UUID) == ()
        assert len(log.open("other")) == 1
