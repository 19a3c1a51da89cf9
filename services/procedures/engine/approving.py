"""What may be driven: only a run that is bound to an approval of this workstation, or is approved here anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.errors import BadInput
from services.i18n import mark, tr
from services.procedures.journal.approval import NotBound, by_hand, told
from services.procedures.journal.finding import kept_addresses
from services.procedures.journal.projection import ENDED, project
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.run_model import ASKS_AGAIN, RunState

if TYPE_CHECKING:
    from services.procedures.engine.parts import Policy
    from services.procedures.journal.journal import StoredJournal
    from services.procedures.plan.run_model import Entry, RunView

PLAN_BREAKS_RULES = mark("The plan violates the plan rules and is not run.")
"""What is told of a plan with violations; these follow as what to try."""


def bound_entries(journal: StoredJournal, run_id: str, policy: Policy, way: str, key: str) -> tuple[Entry, ...]:
    """Return the entries of a run that is bound here; where `policy.approved` is its code it is bound first.

    A plan from elsewhere is only approved when it keeps the laws, whichever way it would go. Raises JournalChanged,
    NotBound (with the way that was wanted), BadInput for an unknown run or a plan that breaks a law.
    """
    if policy.approved and journal.chain(run_id).binding in ASKS_AGAIN:
        wrong = violations(project(journal.entries(run_id)).plan, begun=True)
        if wrong:
            raise BadInput(tr(PLAN_BREAKS_RULES), try_=(*wrong, *by_hand()))
        journal.bind_again(run_id, policy.approved, policy.by)
    try:
        return journal.bound_entries(run_id)
    except NotBound as problem:
        problem.way, problem.key, problem.hosts = way, key, addresses_of(journal.entries(run_id))
        raise


def refuse_unlawful(view: RunView) -> None:
    """Raise BadInput for a run whose plan breaks a law, with the ways that are left: it goes forward no more."""
    wrong = violations(view.plan, begun=True)
    if wrong:
        back = tr("Roll it back: pilothouse undo {run}", run=view.run_id)
        closed = tr("Close it as it is: pilothouse undo {run} --yes --leave REASON", run=view.run_id)
        ways = (closed,) if view.state is RunState.NOT_STARTED or view.no_return else (back, closed)
        raise BadInput(tr(PLAN_BREAKS_RULES), try_=(*wrong, *ways))


def addresses_of(entries: tuple[Entry, ...]) -> dict[str, str]:
    """Return host -> the address where a run reaches it, as its beginning kept it."""
    return {host: address for host, (address, _) in kept_addresses(entries).items()}


def with_binding(view: RunView, journal: StoredJournal) -> RunView:
    """Return a run that nobody drives with what its journal binds; one that is over with nothing left is as it was.

    Where it binds nothing, that comes first of what is said of it.
    """
    if view.state in ENDED and not view.obligations and not view.locked:
        return view
    chain = journal.chain(view.run_id)
    sentence = " ".join(text for text in (told(view.run_id, chain.binding), view.sentence) if text)
    return replace(view, binding=chain.binding, code=chain.code, sentence=sentence)
