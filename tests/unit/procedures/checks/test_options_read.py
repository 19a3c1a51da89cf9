"""What a private server would pass over is known, or not known, before any data are moved."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.procedures.catalogue.steps.restored.start_hold import hold_start
from services.procedures.conditions.server.options_read import OptionsRead
from tests.unit.procedures.facts_of_three import host
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out


@pytest.mark.parametrize(
    ("said", "holds", "told"),
    [
        (out("same\n"), True, "the account of the data of n1 can read every option file"),
        (out("differ\n"), False, "account 112, which owns the data, may not read"),
        (out("", code=0), None, "could not be compared"),
        (out(code=73, errors="there is no my_print_defaults"), None, "there is no my_print_defaults"),
    ],
)
def test_that_option_files_of_roots_alone_are_told_and_not_passed_over(
    said: Output, holds: bool | None, told: str
) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs = {"timeout": said}
    answer = Attempt(hosts, ManualClock()).look(OptionsRead("n1", "mariadb.service", 112), NOTHING)
    assert (answer.holds, told in answer.evidence) == (holds, True), answer


@pytest.mark.parametrize(("owner", "looks"), [(112, True), (0, False), (None, False)])
def test_that_it_is_looked_at_before_the_first_data_move(owner: int | None, looks: bool) -> None:
    step = hold_start(host("n1", data_folder_owner=owner), "/var/lib/mysql", ())
    assert any(isinstance(one, OptionsRead) and one.account == owner for one in step.before) is looks
