"""How a SQLite file is looked at that other programs may open and close meanwhile."""

from __future__ import annotations

from pathlib import Path


def reading_uri(path: Path) -> str:
    """Return the URI under which a file is read and never written (sqlite.org, "URI Filenames": mode, immutable).

    Without a WAL nobody writes: immutable needs neither a lock nor a writable folder (a CD, a mail's attachment).
    """
    try:
        unfinished = path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:  # asked for in one step: the last program that uses the file removes it when it closes
        unfinished = False
    base = path.resolve().as_uri()
    return f"{base}?mode=ro" if unfinished else f"{base}?mode=ro&immutable=1"
