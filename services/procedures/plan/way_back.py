"""What brings a cluster back that has no Primary Component while a run of it rests: the run itself can go nowhere.

A step that waits for a server, and an undo that starts one, need members that serve. That there are none is a code of
discovery: of a newest look, or of the picture that the run took when it came to rest. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD
from services.i18n import mark, tr
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import REFUSED, RunView

_FOR = "no-primary"
_SAYS = {
    ALL_DOWN: mark("All members of {name} are down: run {run} can neither continue nor be rolled back without one."),
    NO_PRIMARY: mark(
        "No member of {name} is in a Primary Component: run {run} can neither continue nor be rolled back."
    ),
    NO_PRIMARY_HEARD: mark("No member of {name} that answers is in a Primary Component; another one may be."),
}


@dataclass(frozen=True, slots=True)
class WayBack:
    """The procedure that starts such a cluster, and why it is named beside a run.

    Attributes:
        about: its card; words: what is true, what leads on, and what comes first, for a person.
        cluster: its name, as it is typed.
    """

    about: About
    words: str
    cluster: str

    @property
    def command(self) -> str:
        """Return what is typed to look at its plan."""
        return shlex.join(("pilothouse", "plan", self.about.name, "--cluster", self.cluster))


def way_back(view: RunView, codes: Collection[str], abouts: Sequence[About]) -> WayBack | None:
    """Return what brings the run's cluster back; None where it has its Primary Component, or the run is one for that.

    Args:
        codes: of what is wrong with the cluster; abouts: the cards of all procedures.
    """
    code = next((one for one in _SAYS if one in codes), "")
    own = next((about for about in abouts if about.name == view.plan.procedure), None)
    if not code or own is None or _FOR in own.for_states or view.ended is not None or view.binding in REFUSED:
        return None
    about = next((one for one in abouts if _FOR in one.for_states and set(one.kinds) & set(own.kinds)), None)
    if about is None:
        return None
    name = view.plan.cluster_name or view.plan.cluster_id
    sentences = (
        tr(_SAYS[code], name=name, run=view.run_id),
        tr("{procedure} asks every member and guides you through the start.", procedure=about.name),
        tr("Close run {run} as it is first: its lock blocks other runs.", run=view.run_id),
    )
    return WayBack(about, " ".join(sentences), name)
