"""The state in a team's shared MariaDB, by URL: the same answers as from a file, and two consoles side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.errors import StoreError
from services.events import Event
from services.history import migrations_state, state_file
from services.history.state_rows import NodeSighting
from services.history.state_store import StateStore
from tests.lab.estate.estate import Estate
from tests.lab.estate.vault import VARIABLES

DATABASE = "pilothouse_state"


@pytest.fixture
def url(galera_estate: Estate) -> Iterator[str]:
    """A database of its own on n1, dropped afterwards."""
    host = galera_estate.host("n1")
    password = galera_estate.environment()[VARIABLES["pilot"]]
    host.sh("mariadb --no-defaults", stdin=f"CREATE OR REPLACE DATABASE {DATABASE} CHARACTER SET utf8mb4;")
    yield f"mysql+pymysql://pilot:{password}@{host.address}/{DATABASE}?charset=utf8mb4"
    host.sh("mariadb --no-defaults", stdin=f"DROP DATABASE {DATABASE};")


def test_that_a_shared_store_remembers_like_a_file(url: str) -> None:
    check_remembering(url)


def check_remembering(url: str) -> None:
    """Write with one console, read with another."""
    event = Event(10.0, "gap", "keine Werte – 2 s", spans=True, key="gap:1")
    with StateStore.open(url) as one:
        one.set_setting("theme", "dark")
        one.set_setting("theme", "dark")  # no row changes: still an update, not a second insert
        assert one.record_console_start("0.1") >= 1
        one.remember_nodes((NodeSighting("n1", 100.0, "c", "n", "", 2**40),))
        one.record_event(event)
        assert one.remember_inventory("/a", "1" * 64, 3)
        with StateStore.open(url) as two:
            assert two.get_setting("theme") == "dark"
            assert two.node_history("n1")[0].seqno == 2**40
            assert two.events(0.0, 20.0) == (event,)
            assert not two.remember_inventory("/a", "1" * 64, 3)
        assert one.last_unclean_end() is None
        one.record_console_end()


def test_that_a_shared_store_of_a_newer_version_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(state_file, "STEPS", (*migrations_state.STEPS, (2, lambda _: None)))
        newer.setattr(state_file, "NEWEST", 2)
        StateStore.open(url).close()
    with pytest.raises(StoreError, match="newer Pilothouse") as caught:
        StateStore.open(url)
    assert url.split(":")[2].split("@", maxsplit=1)[0] not in caught.value.as_text()
