"""A toy condition whose tag another file claims too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past


@dataclass(frozen=True, slots=True)
class Other(OfHost):
    """It always holds."""

    tag: ClassVar[str] = "toy.same"
    words: ClassVar[str] = "{host}"

    def look(self, asking: Asking, past: Past) -> Answer:
        """Look at nothing."""
        del asking, past
        return Answer(holds=True, evidence="")
