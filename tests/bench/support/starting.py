"""Starts of a window as processes of their own, timed from before the process is made (start_probe)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.discovery.model import EstateSnapshot
from services.history.recordings.recording import finish_recording, record_to
from services.sampling.metrics.catalogue import load_catalogue
from tests.bench.support.stream import read_stream
from tests.bench.support.unavailable import Unavailable
from tests.widgets.builders import healthy

ROOT = Path(__file__).resolve().parents[3]
_HOST = """
[[host]]
name = "db{number}"
address = "127.0.0.1"

[host.sql]
user = "bench"
port = {port}
tls = "off"
"""


def write_inventory(path: Path, *ports: int) -> Path:
    """Write an inventory of hosts that have SQL only, on loopback."""
    hosts = (_HOST.format(number=number, port=port) for number, port in enumerate(ports, 1))
    path.write_text("version = 1\n" + "".join(hosts), encoding="utf-8")
    return path


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of both sides: no display, and byte code as an installed program has it."""
    mine = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return mine | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


class Starts:
    """Makes starts in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = environment(folder)

    def start(self, *arguments: str) -> dict[str, Any]:
        """Return what the probe tells, its moments as milliseconds since the process was asked for."""
        began = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-m", "tests.bench.support.start_probe", *arguments],
            env=self._environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if not ended.stdout.startswith("{"):
            raise Unavailable(f"the window did not start: {ended.stderr.strip()[-300:]}")
        document = json.loads(ended.stdout)
        return {key: value if key == "late" else (value - began) * 1000.0 for key, value in document.items()}

    def empty(self) -> float:
        """Return the first paint of an empty window, ms."""
        return float(self.start("empty")["painted"])


@contextlib.contextmanager
def starts() -> Iterator[Starts]:
    """Give a folder that goes again."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        yield Starts(Path(folder))


def make_recording(path: Path) -> Path:
    """Write five minutes of three Galera nodes, from the recorded stream of one, with a snapshot of them."""
    derive = load_catalogue().derive
    stream = read_stream("galera_node")
    store = record_to(path, derive=derive, title="bench")
    cluster = healthy()
    try:
        for number, node in enumerate(cluster.nodes):
            for sample in stream.samples(node.host)[:300]:
                store.append(sample)
            if not number:
                first = float(stream.at[0])
                store.append_snapshot(EstateSnapshot(at=first, clusters=(replace(cluster, at=first),)))
    finally:
        store.close()
    finish_recording(path, derive=derive)
    return path
