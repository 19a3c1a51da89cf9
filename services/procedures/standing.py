"""Where a run stands, in one sentence for the command line."""

from __future__ import annotations

from services.procedures.fold import ENDED
from services.procedures.run_model import RunView
from services.words import tr


def where_it_stands(view: RunView) -> str:
    """Return one sentence: where a run stands and how to go on or back."""
    if view.state in ENDED:
        hosts = ", ".join(view.locked)
        return tr("It is over; its lock may still be on {hosts}. Resume {run} takes it away.", hosts=hosts,
                  run=view.run_id)  # fmt: skip
    done = sum(s.state.value in {"done", "already so"} for s in view.steps)
    at = next((s for s in view.steps if s.state.value not in {"done", "already so"}), None)
    doing = tr("; next: {title}", title=at.step.title) if at is not None else ""
    return tr(
        "{done} of {total} steps are done{doing}. Go on with resume {run}, or back with undo {run}.",
        done=done,
        total=len(view.steps),
        doing=doing,
        run=view.run_id,
    )
