"""Opens the desk for the window, on a worker: SQLAlchemy and everything behind procedures is imported here, late."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.history.split_log import Split
    from services.history.state_store import StateStore
    from services.procedures.service.service import Desk
    from services.secrets import Vault


class DeskDoor:
    """The workstation's inventory, secrets and state store behind one desk (widgets.bridge.runs.Door)."""

    def __init__(self, options: Namespace, vault: Vault, limits: Callable[[], Mapping[str, str]] = dict) -> None:
        """Know where things are.

        Args:
            limits: gives name of a procedure's question -> the answer it begins with.
        """
        self.limits = limits
        self._options = options
        self._vault = vault
        self._state: StateStore | None = None

    def open(self) -> Desk:
        """Open the store and the desk; raise UserError."""
        from app.compose import open_state, read_inventory
        from app.places import data_folder
        from services.clock import SystemClock
        from services.procedures.journal.heads import HeadFiles
        from services.procedures.journal.seal_key import WorkstationKey
        from services.procedures.service.service import Desk

        inventory, folder = read_inventory(self._options), data_folder(self._options)
        if self._state is None:
            self._state = open_state(folder / "state.sqlite")
        return Desk(inventory, self._vault, self._state, SystemClock(), WorkstationKey(folder), HeadFiles(folder))

    def refresh(self, desk: Desk) -> None:
        """Let the desk know hosts that were added or edited since."""
        from app.compose import read_inventory

        desk.use(read_inventory(self._options))

    def history(self) -> Path:
        """Return where the samples of this estate are."""
        from app.places import data_folder

        return data_folder(self._options) / "history.sqlite"

    def open_splits(self) -> tuple[Split, ...]:
        """Return two Primary Components that were seen and not settled, the oldest first; raise UserError."""
        from app.compose import open_state
        from app.places import data_folder

        # A store of its own: another worker may be opening the desk's at this moment.
        with open_state(data_folder(self._options) / "state.sqlite") as state:
            return state.splits().open()

    def settle(self, cluster_uuid: str, reason: str) -> None:
        """Settle what is open of a cluster, by the word of who sits here; raise UserError."""
        from app.compose import open_state
        from app.places import data_folder
        from services.procedures.engine.settling import person, settle

        with open_state(data_folder(self._options) / "state.sqlite") as state:
            settle(state.splits(), cluster_uuid, person(), reason)

    def close(self) -> None:
        """Close the store; the desk must be closed already."""
        if self._state is not None:
            self._state.close()
            self._state = None
