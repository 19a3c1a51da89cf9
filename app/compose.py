"""The composition root: the one place that knows every concrete class and hands ports to everybody else."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.places import history_file, state_file
from app.window.settings.watching import Watching
from app.written_estate import chosen_seeds, cluster_names, estate_name, expected_sizes, read_inventory
from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.ports import ObserverSession
from services.discovery.families.builtin import BUILT_IN
from services.discovery.families.registry import register
from services.discovery.looks.crawl import crawl
from services.discovery.model import EstateSnapshot
from services.discovery.naming import names_of_clusters
from services.discovery.shared_hosts import only_named
from services.discovery.snapshot import Look, updated_estate
from services.facts.model import NodeFacts
from services.history.recordings.recording import record_to
from services.history.store import HistoryStore
from services.inventory.membership import written_clusters
from services.inventory.model import HostEntry, Inventory, with_instances
from services.inventory.trust import trust_of
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.past.console_memory import WINDOW_COST
from services.sampling.past.own_past import mark_of
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from services.secrets import SystemVault, Vault

FAMILIES = register(BUILT_IN)
"""The families of systems that this process watches."""

if TYPE_CHECKING:
    from services.history.state.store import StateStore

_TOLD = frozenset({"no-address", "too-many-hosts"})
"""Problems of a search that no node can carry: nobody was asked."""
Past = Callable[[Mapping[str, NodeFacts]], EstateSnapshot | None]
SessionOpener = Callable[[HostEntry], ObserverSession]


def session_opener(vault: Vault | None = None) -> SessionOpener:
    """Return the function that opens (lazily) an Observer session for a host."""
    keeper = vault or SystemVault()
    clock = SystemClock()
    return lambda entry: HostSession(entry, keeper, clock=clock)


def discover(
    options: Namespace, seed_names: tuple[str, ...], limit_s: float, past: Past = lambda _facts: None
) -> EstateSnapshot:
    """Discover once and judge; every session is closed again.

    Args:
        past: given what the hosts said, returns what is known of those that can't tell their own cluster.
    """
    inventory = read_inventory(options)
    seeds = chosen_seeds(inventory, seed_names)
    clock = SystemClock()
    began = clock.wall()
    found = crawl(seeds, session_opener(), clock, trust=trust_of(inventory), limit_s=limit_s)
    look = Look(began, clock.wall())
    sizes = expected_sizes(inventory)
    written = written_clusters(inventory)
    named = only_named(seeds, look.at)
    facts = {**found.facts, **named}
    names = {key: key for key in (*(entry.name for entry in with_instances(inventory.hosts)), *named)}
    make = partial(
        updated_estate, past(found.facts), facts, look, expected=sizes, unasked=found.unasked, written=written
    )
    called = names_of_clusters(cluster_names(inventory), make(names), facts)
    estate = make({**names, **called})  # the first picture shows which clusters the seeds are in
    odd = tuple(problem for problem in found.problems if problem.code in _TOLD)
    return replace(estate, problems=(*estate.problems, *odd))


def open_state(path: Path, inventory: Inventory | None = None) -> StateStore:
    """Open what the console remembers between its runs, of the hosts of an inventory."""
    from services.history.state.store import StateStore  # SQLAlchemy: not before the window stands

    state = StateStore.open(path)
    if inventory is not None:
        state.of_inventory(mark_of(Path(inventory.path)), inventory.addresses())
    return state


def last_window_cost(options: Namespace) -> dict[str, float] | None:
    """Return what the last window cost (ConsoleCost as a dictionary), None when there was none."""
    store = open_state(state_file(options))
    try:
        kept = store.get_setting(WINDOW_COST)
    finally:
        store.close()
    return msgspec.json.decode(kept, type=dict[str, float]) if kept else None


def open_watcher(
    options: Namespace, *, recording: Path | None = None, vault: Vault | None = None, watching: Watching | None = None
) -> Watcher:
    """Return a watcher over the inventory, not yet started.

    Args:
        recording: watch into this new file instead of the local history, without limits of age and size.
        watching: how often is sampled and how much is kept.
    """
    inventory = read_inventory(options)
    seeds = chosen_seeds(inventory, ())
    catalogue = load_catalogue()
    state: Callable[[], StateStore] | None = None
    if recording is not None:
        store = record_to(recording, derive=catalogue.derive, title=estate_name(inventory))
    else:
        chosen = watching or Watching()
        store = HistoryStore.open(
            history_file(options),
            derive=catalogue.derive,
            keep_days=float(chosen.keep_days),
            max_bytes=chosen.most_gib * 2**30,
        )
        store.of_inventory(mark_of(Path(inventory.path)), inventory.addresses())
        path = state_file(options)
        state = lambda: open_state(path, inventory)  # noqa: E731 - opened later, on the thread that uses it
    names = cluster_names(inventory)
    opener = session_opener(vault)
    title = estate_name(inventory)
    pace = WatchSettings(interval_s=float(watching.interval_s)) if watching is not None else None
    watcher = Watcher(title, seeds, opener, store, SystemClock(), pace, cluster_names=names, state=state)
    if recording is None:  # a recording is of one inventory, and travels
        watcher.sign(mark_of(Path(inventory.path)))
    watcher.expect(expected_sizes(inventory))
    watcher.stand_as_written(written_clusters(inventory))
    watcher.let_ask(trust_of(inventory))
    return watcher
