"""Write the store of today, to be kept as one of an earlier day: python -m tests.unit.old_files.write_store FOLDER.

It takes some minutes. It prints the store's lines for `runs.tsv`; the names of today are added to `names.json` by
`python -m tests.unit.old_files.test_stored_names`.
"""

from __future__ import annotations

import lzma
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from services.clock import ManualClock
from services.history.state.positions import PositionSeen
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore
from services.procedures.journal.journal import StoredJournal
from tests.faults.cases import CASES, Case
from tests.faults.scripted.breaking import FAULTS, break_at
from tests.faults.scripted.running import Bench, Moment
from tests.unit.old_files.kept import KeptKey

_CLUSTER = "6b2a7c1e-0000-11f0-8000-00000000000a"
_BROKEN_AT = 3
"""The step whose act meets the fault, counted by those that have a host."""


def _whole(case: Case) -> Bench:
    bench = case.bench_begun()
    bench.run()
    return bench


def _killed(case: Case, part: float = 0.6) -> Bench:
    whole = _whole(case)
    acts = [e.seq for e in whole.journal.entries(whole.run_id) if (e.data or {}).get("state") == "acting"]
    bench = case.bench_begun()
    bench.run_killed_at(acts[int(len(acts) * part)], before=False)
    return bench


def _taken_back(case: Case, *, killed: bool) -> Bench:
    first = _killed(case, 0.5)
    bench = first.after_kill(Moment("", first.journal.entries(first.run_id), first.cluster))
    bench.confirmed |= case.accepts

    def die(when: str, what: str) -> None:
        if killed and when == "after" and "undoing" in what and "step" in what:
            raise KeyboardInterrupt

    bench.journal.told = die
    with suppress(KeyboardInterrupt):
        bench.engine().undo()
    bench.journal.told = None
    return bench


def _unanswered(case: Case) -> Bench:
    bench = case.bench()
    bench.confirmed = frozenset()
    bench.begin()
    bench.run()
    return bench


def _broken(case: Case, name: str, *, asks: bool) -> Bench:
    fault = next(fault for fault in FAULTS if fault.name == name)
    bench = case.bench_begun()
    bench.on_failure = "ask" if asks else "undo"
    hosts = {step.step_id: step.host for step in bench.engine().view.plan.steps}
    met: list[str] = []

    def told(when: str, what: str) -> None:
        if when != "after" or "(step " not in what or not what.endswith(f"{fault.when})"):
            return
        host = bench.cluster.hosts.get(hosts.get(what.partition("(step ")[2].partition(" ")[0], ""))
        if host is not None:
            met.append(what)
            if len(met) == _BROKEN_AT:
                break_at(bench.cluster, fault, host)

    bench.journal.told = told
    bench.run()
    bench.journal.told = None
    return bench


def _courses() -> Iterator[tuple[str, Callable[[], Bench]]]:
    """Yield what is done with which run, by the names of the table in `__init__.py`."""
    by_name: dict[str, Case] = {}
    confirmed: dict[str, Case] = {}
    for case in CASES:
        by_name.setdefault(case.name, case)
        if case.confirmed:
            confirmed.setdefault(case.name, case)
    for number, one in enumerate(by_name.values()):
        again = bool(number % 2)
        yield "whole", partial(_whole, one)
        yield "killed", partial(_killed, one)
        yield "undo killed" if again else "taken back", partial(_taken_back, one, killed=again)
    for one in confirmed.values():
        yield "unanswered", partial(_unanswered, one)
    for one in list(by_name.values())[:4]:
        yield "act refused, undo", partial(_broken, one, "act refused", asks=False)
        yield "server killed, ask", partial(_broken, one, "server killed", asks=True)
    yield "approved", CASES[0].bench_begun


def _keep(journal: StoredJournal, clock: ManualClock, bench: Bench, course: str) -> str:
    """Write a run into the store as its engine would have; return its line of the table."""
    entries, view = bench.journal.entries(bench.run_id), bench.engine().view
    later = clock.wall() - entries[0].at
    run_id = journal.new_run(view.plan.procedure, view.plan.cluster_id, view.plan.title)
    for entry in entries:
        clock.advance(max(0.0, entry.at + later - clock.wall()))
        journal.append(run_id, entry.kind, entry.step_id, entry.data)
    journal.let_go(run_id)
    clock.advance(600.0)
    return f"{run_id}\t{view.plan.procedure}\t{course}\t{view.state.value}\t{len(entries)}"


def _fill(store: StateStore, day: float) -> None:
    """Fill the other tables; the second console is never ended."""
    for ends in (True, False):
        store.record_console_start("0.1")
        if ends:
            store.record_console_end()
    store.set_setting("theme", "dark")
    store.set_setting(f"cluster.name.{_CLUSTER}", "shop")
    store.remember_nodes(
        (
            NodeSighting("n1", day + 5, _CLUSTER, "node-1", "server-1", 1234),
            NodeSighting("n2", day + 5, _CLUSTER, "node-2", "server-2", 1230),
        )
    )
    store.remember_positions([PositionSeen("n3", _CLUSTER, "grastate", 1200, day + 6, "watch")])
    store.change_marks("inventory").keep("new pool", (day, day + 60), (day + 60, day + 120), "somebody")


def main(folder: Path) -> None:
    """Write the store of today into a folder, packed."""
    socket.gethostname = lambda: "console"  # no name of a real machine is kept
    name = f"store-{time.strftime('%Y-%m-%d', time.gmtime())}.sqlite3"
    file, day = folder / name, float(int(time.time()))
    clock = ManualClock(day)
    with StateStore.open(file, clock=clock) as store:
        journal = StoredJournal(store, KeptKey())
        for course, made in _courses():
            sys.stdout.write(f"{name[6:16]}\t{_keep(journal, clock, made(), course)}\n")
        _fill(store, day)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    packed = lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (folder / f"{name}.xz").write_bytes(packed)
    file.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
