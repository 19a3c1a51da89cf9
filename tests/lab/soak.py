"""A soak of the whole program on the lab (root): `python -m tests.lab.soak --minutes 30 --out resources/docs/soak.md`.

The window as the program starts it (off screen, a process of its own) watches the Galera estate under load; pages are
turned, one node is killed and returned. Reported: holes in the histories, the course of memory, stalls of the window's
event loop with what it was doing, polls missed. With --half the same twice: as it is, then with half a core for the
console. Too long for an automated run: the page it writes stands in the docs.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from tests.bench.support.control_group import ControlGroup, control_group
from tests.bench.support.soaked import Soaked, soaked
from tests.bench.support.unavailable import Unavailable
from tests.lab.estate.estate import Estate
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.servers.load import Load
from tests.lab.soak_page import Findings, report


def soak(minutes: float, own_core: int | None = None, *, half: bool = False) -> list[Findings]:
    """Run for so many minutes; return what was seen.

    Args:
        own_core: the processor that the console has for itself, as a workstation of its own would; servers and load,
            which a real one would not carry, get the others. None: the console and they share what there is.
        half: once more, with a quota of half a core around the console only; raises Unavailable where that can't be.
    """
    with ExitStack() as stack:
        group = stack.enter_context(control_group("pilothouse-soak", half=True)) if half else None
        stack.enter_context(lab_lock("session-galera"))
        estate = Estate("galera")
        if own_core is not None:
            estate.down()
            os.sched_setaffinity(0, os.sched_getaffinity(0) - {own_core})  # what is started from here on inherits it
        estate.up()
        stack.callback(estate.undo)
        stack.callback(estate.load_stop)
        groups = (None, group) if group is not None else (None,)
        return [_run(estate, minutes * 60.0, own_core, each) for each in groups]


def _run(estate: Estate, seconds: float, own_core: int | None, group: ControlGroup | None) -> Findings:
    estate.undo()
    estate.load_stop()
    estate.load_start(Load(seconds=int(seconds) + 60, rate=40, threads=6), ["n1"])
    os.environ.update(estate.environment())
    found = Findings(Soaked(), half=group is not None)
    provoking = threading.Timer(seconds * 0.4, _provoke, (estate, found))
    try:
        inventory = estate.client_dir / "inventory.toml"
        found.window = soaked(inventory, seconds, group, own_core=own_core, meanwhile=provoking.start)
    finally:
        provoking.cancel()
    provoking.join()
    return found


def _provoke(estate: Estate, found: Findings) -> None:
    """Kill n3 and start it again."""
    begin = time.time()
    estate.kill9("n3")
    time.sleep(20)
    estate.start("n3")
    found.provoked.append((begin, time.time()))


def main() -> int:
    """Run the soak and print (and write) its page; 3 with the reason where half a core can't be had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--beside", default="", help="a sentence for the page: what else ran on the machine")
    parser.add_argument("--own-core", type=int, default=None, help="the console's own processor; servers get the rest")
    parser.add_argument("--half", action="store_true", help="once more with half a core for the console (needs root)")
    options = parser.parse_args()
    try:
        found = soak(options.minutes, options.own_core, half=options.half)
    except Unavailable as reason:
        sys.stderr.write(f"{reason}\n")
        return 3
    page = report(found, options.minutes, options.beside)
    sys.stdout.write(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
