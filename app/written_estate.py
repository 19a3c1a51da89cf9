"""What the inventory says is to be watched, read before anything is loaded that watches: there may be nothing."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from app.places import inventory_file
from services.errors import BadInput
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory, with_instances
from services.inventory.toml_file import load_inventory
from services.inventory.trust import is_place
from services.visible import valid_utf8
from services.workstation.files import is_missing


class NothingToWatch(BadInput):
    """There is no inventory yet, or it has no host: the window teaches, a command tells.

    Attributes:
        told: what the window says first: that the file which was named is not there; '' where none was named.
    """

    told = ""


class InventoryRefused(BadInput):
    """The inventory's file can't be read, or has faults: another one would do."""


def read_inventory(options: Namespace) -> Inventory:
    """Return the inventory; raise BadInput with advice where there is none yet or it has no host."""
    path = inventory_file(options)
    if is_missing(path):
        nothing = NothingToWatch(
            tr("There is no inventory at {path}.", path=path),
            try_=(
                tr("Name one with --inventory FILE (the format: resources/docs/inventory.md)."),
                tr("Import hosts you already have: pilothouse inventory import --from ssh --write"),
                tr("Try the program without a server: pilothouse demo"),
            ),
        )
        if getattr(options, "inventory", None) is not None:
            nothing.told = tr(
                "There is no inventory at {path}, the file that --inventory names. Adding or importing a host "
                "creates it; if the name is a mistake, choose the right file.",
                path=path,
            )
        raise nothing
    try:
        inventory = load_inventory(path)
    except BadInput as problem:
        raise InventoryRefused(problem.sentence, host=problem.host, try_=problem.try_) from problem
    return replace(inventory, also=_also(options))


def _also(options: Namespace) -> tuple[str, ...]:
    """Return what --also names; raise BadInput for what is no network and no address."""
    places = tuple(getattr(options, "also", ()))
    odd = [place for place in places if not is_place(place)]
    if odd:
        raise BadInput(
            tr("--also {place}: neither an address nor a network.", place=odd[0]),
            try_=(tr("Write an IP address, a host name, or a network such as 10.0.3.0/24 (at most /8)."),),
        )
    return places


def chosen_seeds(inventory: Inventory, names: tuple[str, ...]) -> tuple[HostEntry, ...]:
    """Return the hosts to start from, each with its instances: those named, else every host."""
    if names:
        missing = [name for name in names if inventory.host(name) is None]
        if missing:
            raise BadInput(
                tr("The inventory has no host named {names}.", names=", ".join(missing)),
                try_=(tr("Its hosts are: {names}.", names=", ".join(h.name for h in inventory.hosts)),),
            )
        return with_instances(tuple(h for h in inventory.hosts if h.name in names))
    if not inventory.hosts:
        empty = NothingToWatch(
            tr("The inventory {path} contains no hosts.", path=inventory.path), try_=(tr("Add a [[host]] to it."),)
        )
        empty.told = empty.sentence
        raise empty
    return with_instances(inventory.hosts)


def estate_name(inventory: Inventory) -> str:
    """Return what the estate is called: its clusters' names, else the file's. Never a path: recordings travel."""
    return ", ".join(c.name for c in inventory.clusters) or valid_utf8(Path(inventory.path).stem)


def cluster_names(inventory: Inventory) -> dict[str, str]:
    """Return seed host -> its cluster's name in the inventory."""
    return {seed: cluster.name for cluster in inventory.clusters for seed in cluster.seeds}


def expected_sizes(inventory: Inventory) -> dict[str, int]:
    """Return seed host -> how many nodes its cluster should have, where the inventory says so."""
    return {seed: c.expected for c in inventory.clusters if c.expected is not None for seed in c.seeds}
