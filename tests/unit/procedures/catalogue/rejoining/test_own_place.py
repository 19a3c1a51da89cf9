"""Who may exchange the folder of a node's data: asked before anything is moved."""

from __future__ import annotations

import pytest

from services.procedures.plan.checks import Verdict
from services.procedures.plan.parts.machine.own_place import OwnPlace
from services.procedures.plan.parts.server.socket_login import SocketLogin
from tests.unit.procedures.catalogue.binlogs_facts import checks_of, facts_told, with_parts


@pytest.mark.parametrize(
    ("others", "verdict", "absolute"),
    [("", Verdict.PASS, False), (None, Verdict.WARN, False), ("others may write into /data", Verdict.BLOCK, True)],
)
def test_that_a_layout_that_a_run_would_refuse_in_its_middle_is_refused_before(
    others: str | None, verdict: Verdict, *, absolute: bool
) -> None:
    check = checks_of(with_parts(facts_told(), "n3", OwnPlace(others)))["OWN-PLACE"]
    assert (check.verdict, check.absolute) == (verdict, absolute)
    assert check.not_known is (others is None)


def test_that_accounts_which_let_no_program_in_are_told_before_anything_is_moved() -> None:
    """root@localhost with a password alone: the private server would have waited half an hour, after the copy."""
    facts = facts_told()
    assert checks_of(facts)["PRIVATE-LOGIN"].verdict is Verdict.PASS
    refused = with_parts(facts, "n1", SocketLogin(works=False, who="root mysql"))
    check = checks_of(refused)["PRIVATE-LOGIN"]
    assert check.verdict is Verdict.BLOCK
    assert "n1 refuses root and mysql" in check.evidence
    unasked = with_parts(with_parts(facts, "n1", SocketLogin()), "n2", SocketLogin())
    assert checks_of(unasked)["PRIVATE-LOGIN"].result == "not known"
