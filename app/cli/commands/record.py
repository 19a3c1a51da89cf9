"""`record FILE`: watch into one file that `replay` opens: samples, topology, events. Nothing is overwritten."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.no_answer import Silence
from app.compose import open_watcher
from app.mark_shelf import StateShelf
from app.places import state_file
from app.written_estate import read_inventory
from services.errors import BadInput, StoreError, UserError
from services.events import Event
from services.history.marked_change import ChangeMark
from services.history.recordings.recording import finish_recording
from services.i18n import tr
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.past.own_past import mark_of
from services.workstation.files import private_file


def run(options: Namespace) -> int:
    """Record until the time is over or the person interrupts, then pack the file."""
    _need_place(options.file)
    watcher = open_watcher(options, recording=options.file)
    started = time.monotonic()
    silence = Silence()
    watcher.start()
    try:
        while options.duration is None or time.monotonic() - started < options.duration:
            time.sleep(0.2)
            silence.tell(watcher)
    except KeyboardInterrupt:
        pass
    finally:
        snapshot, events = watcher.snapshot(), watcher.events()
        watcher.stop()
    if watcher.trouble is not None:
        raise _cut_short(options.file, watcher.trouble)
    finish_recording(options.file, derive=load_catalogue().derive, marks=_marked(options), events=_steps(options))
    told = {
        "file": str(options.file),
        "bytes": options.file.stat().st_size,
        "seconds": round(time.monotonic() - started, 1),
        "hosts": snapshot.hosts_answering,
        "events": len(events),
    }
    if getattr(options, "json", False):
        print_json(told)
    else:
        sys.stdout.write(
            tr(
                "{file}: {seconds} s of {hosts} hosts, {events} events, {size:.2f} MB\n",
                file=told["file"],
                seconds=told["seconds"],
                hosts=told["hosts"],
                events=told["events"],
                size=told["bytes"] / 1e6,
            )
        )
    if snapshot.hosts_answering:
        return GOOD
    sys.stderr.write(
        tr(
            "No host answered, so the recording holds no samples. Test each connection: {command}",
            command="pilothouse inventory check",
        )
        + "\n"
    )
    return FINDINGS


def _cut_short(file: Path, trouble: StoreError) -> StoreError:
    return StoreError(
        tr("{file} is incomplete: the last samples could not be written. {why}", file=file, why=trouble.sentence),
        safe=tr("The file contains everything before that, and replay can open it."),
        try_=trouble.try_,
    )


def _marked(options: Namespace) -> tuple[ChangeMark, ...]:
    """Return the changes that were marked in this data folder; a store that can't be read spoils no recording."""
    try:
        file, about = state_file(options), mark_of(Path(read_inventory(options).path))
        return StateShelf(file, about).all()
    except UserError as problem:
        sys.stderr.write(tr("The recording does not include the marked changes: {problem}", problem=problem) + "\n")
        return ()


def _steps(options: Namespace) -> tuple[Event, ...]:
    """Return what runs of this data folder did, as the window shows it; one that can't be read spoils no recording."""
    from services.history.state.store import StateStore  # late: where nothing was run there is no such file
    from services.procedures.journal.journal import StoredJournal
    from services.procedures.journal.projection import project
    from services.procedures.service.run_events import run_events

    file = state_file(options)
    if not file.is_file():
        return ()
    try:
        store = StateStore.open(file)
        try:
            journal = StoredJournal(store)
            return tuple(event for run in journal.runs() for event in run_events(project(journal.entries(run))))
        finally:
            store.close()
    except UserError as problem:
        sys.stderr.write(tr("The recording does not include the steps of runs: {problem}", problem=problem) + "\n")
        return ()


def _need_place(file: Path) -> None:
    """Raise BadInput where a new file can't be made, before any host is asked."""
    try:
        if file.exists():
            raise BadInput(
                tr("{file} exists already.", file=file),
                safe=tr("It was not changed."),
                try_=(tr("Choose another file name."),),
            )
        if not file.parent.is_dir():
            raise BadInput(
                tr("The folder {folder} does not exist.", folder=file.parent),
                try_=(tr("Create it, or choose another one."),),
            )
        private_file(file)
        file.unlink()
    except OSError as problem:
        raise BadInput(
            tr("The recording {file} cannot be written: {problem}.", file=file, problem=problem.strerror or problem),
            safe=tr("Nothing was written, and no host was contacted."),
            try_=(tr("Choose a folder that you may write to."),),
        ) from problem
