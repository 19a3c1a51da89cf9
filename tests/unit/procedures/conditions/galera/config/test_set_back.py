"""Is a server rid of the donor that a run named: read on scripted hosts; and the statement that sets it back."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.connections.sql.statement import set_back
from services.errors import Unreachable
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.condition import Condition
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

DONOR = SetBack("n1", "wsrep_sst_donor", "n2,", "n3")
RUNS = "  812 Ssl  mariadbd\n"


def runs_with(value: str) -> ScriptedHosts:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("wsrep_sst_donor", value),))
    return hosts


def silent(processes: str, active: str) -> ScriptedHosts:
    """A host whose server gives no answer."""
    hosts = ScriptedHosts("n1")

    def query(read: object, *, limit_s: float = 5.0) -> Rows:
        del read, limit_s
        raise Unreachable("Port 3306 refused the connection.", host="n1")

    session = hosts.sessions["n1"]
    session.query = query  # type: ignore[method-assign]
    session.programs = {"ps": out(processes, 0 if processes else 1), "systemctl": out(f"ActiveState={active}\n")}
    return hosts


def look(hosts: ScriptedHosts, condition: Condition = DONOR) -> tuple[bool | None, str]:
    found = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    return found.holds, found.evidence


@pytest.mark.parametrize(
    ("value", "holds", "told"),
    [
        ("n3", True, "wsrep_sst_donor is n3 on n1, as before the run"),
        ("n2,", False, "wsrep_sst_donor is n2, on n1, as the run set it"),
        ("n4", True, "wsrep_sst_donor is n4 on n1: someone else has changed it since, and it is left unchanged"),
        ("", True, "wsrep_sst_donor is empty on n1: someone else has changed it since, and it is left unchanged"),
    ],
)
def test_that_only_the_value_of_the_run_itself_is_not_set_back_yet(value: str, holds: bool, told: str) -> None:
    assert look(runs_with(value)) == (holds, told)


def test_that_the_name_which_a_node_had_before_the_run_is_set_back_already() -> None:
    same = SetBack("n1", "wsrep_sst_donor", "n2,", "n2,")
    assert look(runs_with("n2,"), same) == (True, "wsrep_sst_donor is n2, on n1, as before the run")


def test_that_the_option_files_rule_where_no_server_runs() -> None:
    words = "no server runs on n1: its next start reads wsrep_sst_donor from its files"
    assert look(silent("", "inactive")) == (True, words)
    assert look(silent("", "failed"))[0] is True


def test_that_a_server_which_starts_may_have_read_the_name() -> None:
    words = "the server of n1 is starting: its wsrep_sst_donor is known when it accepts connections"
    assert look(silent(RUNS, "activating")) == (False, words)


def test_that_a_server_which_runs_and_does_not_answer_is_not_known() -> None:
    assert look(silent(RUNS, "active")) == (None, "n1: Port 3306 refused the connection.")


def test_that_the_statement_changes_nothing_but_the_value_of_the_run() -> None:
    sentence = (
        "SET GLOBAL wsrep_sst_donor=IF ( @@GLOBAL.wsrep_sst_donor='n2,' , 'it''s n3' , @@GLOBAL.wsrep_sst_donor )"
    )
    assert str(set_back("wsrep_sst_donor", "n2,", "it's n3")) == sentence


@pytest.mark.parametrize(
    "condition",
    [
        VariableIs("n1", "wsrep_reject_queries", "NONE", or_ended=True),
        ProviderOption("n1", "gcache.freeze_purge_at_seqno", "=", "-1", or_ended=True),
    ],
)
def test_that_what_was_set_at_runtime_ends_with_the_server_and_no_sooner(condition: Condition) -> None:
    holds, told = look(silent("", "failed"), condition)
    assert holds is True
    assert told.startswith("no server runs on n1: the runtime value ")
    assert look(silent(RUNS, "activating"), condition)[0] is None
    assert look(silent(RUNS, "active"), condition)[0] is None
