"""A checked plan as a person reads it at night: what came out first, why and what to try, then the steps by title.

Every word of it, what passed in full and each step's commands, is behind --commands: the text of procedure_text.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.cli.procedure_text import checklist_lines, plan_lines, wrapped
from services.i18n import tr, tr_n
from services.procedures.plan.checks import Check, Override, Verdict, standing_blocks
from services.procedures.plan.model import Plan

WHOLE = "--commands"


def draft_lines(
    checks: tuple[Check, ...],
    overrides: tuple[Override, ...],
    plan: Plan,
    addresses: Mapping[str, str],
    *,
    whole: bool = False,
) -> Iterator[str]:
    """Yield the outcome, the checklist, the plan; `whole`: every word of the last two."""
    yield outcome(checks, overrides, plan)
    yield from checklist_lines(checks, overrides, whole=whole)
    if standing_blocks(checks, overrides) and plan.nothing_to_do:
        return
    yield ""
    yield from plan_lines(plan, addresses, commands=whole)
    if not whole and not plan.nothing_to_do:
        yield from wrapped("  ", tr("For all passed checks and each step's commands and undo: {words}", words=WHOLE))


def outcome(checks: tuple[Check, ...], overrides: tuple[Override, ...], plan: Plan) -> str:
    """Return what came out, in one sentence."""
    blocks = standing_blocks(checks, overrides)
    if blocks:
        return refusal(blocks)
    if plan.nothing_to_do:
        return tr("Nothing to do: the cluster is already as this procedure would leave it.")
    read = sum(check.verdict is not Verdict.PASS for check in checks)
    if read:
        return tr_n("Ready, with {n} thing to read first.", "Ready, with {n} things to read first.", read)
    return tr("Ready: every check passed.")


def refusal(blocks: tuple[Check, ...]) -> str:
    """Return the sentence of a plan that is refused."""
    codes = ", ".join(dict.fromkeys(check.code for check in blocks))
    return tr("Refused: {codes}. Nothing was changed.", codes=codes)
