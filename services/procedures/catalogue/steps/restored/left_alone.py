"""Between two steps of a run that work on data it put in place, nobody else's server ran on them. Pure.

Each step behind which the server's files stay as they are keeps a mark of them; the next one that uses them, and the
start, read anew that they are as marked. A run may rest for days between the two.
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.steps.restored.restoring import aside_path, folder_of
from services.procedures.conditions.galera.data.at_rest import PositionMark
from services.procedures.conditions.galera.data.left_alone import LeftAlone
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step


def marked(host: HostFacts, step: Step) -> Step:
    """Return a step that keeps what the data are like behind it."""
    return replace(step, proof=(*step.proof, PositionMark(host.host, folder_of(host), _name(step.step_id))))


def left_alone(host: HostFacts, behind: str, own: str) -> LeftAlone:
    """Return that no other server ran on the data since a step.

    Args:
        behind: the id of that step, which is `marked`; own: the one that uses the data next.
    """
    return LeftAlone(host.host, folder_of(host), aside_path(host), _name(behind), own)


def used(host: HostFacts, step: Step, behind: str) -> Step:
    """Return a step that uses the data only as a step has left them, and keeps what they are like behind it."""
    return marked(host, replace(step, before=(*step.before, left_alone(host, behind, step.step_id))))


def until_start(host: HostFacts) -> LeftAlone:
    """Return that no other server ran on the data since they were looked at: what has to hold before the start."""
    return left_alone(host, f"look-{host.host}", f"start-{host.host}")


def _name(step_id: str) -> str:
    return f"left-{step_id}"
