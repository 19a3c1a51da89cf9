"""The procedures, a folder each by family: found by themselves."""

from __future__ import annotations

import sys

from services.errors import BadInput
from services.procedures.plan.finding import procedures_of
from services.procedures.plan.procedure import Procedure

_ALL: tuple[Procedure, ...] = procedures_of(sys.modules[__name__])


def all_procedures() -> tuple[Procedure, ...]:
    """Return every procedure, in the order of the cards."""
    return _ALL


def procedure_named(name: str) -> Procedure:
    """Return a procedure by its catalogue name; BadInput names the ones there are."""
    for procedure in _ALL:
        if procedure.about.name == name:
            return procedure
    raise BadInput(
        f"There is no procedure called {name!r}.",
        try_=(f"One of: {', '.join(p.about.name for p in _ALL)}.",),
    )
