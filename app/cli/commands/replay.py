"""`replay FILE`: a recording in the same window, or as JSON lines (its events) for machines."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from app.cli.arguments import GOOD
from app.cli.machine import print_json
from app.places import need_recording
from app.plain_imports import import_qt


def run(options: Namespace) -> int:
    """Open or print the recording."""
    path: Path = options.file
    need_recording(path)
    if getattr(options, "json", False):
        return _print(path)
    import_qt()
    from app.window.window_run import run_window

    return run_window(options, recording=path, start_s=options.at)


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
