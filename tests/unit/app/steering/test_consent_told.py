"""What an undo will ask for is told before: in the plan, before the undo, and to machines. On scripted hosts."""

from __future__ import annotations

from app.cli.procedure_text import consent_lines
from services.procedures.conditions.galera.data.nothing_written import NothingWritten
from services.procedures.plan.actions import Checkpoint
from services.procedures.plan.model import Consent, Undo
from tests.unit.app.steering_service import Shell

ROLLING = ("rolling-restart", "--input", "nodes=n2", "--input", "work=yes")
FOUND = "Waits until 'n2' is typed, unless this is found: a state in grastate.dat of n2."
QUESTION = "Starting n2 replaces all its data by SST, unless IST is possible after all. Type n2 to accept."


def words(text: str) -> str:
    return " ".join(text.split())


def test_that_a_plan_tells_what_its_undo_may_ask_for(shell: Shell) -> None:
    said = words(shell("plan", *ROLLING).out)
    assert f"undo: Start mariadb.service on n2 again asks: {FOUND} {QUESTION} in a script: --confirm n2" in said
    assert said.count("in a script: --confirm n2") == 1


def test_that_an_undo_tells_before_it_begins_what_it_may_ask_for(shell: Shell) -> None:
    assert shell("run", *ROLLING, "--yes").code == 4
    (waiting,) = shell("procedures", "--runs", "--json").document
    asks = {"step": "n2:stop-n2", "host": "n2", "typed": "n2", "question": QUESTION}
    assert waiting["undo_asks"] == [{**asks, "unless": ["a state in grastate.dat of n2"]}]
    said = shell("undo", "1", "--yes")
    listed = words(said.out.partition("What a rollback does, newest step first, as approved:")[2])
    assert f"{FOUND} {QUESTION} in a script: --confirm n2" in listed
    (over,) = shell("procedures", "--runs", "--json").document
    assert over["undo_asks"] == []


def test_that_words_with_a_blank_are_quoted_for_a_script() -> None:
    asks = Consent((NothingWritten("n3", 7),), "Type stop n3 to accept.", "stop n3")
    said = words(" ".join(consent_lines(Undo("Stop it", Checkpoint("here"), consent=asks))))
    assert said.endswith("Type stop n3 to accept. in a script: --confirm 'stop n3'")
    assert list(consent_lines(Undo("Stop it", Checkpoint("here")))) == []
