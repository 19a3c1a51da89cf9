"""`record FILE`: watch into one file that `replay` opens: samples, topology, events. Nothing is overwritten."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace

from app.arguments import FINDINGS, GOOD
from app.compose import open_watcher
from services.errors import BadInput
from services.history.recording import finish_recording
from services.sampling.catalogue import load_catalogue
from services.words import tr


def run(options: Namespace) -> int:
    """Record until the time is over or the person interrupts, then pack the file."""
    if options.file.exists():
        raise BadInput(
            tr("{file} exists already.", file=options.file),
            safe=tr("It was left as it is."),
            try_=(tr("Choose another file name."),),
        )
    if not options.file.parent.is_dir():
        raise BadInput(
            tr("The folder {folder} does not exist.", folder=options.file.parent),
            try_=(tr("Make it, or choose another one."),),
        )
    watcher = open_watcher(options, recording=options.file)
    started = time.monotonic()
    watcher.start()
    try:
        while options.duration is None or time.monotonic() - started < options.duration:
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        snapshot, events = watcher.snapshot(), watcher.events()
        watcher.stop()
    finish_recording(options.file, derive=load_catalogue().derive)
    told = {
        "file": str(options.file),
        "bytes": options.file.stat().st_size,
        "seconds": round(time.monotonic() - started, 1),
        "hosts": snapshot.hosts_answering,
        "events": len(events),
    }
    if getattr(options, "json", False):
        sys.stdout.write(json.dumps(told) + "\n")
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
    return GOOD if snapshot.hosts_answering else FINDINGS
