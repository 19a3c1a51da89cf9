"""Opens the service for the window, on a worker: SQLAlchemy and everything behind procedures is imported here, late."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.history.state.split_log import Split
    from services.history.state.store import StateStore
    from services.procedures.service.service import ProcedureService
    from services.secrets import Vault


class ServiceDoor:
    """The workstation's inventory, secrets and state store behind one service (widgets.bridge.runs.Door)."""

    def __init__(self, options: Namespace, vault: Vault, limits: Callable[[], Mapping[str, str]] = dict) -> None:
        """Know where things are.

        Args:
            limits: gives name of a procedure's question -> the answer it begins with.
        """
        self.limits = limits
        self._options = options
        self._vault = vault
        self._state: StateStore | None = None

    def open(self) -> ProcedureService:
        """Open the store and the service; raise UserError."""
        from app.compose import open_state
        from app.places import data_folder, state_file
        from app.written_estate import read_inventory
        from services.clock import SystemClock
        from services.procedures.journal.heads import HeadFiles
        from services.procedures.journal.seal_key import WorkstationKey
        from services.procedures.service.service import ProcedureService

        inventory, folder = read_inventory(self._options), data_folder(self._options)
        if self._state is None:
            self._state = open_state(state_file(self._options), inventory)
        return ProcedureService(
            inventory, self._vault, self._state, SystemClock(), WorkstationKey(folder), HeadFiles(folder)
        )

    def refresh(self, service: ProcedureService) -> None:
        """Let the service know hosts that were added or edited since."""
        from app.written_estate import read_inventory
        from services.sampling.past.own_past import mark_of

        inventory = read_inventory(self._options)
        if self._state is not None:
            self._state.of_inventory(mark_of(Path(inventory.path)), inventory.addresses())
        service.use(inventory)

    def history(self) -> Path:
        """Return where the samples of this estate are."""
        from app.places import history_file

        return history_file(self._options)

    def open_splits(self) -> tuple[Split, ...]:
        """Return two Primary Components that were seen and not settled, the oldest first; raise UserError."""
        from app.compose import open_state
        from app.places import state_file

        # A store of its own: another worker may be opening the service's at this moment.
        with open_state(state_file(self._options)) as state:
            return state.splits().open()

    def settle(self, cluster_uuid: str, reason: str) -> None:
        """Settle what is open of a cluster, by the word of who sits here; raise UserError."""
        from app.compose import open_state
        from app.places import state_file
        from services.procedures.engine.endings.settling import person, settle

        with open_state(state_file(self._options)) as state:
            settle(state.splits(), cluster_uuid, person(), reason)

    def close(self) -> None:
        """Close the store; the service must be closed already."""
        if self._state is not None:
            self._state.close()
            self._state = None
