"""One name for a host: what one snapshot's hosts are called in the window, in the terminal and in procedures."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.cli.commands import sample
from app.cli.procedure_text import field_lines
from app.cli.terminal import estate_text
from services.clock import SystemClock
from services.discovery.changes import events_between
from services.discovery.looks.crawl import CrawlResult
from services.discovery.model import EstateSnapshot
from services.discovery.naming import shown_names
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.inventory.model import HostEntry, Inventory, SqlAccess
from services.procedures.catalogue import procedure_named
from services.procedures.journal import finding
from services.procedures.plan.host_facts import Facts, HostFacts
from services.sampling.watcher import Watcher
from services.secrets import MemoryVault
from services.series import Series
from tests.unit.discovery import scenes as s
from tests.widgets.fake_sources import FakeLiveSource, open_window
from tests.widgets.seen_texts import painted
from widgets.journal.events_model import WHAT, EventsModel

WRITTEN = {"n1": "n1", s.address(2): s.address(2)}
"""The inventory has a host of a name, and one whose address is its name; the third was found."""
NAMES = {"n1": "n1", s.address(2): s.address(2), s.address(3): "srv-c"}


def facts(**third: Any) -> dict[str, NodeFacts]:
    """What three members say; `third` changes the view of the one that was found."""
    found = {}
    for number, (key, hostname) in enumerate(zip(NAMES, ("srv-a", "srv-b", "srv-c"), strict=True), 1):
        view = s.galera(number, node_name=hostname, **(third if number == 3 else {}))
        one = s.facts(number, host=key, view=view)
        found[key] = replace(one, server=s.server(number, hostname=hostname))
    return found


@pytest.fixture
def before() -> EstateSnapshot:
    return updated_estate(None, facts(), s.AT, WRITTEN)


@pytest.fixture
def now(before: EstateSnapshot) -> EstateSnapshot:
    return updated_estate(before, facts(local_state=2, local_state_comment="Donor/Desynced"), s.AT, WRITTEN)


def test_that_a_snapshot_calls_each_host_by_one_name(now: EstateSnapshot) -> None:
    assert shown_names(now) == NAMES


def test_that_tree_drawing_inspector_and_journal_call_them_so(
    before: EstateSnapshot, now: EstateSnapshot, qapp: QApplication, qtbot: QtBot
) -> None:
    source = FakeLiveSource(now)
    source.told = list(events_between(before, now))
    with open_window(qapp, source) as opened:
        window = opened.window
        qtbot.waitUntil(lambda: "srv-c" in painted(window.tree))
        for part in (window.tree, window.topology):
            assert set(NAMES.values()) <= painted(part)
            assert "srv-a" not in painted(part)
        for node in now.clusters[0].nodes:
            opened.controller.select_node(node.node_id)
            qtbot.waitUntil(lambda name=node.name: name in {w.text() for w in window.inspector.findChildren(QLabel)})
    model = EventsModel()
    model.show_events(source.told)
    told = [str(model.data(model.index(row, WHAT))) for row in range(model.rowCount())]
    assert any("srv-c" in line for line in told), told
    assert not any(s.address(3) in line for line in told)


def test_that_topology_and_check_call_them_so(now: EstateSnapshot) -> None:
    said = [line.split()[1] for line in estate_text(now).splitlines() if line.startswith("    ")]
    assert set(said) >= set(NAMES.values())


@pytest.mark.parametrize("as_json", [False, True])
def test_that_sample_calls_them_so(now: EstateSnapshot, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    class MockWatcher:
        """Has one sample of each host, under its key."""

        trouble = None

        def snapshot(self) -> EstateSnapshot:
            return now

        def servers(self) -> tuple[str, ...]:
            return tuple(NAMES)

        def tail(self, _server: str, metric: str, _since: float) -> Series:
            return Series(metric, np.array([s.AT]), np.array([1.0]))

    sample._print_until(cast("Watcher", MockWatcher()), ("x",), threading.Event(), 0.05, as_json=as_json)
    lines = capsys.readouterr().out.splitlines()
    named = [json.loads(line)["server"] if as_json else line.split()[1] for line in lines]
    assert set(named) == set(NAMES.values())
    if as_json:
        assert {json.loads(line)["host"] for line in lines} == set(NAMES)


def test_that_procedures_call_them_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = tuple(HostEntry(name, s.address(number), None, SqlAccess("o")) for number, name in enumerate(WRITTEN, 1))
    entries = {h.name: h for h in hosts} | {s.address(3): hosts[0].for_member(s.address(3), s.address(3))}
    answer = CrawlResult(facts=facts(), entries=entries)
    monkeypatch.setattr(finding, "crawl", lambda *_given, **_named: answer)
    here = finding.find_hosts(Inventory(hosts=hosts), SystemClock(), MemoryVault(), None)
    names = tuple(h.name for h in here.inventory.hosts)
    assert set(names) == set(NAMES.values())
    known = tuple(HostFacts(name, node=one, server_up=True) for name, one in zip(names, facts().values(), strict=True))
    seen = Facts(s.AT, s.STATE, "orders", here.clusters[0], None, names, (), known)
    printed = "\n".join(field_lines(procedure_named("desync-for-backup").fields(seen, {})))
    assert all(f"{name}:" in printed for name in names)
