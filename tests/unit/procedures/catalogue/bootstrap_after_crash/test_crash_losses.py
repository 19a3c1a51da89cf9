"""What a bootstrap would lose: every member counts, left out or called off; 'nothing' needs evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bootstrap_after_crash import history as crash_history
from services.procedures.catalogue.galera.bootstrap_after_crash.checks import positions
from services.procedures.catalogue.galera.bootstrap_after_crash.history import history
from services.procedures.catalogue.galera.bootstrap_after_crash.losses import accepted, losses, lost
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party, party
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Override, standing_blocks
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered, TwoPrimaries
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.traces import Trace
from services.procedures.plan.pasts.histories_model import Histories
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, TOGETHER, UUID, WARN, down, facts, gone
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("bootstrap-after-crash")
APART = TwoPrimaries(UUID, 1.0, (("n1", "n2"), ("n3",)), "n1, n2 and n3 were seen Primary at once")


def crashed(*changed: HostFacts, **seqnos: int) -> Facts:
    """Three servers that were killed; those named have recovered a position."""
    own = {h.host: h for h in changed}
    kept = tuple((f"recovered-{name}", f"{UUID}:{seqno}") for name, seqno in seqnos.items())
    return facts(
        *(own.get(n) or down(n, grastate=Grastate(UUID, -1, safe_to_bootstrap=False)) for n in NAMES), kept=kept
    )


def told(asked: Party, chosen: str = "n1") -> list[tuple[str, int | None]]:
    """Return who loses how many write sets."""
    (best,) = standings(asked.facts, (chosen,))
    return [(loss.host, loss.count) for loss in losses(asked, best)]


def rest_of(seen: Facts, **inputs: str) -> tuple[set[str], Plan]:
    """Return the codes that block the rest, and its plan."""
    first = PROCEDURE.plan(replace(seen, kept=()), dict(inputs))
    checks, plan = PROCEDURE.continued(seen, dict(inputs), first)
    return {check.code for check in standing_blocks(checks, ())}, plan


def typed(plan: Plan) -> list[str]:
    """Return what a person has to type on the way."""
    return [s.action.expect for s in plan.steps if isinstance(s.action, Ask) and s.action.kind == "typed"]


def test_that_nothing_is_lost_only_where_every_position_and_every_past_is_known() -> None:
    known = party(crashed(n1=10, n2=10, n3=9), NAMES, ())
    check = lost(known, standings(known.facts, ("n1",))[0])
    assert (check.verdict, "every position is known" in check.evidence) == (PASS, True)
    assert told(known) == []


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ({"remembered": (Remembered(UUID, 40, 1.0),)}, [("n3", 30)]),
        ({"remembered": (Remembered(UUID, 7, 1.0, top=40, top_at=0.5),)}, [("n3", 30)]),
        ({"grastate": Grastate(UUID, 25, safe_to_bootstrap=False)}, [("n3", 15)]),
        ({}, [("n3", None)]),
        ({"sst_in_progress": True, "grastate": Grastate(ZERO_UUID, -1, safe_to_bootstrap=False)}, []),
        ({"sst_in_progress": True}, [("n3", None)]),  # its state still stands there: nothing was erased yet
    ],
)
def test_that_a_member_whose_position_could_not_be_recovered_counts_with_its_last_known_one(
    known: dict[str, object], wanted: list[tuple[str, int | None]]
) -> None:
    silent = changed(down("n3", grastate=Grastate(UUID, -1, safe_to_bootstrap=False)), **known)
    left = party(crashed(silent, n1=10, n2=10), ("n1", "n2"), ())
    assert told(left) == wanted


def test_that_a_folder_that_a_transfer_emptied_has_nothing_to_lose_although_recovering_made_a_tablespace_in_it() -> (
    None
):
    emptied = down("n3", grastate=None, grastate_damaged=True, sst_in_progress=True, tablespace=True)
    seen = crashed(emptied, n1=10, n2=10)
    assert told(party(seen, ("n1", "n2"), ())) == [("n3", None)]
    recovered = replace(seen, kept=(*seen.kept, ("recovered-n3", f"{ZERO_UUID}:-1")))
    assert told(party(recovered, ("n1", "n2"), ())) == []
    other = changed(emptied, sst_in_progress=False)
    kept = (*seen.kept, ("recovered-n3", f"{ZERO_UUID}:-1"))
    assert told(party(replace(crashed(other, n1=10, n2=10), kept=kept), ("n1", "n2"), ())) == [("n3", None)]


def test_that_a_member_that_was_called_off_counts_and_is_accepted_by_its_name() -> None:
    asked = party(replace(crashed(n1=10, n2=10), hosts=(*crashed().hosts[:2], gone("n3"))), ("n1", "n2"), ("n3",))
    (step,) = accepted(asked, standings(asked.facts, ("n1",))[0])
    assert isinstance(step.action, Ask)
    assert (step.action.kind, step.action.expect, step.action.unattended) == ("typed", "without n3", "")
    assert "the transactions of n3 (confirmed off) are not known" in step.why


def test_that_rows_of_a_member_that_was_left_out_are_counted_and_typed_and_it_is_never_started() -> None:
    blocks, plan = rest_of(crashed(n1=10, n2=10, n3=237), nodes="n1,n2")
    assert blocks == set()
    assert typed(plan) == ["lose 227 of n3"]
    assert {s.step_id for s in plan.steps if s.host == "n3"} == {"save-n3", "recover-n3"}
    assert any("n3 was left out and not started" in sentence for sentence in plan.expects)
    _, untouched = rest_of(crashed(n1=10, n2=10, n3=237), nodes="n1,n2", left_out="no")
    assert not [s for s in untouched.steps if s.host == "n3"]


def test_that_a_position_that_was_remembered_and_recovered_is_no_second_loss() -> None:
    alone = (*TOGETHER.views, PrimaryView(UUID, 11, (("c", "n3"),)))
    known = down("n3", remembered=(Remembered(UUID, 36, 1.0),), trace=Trace(views=alone))
    assert told(party(crashed(known, n1=10, n2=10, n3=36), ("n1", "n2"), ())) == [("n3", 25)]


def test_that_what_only_a_binary_log_holds_is_lost_too() -> None:
    seen = crashed(n1=10, n2=12, n3=12)
    asked = party(
        replace(seen, kept=(*seen.kept, ("binlog-n1", "11"), ("binlog-n2", "15"), ("binlog-n3", "none"))), NAMES, ()
    )
    assert told(asked, "n2") == [("n2", 3)]


def test_that_a_binary_log_whose_end_could_not_be_read_is_told_and_is_no_nothing() -> None:
    seen = crashed(n1=10, n2=10, n3=10)
    tail = ("binlog-n2", "not known: mysql-bin.000003 is not there, or no file that can be read")
    asked = party(replace(seen, kept=(*seen.kept, tail)), NAMES, ())
    check = lost(asked, standings(asked.facts, ("n1",))[0])
    assert check.verdict is WARN
    assert "the end of the binary log of n2 is not known: mysql-bin.000003 is not there" in check.evidence


def test_that_the_highest_position_ever_seen_is_told_once() -> None:
    nodes = [down(name, remembered=(Remembered(UUID, 40, 1.0),)) for name in NAMES]
    assert told(party(crashed(*nodes, n1=10, n2=10, n3=10), NAMES, ())) == [("n3", 30)]


FORGED = Grastate(UUID, 99_999, safe_to_bootstrap=True)


@pytest.mark.parametrize(
    "seen",
    [
        Remembered(UUID, 99_999, 2.0, "grastate", "plan", 99_999, 2.0, "grastate", "plan", 10),
        Remembered(UUID, 10, 3.0, "recovered", "run 4", 99_999, 2.0, "grastate", "plan", 10),
        Remembered(UUID, 99_999, 2.0, "grastate", "plan"),
    ],
)
def test_that_a_number_that_only_a_state_file_tells_is_a_claim_and_no_loss(seen: Remembered) -> None:
    forged = down("n3", grastate=FORGED, remembered=(seen,))
    asked = party(crashed(forged, n1=10, n2=10, n3=10), NAMES, ())
    assert told(asked) == []
    check = lost(asked, standings(asked.facts, ("n1",))[0])
    assert check.verdict is WARN
    assert "grastate.dat of n3 contains or contained 99999, but its InnoDB is at 10" in check.evidence
    assert "the value of the file is ignored" in check.evidence
    assert "its last known position is" not in check.evidence


def test_that_a_claim_is_told_as_one_beside_what_was_really_seen() -> None:
    once = Remembered(UUID, 99_999, 2.0, "grastate", "plan", 99_999, 2.0, "grastate", "plan", 9)
    seen = crashed(down("n3", remembered=(once,)), n1=10, n2=10, n3=10)
    row = positions(seen, ("n3",)).evidence
    assert f"last seen {UUID}:9" in row
    assert "its grastate.dat once contained 99999, which nothing else confirms" in row


def test_that_what_a_server_a_log_or_a_recovery_told_stays_a_loss_beside_a_claim() -> None:
    both = Remembered(UUID, 99_999, 2.0, "grastate", "plan", 99_999, 2.0, "grastate", "plan", 40)
    assert told(party(crashed(down("n3", grastate=FORGED, remembered=(both,)), n1=10, n2=10, n3=10), NAMES, ())) == [
        ("n3", 30)
    ]


def test_that_a_file_whose_innodb_was_not_asked_is_named_as_the_source() -> None:
    silent = down("n3", grastate=Grastate(UUID, 25, safe_to_bootstrap=False))
    (loss,) = losses(party(crashed(silent, n1=10, n2=10), ("n1", "n2"), ()), standings(crashed(n1=10), ("n1",))[0])
    assert loss.said.endswith("according to its grastate.dat only: its InnoDB position was not read")


# -- forks -------------------------------------------------------------------------------------------------------------


def test_that_forks_of_equal_numbers_are_not_bootstrapped_until_a_person_chose_the_side() -> None:
    seen = replace(crashed(n1=40, n2=40, n3=40), two_primaries=(APART,))
    check = history(party(seen, NAMES, ()), side_chosen=False)
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "n1 and n3 FORKED" in check.evidence
    assert standing_blocks((check,), (Override("HISTORY", "I know"),)) == (check,)
    blocks, _ = rest_of(seen)
    assert blocks == {"HISTORY"}
    assert history(party(seen, NAMES, ()), side_chosen=True).verdict is WARN


def test_that_the_losing_side_of_a_fork_is_typed_with_its_count_and_stays_stopped() -> None:
    ours = (*TOGETHER.views, PrimaryView(UUID, 16, (("a", "n1"), ("b", "n2"))))
    theirs = (*TOGETHER.views, PrimaryView(UUID, 16, (("c", "n3"),), by_hand=True))
    nodes = [
        down(n, trace=Trace(views=theirs if n == "n3" else ours, index="/var/lib/mysql/mysql-bin.index")) for n in NAMES
    ]
    blocks, plan = rest_of(crashed(*nodes, n1=40, n2=40, n3=40), bootstrap="n1")
    assert blocks == set()
    assert typed(plan) == ["lose 24 of n3"]
    ids = [s.step_id for s in plan.steps]
    assert {"bootstrap", "start-n2", "restart-on-n3"} <= {*ids}
    assert ids.index("extract-n3") < ids.index("accept-1-n3") < ids.index("bootstrap")
    assert "after seqno 15" in plan.step("extract-n3").title
    asked = plan.step("accept-1-n3").action
    assert isinstance(asked, Ask)
    assert "is saved to /var/lib/pilothouse/forks/n3-" in asked.question
    assert "start-n3" not in ids
    assert any("n3 stays stopped" in sentence for sentence in plan.expects)


def test_that_what_others_lose_is_counted_from_where_a_chosen_node_ends_that_crashed_short_of_the_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def parted(_: Facts, joiner: str, donor: str) -> Histories:
        return Histories("forked", f"{joiner} and {donor} differ", 35)

    monkeypatch.setattr(crash_history, "histories", parted)
    seen = crashed(n1=10, n2=40, n3=40)
    assert told(party(seen, NAMES, ())) == [("n2", 30), ("n3", 30)]
    assert told(party(crashed(n1=37, n2=40, n3=40), NAMES, ())) == [("n2", 5), ("n3", 5)]
    assert {past.shared_to for past in crash_history.strangers_to(party(seen, NAMES, ()), "n1").values()} == {10}


def test_that_a_person_may_choose_the_side_of_a_fork_with_the_lower_seqno_and_only_its_own_node_can_be_ahead() -> None:
    ours = (*TOGETHER.views, PrimaryView(UUID, 16, (("a", "n1"), ("b", "n2"))))
    theirs = (*TOGETHER.views, PrimaryView(UUID, 16, (("c", "n3"),), by_hand=True))
    nodes = [down(n, trace=Trace(views=theirs if n == "n3" else ours)) for n in NAMES]
    blocks, plan = rest_of(crashed(*nodes, n1=47, n2=47, n3=40), bootstrap="n3")
    assert blocks == set()
    assert typed(plan) == ["lose 31 of n1", "lose 31 of n2"]
    assert not {"start-n1", "start-n2"} & {s.step_id for s in plan.steps}
    seen = crashed(*nodes, n1=47, n2=50, n3=60)
    assert rest_of(seen, bootstrap="n1")[0] == {"CHOSEN-BEHIND"}  # by n2, of its own side; n3 is a fork
    first = PROCEDURE.plan(replace(seen, kept=()), {"bootstrap": "n1"})
    checks, _ = PROCEDURE.continued(seen, {"bootstrap": "n1"}, first)
    (check,) = (c for c in checks if c.code == "CHOSEN-BEHIND")
    assert check.evidence == "n2 has 3 more write sets"


def test_that_nodes_whose_past_nothing_shows_are_not_joined_and_never_called_one() -> None:
    nodes = [down(n, trace=None) for n in NAMES]
    seen = crashed(*nodes, n1=40, n2=40, n3=40)
    assert history(party(seen, NAMES, ()), side_chosen=False).verdict is WARN
    blocks, plan = rest_of(seen)
    assert blocks == set()
    assert typed(plan) == [
        "without n2",
        "without n3",
    ]
    assert not {"start-n2", "start-n3", "form-n1"} & {s.step_id for s in plan.steps}


def test_that_forks_are_not_let_form_their_last_component_again() -> None:
    view = ("c0ffee00-0000-0000-0000-000000000000:7", ("a", "b", "c"))
    nodes = [down(n, gvwstate=view) for n in NAMES]
    seen = crashed(*nodes, n1=40, n2=40, n3=40)
    assert "formed" in {s.step_id for s in rest_of(seen)[1].steps}
    forked = replace(seen, two_primaries=(APART,))
    assert "formed" not in {s.step_id for s in rest_of(forked)[1].steps}


def test_that_a_node_whose_files_tell_no_state_is_not_said_to_share_the_history_of_the_others() -> None:
    emptied = down("n3", grastate=Grastate(ZERO_UUID, -1, safe_to_bootstrap=False))
    check = history(party(crashed(emptied, n1=10, n2=10), NAMES, ()), side_chosen=False)
    assert check.title == "The nodes that have a state share one history"
    assert "n3 was not compared: its files contain no state of this cluster" in check.evidence
    whole = history(party(crashed(n1=10, n2=10, n3=9), NAMES, ()), side_chosen=False)
    assert (whole.title, "not compared" in whole.evidence) == ("The nodes share one history", False)
