"""What hosts say is seen as what it is in errors, checks, proofs, output and reports: no direction, nothing unseen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import SystemClock
from services.errors import UserError
from services.facts.reading import words
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.execute.acting_output import Masks, judged
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from services.visible import SHOWN_AS, visible
from tests.unit.procedures.scripted_sessions import ScriptedHosts

UNSEEN = "\u202e\u2066\u200b\u200d\u00ad\u2060\ufeff\u3164\U000e0041\x1b\x85\u2028"


@pytest.mark.parametrize("character", UNSEEN)
def test_that_a_name_is_never_another_than_it_looks(character: str) -> None:
    name = f"ad{character}min"
    shown = f"ad{SHOWN_AS}min"
    assert visible(name) == shown
    assert character not in words(name)
    error = UserError(f"{name} said no.", try_=(f"Ask {name}.",))
    assert (str(error), error.sentence, error.try_) == (f"{shown} said no.",) * 2 + ((f"Ask {shown}.",),)
    check = Check("X", name, Verdict.PASS, name, name, (name,), name)
    assert (check.title, check.evidence, check.why, check.try_, check.host) == (shown,) * 3 + ((shown,), shown)
    assert character not in "".join(Masks().lines(f"x {name} y"))
    acted = judged(
        "it", (0, f"tables: {name}", ""), host="s1", ok=(0,), keep="t", pattern="tables: (.*)", masks=Masks()
    )
    assert character not in dict(acted.kept)["t"]


def test_that_what_people_read_and_we_write_stays() -> None:
    for text in ("Ünïcode ✓ – 文\tx\ny", "1\u202f234\u00a0s", "n\u0303o", "😀"):
        assert visible(text) is text


def test_that_every_look_at_a_host_shows_what_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Answer(holds=False, evidence="a\u202eb", lines=("c\u200bd",))
    monkeypatch.setattr(Stopped, "look", lambda *_: said)
    found = RealProver(ScriptedHosts("s1"), SystemClock()).look(Stopped("s1", "mariadb.service"), Past({}, {}))
    assert found == replace(said, evidence=f"a{SHOWN_AS}b", lines=(f"c{SHOWN_AS}d",))
