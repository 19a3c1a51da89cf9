"""What may be known of the past of members that serve: a split that was seen, a server seen further than it is."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks import one_past
from services.procedures.plan.checks import Override, standing_blocks
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Remembered, TwoPrimaries
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, OTHER, PASS, UUID, WARN, facts, galera, gone, host

SEEN = TwoPrimaries(UUID, 1.0, (("n1", "n2"), ("n3",)), "both answered")


def test_that_members_of_one_primary_component_pass_with_where_they_stand() -> None:
    check = one_past(facts(), ("n1", "n2"), NAMES)
    assert check.verdict is PASS
    assert "n1 at 100000, n2 at 100000; read again before each start" in check.evidence


def test_that_two_primary_components_that_nobody_settled_block_and_no_override_helps() -> None:
    check = one_past(facts(two_primaries=(SEEN,)), ("n1",), NAMES)
    assert standing_blocks((check,), (Override("HISTORY", "I know better"),)) == (check,)
    assert "n1, n2 | n3" in check.evidence
    assert check.commands == ("pilothouse settle",)
    elsewhere = replace(SEEN, sides=(("n1", "n2", "n3"), ("n4",)))  # who is not here takes no part
    assert one_past(facts(two_primaries=(elsewhere,)), ("n1",), NAMES).verdict is PASS


def test_that_another_state_uuid_blocks_and_one_that_was_not_read_is_not_known() -> None:
    apart = host("n3", group=galera("n3", state_uuid=OTHER))
    assert one_past(facts(apart), ("n1",), NAMES).verdict is BLOCK
    assert one_past(facts(gone("n3")), ("n3",), NAMES).verdict is WARN


def test_that_a_server_that_was_seen_further_than_it_is_has_lost_something_or_was_elsewhere() -> None:
    def seen(seqno: int, at: float) -> Remembered:
        return Remembered(UUID, seqno, at, "running", "watch")

    back = host("n2", remembered=(seen(100_040, 0.5),))
    check = one_past(facts(back), ("n1",), NAMES)
    assert check.verdict is WARN
    assert "n2 was last seen at 100040 (running, watch), but is now at 100000" in check.evidence
    for calm in (seen(100_000, 0.5), seen(100_040, 2.0)):  # the second was read after this look
        assert one_past(facts(host("n2", remembered=(calm,))), ("n1",), NAMES).verdict is PASS


def test_that_every_procedure_that_starts_a_node_again_or_backs_one_up_shows_it_beforehand() -> None:
    seen = facts(two_primaries=(SEEN,))
    for name in ("rolling-restart", "freeze-gcache", "desync-for-backup"):
        procedure = procedure_named(name)
        checks = procedure.preflight(seen, filled(procedure.fields(seen, {}), {}))
        assert [c.verdict for c in checks if c.code == "HISTORY"] == [BLOCK]
