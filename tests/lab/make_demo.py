"""Makes the demo recording on the lab: `python -m tests.lab.make_demo [FILE]` (as root, about five minutes).

A real incident on real servers, recorded by the program's own `record` command: load; a node killed and returned by
IST; a node that can't keep up and slows down all others (flow control); a node emptied and returned by SST.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.lab.estate.estate import Estate
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.servers.load import Load

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT / "resources" / "demo" / "incident.pilothouse"
LENGTH_S = 210
LOAD = Load(rate=60, threads=8, tables=8, rows=50_000)
WIRE_KBIT = 48_000
"""Some data and a slow network: the SST takes long enough to be watched."""
CALM_S = 62.0
"""A transfer that ended within the last minute is still drawn: the story shall begin without one."""


def _say(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


def _story(estate: Estate) -> tuple[tuple[float, str, Callable[[], object]], ...]:
    """Return (second, what, act): what happens to the cluster, and when."""
    return (
        (3, "load begins", lambda: estate.load_start(replace(LOAD, seconds=LENGTH_S - 8), ["n1"])),
        (28, "n3 is killed", lambda: estate.kill9("n3")),
        (48, "n3 is started again", lambda: estate.start("n3", wait=False)),
        (80, "n3 loses its processor for 12 s", lambda: estate.throttle("n3", 1)),
        (92, "n3 has its processor again", lambda: estate.unthrottle("n3")),
        (118, "n2 is emptied", lambda: estate.empty("n2")),
        (126, "n2's network carries 6 MB/s", lambda: estate.slow("n2", rate_kbit=WIRE_KBIT)),
        (128, "n2 is started again", lambda: estate.start("n2", wait=False)),
        (176, "n2's network is as fast as before", estate.heal),
        (184, "n2 loses its processor for 5 s", lambda: estate.throttle("n2", 1)),
        (189, "n2 has its processor again", lambda: estate.unthrottle("n2")),
    )


def make(target: Path) -> int:
    """Record the story into `target`; return the recorder's exit code."""
    with lab_lock("session-galera"):  # no test session breaks the story meanwhile
        return _make(Estate("galera"), target)


def _make(estate: Estate, target: Path) -> int:
    estate.up(_say)
    estate.undo()
    estate.load_stop()
    estate.load_start(replace(LOAD, seconds=2), ["n1"])  # makes the tables
    time.sleep(CALM_S)
    estate.load_stop()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "app", "--inventory", str(estate.client_dir / "inventory.toml"),
        "record", str(unfinished), "--for", str(LENGTH_S),
    ]  # fmt: skip
    recorder = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **estate.environment()})
    try:
        started = time.monotonic()
        for second, what, act in _story(estate):
            time.sleep(max(0.0, second - (time.monotonic() - started)))
            _say(what)
            act()
        code = recorder.wait(timeout=LENGTH_S + 60)
    finally:
        if recorder.poll() is None:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(timeout=30)
        estate.load_stop()
        estate.undo()
    if code == 0:
        unfinished.replace(target)
        _say(f"{target}: {target.stat().st_size / 1e6:.2f} MB")
    return code


def main() -> int:
    """Parse the one argument and make the recording."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT)
    return make(parser.parse_args().file)


if __name__ == "__main__":
    sys.exit(main())
