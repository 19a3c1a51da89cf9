"""`replay FILE`: a recording in the same window, or as JSON lines (its events) for machines."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from app.cli.arguments import GOOD
from app.cli.machine import print_json
from app.places import need_recording
from app.plain_imports import import_qt
from services.errors import BadInput
from services.i18n import tr
from services.moments import local_time


def run(options: Namespace) -> int:
    """Open or print the recording."""
    path: Path = options.file
    need_recording(path)
    if getattr(options, "json", False):
        return _print(path)
    start_s = seconds_into(path, options.at) if isinstance(options.at, str) else options.at
    import_qt()
    from app.window.window_run import run_window

    return run_window(options, recording=path, start_s=start_s)


def seconds_into(path: Path, text: str) -> float:
    """Return how far into the recording a moment lies; raise BadInput for one outside of it."""
    from app.typed_moments import Held, moment
    from services.clock import SystemClock
    from services.sampling.replay import Replay

    replay = Replay(path, SystemClock())
    start, end = replay.span()
    replay.close()
    at = moment(text, Held(start, end))
    if not start <= at <= end:
        raise BadInput(
            tr("{moment} is not in the recording.", moment=_local(at)),
            try_=(tr("It covers {start} to {end}.", start=_local(start), end=_local(end)),),
        )
    return at - start


def _local(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", local_time(at))


def _print(path: Path) -> int:
    from services.clock import SystemClock
    from services.sampling.replay import Replay

    replay = Replay(path, SystemClock())
    try:
        start, end = replay.span()
        replay.seek(end)
        head = {"file": str(path), "start": start, "end": end, "servers": list(replay.servers())}
        print_json(head)
        for event in replay.events():
            print_json({"event": event})
    finally:
        replay.close()
    return GOOD
