"""Another inventory for the window: an existing file chosen, or a new one made where a person says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from app.window.main_window import MainWindow
from services.i18n import tr
from services.inventory.model import Inventory
from services.workstation.files import is_missing
from widgets.bridge.ops import Ops


class InventoryChoice(QObject):
    """Asks the system for a file. `chosen(Path)`: it is there, and the window shall show it.

    Args:
        present: returns the inventory's file of now, beside which the choice begins.
    """

    chosen = Signal(object)

    def __init__(self, window: MainWindow, ops: Ops, present: Callable[[], Path], parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._ops = ops
        self._present = present
        self.dialog: QFileDialog | None = None
        window.inventory_wanted.connect(self.open)

    def open(self) -> None:
        """Let a person choose a file that exists."""
        dialog = self._dialog(tr("Open another inventory"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.chosen.emit(Path(name)))
        dialog.open()

    def make(self) -> None:
        """Let a person name a new file. One that is there already is opened, never written over."""
        dialog = self._dialog(tr("Create an inventory"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setDefaultSuffix("toml")
        present = self._present()
        dialog.selectFile(present.name if is_missing(present) else "inventory.toml")
        dialog.fileSelected.connect(self._make)
        dialog.open()

    def _dialog(self, title: str) -> QFileDialog:
        folder = self._present().absolute().parent
        start = next((place for place in (folder, *folder.parents) if place.is_dir()), Path())
        made = QFileDialog(self._window, title, str(start), f"{tr('Inventories')} (*.toml);;{tr('All files')} (*)")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.finished.connect(self._done)
        self.dialog = made
        return made

    def _done(self) -> None:
        self.dialog = None

    def _make(self, name: str) -> None:
        path = Path(name)
        self._ops.run("new-inventory", lambda: made_where_none_is(path), self.chosen.emit)


def made_where_none_is(path: Path) -> Path:
    """Write an inventory without hosts unless a file is there; return the path. Raises UserError."""
    from services.inventory.toml_save import save_inventory

    if is_missing(path):
        save_inventory(Inventory(path=str(path)), path)
    return path
