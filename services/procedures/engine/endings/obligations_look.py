"""Is what a run switched on still on? Looked at again after the run rests, over Observer sessions only.

What shows that an obligation is off is the proof of its release: where all of it holds it is off, where part of it was
read and does not hold it is on. What can't be read, and a server that is down for good, leave it as it was last seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.procedures.engine.ports import Prover
from services.procedures.journal.entries import Line, obligation_seen
from services.procedures.journal.projection import acts_began
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import Entry, OpenObligation, RunView


def obligations_now(prover: Prover, view: RunView, entries: Iterable[Entry]) -> tuple[Line, ...]:
    """Return what the journal is to say of each obligation of a run that could be looked at."""
    past = Past(dict(view.kept), acts_began(entries))
    found = (_seen(prover, one, past) for one in view.obligations)
    return tuple(line for line in found if line is not None)


def _seen(prover: Prover, one: OpenObligation, past: Past) -> Line | None:
    proof = one.obligation.release_proof
    answers = [prover.look(condition, past, Memory()) for condition in proof]
    off = bool(answers) and all(answer.holds for answer in answers)
    on = [answer for answer in answers if answer.holds is False and not answer.final]
    if not off and not on:
        return None
    words = "; ".join(answer.evidence for answer in (answers if off else on))
    return obligation_seen(one.obligation.key, words, on=not off)
