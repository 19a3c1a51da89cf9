"""The [sst] section changed on all nodes at once: joins wait, and are let go only where all hosts are alike."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Unreachable
from services.facts.transfer.sst_options import Place
from services.procedures.catalogue.checks.sst_sections import alike, no_transfer, one_place
from services.procedures.catalogue.steps.sst_section import HOLD, changed_on_all, hold_path, section_path
from services.procedures.conditions.galera.config.sst_section import SstGives, SstSame
from services.procedures.conditions.galera.membership.nobody_joins import NobodyJoins
from services.procedures.conditions.machine.files import FileSays
from services.procedures.looking.own_lines import without_own
from services.procedures.plan.actions import EditOptions, PutFile, Several
from services.procedures.plan.model import Plan
from services.procedures.plan.part import Reading
from services.procedures.plan.parts.galera.drop_ins import DropIns
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, borrow, give_back, is_, plan_of, switch
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, UUID, facts, host
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out

SETTINGS = (("encrypt", "4"), ("tca", "/c/ca.pem"))
GIVEN = (("sst", "encrypt", "3"),)


def _plan() -> Plan:
    seen = facts(*(host(name, sst_options_known=True, sst_options_given=GIVEN) for name in NAMES))
    return Plan("x", "x", "x", UUID, "lab", NAMES, (NAMES,), (), changed_on_all(seen, NAMES, SETTINGS))


def test_that_every_start_waits_before_the_first_file_is_changed_and_until_all_are_alike() -> None:
    steps = _plan().steps
    assert [step.step_id for step in steps] == [
        "hold-n1", "hold-n2", "hold-n3", "nobody-joins", "section-n1", "section-n2", "section-n3", "same",
        "let-n1", "let-n2", "let-n3",
    ]  # fmt: skip
    held = steps[0].takes
    assert held is not None
    former = tuple((name, (("encrypt", "3"), ("tca", None))) for name in NAMES)
    assert held.release_once == (SstSame(NAMES, ("encrypt", "tca"), former),)
    assert steps[0].undo is not None
    assert steps[0].undo.before == held.release_once == steps[-1].before


def _put() -> tuple[str, str]:
    """Return the path of the drop-in that holds n1's starts off, and its text."""
    several = _plan().steps[0].action
    assert isinstance(several, Several)
    put = several.actions[0]
    assert isinstance(put, PutFile)
    return put.path, "".join(part for part in put.content if isinstance(part, str))


def _program(text: str, path: str, now: Path) -> str:
    """Return what sh(1) runs of it, as systemd reads it: the file at another place, and no second long."""
    line = next(one for one in text.splitlines() if one.startswith("ExecStartPre=/bin/sh -c '"))
    found = line.partition("'")[2].removesuffix("'").replace("$$", "$").replace("sleep 1", "sleep 0.01")
    there = path.replace(".", "[.]")
    return found.replace(there, str(now).replace(".", "[.]")).replace(path, str(now))


@pytest.mark.parametrize("theirs", ["", "LimitNOFILE=77777\n", "[Unit]\n# mine\n"])
def test_that_a_start_that_waits_goes_on_where_only_lines_of_somebody_else_stay(tmp_path: Path, theirs: str) -> None:
    """It waited for the file to go, which a colleague's line keeps: 600 s, and the start failed."""
    path, text = _put()
    assert path == hold_path(facts().host("n1")) == f"/etc/systemd/system/mariadb.service.d/{HOLD}"
    now = tmp_path / HOLD
    wrote = text.replace(path.replace(".", "[.]"), str(now).replace(".", "[.]")).replace(path, str(now))
    program = _program(text, path, now)
    now.write_text(wrote + theirs)
    waits = subprocess.Popen(["/bin/sh", "-c", program], stderr=subprocess.PIPE)
    with waits:
        with pytest.raises(subprocess.TimeoutExpired):
            waits.wait(0.3)
        back = without_own(None, wrote, wrote + theirs)
        assert back is not None
        assert (back.text is None) == (not theirs)
        now.write_text(back.text) if back.text is not None else now.unlink()
        assert waits.wait(20.0) == 0, "no line of the run's is left"


def test_that_a_start_that_waits_ends_at_last_and_says_why(tmp_path: Path) -> None:
    path, text = _put()
    assert "-gt 600" in text
    now = tmp_path / HOLD
    now.write_text(text.replace(path, str(now)))
    program = _program(text, path, now).replace("-gt 600", "-gt 3")
    ended = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, timeout=20.0, check=False)
    assert (ended.returncode, ended.stderr) == (1, f"Pilothouse holds joins off: see {now}\n")


def test_that_a_hold_counts_only_while_the_runs_line_stands_in_it() -> None:
    steps = _plan().steps
    path, text = _put()
    stands = next(one for one in steps[0].proof if isinstance(one, FileSays))
    assert re.search(stands.pattern, text, re.MULTILINE)
    assert not re.search(stands.pattern, "[Service]\nLimitNOFILE=77777\n", re.MULTILINE)
    edit = next(step for step in steps if step.step_id == "section-n1")
    assert {one.host for one in edit.before if isinstance(one, FileSays) and one.path == path} == set(NAMES)


@pytest.mark.parametrize(
    ("text", "code", "counts"),
    [
        (None, 0, True),
        ("[Service]\nLimitNOFILE=77777\n", 0, False),
        (
            "[Service]\nExecStartPre=/bin/sh -c 'while [ -e {path} ]; do sleep 1; done'\n",
            0,
            True,
        ),  # an earlier version's
        ("", 1, True),  # it could not be read
    ],
)
def test_that_what_is_left_of_a_hold_by_others_holds_no_later_run_off(
    text: str | None, code: int, counts: bool
) -> None:
    path, own = _put()
    said = own if text is None else text.format(path=path)

    class Folder:
        def run(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> Output:
            del part, limit_s
            return out(f"{HOLD}\n") if read.name == "names" else out(said, code=code)

    found = DropIns.read(host("n1"), cast("Reading", Folder()))
    assert found is not None
    assert found.files == ((HOLD,) if counts else ())


def test_that_the_section_is_edited_where_it_stands_and_else_in_a_file_of_its_own() -> None:
    place = Place("/etc/my.cnf", "sst", "encrypt", "3", 4)
    there = host("n1", sst_options_known=True, sst_options_places=(place,))
    assert section_path(there) == "/etc/my.cnf"
    assert section_path(host("n1")) == "/etc/mysql/conf.d/zz-pilothouse-sst.cnf"
    edit = _plan().step("section-n2").action
    assert isinstance(edit, EditOptions)
    assert edit.options == SETTINGS


# -- what is looked at -------------------------------------------------------------------------------------------------


def _hosts(**sections: str) -> ScriptedHosts:
    """Hosts whose [sst] gives these lines."""
    made = ScriptedHosts(*sections)
    for name, session in made.sessions.items():

        def run(read: CommandRead, *, limit_s: float = 10.0, name: str = name) -> Output:
            del limit_s
            argv = command_of(read).argv
            return out(sections[name] if argv == ("my_print_defaults", "sst") else "")

        session.run = run  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize(
    ("n1", "n2", "holds"),
    [
        ("--encrypt=4\n", "--encrypt=4\n", True),
        ("--encrypt=4\n", "--encrypt=3\n", False),
        ("--encrypt=4\n", "", False),
        ("--encrypt=3\n", "--encrypt=1\n", True),  # as before the run
        ("", "", True),
    ],
)
def test_that_only_one_way_for_all_or_the_way_before_counts_as_the_same(n1: str, n2: str, holds: bool) -> None:
    former = (("n1", (("encrypt", "3"),)), ("n2", (("encrypt", "1"),)))
    prover = Attempt(_hosts(n1=n1, n2=n2), ManualClock())
    assert prover.look(SstSame(("n1", "n2"), ("encrypt",), former), NOTHING).holds is holds


def test_that_a_host_that_can_not_be_read_is_never_the_same() -> None:
    hosts = _hosts(n1="--encrypt=4\n", n2="--encrypt=4\n")

    def gone(read: CommandRead, *, limit_s: float = 10.0) -> Output:
        raise Unreachable("No answer.", host="n2")

    hosts.sessions["n2"].run = gone  # type: ignore[method-assign]
    answer = Attempt(hosts, ManualClock()).look(SstSame(("n1", "n2"), ("encrypt",)), NOTHING)
    assert (answer.holds, "not known" in answer.evidence) == (None, True)


def test_that_a_secret_is_compared_and_never_shown() -> None:
    hosts = _hosts(n1="--encrypt-key=hush\n")
    answer = Attempt(hosts, ManualClock()).look(SstGives("n1", (("encrypt", "4"), ("encrypt_key", None))), NOTHING)
    assert (answer.holds, "hush" in answer.evidence, "encrypt_key set" in answer.evidence) == (False, False, True)


@pytest.mark.parametrize(
    ("unit", "table", "joins"),
    [
        ("active", "1 9 mariadbd\n", False),
        ("activating", "1 9 sh -c galera_recovery\n", True),
        ("activating", f"1 9 /bin/sh -c while [ -e /run/x/{HOLD} ]\n", False),
        ("active", "7 9 /bin/bash /usr/bin/wsrep_sst_mariabackup --role joiner\n", True),
    ],
)
def test_that_a_start_that_waits_behind_the_hold_is_none_that_joins(unit: str, table: str, joins: bool) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs = {"systemctl": out(f"ActiveState={unit}\nMainPID=0\n"), "ps": out(table)}
    answer = Attempt(hosts, ManualClock()).look(NobodyJoins(("n1",), ("mariadb.service",), HOLD), NOTHING)
    assert answer.holds is not joins


# -- what is checked ---------------------------------------------------------------------------------------------------


def test_that_an_option_in_two_places_or_in_a_group_of_the_server_is_refused() -> None:
    twice = (Place("/a.cnf", "sst", "encrypt", "3", 1), Place("/b.cnf", "sst", "encrypt", "3", 1))
    one = host("n1", sst_options_known=True, sst_options_places=twice)
    server = host("n1", sst_options_known=True, sst_options_given=(("mysqld", "encrypt", "0"),))
    hidden = host("n1", sst_options_known=True, sst_options_given=GIVEN)
    for wrong in (one, server, hidden, host("n1")):
        assert one_place(facts(wrong), ("n1",), ("encrypt",)).verdict is BLOCK
    good = host("n1", sst_options_known=True, sst_options_given=GIVEN, sst_options_places=twice[:1])
    assert one_place(facts(good), ("n1",), ("encrypt",)).verdict is PASS


def test_that_a_mixture_and_a_running_transfer_are_refused() -> None:
    mixed = facts(*(host(n, sst_options_known=True, sst_options_given=GIVEN[: n != "n2"]) for n in NAMES))
    check = alike(mixed, NAMES, ("encrypt",))
    assert (check.verdict, check.evidence) == (BLOCK, "encrypt: n1 = 3, n2 not set, n3 = 3")
    busy = facts(host("n2", sst_orphans=((7, 3.0, "wsrep_sst_mariabackup --role donor"),)))
    assert no_transfer(busy, NAMES).verdict is BLOCK


# -- the obligation ----------------------------------------------------------------------------------------------------


def test_that_what_is_to_be_shown_first_keeps_it_on_where_that_is_not_so_or_not_known_on_every_way_out() -> None:
    step, once = borrow("n1", "hold"), (is_("n2", "alike"),)
    assert step.takes is not None
    assert step.undo is not None
    step = replace(step, takes=replace(step.takes, release_once=once), undo=replace(step.undo, before=once))
    bench = Bench(plan_of(step, switch("n3", "b", proof=(is_("n3", "never"),)), give_back("n1", "hold")))
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.world.value("n1", "hold") == "ON"  # they differ
    bench.world.deaf["n2"] = 99
    bench.engine().release()
    assert bench.world.value("n1", "hold") == "ON"  # not known
    bench.world.deaf["n2"] = 0
    bench.world.settings["n2", "alike"] = "ON"
    bench.engine().release()
    assert bench.world.value("n1", "hold") == "OFF"
