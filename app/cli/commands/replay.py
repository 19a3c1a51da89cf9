"""`replay FILE`: a recording in the same window, or as JSON lines (its events) for machines."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from app.cli.arguments import GOOD
from app.cli.visible import json_for
from services.errors import BadInput
from services.i18n import stored, tr


def run(options: Namespace) -> int:
    """Open or print the recording."""
    path: Path = options.file
    if not path.is_file():
        raise BadInput(
            tr("There is no recording at {path}.", path=path), try_=(tr("Make one with: pilothouse record FILE"),)
        )
    if getattr(options, "json", False):
        return _print(path)
    from app.window.window_run import run_window

    return run_window(options, recording=path, start_s=options.at)


def _print(path: Path) -> int:
    import msgspec

    from services.clock import SystemClock
    from services.sampling.replay import Replay

    replay = Replay(path, SystemClock())
    try:
        start, end = replay.span()
        replay.seek(end)
        head = {"file": str(path), "start": start, "end": end, "servers": list(replay.servers())}
        sys.stdout.write(json.dumps(head) + "\n")
        for event in replay.events():
            line = msgspec.json.encode({"event": event}, enc_hook=stored).decode()
            sys.stdout.write(json_for(sys.stdout, line) + "\n")
    finally:
        replay.close()
    return GOOD
