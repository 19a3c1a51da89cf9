"""The kept files, unpacked, and the table of what is in the stores."""

from __future__ import annotations

import csv
import lzma
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
STORES = tuple(sorted(file.name[6:16] for file in HERE.glob("store-*.sqlite3.xz")))
"""The days of which a store is kept."""
RECORDINGS = tuple(sorted(file.name.removesuffix(".pilothouse.xz") for file in HERE.glob("*.pilothouse.xz")))


class KeptKey:
    """The key that sealed the kept journals: no workstation has it."""

    def key(self) -> bytes:
        """Return it."""
        return bytes(range(32))


@dataclass(frozen=True, slots=True)
class Kept:
    """A run of a kept store: what was done with it, and how the program of its day left it."""

    run_id: str
    procedure: str
    course: str
    state: str
    entries: int


def runs_of(day: str) -> tuple[Kept, ...]:
    """Return the runs of a day's store."""
    with (HERE / "runs.tsv").open(encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if row["day"] == day]
    return tuple(Kept(row["run"], row["procedure"], row["course"], row["state"], int(row["entries"])) for row in rows)


def unpacked(name: str, folder: Path) -> Path:
    """Put a kept file into a folder; return its path."""
    file = folder / name
    file.write_bytes(lzma.decompress((HERE / f"{name}.xz").read_bytes()))
    return file
