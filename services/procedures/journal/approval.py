"""What runs is what was approved here: the two refusals of a run whose journal does not show that (decision 0028)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.errors import UserError
from services.i18n import tr
from services.procedures.plan.run_model import REFUSED, Binding

if TYPE_CHECKING:
    from services.procedures.journal.seals import Chain


class JournalChanged(UserError):  # noqa: N818 - the name says what happened, as in services.errors
    """Lines that this workstation had sealed are not what they were: nothing of the run is done any more."""

    code = "journal-changed"


class NotBound(UserError):  # noqa: N818 - as above
    """The approval was not given here, or before approvals were bound: a person has to look at the plan again.

    Attributes:
        approve: the code of what the journal says now, to be given back by who has read it.
        way, key: what was wanted of the run (service.drive); hosts: host -> the address where it would be reached.
    """

    code = "not-bound"

    def __init__(self, sentence: str, approve: str, try_: tuple[str, ...]) -> None:
        super().__init__(sentence, safe=tr("Nothing was done."), try_=try_)
        self.approve = approve
        self.way, self.key = "run", ""
        self.hosts: dict[str, str] = {}


def refuse_unbound(run_id: str, chain: Chain) -> None:
    """Raise JournalChanged or NotBound unless all lines of a run are this workstation's own words."""
    if chain.binding in REFUSED:
        look, anew = by_hand()
        back = (tr("If the state store was restored from an older copy, restore the newest one."),)
        raise JournalChanged(
            told(run_id, chain.binding),
            safe=tr("Nothing was done. This run can no longer continue, roll back or release anything."),
            try_=(
                *(back if chain.binding is Binding.CUT else ()),
                look,
                tr("Keep the state store as evidence, and find out who can write to it."),
                anew,
            ),
        )
    if chain.binding is not Binding.BOUND:
        command = f"pilothouse resume {run_id} --approve {chain.code}"
        raise NotBound(
            told(run_id, chain.binding),
            chain.code,
            (tr("Read its plan, then approve it again: {command} (or undo with the same options).", command=command),),
        )


def by_hand() -> tuple[str, str]:
    """Return what is left to do where the program goes no way with a run: neither forward, nor back."""
    return (
        tr("Check its hosts by hand: pilothouse procedures --runs lists what may still be switched on."),
        tr("Then start the procedure again; it reads the hosts, not an old plan. "
           "To take over the lock of this run, give the name of its owner."),
    )  # fmt: skip


def told(run_id: str, binding: Binding) -> str:
    """Return what is the matter with a run's approval, '' for nothing."""
    return {
        Binding.BOUND: "",
        Binding.OLD: tr("Run {run} was approved before digests existed: nothing shows that its plan is the "
                        "approved one.", run=run_id),
        Binding.ELSEWHERE: tr("Run {run} cannot be verified here: the last entries of its journal "
                               "were not written with "
                              "this workstation's key, but by another workstation or by someone who changed the store.",
                              run=run_id),
        Binding.CHANGED: tr("The journal of run {run} was changed after this workstation wrote it: its content is "
                            "not what was approved.", run=run_id),
        Binding.CUT: tr("The journal of run {run} is truncated: this workstation wrote more lines than it "
                        "contains, so the result of its last steps is not known.", run=run_id),
        Binding.NO_END: tr("The end of the journal of run {run} was not recorded, or is lost: lines may be missing "
                           "at its end.", run=run_id),
    }[binding]  # fmt: skip
