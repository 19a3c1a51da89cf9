"""Where all runs stand, as one value for the window: read on a worker, shown by whoever needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what stands behind these is imported on a worker, when the service is opened
    from services.errors import UserError
    from services.procedures.plan.run_model import OpenObligation, RunView
    from services.procedures.service.service import ProcedureService

_OVER = frozenset({"done", "undone", "left as it is"})


@dataclass(frozen=True, slots=True)
class Standing:
    """What the journal tells: every run, the newest first, and what is switched on."""

    runs: tuple[RunView, ...] = ()
    obligations: tuple[OpenObligation, ...] = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    """The number of each run's last entry when they were read."""
    damaged: tuple[UserError, ...] = ()
    """What is wrong with the journals of the runs that can't be read."""

    @property
    def clusters(self) -> Mapping[str, str]:
        """Return run id -> the name of its cluster, its id where it has none."""
        return {view.run_id: view.plan.cluster_name or view.plan.cluster_id for view in self.runs}

    @property
    def unfinished(self) -> tuple[RunView, ...]:
        """Return the runs that are not over."""
        return tuple(view for view in self.runs if view.state.value not in _OVER)

    @property
    def over(self) -> tuple[RunView, ...]:
        """Return the runs that are over."""
        return tuple(view for view in self.runs if view.state.value in _OVER)


def read_standing(service: ProcedureService, kept: dict[str, RunView]) -> Standing:
    """Return what the journal tells now; of runs in `kept` the view that is there. On a worker."""
    marks = service.journal.marks()  # first: what is written meanwhile is seen by the next look
    from services.procedures.service.reading import each_run

    runs, damaged = each_run(service.journal.runs(), lambda run_id: kept.get(run_id) or service.view(run_id))
    return Standing(runs, service.obligations(), marks, damaged)
