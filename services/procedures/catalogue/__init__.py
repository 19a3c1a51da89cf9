"""The procedures, one file (or a few with one prefix) each."""

from __future__ import annotations

from services.errors import BadInput
from services.procedures.catalogue.galera.add_node.procedure import AddNode
from services.procedures.catalogue.galera.bootstrap_after_crash.procedure import BootstrapAfterCrash
from services.procedures.catalogue.galera.desync_for_backup.procedure import DesyncForBackup
from services.procedures.catalogue.galera.freeze_gcache.procedure import FreezeGcache
from services.procedures.catalogue.galera.rolling_restart.procedure import RollingRestart
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
