"""Hosts that others name, in the window: who they are, and a person's word that they may be asked, kept as hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.hosts.add_host import AddHost
from app.window.main_window import MainWindow
from services.addresses import is_address
from services.discovery.model import EstateSnapshot, Unasked, place_of
from services.errors import BadInput
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory
from widgets.bridge.ops import Ops
from widgets.inventory.unasked import UnaskedDialog, UnaskedNotice


class AskMore(QObject):
    """Fills the notice from a live estate; what is agreed to stands in the inventory before anybody is asked.

    Attributes:
        ask_about: given the hosts that are watched now: nobody has compared their keys yet.
    """

    def __init__(self, controller: Controller, window: MainWindow, hosts: AddHost, ops: Ops, parent: QObject) -> None:
        super().__init__(parent)
        self.ask_about: Callable[[tuple[HostEntry, ...]], None] = lambda _entries: None
        self._window = window
        self._hosts = hosts
        self._ops = ops
        self._named: tuple[Unasked, ...] = ()
        self.notice = UnaskedNotice()
        self.notice.acted.connect(self.open)
        window.add_notice(self.notice)
        controller.pump.snapshot_changed.connect(self._changed)
        self._changed(controller.estate)

    def _changed(self, estate: EstateSnapshot) -> None:
        self._named = estate.unasked
        self.notice.show_unasked(estate.unasked)

    def open(self) -> None:
        """Show who is named, all ticked that are members of now."""
        dialog = UnaskedDialog(self._named, self._window)
        dialog.watch_requested.connect(self._watch)
        dialog.show()

    def _watch(self, wanted: tuple[Unasked, ...]) -> None:
        path = self._hosts.path
        self._ops.run("watch-more", lambda: written_down(path, wanted), self._written, self._window.messages.say_error)

    def _written(self, entries: tuple[HostEntry, ...]) -> None:
        self._hosts.added.emit(entries)
        self.ask_about(entries)


def written_down(path: Path, wanted: tuple[Unasked, ...]) -> tuple[HostEntry, ...]:
    """Write the hosts into the inventory's file with the ways in of who they go with; return them. Raises UserError."""
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory

    inventory, entries = with_named(load_inventory(path), wanted)
    save_inventory(inventory, path)
    return entries


def with_named(inventory: Inventory, wanted: tuple[Unasked, ...]) -> tuple[Inventory, tuple[HostEntry, ...]]:
    """Return the inventory with these hosts in it, and their entries: the same ways in, under names of their own."""
    entries: list[HostEntry] = []
    for one in wanted:
        by = inventory.entry(one.ways_of)
        if by is None:
            raise BadInput(
                tr("The account of {host} cannot be used: the host is no longer in the inventory.", host=one.ways_of),
                safe=tr("Nothing was written."),
            )
        taken = {name.lower() for host in inventory.hosts for name in (host.name, place_of(host.address, host.port))}
        if one.place.lower() in taken:
            continue
        name = one.name if is_address(one.name) and one.name.lower() not in taken else one.place
        member = by.for_member(name, one.address, one.port)
        sql = by.sql if member.sql is None or by.sql is None else replace(by.sql, port=member.sql.port)
        entry = replace(member, sql=sql, ways_of="")
        inventory = replace(inventory, hosts=(*inventory.hosts, entry))
        entries.append(entry)
    return inventory, tuple(entries)
