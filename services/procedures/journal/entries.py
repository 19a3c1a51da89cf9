"""The lines of the journal: one builder a kind, `journal.append(run_id, *run_state(...))`; read by `projection.py`.

Builder (kind): data; when it is written.

- planned (planned): plan, inputs, checks, overrides, owner; once, the first line.
- approved (approved): by; before RUNNING, and again after `continued`. Until then nothing may act.
- approved_again (note 'approved-again'): text, because; before anything follows from lines that were not bound here.
- lock (lock): what, hosts, sentence; 'take' before the first host is tried, the others when they are true.
- run_state (run): state, sentence; before it counts.
- step_state (step): state, said, evidence, error, untouched, came_back (where it is so); ACTING and UNDOING before the
  act, the others when found.
- obligation_taken (obligation-taken): obligation; before the act.
- obligation_discharged (obligation-discharged): key, evidence; after the proof.
- release_failed (note 'release-failed'): key, text; after the try.
- value_kept (value): name, value; when read.
- output (output): lines, masked; after the act.
- asked (asked): question; before it is shown. answered (answered): topic, answer, by; before anything follows.
- continued (continued): the longer plan, checks; before it is asked about.
- breach (breach): code, sentence, evidence, does; before what it does.
- mended (note 'mended'): key (the rule's code), text (its evidence); once a broken rule has held again for a while.
- topology (note 'topology-before', 'topology-after'): snapshot; around the run. note (note): about, text; any time.

So a kill between two lines never hides a change: what a line announces may have happened, what has no line has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import msgspec

from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.errors import BadInput
from services.json_text import stored_json
from services.procedures.journal.codec import encode
from services.procedures.plan.checks import Check, Override
from services.procedures.plan.model import Breach, Obligation, Plan
from services.procedures.plan.run_model import Entry, Question, RunState, StepState

Line = tuple[str, str, dict[str, object]]
"""Kind, step id ('' for the run itself) and data: what `Journal.append` takes after the run's id."""
LockAct = Literal["take", "taken", "released", "taken over", "lost"]
Around = Literal["before", "after"]


def planned(
    plan: Plan, inputs: Mapping[str, str], checks: tuple[Check, ...], overrides: tuple[Override, ...], owner: str
) -> Line:
    """The first line: the whole plan as the person sees it, and what it rests on. `owner`: person@machine."""
    rest: dict[str, object] = {"checks": encode(checks), "overrides": encode(overrides), "owner": owner}
    return "planned", "", {"plan": encode(plan), "inputs": dict(inputs), **rest}


def approved(by: str) -> Line:
    """The person approved the plan as it stands in the journal."""
    return "approved", "", {"by": by}


def approved_again(by: str, because: str) -> Line:
    """A person was shown the plan and all lines so far, and approved them here: from now on they are bound here."""
    return "note", "", {"about": "approved-again", "text": by, "because": because}


def lock(what: LockAct, hosts: tuple[str, ...], sentence: str = "") -> Line:
    """The lock on these hosts: 'take' before the first one is tried, the others when they are true."""
    return "lock", "", {"what": what, "hosts": list(hosts), "sentence": sentence}


def run_state(state: RunState, sentence: str = "") -> Line:
    """The run is in this state; `sentence` says what is true and what is safe now."""
    return "run", "", {"state": state.value, "sentence": sentence}


def step_state(
    step_id: str,
    state: StepState,
    *,
    said: str = "",
    evidence: tuple[str, ...] = (),
    error: str = "",
    untouched: bool = False,
    came_back: bool = False,
) -> Line:
    """The step is in this state; `said` what is true now, `evidence` lines that show it, `error` why it failed.

    Args:
        untouched: its act was refused before it changed anything. came_back: the host told how its act ended.
    """
    data: dict[str, object] = {"state": state.value, "said": said, "evidence": list(evidence), "error": error}
    so = {"untouched": untouched, "came_back": came_back}
    return "step", step_id, data | {name: True for name, holds in so.items() if holds}


def obligation_taken(step_id: str, obligation: Obligation) -> Line:
    """Written before the act that takes it: from here on it may be on."""
    return "obligation-taken", step_id, {"obligation": encode(obligation)}


def obligation_discharged(step_id: str, key: str, evidence: str = "") -> Line:
    """Written after its release is proven (or it is proven that the act never took it)."""
    return "obligation-discharged", step_id, {"key": key, "evidence": evidence}


def release_failed(step_id: str, key: str, text: str) -> Line:
    """A release was tried and is not proven; the obligation stays open, and `text` says why."""
    return "note", step_id, {"about": "release-failed", "key": key, "text": text}


def obligation_seen(key: str, evidence: str, *, on: bool) -> Line:
    """Somebody looked while nobody drove the run: the obligation was on, or proven to be off, at that moment."""
    return "note", "", {"about": "seen-on" if on else "seen-off", "key": key, "text": evidence}


def value_kept(step_id: str, name: str, value: str) -> Line:
    """A value of the run, for later steps."""
    return "value", step_id, {"name": name, "value": value}


def output(step_id: str, lines: tuple[str, ...]) -> Line:
    """The last lines an act left, masked."""
    return "output", step_id, {"lines": list(lines)}


def asked(question: Question) -> Line:
    """The run waits for a person's answer."""
    return "asked", question.step_id, {"question": encode(question)}


def answered(question: Question, answer: str, by: str = "") -> Line:
    """The answer, before anything follows from it."""
    return "answered", question.step_id, {"topic": question.topic, "answer": answer, "by": by}


def continued(step_id: str, plan: Plan, checks: tuple[Check, ...]) -> Line:
    """The whole longer plan after the Continue step `step_id`, with its checks; to be approved again."""
    return "continued", step_id, {"plan": encode(plan), "checks": encode(checks)}


def breach(code: str, sentence: str, evidence: str, does: Breach, step_id: str = "") -> Line:
    """A watch rule broke while `step_id` was running."""
    return "breach", step_id, {"code": code, "sentence": sentence, "evidence": evidence, "does": does.value}


def mended(code: str, evidence: str, step_id: str = "") -> Line:
    """A watch rule that broke holds again while `step_id` is running."""
    return "note", step_id, {"about": "mended", "key": code, "text": evidence}


def note(about: str, text: str, step_id: str = "") -> Line:
    """Anything else worth knowing later; `about` is a short stable word."""
    return "note", step_id, {"about": about, "text": text}


def topology(when: Around, snapshot: ClusterSnapshot) -> Line:
    """The cluster as discovery saw it before or after the run, without each node's whole facts."""
    bare = replace(snapshot, nodes=tuple(replace(node, facts=None) for node in snapshot.nodes))
    data = msgspec.json.decode(snapshot_to_json(EstateSnapshot(at=snapshot.at, clusters=(bare,))))
    return "note", "", {"about": f"topology-{when}", "snapshot": data}


def topology_of(entries: tuple[Entry, ...], when: Around) -> ClusterSnapshot | None:
    """Return the newest snapshot that `topology(when, ...)` kept, None when there is none. Raises BadInput.

    One from after the run is none any more once a step went on behind it (a failed step was tried again).
    """
    for entry in reversed(entries):
        data = entry.data or {}
        if entry.kind == "step" and when == "after":
            return None
        if entry.kind == "note" and data.get("about") == f"topology-{when}":
            estate = snapshot_from_json(stored_json(data.get("snapshot")))
            return estate.clusters[0] if estate.clusters else None
    return None


def problems_after(data: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the codes of what was wrong with the cluster when a run came to rest, None for another note."""
    if data.get("about") != "topology-after":
        return None
    try:
        estate = snapshot_from_json(stored_json(data.get("snapshot")))
    except BadInput:  # of a newer Pilothouse: nothing is known of it here
        return ()
    return tuple(problem.code for cluster in estate.clusters for problem in cluster.problems if problem.code)
