"""A server that does not flush each commit may miss some after a power loss: no check that finds nothing says ok."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.state_files import Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bootstrap_after_crash.safety import unflushed
from services.procedures.plan.checks import Check
from tests.unit.procedures.facts_of_three import NAMES, PASS, UUID, WARN, down, facts

PROCEDURE = procedure_named("bootstrap-after-crash")


def _lost(flush: str) -> Check:
    options = (("mysqld", "wsrep_on", "ON"), ("mysqld", "innodb_flush_log_at_trx_commit", flush))
    hosts = [down(n, grastate=Grastate(UUID, -1, safe_to_bootstrap=False), options_given=options) for n in NAMES]
    seen = facts(*hosts, kept=tuple((f"recovered-{n}", f"{UUID}:10") for n in NAMES))
    checks, _ = PROCEDURE.continued(seen, {}, PROCEDURE.plan(replace(seen, kept=()), {}))
    return next(check for check in checks if check.code == "LOST-TRANSACTIONS")


@pytest.mark.parametrize(("flush", "verdict"), [("1", PASS), ("2", WARN), ("0", WARN)])
def test_that_equal_positions_are_no_proof_where_commits_were_not_flushed(flush: str, verdict: object) -> None:
    check = _lost(flush)
    assert check.verdict is verdict
    assert ("is not 1 on n1, n2, n3: after a power loss" in check.evidence) is (verdict is WARN)


def test_that_only_the_nodes_that_do_not_flush_are_named() -> None:
    loose = down("n2", variables_values=(("innodb_flush_log_at_trx_commit", "0"),))
    (told,) = unflushed(facts(loose), NAMES)
    assert "is not 1 on n2: after" in told
    assert unflushed(facts(), NAMES) == ()
