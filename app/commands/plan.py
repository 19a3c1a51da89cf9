"""`plan NAME` and `run NAME`: check, plan, rehearse, approve, run. `plan` and `--rehearse` change nothing."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from app.arguments import FINDINGS, GOOD
from app.procedure_text import check_lines, fault_lines, plan_lines, run_lines
from app.run_history import sampled
from app.steering import Terminal, attended, exit_code, interruptible, need_word, open_desk, run_document
from services.errors import BadInput
from services.procedures.checks import Override, standing_blocks
from services.procedures.codec import encode
from services.procedures.control import Control
from services.procedures.desk import Desk, Draft
from services.procedures.engine_parts import Policy
from services.procedures.lock import LockHeld
from services.procedures.model import Plan
from services.procedures.rehearsal import Rehearsal
from services.words import tr


def run(options: Namespace) -> int:
    """Plan; and for `run` go on. Exit codes: see app.arguments."""
    rehearse = options.command == "run" and options.rehearse
    if options.command == "run" and not rehearse:
        need_word(options, "--rehearse")
    with open_desk(options) as desk:
        draft = desk.draft(options.name, desk.gather(options.cluster), dict(options.input))
        overrides = tuple(Override(code, reason) for code, reason in options.override)
        _refuse_faults(draft, overrides)
        machine = getattr(options, "json", False)
        if not machine:
            sys.stdout.write("\n".join([*check_lines(draft.checks, overrides), "", *plan_lines(_plan(draft))]) + "\n")
        blocks = standing_blocks(draft.checks, overrides)
        if rehearse and not _plan(draft).nothing_to_do:
            return _rehearsed(desk.rehearse(draft), draft, blocked=bool(blocks), machine=machine)
        if options.command == "plan" or rehearse or blocks or _plan(draft).nothing_to_do:
            if machine:
                sys.stdout.write(json.dumps(_document(draft)) + "\n")
            elif blocks:
                told = ", ".join(c.code for c in blocks)
                sys.stdout.write("\n" + tr("Refused: {codes}. Nothing was changed.", codes=told) + "\n")
            return FINDINGS if blocks else GOOD
        return _run(desk, draft, overrides, options)


def _plan(draft: Draft) -> Plan:
    assert draft.plan is not None
    return draft.plan


def _refuse_faults(draft: Draft, overrides: tuple[Override, ...]) -> None:
    if draft.faults:
        raise BadInput(tr("The inputs are not complete or not right."), try_=tuple(fault_lines(draft.faults)))
    if draft.violations:
        raise BadInput(tr("The plan breaks its own laws and is not run."), try_=draft.violations)
    codes = {check.code for check in draft.checks}
    strange = [o.code for o in overrides if o.code not in codes]
    if strange:
        raise BadInput(
            tr("There is no check called {codes}.", codes=", ".join(strange)),
            try_=(tr("The checks are: {codes}.", codes=", ".join(sorted(codes))),),
        )


def _rehearsed(rehearsal: Rehearsal, draft: Draft, *, blocked: bool, machine: bool) -> int:
    if machine:
        steps = [
            {
                "id": s.step.step_id,
                "host": s.step.host,
                "would": s.would,
                "lines": list(s.lines),
                "already": encode(s.already),
                "before": encode(s.before),
                "proof": encode(s.proof),
            }
            for s in rehearsal.steps
        ]
        sys.stdout.write(json.dumps({**_document(draft), "rehearsal": steps, "unread": list(rehearsal.unread)}) + "\n")
    else:
        sys.stdout.write("\n" + tr("Rehearsal: every read was made, nothing was changed.") + "\n")
        for number, s in enumerate(rehearsal.steps, 1):
            sys.stdout.write(f"  {number:>2}. {s.step.host or '-':<8} {s.step.title}: {tr(s.would)}\n")
            for what, answers in ((tr("before"), s.before), (tr("now"), s.proof)):
                for answer in answers:
                    mark = {True: "ok", False: "no", None: "?"}[answer.holds]
                    sys.stdout.write(f"        {what} {mark}: {answer.evidence}\n")
        for sentence in rehearsal.unread:
            sys.stdout.write("  " + tr("could not be read: {what}", what=sentence) + "\n")
    return FINDINGS if blocked or rehearsal.unread else GOOD


def _run(desk: Desk, draft: Draft, overrides: tuple[Override, ...], options: Namespace) -> int:
    machine = getattr(options, "json", False)
    if not options.yes:
        sys.stdout.write("\n" + tr("Approve this plan? Type yes: "))
        sys.stdout.flush()
        if sys.stdin.readline().strip().lower() not in {"yes", tr("yes")}:
            sys.stdout.write(tr("Nothing was changed.") + "\n")
            return FINDINGS
    run_id = desk.new_run(draft, overrides)
    if not machine:
        sys.stdout.write("\n" + tr("Run {run} begins.", run=run_id) + "\n")
    return drive(desk, run_id, options)


def drive(desk: Desk, run_id: str, options: Namespace, *, way: str = "run", key: str = "") -> int:
    """Drive a run at this terminal and print where it rests."""
    machine = getattr(options, "json", False)
    terminal = Terminal(machine=machine, attended=attended(), given=getattr(options, "answer", ""))
    policy = Policy(
        on_failure="undo" if options.yes else "ask",
        unattended=bool(options.yes) or not attended(),
        confirmed=frozenset(getattr(options, "confirm", ())),
        by=desk.owner,
    )
    control = Control()
    with sampled(options), interruptible(control):
        try:
            state = desk.drive(run_id, terminal, policy=policy, person=terminal, way=way, key=key, control=control)
        except LockHeld as held:
            owner = getattr(options, "take_over", "")
            if not owner or owner != held.holder.owner:
                raise
            state = desk.drive(
                run_id, terminal, policy=_taking_over(policy), person=terminal, way=way, key=key, control=control
            )
    view = desk.view(run_id)
    if machine:
        sys.stdout.write(json.dumps(run_document(view)) + "\n")
    else:
        sys.stdout.write("\n" + "\n".join(run_lines(view)) + "\n")
    return exit_code(state, way)


def _taking_over(policy: Policy) -> Policy:
    return Policy(policy.on_failure, policy.unattended, policy.confirmed, take_over=True, by=policy.by)


def _document(draft: Draft) -> dict[str, object]:
    return {
        "procedure": draft.about.name,
        "inputs": draft.inputs,
        "checks": encode(draft.checks),
        "plan": encode(draft.plan),
        "nothing_to_do": _plan(draft).nothing_to_do,
    }
