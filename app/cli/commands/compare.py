"""`compare`: two windows of the kept history, or of a recording, number by number; those of a run or a mark."""

from __future__ import annotations

import contextlib
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from app.cli.arguments import FINDINGS, GOOD
from app.cli.kept_marks import chosen, list_marks, remove_mark, windows_of_mark
from app.cli.machine import print_json
from app.cli.steering import open_service
from app.mark_shelf import MarkShelf, StateShelf
from app.places import history_file, need_recording, state_file
from app.typed_moments import Held, window
from app.written_estate import read_inventory
from services.clock import SystemClock
from services.errors import BadInput
from services.history.recordings.recorded_marks import about_recording
from services.history.store import HistoryStore
from services.i18n import english, tr
from services.inventory.model import with_instances
from services.procedures.report.around import windows_around
from services.sampling.change.judge import SeriesOf, compare
from services.sampling.change.model import Asked, Change, Comparison, Despite, Direction, Shift, Window
from services.sampling.change.naming import good_name
from services.sampling.change.words import footnote, row, window_words
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.sampling.past.own_past import mark_of
from services.sampling.replay import Replay


@dataclass(frozen=True, slots=True)
class _Past:
    """Where the samples come from: who reads them, the stretch they cover, the servers that have any, their marks."""

    series: SeriesOf
    held: Held
    servers: tuple[str, ...]
    marks: MarkShelf


def run(options: Namespace) -> int:
    """Compare and print. Exit 1 when of any metric it is not known whether it differs."""
    machine = getattr(options, "json", False)
    keep = good_name(options.keep) if options.keep is not None else ""
    with _past(options) as past:
        if options.marks:
            return list_marks(past.marks, machine=machine)
        if options.forget:
            return remove_mark(past.marks, options.forget, machine=machine)
        before, after, hosts = _windows(options, past)
        servers = _servers(tuple(options.server) or hosts, past.servers)
        despite = frozenset(cast("list[Despite]", options.despite))
        asked = Asked(servers, before, after, tuple(options.metric), despite)
        found = compare(asked, past.series, load_catalogue())
        if keep:
            past.marks.keep(keep, (before.start, before.end), (after.start, after.end))
    if machine:
        print_json(document(found))
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines(found)))
        if keep:
            sys.stdout.write(tr("Kept as {name}. To use it again: --mark.", name=keep) + "\n")
    return FINDINGS if any(change.verdict is Direction.UNKNOWN for change in found.changes) else GOOD


@contextlib.contextmanager
def _past(options: Namespace) -> Iterator[_Past]:
    past, close = _recorded(options) if options.file is not None else _kept(options)
    try:
        yield past
    finally:
        close()


def _recorded(options: Namespace) -> tuple[_Past, Callable[[], None]]:
    path: Path = options.file
    need_recording(path)
    replay = Replay(path, SystemClock())
    about = about_recording(replay.title, replay.span())
    marks = StateShelf(state_file(options), about, replay.marks())
    return _Past(replay.series, Held(*replay.span()), replay.servers(), marks), replay.close


def _kept(options: Namespace) -> tuple[_Past, Callable[[], None]]:
    inventory, path = read_inventory(options), history_file(options)
    mark = mark_of(Path(inventory.path))
    if not path.exists():
        raise BadInput(
            tr("This data folder contains no history: nothing has been watched with it."),
            try_=(
                tr("Name a recording: pilothouse compare FILE ..."),
                tr("Collect samples first: the window, sample, record."),
            ),
        )
    store = HistoryStore.open(path, read_only=True)
    store.of_inventory(mark, inventory.addresses())
    held, now = store.range(), SystemClock().wall()
    named = {entry.name for entry in with_instances(inventory.hosts)}
    servers = tuple(server for server in store.servers() if server in named)
    reader = SeriesReader(store, load_catalogue())
    marks = StateShelf(state_file(options), mark)
    return _Past(reader.series, Held(held[0] if held else now, now), servers, marks), store.close


def _windows(options: Namespace, past: _Past) -> tuple[Window, Window, tuple[str, ...]]:
    """Return both windows, and the hosts that a named run is about."""
    if bool(options.run) + bool(options.mark) + bool(options.before or options.after) > 1:
        raise BadInput(tr("Name a run, a mark, or both windows: --run, --mark, or --before and --after."))
    if options.mark:
        return (*windows_of_mark(chosen(past.marks, options.mark)), ())
    if options.run:
        with open_service(options) as service:
            view = service.view(options.run)
        before, after = windows_around(view, past.held.end, options.around)
        return before, after, tuple(host for host in view.plan.hosts if host in past.servers)
    if not (options.before and options.after):
        raise BadInput(
            tr("Say what to compare: --before FROM..TO and --after FROM..TO, --run RUN, or --mark NAME."),
            try_=(tr("For example: --before now-30m..now-20m --after now-15m..now-5m"),),
        )
    return window(options.before, past.held), window(options.after, past.held), ()


def _servers(named: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [server for server in named if server not in known]
    if unknown or not known:
        raise BadInput(
            tr("There are no samples of {names}.", names=", ".join(unknown) or tr("any host")),
            try_=(tr("There are samples of: {names}.", names=", ".join(sorted(known))),) if known else (),
        )
    return named or tuple(sorted(known))


def lines(found: Comparison) -> Iterator[str]:
    """Yield a comparison for people: both windows, two lines a metric, what it all means."""
    yield tr("Before: {window}", window=window_words(found.before))
    yield tr("After:  {window}", window=window_words(found.after))
    server = ""
    for change in found.changes:
        if change.server != server:
            server = change.server
            yield f"\n{server}"
        _, name, before, after, by, worst, verdict = row(change)
        moved = "" if change.typical is None else f"  {before} → {after}"
        yield f"  {name}{moved}"
        if change.verdict is not Direction.UNKNOWN:
            yield f"    {tr('difference {by}; worst seconds {worst}', by=by, worst=worst)}"
        yield f"    {verdict}"
    yield f"\n{footnote(found)}"
    if found.left_out:
        yield tr("Not available on these servers: {names}.", names=", ".join(found.left_out))


def document(found: Comparison) -> dict[str, object]:
    """Return a comparison for machines; what has no end, or is not known, is null."""
    return {
        "before": {"start": found.before.start, "end": found.before.end},
        "after": {"start": found.after.start, "end": found.after.end},
        "confidence": found.confidence,
        "changes": [_change(change) for change in found.changes],
        "left_out": list(found.left_out),
    }


def _change(change: Change) -> dict[str, object]:
    return {
        "server": change.server,
        "metric": change.metric,
        "unit": change.unit,
        "verdict": change.verdict.value,
        "worst_verdict": change.worst_verdict.value,
        "why": change.why,
        "said": english(change.said),
        "despite": list(change.despite),
        "typical": _shift(change.typical),
        "worst": _shift(change.worst),
        "delta": change.delta,
        "size": change.size.value if change.size is not None else None,
        "block_s": change.block_s,
        "blocks": list(change.blocks),
        "memory_s": change.memory_s,
        "samples": list(change.samples),
    }


def _shift(shift: Shift | None) -> dict[str, float | None] | None:
    if shift is None:
        return None
    return {
        name: value if math.isfinite(value := getattr(shift, name)) else None
        for name in ("before", "after", "by", "low", "high")
    }
