"""The procedures, one file (or a few with one prefix) each."""

from __future__ import annotations

from services.errors import BadInput
from services.procedures.catalogue.add_node import AddNode
from services.procedures.catalogue.bootstrap_after_crash import BootstrapAfterCrash
from services.procedures.catalogue.desync_for_backup import DesyncForBackup
from services.procedures.catalogue.freeze_gcache import FreezeGcache
from services.procedures.catalogue.rolling_restart import RollingRestart
from services.procedures.plan.procedure import Procedure

_ALL: tuple[Procedure, ...] = (AddNode(), FreezeGcache(), RollingRestart(), BootstrapAfterCrash(), DesyncForBackup())


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
