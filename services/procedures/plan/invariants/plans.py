"""What must be true of every plan before it is shown: pure, one small rule a function, all broken ones told.

The rules are the laws of procedures (resources/docs, design: plans are data, nothing is forgotten): what is switched on
is switched off on every way out, no host outside the plan is touched, never more than one member of a quorum is in
motion, what can't be undone is confirmed or says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from services.connections.command import Command
from services.procedures.plan.actions import (
    Action,
    Ask,
    AtPrimary,
    AtRouter,
    Checkpoint,
    Continue,
    CopiedSecret,
    Detached,
    Run,
    TryMetadata,
    WaitFor,
)
from services.procedures.plan.condition import Condition, Kept
from services.procedures.plan.inside import declared, of, parts, starts_a_server
from services.procedures.plan.invariants.interrupts import interruptions_end
from services.procedures.plan.invariants.positions import every_forming_has_its_proofs, one_past, positions_are_held
from services.procedures.plan.invariants.put_off import put_off_is_sound
from services.procedures.plan.last_look import last_look_is_taken
from services.procedures.plan.model import Breach, Obligation, Plan, Risk, Step
from services.procedures.plan.pair_sources import HostPair

_OF_THE_CONSOLE = (WaitFor, Ask, Checkpoint, Continue)


def violations(plan: Plan, *, begun: bool = False) -> tuple[str, ...]:
    """Return one sentence for each way in which a plan breaks the invariants, () for a plan that may be shown.

    Args:
        begun: a run goes by it, and was shown it before: a law that newer plans are made by (`_OF_NEW_PLANS`) leaves no
            run without a way forward.
    """
    return _broken_rules(_ThisPlan(plan), begun)


class _ThisPlan:
    """A plan as the key of its own answer: this object, which never changes. Equal ones may differ (`1` is `True`)."""

    __slots__ = ("plan",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ThisPlan) and other.plan is self.plan

    def __hash__(self) -> int:
        return id(self.plan)


@lru_cache(maxsize=8)  # each is held while it is remembered: no other plan can come to its place in memory
def _broken_rules(this: _ThisPlan, begun: bool) -> tuple[str, ...]:
    rules = _RULES if begun else (*_RULES, *_OF_NEW_PLANS)
    return tuple(dict.fromkeys(sentence for rule in rules for sentence in rule(this.plan)))


def changes(action: Action) -> bool:
    """Return whether an action changes a host (and so needs an Operator session)."""
    return not isinstance(action, _OF_THE_CONSOLE)


def only_reads(step: Step) -> bool:
    """Return whether nothing can have been changed by the step, however far it came."""
    return step.risk in {Risk.READS, Risk.YOU} or not changes(step.action)


def touched(value: object) -> frozenset[str]:
    """Return the hosts that an action, a condition, an obligation, an undo or a step reads or changes.

    Who is only declared away and wsrep node names (a transfer's donor) are not touched.
    """
    found: set[str] = set()
    for part in parts(value):
        if isinstance(part, Condition):
            found |= part.declared().touches
        elif isinstance(part, AtPrimary):
            found |= set(part.members)
        elif isinstance(part, AtRouter):
            found |= set(part.routers)
        elif isinstance(part, Step | Obligation | CopiedSecret | HostPair | TryMetadata):
            found.add(part.host)
    return frozenset(found - {""})


def declared_off(plan: Plan) -> tuple[str, ...]:
    """Return the hosts that a person has declared powered off or fenced, in order."""
    return tuple(dict.fromkeys(host for one in declared(plan.steps) for host in one.declared_off))


def kept_by(value: object) -> frozenset[str]:
    """Return the names under which the actions and conditions inside keep values."""
    acts = {part.keep for part in parts(value) if isinstance(part, Run | Detached | Ask)}
    return frozenset(acts.union(*(one.keeps for one in declared(value)))) - {""}


# -- names -------------------------------------------------------------------------------------------------------------


def _names_are_unique(plan: Plan) -> Iterator[str]:
    works = [part.name for part in of(Detached, plan.steps) if isinstance(part, Detached)]
    for what, names in (
        ("step id", [step.step_id for step in plan.steps]),
        ("obligation", [step.takes.key for step in plan.steps if step.takes]),
        ("watch rule", [rule.code for rule in plan.watches]),
        ("detached work", works),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield f"The {what} '{name}' appears {count} times in the plan."
            if not name:
                yield f"There is a {what} without a name."


def _limits_are_positive(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        undo = step.undo
        if not step.limit_s > 0 or (undo and (not undo.limit_s > 0 or (undo.waits and not undo.waits_s > 0))):
            yield f"Step '{step.step_id}' has no time limit above zero."
        if step.estimate_s is not None and not step.estimate_s >= 0:
            yield f"Step '{step.step_id}' has an estimate below zero."
    for rule in plan.watches:
        if not rule.every_s > 0:
            yield f"The watch rule '{rule.code}' is looked at every {rule.every_s:g} s."


def _spans_can_be_seen(plan: Plan) -> Iterator[str]:
    """What must be so for N seconds is waited for: one look never shows it, nor does a wait that ends before."""
    for step in plan.steps:
        undo = step.undo
        once = (step.before, step.already, undo.before if undo else (), step.takes.release_proof if step.takes else ())
        if _longest(once):
            yield f"Step '{step.step_id}' looks only once at what has to be so for {_longest(once):g} s."
        waits = step.action.conditions if isinstance(step.action, WaitFor) else step.proof
        for conditions, limit_s in (
            (waits, step.limit_s),
            (undo.waits if undo else (), undo.waits_s if undo else 0.0),
            (undo.proof if undo else (), undo.limit_s if undo else 0.0),
        ):
            if _longest(conditions) and not limit_s > _longest(conditions):
                yield f"Step '{step.step_id}' ends after {limit_s:g} s, and waits for {_longest(conditions):g} s."
    for rule in plan.watches:
        if _longest(rule.condition):
            yield f"The watch rule '{rule.code}' is a span of time: it would be broken until that is over."


def _longest(value: object) -> float:
    """Return for how many seconds the conditions inside must be so without a break, the longest one."""
    return max((one.lasts_s for one in declared(value)), default=0.0)


def _no_wait_stands_twice(plan: Plan) -> Iterator[str]:
    """A wait right behind the same wait shows nothing that the first one did not."""
    for first, then in pairwise(plan.steps):
        if isinstance(then.action, WaitFor) and (first.action, first.host) == (then.action, then.host):
            yield f"Step '{then.step_id}' appears twice: it is '{first.step_id}' again."


def _patterns_can_be_read(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        acts = [part.pattern for part in parts(step) if isinstance(part, Run | Detached)]
        for pattern in (*acts, *(pattern for one in declared(step) for pattern in one.patterns)):
            try:
                re.compile(pattern)
            except re.error as problem:
                yield f"Step '{step.step_id}' has a pattern that is not a regular expression: {problem}."


# -- hosts -------------------------------------------------------------------------------------------------------------


def _only_hosts_of_the_plan(plan: Plan) -> Iterator[str]:
    allowed = set(plan.hosts)
    for step in plan.steps:
        for host in sorted((touched(step) | {step.moves, *step.settles}) - {""} - allowed):
            yield f"Step '{step.step_id}' touches {host}, which is not a host of the plan."
        if changes(step.action) and not step.host:
            yield f"Step '{step.step_id}' changes something, but names no host."
        if step.undo and changes(step.undo.action) and not step.host:
            yield f"The undo of step '{step.step_id}' changes something, but names no host."
    for rule in plan.watches:
        for host in sorted(touched(rule.condition) - allowed):
            yield f"The watch rule '{rule.code}' reads {host}, which is not a host of the plan."


def _instances_stand_on_hosts(plan: Plan) -> Iterator[str]:
    """What carries an instance is a host, never an instance, and the plan says it once."""
    for key, times in Counter(key for key, _ in plan.on).items():
        if times > 1:
            yield f"The plan says {times} times on which host {key} is."
    instances = {key for key, _ in plan.on}
    for key, host in plan.on:
        if key not in plan.hosts:
            yield f"{key} is on {host} and is not a host of the plan."
        if not host or host in instances:
            yield f"{key} is on '{host}', which is not a host."


def _no_secret_inside(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        if any(isinstance(part, Command) and part.stdin is not None for part in parts(step)):
            yield f"Step '{step.step_id}' holds a secret; a plan only names one ({CopiedSecret.__name__})."


def _one_of_a_quorum_in_motion(plan: Plan) -> Iterator[str]:
    """Never is more than one member of a quorum away; hosts that are in none are taken for one.

    A member is a server: of two on one host each has its vote, and each counts.
    """
    for quorum in (*(frozenset(hosts) for hosts in plan.quorums), _outside(plan)):
        moving: list[str] = []
        for step in plan.steps:
            for host in _set_in_motion(step):
                if host in quorum and host not in moving:
                    moving.append(host)
                    if len(moving) > 1:
                        yield f"Step '{step.step_id}' moves {host} while {moving[0]} has not settled."
            moving = [host for host in moving if host not in step.settles]
        if not _goes_on(plan):
            for host in moving:
                yield f"{host} leaves or joins the quorum, and no step says that it has settled."


def _set_in_motion(step: Step) -> tuple[str, ...]:
    """Return who leaves or joins by a step: whom it names, and whom its act stops, as its proof shows.

    Where no quorum is there, as the step reads right before, nobody leaves one.
    """
    stops = changes(step.action) and not any(one.no_quorum for one in declared(step.before))
    stopped = {host for one in declared(step.proof) for host in one.stops} if stops else set()
    return tuple(sorted({step.moves, *stopped} - {""}))


def _outside(plan: Plan) -> frozenset[str]:
    return frozenset(host for step in plan.steps for host in _set_in_motion(step)) - frozenset(plan.voters)


# -- what is switched on, undone, confirmed ----------------------------------------------------------------------------


def _obligations_end(plan: Plan) -> Iterator[str]:
    for at, step in enumerate(plan.steps):
        if step.takes is None:
            continue
        key = step.takes.key
        if not any(key in later.discharges for later in plan.steps[at + 1 :]) and not _goes_on(plan):
            yield f"Step '{step.step_id}' takes '{key}', and no later step discharges it."
        if step.undo is None or step.undo.action != step.takes.release:
            yield f"The undo of step '{step.step_id}' is not the release of '{key}'."
        yield from _release_is_sound(step.takes)


def _undos_take_what_was_taken(plan: Plan) -> Iterator[str]:
    """What an undo switches on again is switched off by the undo of an earlier step, the next ones to be taken back."""
    taken: dict[str, Obligation] = {}
    for step in plan.steps:
        again = step.undo.takes if step.undo is not None else None
        if again is not None and taken.get(again.key) != again:
            yield f"The undo of step '{step.step_id}' takes '{again.key}', which no earlier step takes so."
        if step.takes is not None:
            taken[step.takes.key] = step.takes


def _release_is_sound(taken: Obligation) -> Iterator[str]:
    if not changes(taken.release):
        yield f"The release of '{taken.key}' changes nothing."
    if not taken.release_proof:
        yield f"Nothing proves that '{taken.key}' is released."
    if not taken.host:
        yield f"The obligation '{taken.key}' names no host."


def _discharged_was_taken(plan: Plan) -> Iterator[str]:
    taken: set[str] = set()
    for step in plan.steps:
        for key in step.discharges:
            if key not in taken:
                yield f"Step '{step.step_id}' discharges '{key}', which no earlier step takes."
        if step.discharges and not step.proof and not isinstance(step.action, WaitFor):
            yield f"Step '{step.step_id}' discharges an obligation without a proof."
        if step.takes:
            taken.add(step.takes.key)


def _changes_can_be_taken_back(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        if step.risk is Risk.IRREVERSIBLE:
            if step.confirm not in (*plan.hosts, plan.cluster_name) or not step.confirm:
                yield f"Step '{step.step_id}' cannot be undone, and no host's name has to be typed for it."
        elif changes(step.action) and step.risk is not Risk.READS and step.undo is None and not step.why.strip():
            yield f"Step '{step.step_id}' has no undo and does not say why."


def _questions_can_be_answered(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        if not isinstance(step.action, Ask):
            continue
        ask = step.action
        answers = [answer for answer, _ in ask.choices]
        if ask.kind == "typed" and not ask.expect:
            yield f"Step '{step.step_id}' asks for a text to be typed and does not say which."
        if ask.kind == "choice" and not answers:
            yield f"Step '{step.step_id}' offers no choice."
        if ask.kind == "choice" and ask.unattended and ask.unattended not in answers:
            yield f"Step '{step.step_id}' answers '{ask.unattended}' unattended, which is not one of the choices."


# -- what looks back ---------------------------------------------------------------------------------------------------


def _ways_out(step: Step, by_end: frozenset[str], of_plan: frozenset[str]) -> Iterator[tuple[object, frozenset[str]]]:
    """Return what a step's undo and obligation read, each with the values that are known by then."""
    once, undo = step.takes.release_once if step.takes else (), step.undo
    yield once, of_plan
    yield (undo and replace(undo, before=tuple(one for one in undo.before if one not in once))), by_end
    yield (step.takes and replace(step.takes, release_once=())), by_end


def _kept_before_used(plan: Plan) -> Iterator[str]:
    """Values are kept in the order a step reads and acts: before, act, proof.

    A step that may be skipped (`already`) gives only what `already` itself keeps. What has to be shown before an
    obligation is let go may be known only later: until then it stays on.
    """
    known: frozenset[str] = frozenset()
    of_plan = frozenset().union(*(kept_by(step) for step in plan.steps))
    at_start: dict[str, frozenset[str]] = {}
    for step in plan.steps:
        at_start[step.step_id] = known
        by_act = known | kept_by(step.before) | kept_by(step.already)
        by_proof = by_act | kept_by(step.action)
        by_end = by_proof | kept_by(step.proof)
        for value, names in (
            (step.before, known),
            (step.already, known),
            (step.action, by_act),
            (step.proof, by_proof),
            *_ways_out(step, by_end, of_plan),
        ):
            for part in of(Kept, value):
                if isinstance(part, Kept) and part.name not in names:
                    yield f"Step '{step.step_id}' uses the value '{part.name}', which no earlier step has kept."
        known = known | kept_by(step.already) if step.already else by_end
    for rule in plan.watches:
        names = at_start.get(rule.from_step, frozenset())
        for part in of(Kept, rule.condition):
            if isinstance(part, Kept) and part.name not in names:
                yield f"The watch rule '{rule.code}' uses the value '{part.name}', which no earlier step has kept."


def _every_ist_has_a_history_proof(plan: Plan) -> Iterator[str]:
    """A server that is started may be sent an IST: between forks it 'succeeds', and the data differ from then on."""
    for step in plan.steps:
        if starts_a_server(step.action) and not one_past(step.before, step.host):
            yield f"Step '{step.step_id}' starts the server of {step.host}, and nothing proves its history before."
        undo = step.undo
        if undo is not None and starts_a_server(undo.action) and not one_past((*undo.before, *undo.waits), step.host):
            yield f"The undo of step '{step.step_id}' starts a server, and nothing proves its history before."


def _steps_looked_back_to(plan: Plan) -> Iterator[str]:
    earlier: set[str] = set()
    for step in plan.steps:
        for value, allowed in (
            ((step.before, step.already), earlier),
            ((step.action, step.proof, step.undo, step.takes), earlier | {step.step_id}),
        ):
            for name in _looked_back_to(value):
                if name not in allowed:
                    yield f"Step '{step.step_id}' looks back to step '{name}', which is not an earlier one."
        earlier.add(step.step_id)
    for rule in plan.watches:
        for name in _looked_back_to(rule.condition):
            if name not in earlier:
                yield f"The watch rule '{rule.code}' looks back to step '{name}', which does not exist."


def _looked_back_to(value: object) -> tuple[str, ...]:
    return tuple(name for one in declared(value) for name in one.since_steps)


def _watches_have_their_steps(plan: Plan) -> Iterator[str]:
    order = {step.step_id: at for at, step in enumerate(plan.steps)}
    keys = {step.takes.key for step in plan.steps if step.takes}
    for rule in plan.watches:
        unknown = [name for name in (rule.from_step, rule.to_step) if name and name not in order]
        for name in unknown:
            yield f"The watch rule '{rule.code}' names step '{name}', which does not exist."
        if not unknown and order.get(rule.from_step, 0) > order.get(rule.to_step, len(order)):
            yield f"The watch rule '{rule.code}' ends before it begins."
        if rule.breach is Breach.RELEASE and rule.releases not in keys:
            yield f"The watch rule '{rule.code}' releases '{rule.releases}', which no step takes."


def _goes_on(plan: Plan) -> bool:
    """Return whether the rest of the plan is only made when the steps so far are done."""
    return bool(plan.steps) and isinstance(plan.steps[-1].action, Continue)


_RULES: tuple[Callable[[Plan], Iterator[str]], ...] = (
    _names_are_unique,
    _limits_are_positive,
    _spans_can_be_seen,
    _no_wait_stands_twice,
    _patterns_can_be_read,
    _only_hosts_of_the_plan,
    _instances_stand_on_hosts,
    _no_secret_inside,
    _one_of_a_quorum_in_motion,
    _obligations_end,
    _undos_take_what_was_taken,
    _discharged_was_taken,
    _changes_can_be_taken_back,
    _questions_can_be_answered,
    _kept_before_used,
    _every_ist_has_a_history_proof,
    every_forming_has_its_proofs,
    positions_are_held,
    _steps_looked_back_to,
    _watches_have_their_steps,
    put_off_is_sound,
    interruptions_end,
)
_OF_NEW_PLANS: tuple[Callable[[Plan], Iterator[str]], ...] = (last_look_is_taken,)
