"""A chain of binary logs beside the members' logs: one past, and nothing missing in any stretch of it."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.facts.binlog.marks import Mark
from services.procedures.conditions.galera.history.chain_known import ChainKnown, held_in
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.condition import Answer
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

AT = "261124 18:21:20"
RECENT = ((18, 41, AT), (19, 43, AT), (20, 41, AT))
WHOLE = (
    "41 0-41-8 8",
    "41 0-41-9 9",
    "41 0-41-10 -",
    "41 0-41-11 11",
    "41 0-41-12 18",
    "43 0-43-13 19",
    "41 0-41-14 20",
)


def _hosts(logs: dict[str, tuple[str, ...]], ids: tuple[str, str] = ("41", "42")) -> ScriptedHosts:
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name, number in zip(("n1", "n2"), ids, strict=True):
        session = hosts.sessions[name]
        index = (("log_bin_index", "/var/lib/mysql/b.index"),) if name in logs else ()
        session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name IN"] = Rows(("Variable_name", "Value"), index)
        session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_gtid_mode'"] = Rows(
            ("Variable_name", "Value"), (("wsrep_gtid_mode", "OFF"),)
        )
        session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'server_id'"] = Rows(
            ("Variable_name", "Value"), (("server_id", number),)
        )
        session.programs["timeout"] = out("".join(f"mark {AT} {one}\n" for one in logs.get(name, ())))
    return hosts


def _look(
    hosts: ScriptedHosts,
    *stretches: tuple[int, int, int],
    accepted: bool = False,
    writers: tuple[int, ...] = (43,),
) -> Answer:
    condition = ChainKnown(("n1", "n2"), "n3", "0-41-14", RECENT, stretches, writers, accepted)
    return Attempt(hosts, ManualClock()).look(condition, NOTHING)


def test_that_the_last_transactions_and_every_stretch_must_be_a_members_too() -> None:
    found = _look(_hosts({"n2": WHOLE}), (9, 11, 1), (11, 18, 0))
    assert found.holds is True
    assert "a member confirms 2 of the ranges" in found.evidence


def test_that_a_transaction_in_a_later_hole_is_never_let_through_behind_an_empty_one() -> None:
    holes = [(at, at + 2, 0) for at in range(8, 18, 2)]
    log = ("41 0-41-1 8", "41 0-41-2 10", "41 0-41-3 12", "41 0-41-4 14", "41 0-41-5 16", "41 0-41-6 17", *WHOLE[4:])
    found = _look(_hosts({"n2": log}), *holes, accepted=True)
    assert (found.holds, found.final) == (False, True)
    assert "16 and 18" in found.evidence


@pytest.mark.parametrize("accepted", [False, True])
def test_that_a_stretch_that_no_log_reaches_over_is_not_known_also_where_the_past_is_accepted(accepted: bool) -> None:
    assert _look(_hosts({"n2": WHOLE}), (2, 4, 0), accepted=accepted).holds is None
    assert _look(_hosts({}), (2, 4, 0), accepted=accepted).holds is None
    assert _look(_hosts({}), accepted=accepted).holds is (True if accepted else None)


@pytest.mark.parametrize("statements", [0, 2])
def test_that_a_statement_more_or_less_than_in_a_members_log_is_not_known(statements: int) -> None:
    """One that is in the logs of the others is lost; one that took no seqno would hide a lost transaction."""
    assert _look(_hosts({"n2": WHOLE}), (9, 11, statements), accepted=True).holds is None


def test_that_what_no_later_look_changes_is_not_waited_for_and_says_what_to_take() -> None:
    """A statement that did nothing stands in its own server's log alone: ten minutes of looks find the same."""
    found = _look(_hosts({"n1": WHOLE, "n2": WHOLE}), (9, 11, 2), writers=(42,))
    assert (found.holds, found.final) == (None, True)
    assert "take another member's binary logs" in found.evidence
    assert not _look(_hosts({"n2": WHOLE}), (9, 11, 2)).final  # n1 may answer yet


def test_that_a_stretch_that_was_purged_from_every_members_log_is_not_waited_for() -> None:
    purged = _look(_hosts({"n1": WHOLE, "n2": WHOLE[3:]}), (5, 7, 0), writers=(41,), accepted=True)
    assert (purged.holds, purged.final) == (None, True)
    assert "a purged one is in no log" in purged.evidence
    assert not _look(_hosts({"n1": WHOLE, "n2": WHOLE}), (20, 22, 0), writers=(41,)).final  # written, and not read yet


def test_that_the_log_that_the_chain_was_taken_from_shows_nothing_for_it() -> None:
    """What is missing there is missing in both: sql_log_bin = 0 leaves it out of its own server's log alone."""
    hosts = {"n2": WHOLE}
    assert _look(_hosts(hosts), (9, 11, 1), writers=(42,), accepted=True).holds is None
    assert _look(_hosts(hosts), (9, 11, 1), writers=(), accepted=True).holds is None
    assert _look(_hosts(hosts), (9, 11, 1), writers=(41,)).holds is True
    both = {"n1": WHOLE, "n2": (*WHOLE[:3], "41 0-41-99 -", *WHOLE[3:])}
    assert _look(_hosts(both), (9, 11, 1)).holds is None


def test_that_one_like_transaction_is_no_past_and_another_among_the_last_is_another() -> None:
    few = ("41 0-41-14 20",)
    assert _look(_hosts({"n2": few})).holds is None
    other = (*WHOLE[:-2], "44 0-44-13 19", WHOLE[-1])
    found = _look(_hosts({"n2": other}), accepted=True)
    assert (found.holds, found.final) == (False, True)


def test_that_a_log_that_goes_over_the_last_seqno_without_it_is_never_accepted() -> None:
    """A last transaction with wsrep off has a local number: with it for the target an IST begins at a wrong place."""
    over = (*WHOLE[:-1], "41 0-41-15 21")
    found = _look(_hosts({"n2": over}), accepted=True)
    assert (found.holds, found.final) == (False, True)
    assert "passes seqno 20 without" in found.evidence
    assert _look(_hosts({"n1": over, "n2": WHOLE})).holds is True  # written there with sql_log_bin = 0
    assert _look(_hosts({"n2": WHOLE[:-1]}), accepted=True).holds is True  # it ends before


def test_that_it_comes_back_out_of_a_journal_as_it_was() -> None:
    condition = ChainKnown(("n1", "n2"), "n3", "0-41-14", RECENT, ((9, 11, 1), (11, 18, 0)), (42, 43), accepted=True)
    assert decode(ChainKnown, encode(condition)) == condition


def test_that_shared_server_ids_show_no_past() -> None:
    assert _look(_hosts({"n2": WHOLE}, ("41", "41"))).holds is None


def _marks(*xids: int | None) -> tuple[Mark, ...]:
    return tuple(Mark("0-1-1", 1, AT, xid) for xid in xids)


@pytest.mark.parametrize(
    ("marks", "stretch", "told"),
    [
        (_marks(8, 12), (8, 12, 0), "same"),
        (_marks(8, None, 12), (8, 12, 1), "same"),
        (_marks(7, 12), (8, 12, 0), "same"),  # nothing at all between: a change of view
        (_marks(7, None, 12), (8, 12, 1), "no begin"),
        (_marks(8, 10, 12), (8, 12, 1), "more"),
        (_marks(8, 10), (8, 12, 1), "more"),
        (_marks(8, 99999, 12), (8, 12, 0), "no seqno"),
        (_marks(8, 13), (8, 12, 0), "not reached"),
        (_marks(12), (8, 12, 0), "not reached"),
        (None, (8, 12, 0), "no log"),
    ],
)
def test_that_a_stretch_is_the_same_only_where_nothing_differs(
    marks: tuple[Mark, ...] | None, stretch: tuple[int, int, int], told: str
) -> None:
    assert held_in(marks, stretch) == told
