"""The windows before and after a run, out of its journal: around the steps that changed something. Pure."""

from __future__ import annotations

from services.errors import BadInput
from services.i18n import tr
from services.procedures.journal.projection import ENDED
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import RunView
from services.procedures.report.time import bars_of
from services.sampling.change.around import AROUND_S, windows_of
from services.sampling.change.model import Window


def windows_around(view: RunView, now: float, length_s: float = AROUND_S) -> tuple[Window, Window]:
    """Return the windows before and after a run's changes; the one after ends now at the latest.

    Args:
        now: UTC epoch seconds; length_s: of either window.

    Raises:
        BadInput: the run is not over, changed nothing, or ended less than a minute ago.
    """
    bars = [
        bar
        for number, shown in enumerate(view.steps, 1)
        for bar in bars_of(number, shown)
        if shown.step.risk not in {Risk.READS, Risk.YOU}
    ]
    if not bars:
        raise BadInput(tr("Run {run} changed nothing: there is no change to measure.", run=view.run_id))
    if view.state not in ENDED:
        raise BadInput(
            tr("Run {run} is not over: its effect cannot be measured yet.", run=view.run_id),
            try_=(tr("Choose both windows by hand."),),
        )
    found = windows_of(min(bar.start for bar in bars), max(bar.end for bar in bars), now, length_s)
    if found is None:
        raise BadInput(
            tr("Run {run} ended less than a minute ago: there are no measurements after it yet.", run=view.run_id),
            try_=(tr("Measure again in a few minutes; the hosts must be watched until then."),),
        )
    return found
