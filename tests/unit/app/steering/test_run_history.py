"""A run driven at a terminal, and who watches its hosts meanwhile (a mock): it knows what the run does on purpose."""

from __future__ import annotations

import pytest

from services.discovery.judgement.on_purpose import OnPurpose
from services.events import Event
from tests.unit.app.steering_service import ROLLING, Shell


class _WatcherMock:
    def __init__(self) -> None:
        self.moved: list[tuple[OnPurpose, ...]] = []
        self.told: list[Event] = []
        self.life: list[str] = []

    def start(self) -> None:
        self.life.append("start")

    def stop(self) -> None:
        self.life.append("stop")

    def events(self) -> tuple[Event, ...]:
        return tuple(self.told)

    def on_purpose(self, moved: tuple[OnPurpose, ...]) -> None:
        self.moved.append(moved)

    def tell(self, event: Event) -> None:
        self.told.append(event)


def test_that_a_mock_watcher_beside_a_run_at_a_terminal_hears_which_node_it_stops_and_what_it_did(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = _WatcherMock()
    monkeypatch.setattr("app.cli.run_history.open_watcher", lambda _options: watcher)
    said = shell("run", *ROLLING, "--yes")
    assert said.code == 0, said.out
    assert {(one.host, one.run_id) for moved in watcher.moved for one in moved} == {(f"n{i}", "1") for i in (1, 2, 3)}
    assert watcher.moved[-1] == (), "the run is over: what is down now is a fault"
    keys = [event.key for event in watcher.told]
    assert (keys[0], keys[-1]) == ("run:1:", "run:1:done")
    assert len(set(keys)) == len(keys)
    assert watcher.life == ["start", "stop"]
