"""The section '## On scripted hosts' of resources/docs/faults.md; the lab's own command writes '## On the lab'."""

from __future__ import annotations

from collections import Counter

from services.procedures.plan.run_model import RunState
from tests.faults.breaking_runs import BROKEN_CASES, Outcome, outcomes, taken_back
from tests.faults.cases import Case
from tests.faults.scripted.breaking import FAULTS, Fault

HEADING = "## On scripted hosts"
_HEAD = f"""\
{HEADING}

Written by `python -m tests.faults` (a minute); don't edit it by hand. A cluster in memory, the real engine and the real
plans: each fault comes in every step of each procedure (of a rolling restart in those of its second node), and
tests/faults asserts of each run what the table counts. The commands themselves are proven on the lab.

- *console killed*: just before and just after each journal entry, and between the parts of an act; resumed to the same
  end, nothing done twice that must not be; or taken back to the cluster as it was.
- *went on*: it came to its end as if nothing had happened.
- *rests*: it stopped before anything unsafe, told why and what is still switched on, and asks for a way. *Taken back at
  once* says how many of these could be undone with the fault still there; the others say what they could not take back.
  Every one of them was undone to the cluster as it was, with nothing left on, when the fault was over.
- *not known*: each step's proof is made unreadable in turn, in a run that nobody attends
  (tests/faults/test_not_known.py): nothing dear is taken back, the run rests, comes to its end once the proof can be
  read, and can be undone by a person.
"""


def section() -> str:
    """Break everything and return the section's Markdown."""
    names = [case.name for case in BROKEN_CASES]
    lines = [_HEAD, "| fault | " + " | ".join(names) + " |", "| --- |" + " --- |" * len(names)]
    told: list[str] = []
    lines.append("| console killed | " + " | ".join(_kills(case) for case in BROKEN_CASES) + " |")
    for fault in FAULTS:
        cells = []
        for case in BROKEN_CASES:
            seen = tuple(outcomes(case, fault))
            cells.append(_cell(seen))
            told += _told(case.name, fault, seen)
        lines.append(f"| {fault.name} | " + " | ".join(cells) + " |")
    lines += ["", *(f"- {fault.name}: {fault.what}." for fault in FAULTS), "", "### What the person is told", "", *told]
    return "\n".join(lines) + "\n"


def _kills(case: Case) -> str:
    bench = case.bench_begun()
    return f"{len(bench.moments(bench.run))} moments: went on"


def _cell(seen: tuple[Outcome, ...]) -> str:
    counts = Counter(outcome.state is RunState.DONE for outcome in seen)
    resting = [outcome for outcome in seen if outcome.state is not RunState.DONE]
    before = [outcome for outcome in resting if not outcome.view.no_return]
    undone = sum(taken_back(outcome, healed=False)[1] is RunState.UNDONE for outcome in before)
    parts = [f"{counts[True]} went on"] if counts[True] else []
    parts += [f"{len(before)} rest ({undone} taken back at once)"] if before else []
    past = len(resting) - len(before)
    parts += [f"{past} rest past the point of no return, to go on"] if past else []
    return ", ".join(parts)


def _told(name: str, fault: Fault, seen: tuple[Outcome, ...]) -> list[str]:
    """Return the sentence of the longest step in which it rested: one line, one example a cell."""
    resting = [outcome for outcome in seen if outcome.state is not RunState.DONE]
    if not resting:
        return []
    one = max(resting, key=lambda outcome: outcome.step.limit_s)
    return [f"- **{fault.name}**, {name}, step `{one.step.step_id}`: {one.view.sentence}"]
