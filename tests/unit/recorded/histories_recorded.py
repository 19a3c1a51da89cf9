"""A fork that was made on the lab: MariaDB 10.11.18, Galera 26.4.23; s3 was cut off and made Primary by hand.

Up to seqno 19 all three had one past. Then five rows were written and acknowledged on each side, at seqnos 21 to 25;
two more on the majority's. What the reads of a history told of s1 and s3 is in `histories/`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from services.facts.binlog.marks import Mark, parse_marks
from services.facts.galera.primary_views import PrimaryView, parse_views
from services.procedures.plan.parts.galera.traces import Trace
from services.procedures.plan.pasts.histories import window
from services.procedures.plan.pasts.histories_model import Side

FOLDER = Path(__file__).parent / "histories"
UUID = "b5718c95-e63b-11f1-bb02-eea2b3654d9a"


def views(name: str) -> tuple[PrimaryView, ...]:
    return parse_views((FOLDER / f"{name}.views").read_text().splitlines())


def marks(host: str) -> tuple[Mark, ...]:
    return parse_marks((FOLDER / f"fork-{host}.marks").read_text().splitlines())


def s3_at(seqno: int | None, *, of_fork: bool = True) -> Side:
    """s3, stopped: as the fork left it, or as it was before it (`of_fork` False: nothing after seqno 19)."""
    trace = Trace(views("fork-s3"), marks("s3"))
    if not of_fork:
        trace = Trace(views("fork-s3")[:4], tuple(m for m in marks("s3") if (m.xid or 0) <= 19))
    return Side("s3", UUID, seqno, serves=False, trace=trace)


def s1(beside: Side, *, seqno: int = 27, serves: bool = True) -> Side:
    """s1 of the majority, its marks read from those of `beside` on, as the second round reads them."""
    ours = window(beside.trace.marks, beside.seqno)
    since = tuple(m for m in marks("s1") if ours and (m.xid is None or m.xid >= (ours[0].xid or 0)))
    since = since[next((at for at, m in enumerate(since) if m.xid is not None), len(since)) :]
    trace = replace(Trace(views("fork-s1"), marks("s1")), since=((beside.host, since),))
    return Side("s1", UUID, seqno, serves=serves, trace=trace)
