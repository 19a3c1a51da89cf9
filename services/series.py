"""Samples and series: what the samplers write, the store keeps and the charts draw. Plain frozen values.

Metric keys: a server status variable in lower case ("wsrep_local_recv_queue"); an OS counter "os.<group>.<name>"
("os.cpu.iowait", "os.disk.vda.ms_writing"); replication "repl.<channel>.<name>"; the console's own "console.<name>".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.types import Lack

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Raw values of one server at one moment; counters are stored as the server gave them.

    Attributes:
        server: the host key under which history keeps the server.
        at: UTC epoch seconds (workstation); mono: monotonic seconds, for rates.
        values: metric key -> value (float; exact up to 2**53).
        epoch: changes when the server restarted or was replaced (a counter must not be subtracted across it).
    """

    server: str
    at: float
    mono: float
    values: Mapping[str, float]
    epoch: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric over time, ready to draw.

    `t`, `value`: shape (n,), UTC epoch seconds ascending and values; NaN is a gap and is drawn as one.
    The band arrays are None at full resolution, else shape (n,): one-minute (or coarser) aggregates, then `value` is
    the average.
    `restarts`: epoch seconds where a restart (counter reset) was seen.
    """

    key: str
    t: Array
    value: Array
    minimum: Array | None = None
    maximum: Array | None = None
    p5: Array | None = None
    p95: Array | None = None
    restarts: tuple[float, ...] = ()
    step_s: float = 1.0
    missing: str = ""  # why nothing of it was sampled, a sentence
    lacks: Lack = ""  # the same as a code
