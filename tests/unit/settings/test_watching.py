"""What a person set for watching reaches the watcher and its history."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from app.compose import open_watcher
from app.window.settings.watching import Watching

HOST = 'version = 1\n[[host]]\nname = "db1"\naddress = "127.0.0.9"\n'


def test_that_interval_and_retention_are_those_of_the_settings(tmp_path: Path) -> None:
    inventory = tmp_path / "estate.toml"
    inventory.write_text(HOST)
    for watching, expected in ((Watching(2, 30, 5), (2.0, 30.0, 5 * 2**30)), (None, (1.0, 14.0, 2 * 2**30))):
        watcher = open_watcher(Namespace(inventory=inventory, data=tmp_path / "data"), watching=watching)
        store = watcher._store
        try:
            assert (watcher.interval_s, store._limits.keep_days, store._limits.max_bytes) == expected
        finally:
            store.close()
