"""`plan NAME` and `run NAME`: check, plan, rehearse, approve, run. `plan` and `--rehearse` change nothing."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.outcome_text import draft_lines, refusal
from app.cli.procedure_text import (
    fault_lines,
    outage_words,
    problem_lines,
    run_lines,
    way_lines,
)
from app.cli.run_document import run_document
from app.cli.run_history import sampled
from app.cli.steering import Terminal, attended, exit_code, interruptible, need_word, open_service
from services.errors import BadInput, NoAnswer
from services.i18n import tr
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks.access import lock_free
from services.procedures.engine.approving import PLAN_BREAKS_RULES
from services.procedures.engine.control import Control
from services.procedures.engine.lock import LockHeld
from services.procedures.engine.parts import Policy
from services.procedures.engine.rehearsal import Rehearsal
from services.procedures.journal.codec import encode, plain
from services.procedures.plan.checks import Override, Verdict, standing_blocks
from services.procedures.plan.forms.inputs import hosts_of
from services.procedures.plan.host_facts import Facts, nobody_answered
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.run_model import PUT_OFF, RESTS_AT
from services.procedures.service.service import Draft, ProcedureService
from services.procedures.service.ways import at_work, own_run, with_ways


def run(options: Namespace) -> int:
    """Plan; and for `run` go on. Exit codes: see app.cli.arguments."""
    rehearse = options.command == "run" and options.rehearse
    procedure_named(options.name)  # a slip of the pen is told before any host is read
    if options.command == "run" and not rehearse:
        need_word(options, "--rehearse")
    with open_service(options) as service:
        facts = service.gather(options.cluster, options.name)
        _refuse_silence(facts)
        draft = service.draft(options.name, facts, dict(options.input))
        overrides = tuple(Override(code, reason) for code, reason in options.override)
        _refuse_faults(draft, overrides, _standing(service, facts))
        machine = getattr(options, "json", False)
        blocks = standing_blocks(draft.checks, overrides)
        if not machine:
            told = (draft.checks, overrides, _plan(draft), draft.facts.addresses())
            sys.stdout.write("\n".join(draft_lines(*told, whole=options.commands)) + "\n")
        if rehearse and not _plan(draft).nothing_to_do:
            return _rehearsed(service.rehearse(draft), draft, overrides, machine=machine)
        if options.command == "plan" or rehearse or blocks or _plan(draft).nothing_to_do:
            if machine:
                print_json(_document(draft, overrides))
            elif blocks:
                sys.stdout.write("\n" + refusal(blocks) + "\n")
                if any(check.code == "LOCK-FREE" for check in blocks) and _is_foreign(service, draft):
                    hint = "--override LOCK-FREE=REASON --take-over OWNER"
                    sys.stdout.write(
                        tr("To take over a dead console's lock, give both options: {words}", words=hint) + "\n"
                    )
            return FINDINGS if blocks else GOOD
        return _run(service, draft, overrides, options)


def _is_foreign(service: ProcedureService, draft: Draft) -> bool:
    """Return whether a lock is there that no run of this console can give back: only that is taken over."""
    locks = (host.lock for host in draft.facts.hosts if host.lock is not None)
    return any(own_run(lock, service.owner, service.view) is None for lock in locks)


def _plan(draft: Draft) -> Plan:
    assert draft.plan is not None
    return draft.plan


def _refuse_silence(facts: Facts) -> None:
    """Raise where no host answered: no input is wrong then, and nothing of a plan would rest on anything."""
    if nobody_answered(facts):
        reasons = "\n".join(f"  {line}" for line in problem_lines(facts))
        title = tr("No host answered, so no plan can be made.")
        raise NoAnswer(f"{title}\n{reasons}".rstrip(), try_=(tr("Restore the connection to a host, then plan again."),))


def _standing(service: ProcedureService, facts: Facts) -> tuple[str, ...]:
    """Return whose run holds hosts now, and its ways: what it has changed may be why an answer is wrong."""
    locked = lock_free(facts, tuple(host.host for host in facts.hosts if host.lock is not None))
    if locked.verdict is not Verdict.BLOCK:
        return ()
    (told,) = with_ways((locked,), facts, service.owner, service.view)
    return (told.evidence, *told.try_, *told.commands)


def _refuse_faults(draft: Draft, overrides: tuple[Override, ...], standing: tuple[str, ...] = ()) -> None:
    if draft.faults:
        # A question without choices is most often a host without an answer; but only of those that the plan asks for.
        unread = tuple(problem_lines(draft.facts, hosts_asked(draft)))
        raise BadInput(
            tr("The inputs are incomplete or invalid."), try_=(*standing, *fault_lines(draft.faults), *unread)
        )
    if draft.violations:
        raise BadInput(tr(PLAN_BREAKS_RULES), try_=draft.violations)
    codes = {check.code for check in draft.checks} | set(draft.about.later_checks)
    strange = [o.code for o in overrides if o.code not in codes]
    if strange:
        raise BadInput(
            tr("There is no check called {codes}.", codes=", ".join(strange)),
            try_=(tr("The checks are: {codes}.", codes=", ".join(sorted(codes))),),
        )


def hosts_asked(draft: Draft) -> frozenset[str] | None:
    """Return the hosts that a plan of these inputs may be about; None for every host, where no member is known."""
    offered = (name for field in draft.fields if field.kind in {"host", "hosts"} for name, _ in field.choices)
    named = (name for value in draft.inputs.values() for name in hosts_of(value))
    return frozenset((*draft.facts.members, *offered, *named)) if draft.facts.members else None


def _rehearsed(rehearsal: Rehearsal, draft: Draft, overrides: tuple[Override, ...], *, machine: bool) -> int:
    if machine:
        steps = [
            {
                "id": s.step.step_id,
                "host": s.step.host,
                "would": s.words,
                "lines": list(s.lines),
                "already": encode(s.already),
                "before": encode(s.before),
                "proof": encode(s.proof),
            }
            for s in rehearsal.steps
        ]
        found = {
            "rehearsal": plain(steps),
            "unread": plain(rehearsal.unread),
            "stops": [s.step.step_id for s in rehearsal.stops],
        }
        document = {**_document(draft, overrides), **found}
        print_json(document)
    else:
        sys.stdout.write("\n" + tr("Rehearsal: all reads were made; nothing was changed.") + "\n")
        sys.stdout.write("".join(f"{line}\n" for line in _hindrances(rehearsal, draft, overrides)))
        for number, s in enumerate(rehearsal.steps, 1):
            sys.stdout.write(f"  {number:>2}. {s.step.host or '-':<8} {s.step.title}: {tr(s.words)}\n")
            for what, answers in ((tr("before"), s.before), (tr("now"), s.proof)):
                for answer in answers:
                    mark = {True: "ok", False: "no", None: "?"}[answer.holds]
                    sys.stdout.write(f"        {what} {mark}: {answer.evidence}\n")
        for sentence in rehearsal.unread:
            sys.stdout.write("  " + tr("could not be read: {what}", what=sentence) + "\n")
        sys.stdout.write("".join(f"{line}\n" for line in _hindrances(rehearsal, draft, overrides)))
    hindered = standing_blocks(draft.checks, overrides) or rehearsal.unread or rehearsal.stops
    return FINDINGS if hindered else GOOD


def _hindrances(rehearsal: Rehearsal, draft: Draft, overrides: tuple[Override, ...]) -> Iterator[str]:
    """Yield what keeps the run from its end as things stand."""
    blocks = ", ".join(check.code for check in standing_blocks(draft.checks, overrides))
    if blocks:
        yield tr("The run would be refused: {codes}.", codes=blocks)
    for number, s in enumerate(rehearsal.steps, 1):
        if s in rehearsal.stops:
            why = next((a.evidence for a in s.before if not a.holds and a.evidence), tr(s.words))
            yield tr("The run would stop at step {number}: {why}", number=number, why=why)


def _run(service: ProcedureService, draft: Draft, overrides: tuple[Override, ...], options: Namespace) -> int:
    machine = getattr(options, "json", False)
    if not options.yes:
        away = "".join(f"! {outage_words(one)}\n" for one in _plan(draft).outages)
        sys.stdout.write(f"\n{away}" + tr("Approve this plan? Type yes: "))
        sys.stdout.flush()
        if sys.stdin.readline().strip().lower() not in {"yes", tr("yes")}:
            sys.stdout.write(tr("Nothing was changed.") + "\n")
            return FINDINGS
    refuse_to_rest_in_an_outage(_plan(draft).steps, options)
    run_id = service.new_run(draft, overrides)
    if not machine:
        sys.stdout.write("\n" + tr("Run {run} started.", run=run_id) + "\n")
    return drive(service, run_id, options)


def refuse_to_rest_in_an_outage(steps: Sequence[Step], options: Namespace) -> None:
    """Raise BadInput where a run would take clients' service away and then wait for a person, with nobody there.

    Args:
        steps: those still to run.
    """
    if not options.yes or (attended() and not getattr(options, "json", False)):
        return
    begins = next((at for at, step in enumerate(steps) if step.interrupts), len(steps))
    missing = [step for step in steps[begins:] if step.confirm and step.confirm not in options.confirm]
    if not missing:
        return
    words = " ".join(f"--confirm {shlex.quote(step.confirm)}" for step in missing)
    raise BadInput(
        tr(
            "'{title}' must be confirmed while {what}, and nobody would be there to do so.",
            title=missing[0].title,
            what=tr(steps[begins].interrupts),
        ),
        try_=(
            tr("Confirm it in advance: {words}", words=words),
            tr("Or run it in a terminal without --json and answer there."),
        ),
    )


def drive(service: ProcedureService, run_id: str, options: Namespace, *, way: str = "run", key: str = "") -> int:
    """Drive a run at this terminal and print where it rests."""
    machine = getattr(options, "json", False)
    # --yes approves the plan; whether a backup is done only the person at the terminal knows, where one sits there.
    asking = attended() and not machine
    given = getattr(options, "answer", "")
    stood = service.view(run_id).question if given else None
    rests_at = stood.step_id if stood is not None and stood.topic in RESTS_AT and given == PUT_OFF else ""
    policy = Policy(
        on_failure="undo" if options.yes else "ask",
        unattended=not asking and not given,  # what was answered here comes before what a plan answers by itself
        confirmed=frozenset(getattr(options, "confirm", ())),
        by=service.owner,
        approved=getattr(options, "approve", ""),
        put_off=rests_at,
    )
    control = Control()
    terminal = Terminal(
        machine=machine,
        attended=asking,
        given=given,
        given_for=stood.step_id if stood is not None else None,
        yes=options.yes,
        gone=control.close,
        whole=getattr(options, "commands", False),
    )
    with sampled(options, terminal) as listener, interruptible(control):
        try:
            service.drive(run_id, listener, policy=policy, person=terminal, way=way, key=key, control=control)
        except LockHeld as held:
            _need_owner(held, run_id, getattr(options, "take_over", ""))
            policy = replace(policy, take_over=True)
            service.drive(run_id, listener, policy=policy, person=terminal, way=way, key=key, control=control)
    view = service.view(run_id)
    if machine:
        refused = {"refused_answer": terminal.refused} if terminal.refused else {}
        print_json({**run_document(view), **refused})
    else:
        sys.stdout.write(
            "\n" + "\n".join([*run_lines(view, commands=getattr(options, "commands", False)), *way_lines(view)]) + "\n"
        )
    return exit_code(view, way)


def _need_owner(held: LockHeld, run_id: str, typed: str) -> None:
    """Let a take-over through only with the owner typed as the lock names it; say what to type otherwise.

    A run of this console that is at work is never taken over: two of its engines would act at once.
    """
    owner, own = held.holder.owner, held.own
    if typed == owner and not (own is not None and at_work(own)):
        return
    if own is not None:
        command = f"pilothouse resume {run_id}"
        held.try_ = (*held.try_, tr("Then continue this run: {command}", command=command))
        raise held
    wait, _ = held.try_
    command = f"pilothouse resume {run_id} --take-over {shlex.quote(owner)}"
    held.try_ = (wait, tr("If that console is permanently gone, take over its lock: {command}", command=command))
    raise held


def _document(draft: Draft, overrides: tuple[Override, ...]) -> dict[str, object]:
    return {
        "procedure": draft.about.name,
        "inputs": draft.inputs,
        "checks": encode(draft.checks),
        "plan": encode(draft.plan),
        "nothing_to_do": _plan(draft).nothing_to_do,
        "overrides": encode(overrides),
        "refused": [check.code for check in standing_blocks(draft.checks, overrides)],
    }
