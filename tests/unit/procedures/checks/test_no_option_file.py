"""A host without any option file: nothing is given there, and that is known; files that were not read say nothing."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.procedures.catalogue.checks.access import operator_rights
from services.procedures.catalogue.checks.parts import unread_options
from services.procedures.catalogue.checks.starting import innodb_as_usual
from services.procedures.gather.reader import Reader
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options
from tests.unit.procedures.facts_of_three import host
from tests.unit.procedures.scripted_sessions import ScriptedSession, out

ABSENT = out(code=1, errors="cat: /etc/my.cnf: No such file or directory")


def read(told: Output, cat: Output) -> Options:
    session = ScriptedSession("n1")
    session.programs = {"my_print_defaults": told, "cat": cat}
    return Options.read(HostFacts("n1"), Reader(session, ManualClock()))


@pytest.mark.parametrize(
    ("told", "cat", "known"),
    [
        (out(""), ABSENT, True),
        (out(""), out(code=1, errors="cat: /etc/my.cnf: Permission denied"), False),
        (out(code=127, errors="my_print_defaults: command not found"), ABSENT, False),
        (out("--port=3306\n"), ABSENT, True),
    ],
)
def test_that_no_file_is_told_from_one_that_was_not_read(told: Output, cat: Output, known: bool) -> None:
    found = read(told, cat)
    assert (found.known, found.files) == (known, ())
    bare = HostFacts("n1").with_part(found)
    assert bool(unread_options(bare)) is not known
    (check,) = innodb_as_usual(Facts(0.0, "", "", hosts=(bare,)), ("n1",))
    assert (check.verdict is Verdict.PASS, check.not_known) == (known, not known)


@pytest.mark.parametrize(("is_root", "known"), [(None, True), (False, False)])
def test_that_a_right_that_was_not_read_is_marked_as_not_known(is_root: bool | None, known: bool) -> None:
    (check,) = operator_rights(Facts(0.0, "", "", hosts=(host("n1", is_root=is_root),)), ("n1",))
    assert (check.verdict, check.not_known) == (Verdict.BLOCK, known)
