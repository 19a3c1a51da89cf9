"""A toy condition whose tag another file claims too."""

from __future__ import annotations

from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("toy.same", "{host}")
class Other(OfHost):
    """It always holds."""

    def look(self, asking: Asking) -> Answer:
        """Look at nothing."""
        del asking
        return Answer(holds=True, evidence="")
