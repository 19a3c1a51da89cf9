"""An estate that does not answer: it stands as it is written, says why and since when, and can be asked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.cli.terminal import estate_text
from app.vault import SessionVault
from app.window.finder import Finder
from app.window.hosts.add_host import AddHost
from app.window.hosts.host_actions import HostActions
from app.window.pages import wire_host_actions
from services.discovery.model import EstateSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import SQL, SSH, NodeFacts, Problem
from services.sampling.watcher import Watcher
from services.series import Series
from services.types import Health, Reach
from tests.widgets import builders as b
from tests.widgets.dark_estate import ASKED_FROM, HEARD, WRITTEN, dark_estate, dark_events, silent
from tests.widgets.fake_sources import FakeLiveSource, OpenWindow, open_window
from widgets.bridge.ops import Ops
from widgets.charts.page import ChartsPage
from widgets.common.commands.palette import CommandPalette
from widgets.common.look.text import format_clock, speak_of_past, still_on
from widgets.inventory.tree_model import cluster_entry, node_entry
from widgets.procedures.run.confirm_strip import ConfirmStrip
from widgets.topology.advice import advice, advice_now
from widgets.topology.inspector.content import MACHINE, SETTINGS, content
from widgets.topology.silence import dark_notice, is_dark
from widgets.topology.view import TopologyView
from widgets.topology.wording import seen_from


class DarkSource(FakeLiveSource):
    """A live estate of silent hosts: nothing was ever sampled."""

    def __init__(self, snapshot: EstateSnapshot | None = None) -> None:
        super().__init__(snapshot or dark_estate())
        self.told = [*dark_events()]

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        return Series(metric, np.empty(0), np.empty(0))

    def tail(self, server: str, metric: str, since: float) -> Series:
        return self.series(server, metric, since, self.present, 2)


class FakeWatcher:
    """Keeps which hosts were to be asked again."""

    def __init__(self) -> None:
        self.tried: list[list[str]] = []

    def try_now(self, names: list[str]) -> None:
        self.tried.append(sorted(names))


@pytest.fixture
def opened(qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, DarkSource()) as made:
        yield made


@pytest.fixture
def watcher(opened: OpenWindow, tmp_path: Path) -> FakeWatcher:
    fake = FakeWatcher()
    hosts = AddHost(opened.window, cast("Ops", opened.ops), SessionVault(), tmp_path / "inventory.toml", opened.window)
    HostActions(opened.controller, cast("Watcher", fake), opened.window, hosts, opened.ops, opened.window)
    opened.controller.refresh()
    return fake


def test_that_the_palette_offers_what_the_menu_of_the_chosen_host_does_by_a_watcher_that_only_notes(
    qtbot: QtBot, opened: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[list[str]] = []
    monkeypatch.setattr(DarkSource, "try_now", lambda _self, names: tried.append(names), raising=False)
    monkeypatch.setattr("services.sampling.watcher.Watcher", DarkSource)
    window = opened.window
    hosts = AddHost(window, cast("Ops", opened.ops), SessionVault(), tmp_path / "inventory.toml", window)
    finder = window.findChild(Finder)
    assert finder is not None
    wire_host_actions(opened.controller, window, hosts, opened.ops, finder, lambda: None, parent=window)
    node = opened.controller.estate.clusters[0].nodes[1]
    opened.controller.select_node(node.node_id)
    palette = window.findChild(CommandPalette)
    assert palette is not None
    for words in (f"retry {node.name}", f"stop watching {node.name}", f"edit connection {node.name}"):
        window.palette_wanted.emit()
        palette.type_text(words)
        shown = palette.current()
        assert shown is not None
        assert node.name in shown.title
        assert shown.kind == "action"
        if not words.startswith("edit"):
            QTest.keyClick(palette.findChild(QLineEdit), Qt.Key.Key_Return)
    assert tried == [[node.host]]
    window.palette_wanted.emit()
    palette.type_text(f"retry {opened.controller.estate.clusters[0].name}")
    QTest.keyClick(palette.findChild(QLineEdit), Qt.Key.Key_Return)
    assert len(tried[1]) == 15
    question = next(strip for strip in window.findChildren(ConfirmStrip) if strip.isVisible())
    assert node.name in question.title.text()


def test_that_the_palette_offers_another_try_of_a_host_that_is_a_cluster_of_its_own_once(
    qapp: QApplication, tmp_path: Path
) -> None:
    alone = {
        name: NodeFacts(name, b.AT, Reach.NONE, problems=(Problem(SQL, "No.", "timed-out"),)) for name in ("a", "b")
    }
    with open_window(qapp, DarkSource(updated_estate(None, alone, b.AT))) as made:
        hosts = AddHost(made.window, made.ops, SessionVault(), tmp_path / "inventory.toml", made.window)
        actions = HostActions(
            made.controller, cast("Watcher", FakeWatcher()), made.window, hosts, made.ops, made.window
        )
        made.controller.select_node(made.controller.estate.clusters[0].nodes[0].node_id)
        titles = [entry.title for entry in actions.entries()]
        assert titles.count("Retry a now") == 1


def test_that_where_nobody_answers_no_pace_and_no_time_of_a_poll_is_told(opened: OpenWindow) -> None:
    words = [label.text() for label in opened.window.status.findChildren(QLabel)]
    assert any(text.startswith("0 of ") for text in words)
    assert not any("Hz" in text or " ms" in text for text in words)


def test_that_the_tree_has_the_written_clusters_with_counts_and_the_worst_state() -> None:
    eu, us = dark_estate().clusters
    told = [cluster_entry(cluster) for cluster in (eu, us)]
    assert [(e.name, e.detail, e.health, e.silent) for e in told] == [
        ("prod-eu", "0 of 15 answer", Health.BAD, True),
        ("prod-us", "0 of 15 answer", Health.UNKNOWN, True),
    ]
    rows = [node_entry(eu, node, b.AT) for node in eu.nodes[:2]]
    assert [(row.detail, row.health) for row in rows] == [("refused", Health.BAD), ("refused 21 min", Health.BAD)]


def test_that_the_bar_says_how_many_why_and_since_when() -> None:
    eu, us = dark_estate().clusters
    assert dark_notice(eu) == (
        Health.BAD,
        (
            "None of the 15 hosts of prod-eu answers. 15 refuse the connection.",
            f"The last answer came at {format_clock(HEARD)}; retries continue automatically.",
        ),
    )
    health, (text, since) = dark_notice(us)
    assert (health, text) == (Health.UNKNOWN, "None of the 15 hosts of prod-us answers.")
    first = format_clock(ASKED_FROM)
    assert since == f"There has been no answer since the first query at {first}; retries continue automatically."
    one = replace(us, nodes=(replace(us.nodes[0], reach=Reach.FULL), *us.nodes[1:]))
    assert (is_dark(us), is_dark(one)) == (True, False)


def test_that_a_recording_says_of_no_tries_that_they_go_on() -> None:
    eu, us = dark_estate().clusters
    speak_of_past(past=True)
    try:
        assert dark_notice(eu)[1][1] == f"The last answer came at {format_clock(HEARD)}."
        assert dark_notice(us)[1][1] == "There has been no answer."
    finally:
        speak_of_past(past=False)


def test_that_the_age_below_the_drawing_is_of_the_last_answer_and_not_of_the_last_try() -> None:
    eu, us = dark_estate().clusters
    assert seen_from(eu, b.AT) == "No server answers over SQL · a server last answered 21 min ago"
    assert (
        seen_from(us, b.AT) == "No server answers over SQL · no server has answered since this console started watching"
    )


def test_that_the_inspector_tells_the_last_answer() -> None:
    eu, _ = dark_estate().clusters
    never, heard = (content(eu, node, b.AT, {}) for node in eu.nodes[:2])
    (row,) = [r for r in never.sections[0].rows if r.label == "last answer"]
    assert (row.value, row.note) == ("never", f"asked since {format_clock(ASKED_FROM)}")
    (row,) = [r for r in heard.sections[0].rows if r.label == "last answer"]
    assert (row.value, row.note) == ("21 min ago", f"at {format_clock(HEARD)}")
    (problems,) = [s for s in never.sections if s.title == "Problems"]
    refusal, tries = problems.rows  # one refusal is told once, with when the next attempt is due
    assert "next attempt in 14 s" in refusal.value
    assert tries.value.startswith("Try: ")


def _problem_rows(node: NodeView, *, live: bool) -> list[str]:
    cluster = replace(dark_estate().clusters[0], nodes=(node,))
    sections = content(cluster, node, b.AT, {}, live=live).sections
    return [row.value for s in sections if s.title == "Problems" for row in s.rows]


def test_that_the_past_says_nothing_of_a_next_attempt_and_advises_nothing() -> None:
    node = dark_estate().clusters[0].nodes[0]
    now, then = (_problem_rows(node, live=live) for live in (True, False))
    assert "next attempt in 14 s" in now[0]
    assert then == ["10.1.0.11 port 3306 refused the connection: the database does not listen there."]
    stopped = replace(node, reach=Reach.SSH_ONLY, reason="SSH answers; mariadbd is not running")
    assert _problem_rows(stopped, live=False) == [stopped.reason, *then]


def test_that_a_reason_is_told_once_where_sql_and_ssh_fail_alike() -> None:
    bare = "No answer from SSH on 10.1.0.11 port 22 within 5 s."
    said = "The connection is down. Last reason: {bare}"
    twice = tuple(Problem(part, f"{part}: {said.format(bare=bare)}", "timed-out", bare) for part in (SQL, SSH))
    for reach in (Reach.NONE, Reach.SSH_ONLY):
        host = NodeFacts("eu-01", b.AT, reach, ssh_at=b.AT - 60 if reach is Reach.NONE else b.AT, problems=twice)
        node = updated_estate(None, {"eu-01": host}, b.AT).clusters[0].nodes[0]
        assert sum(bare.removesuffix(".") in row or said in row for row in _problem_rows(node, live=True)) == 1
        assert "Last reason" not in node.reason


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("connection-refused", "listens on this port"),
        ("no-route", "network of this workstation"),
        ("timed-out", "firewall"),
        ("auth-failed", "user and password"),
        ("tls-failed", "TLS setting"),
        ("name-unknown", "spelling of the address"),
        ("resolver-silent", "reaches its DNS servers"),
        ("other-protocol", "Another protocol listens there"),
        ("unreachable", "address and port"),
    ],
)
def test_that_what_to_try_depends_on_what_came_in_the_way(code: str, word: str) -> None:
    host = NodeFacts("db1", b.AT, Reach.NONE, problems=(Problem(SQL, "It failed.", code),))
    node = updated_estate(None, {"db1": host}, b.AT).clusters[0].nodes[0]
    assert word in advice(node)[0]
    assert _problem_rows(node, live=True)[1] == f"Try: {advice(node)[0]}"
    assert _problem_rows(node, live=False) == ["It failed."]


def test_that_a_host_that_answers_by_ssh_still_says_that_another_protocol_has_its_databases_port() -> None:
    wrong = (Problem(SQL, "What listens there does not speak the MySQL protocol.", "other-protocol"),)
    host = NodeFacts("db1", b.AT, Reach.SSH_ONLY, ssh_at=b.AT, problems=wrong)
    node = updated_estate(None, {"db1": host}, b.AT).clusters[0].nodes[0]
    assert advice_now(node) == ("Another protocol listens there: check the port of the connection.",)
    shut = replace(host, problems=(Problem(SQL, "Refused.", "connection-refused"),))
    assert advice_now(updated_estate(None, {"db1": shut}, b.AT).clusters[0].nodes[0]) == ()


@pytest.mark.parametrize(("way", "section", "word"), [(SSH, MACHINE, "SSH"), (SQL, SETTINGS, "SQL")])
def test_that_a_page_says_what_a_way_that_is_not_there_would_give(way: str, section: str, word: str) -> None:
    known = NodeFacts("db1", b.AT, Reach.SQL_ONLY if way == SSH else Reach.SSH_ONLY, no_way=(way,))
    cluster = updated_estate(None, {"db1": known}, b.AT).clusters[0]
    (found,) = [s for s in content(cluster, cluster.nodes[0], b.AT, {}).sections if s.title == section]
    assert found.rows[0].value.startswith(f"The inventory has no {word} connection to this ")


def test_that_the_terminal_has_the_clusters_as_written() -> None:
    lines = estate_text(dark_estate()).splitlines()
    assert lines[0] == "prod-eu  replication not known · ■ 0 of 15 hosts answer"
    assert lines[1].startswith("  ■ eu-01  refused")
    assert "prod-us  replication not known · ○ 0 of 15 hosts answer" in lines
    assert lines[-1] == "0 of 30 hosts answer"


def test_that_fifteen_silent_hosts_are_drawn_with_one_way_to_ask_them_all(
    opened: OpenWindow, watcher: FakeWatcher, qtbot: QtBot
) -> None:
    view = opened.window.topology
    assert view.message().startswith("None of the 15 hosts of prod-eu answers.")
    retry = next(b for b in view.findChildren(QPushButton) if b.text() == "Retry now" and b.isVisibleTo(view))
    retry.click()
    assert watcher.tried == [[host for host in WRITTEN if host.startswith("eu")]]
    assert opened.window.status.message().startswith("Asking eu-01, eu-02")


@pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus
def test_that_the_menu_of_a_silent_host_asks_it_again(opened: OpenWindow, watcher: FakeWatcher) -> None:
    tree = opened.window.tree
    for key in ("eu-03", "written:prod-us"):
        tree._show_menu(tree._model.find(key), tree.mapToGlobal(tree.rect().center()))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(a for a in menu.actions() if a.text().startswith("Retry ")).trigger()
        menu.close()
    assert watcher.tried[0] == ["eu-03"]
    assert len(watcher.tried[1]) == 15


def test_that_a_recording_offers_no_other_try(qtbot: QtBot) -> None:
    view = TopologyView()
    qtbot.addWidget(view)
    view.show_snapshot(dark_estate().clusters[0], {}, b.AT)
    assert view.message()
    assert not [b for b in view.findChildren(QPushButton) if b.text() == "Retry now"]


def test_that_one_host_alone_that_refuses_can_be_asked_again(qtbot: QtBot) -> None:
    view = TopologyView()
    qtbot.addWidget(view)
    view.can_retry = True
    cluster = updated_estate(None, {"eu-01": silent("eu-01")}, b.AT).clusters[0]
    view.show_snapshot(cluster, {}, b.AT)
    assert view.empty_texts()[0] == "eu-01: refused"
    spy = QSignalSpy(view.retry_requested)
    next(b for b in view.findChildren(QPushButton) if b.text() == "Retry now").click()
    assert spy.count() == 1


def test_that_empty_charts_say_who_does_not_answer_and_since_when(opened: OpenWindow, qtbot: QtBot) -> None:
    opened.window.show_page("charts")
    page = opened.window.findChild(ChartsPage)
    assert page is not None
    never = f"eu-01 has never answered; queried since {format_clock(ASKED_FROM)}: 10.1.0.11 port 3306 refused"
    qtbot.waitUntil(lambda: {"cpu", "lag", "load"} <= {spec.key for spec in page.specs()}, timeout=5000)
    qtbot.waitUntil(lambda: page.card("load").plot.state.message().startswith(never), timeout=5000)
    legend = page.card("load").legend
    qtbot.waitUntil(lambda: legend.items["load.questions"].reading.why.startswith(never), timeout=5000)
    no_ssh = "Reading this needs SSH, and the inventory has no SSH account for eu-01."
    assert page.card("cpu").plot.state.message().startswith(no_ssh)
    assert page.card("lag").plot.state.message().startswith("Not known: no answer over SQL from eu-01")


def test_that_the_place_stays_on_the_node_when_its_cluster_turns_out_to_be_a_group(opened: OpenWindow) -> None:
    opened.controller.select_node("us-04")
    facts = {h: silent(h) for h in WRITTEN}
    known = b.healthy().nodes[0].facts
    assert known is not None
    facts["us-04"] = replace(known, host="us-04", at=b.AT, sql_at=b.AT, ssh_at=b.AT)
    opened.controller._on_snapshot(updated_estate(dark_estate(), facts, b.AT, written=WRITTEN))
    shown = opened.controller.cluster()
    assert shown is not None
    assert (shown.cluster_id, len(shown.nodes)) == (b.STATE_UUID, 15)


def test_that_an_obligation_that_was_seen_off_is_not_called_on() -> None:
    assert still_on("clients refused on s2", 10.0, None) == "Still on: clients refused on s2."
    assert still_on("clients refused on s2", 20.0, 10.0) == "Still on: clients refused on s2."
    assert still_on("clients refused on s2", 10.0, 20.0).startswith("Already off at 1970-")


def test_that_a_host_without_a_way_to_its_server_is_given_one_and_not_a_password_to_check() -> None:
    facts = NodeFacts("db1", b.AT, Reach.SSH_ONLY, "db1", ssh_at=b.AT, no_way=(SQL,))
    (node,) = updated_estate(None, {"db1": facts}, b.AT).clusters[0].nodes
    assert advice(node) == ("Open the connection and enter an account that can read the server.",)
