"""Of what PutPair put a digest is kept: each file is removed only where it still is what the run put there."""

from __future__ import annotations

import hashlib

import pytest

from services.clock import ManualClock
from services.connections.operator.files import REMOVE
from services.connections.ports import Output
from services.procedures.catalogue.steps.pair_copied import put_pair
from services.procedures.conditions.machine.files import FileNotAsPut
from services.procedures.engine.ports import Acted, Untouched
from services.procedures.execute.acting import RealActor
from services.procedures.execute.kept_files import FOLDER
from services.procedures.looking.files import wrote_name
from services.procedures.plan.actions import Action, PutPair, RemoveFile, Several
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Plan
from services.procedures.plan.pair_sources import MadePair
from tests.unit.pairs import NOW, PATHS
from tests.unit.procedures.facts_of_three import facts
from tests.unit.procedures.runs.test_untouched import Hosts, Session
from tests.unit.procedures.scripted_sessions import Attempt, ScriptedHosts, out

PUT = PutPair(*PATHS, MadePair("orders", 90))
GONE = Several(tuple(RemoveFile(path, put=True) for path in PATHS))


class Host(Session):
    """Files that are really removed."""

    def run(self, command: object, *, limit_s: float = 30.0) -> Output:
        argv = command.argv  # type: ignore[attr-defined]
        if REMOVE in argv:
            for path in argv[argv.index(REMOVE) + 2 :]:
                self.files.pop(path, None)
        return super().run(command, limit_s=limit_s)  # type: ignore[arg-type]


def _actor(session: Host) -> RealActor:
    return RealActor(Hosts(session), "7", ManualClock(NOW))  # type: ignore[arg-type]


def _did(session: Host, action: Action) -> Acted:
    return _actor(session).perform("pair-r1", "r1", action, {}, limit_s=30.0)


def _laid(session: Host) -> set[str]:
    return set(session.files) & set(PATHS)


def test_that_a_pair_as_the_run_put_it_is_removed_whole_and_no_copy_of_its_key_lies_anywhere() -> None:
    session = Host({})
    put = dict(_did(session, PUT).kept)
    key = session.files[PATHS[2]]
    assert put == {wrote_name("r1", path): hashlib.sha256(session.files[path].encode()).hexdigest() for path in PATHS}
    assert [path for path, text in session.files.items() if "PRIVATE" in text] == [PATHS[2]]
    assert all(path.startswith(FOLDER) for path in set(session.files) - set(PATHS))
    assert not any(key[40:60] in line for line in session.ran)
    _did(session, GONE)
    assert _laid(session) == set()
    plan = Plan("x", "x", "x", "", "", ("r1",), (), (), (put_pair(facts().host("n1"), PUT, empty_folder=False),))
    assert _actor(session).cleanup(plan) == ()


@pytest.mark.parametrize("changed", PATHS)
def test_that_a_file_of_a_pair_that_somebody_else_changed_since_is_kept_and_named(changed: str) -> None:
    """It was removed whatever it said: a colleague had put his own certificate there."""
    session = Host({})
    put = dict(_did(session, PUT).kept)
    session.files[changed] = "a colleague's\n"
    told = _did(session, GONE)
    assert _laid(session) == {changed}
    assert session.files[changed] == "a colleague's\n"
    assert f"{changed} is not the file that this run created: it was changed later and is kept" in told.output
    assert dict(told.kept).items() <= put.items()


def test_that_a_pair_that_was_cut_off_and_made_again_is_known_whichever_of_both_lies_there() -> None:
    session = Host({})
    _did(session, PUT)
    first = {path: session.files[path] for path in PATHS}
    del session.files[PATHS[1]]  # written last: the first try never came so far
    _did(session, PUT)
    session.files[PATHS[2]] = first[PATHS[2]]
    _did(session, GONE)
    assert _laid(session) == set()


@pytest.mark.parametrize("there", PATHS)
def test_that_a_file_that_lies_there_already_is_somebody_elses_and_nothing_is_written(there: str) -> None:
    """Only the certificate was looked for: a key of somebody else's was replaced."""
    session = Host({there: "a colleague's\n"})
    with pytest.raises(Untouched, match="already exists, and this run did not create it"):
        _did(session, PUT)
    assert {path: session.files[path] for path in _laid(session)} == {there: "a colleague's\n"}
    _did(session, GONE)
    assert _laid(session) == {there}


def test_that_a_link_in_place_of_a_file_of_the_pair_is_kept() -> None:
    session = Host({})
    _did(session, PUT)
    session.links = frozenset({PATHS[0]})
    told = _did(session, GONE)
    assert _laid(session) == {PATHS[0]}
    assert any("symbolic link" in line for line in told.output)


PUT_THERE = hashlib.sha256(b"ours").hexdigest()


@pytest.mark.parametrize(
    ("found", "kept", "holds", "told"),
    [
        (out(f"{PUT_THERE}\n"), PUT_THERE, False, "as this run put it"),
        (out(f"{'0' * 64}\n"), PUT_THERE, True, "was changed by someone else after"),
        (out(f"{PUT_THERE}\n"), None, None, "its content from this run is not known"),
        (out(code=1, errors="sh: 4: cannot open /x: Permission denied"), PUT_THERE, None, "Permission denied"),
        (out("", code=0), PUT_THERE, None, "is not known"),
        (None, PUT_THERE, True, "does not exist"),
    ],
)
def test_that_the_proof_compares_digests_and_never_reads_a_key(
    found: Output | None, kept: str | None, holds: bool | None, told: str
) -> None:
    hosts = ScriptedHosts("n1")
    gone = out(code=1, errors=f"stat: cannot statx '{PATHS[2]}': No such file or directory")
    hosts.sessions["n1"].programs = {"stat": gone if found is None else out("regular file\n"), "timeout": found or gone}
    past = Past({} if kept is None else {wrote_name("n1", PATHS[2]): kept}, {})
    answer = Attempt(hosts, ManualClock()).look(FileNotAsPut("n1", PATHS[2]), past)
    assert (answer.holds, told in answer.evidence) == (holds, True), answer
