"""The inspector: every number with its unit, stale ones with their age, nothing that is not known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from services.discovery.judgement.judge import disk_health
from services.discovery.model import ClusterSnapshot
from services.facts.model import NodeFacts, Problem
from services.types import Health, Reach
from tests.widgets import builders as b
from tests.widgets.builders_facts import machine_facts
from widgets.common.controls.labels import ElidedLabel, ValueLabel
from widgets.common.look.text import THIN_SPACE
from widgets.common.look.theme import apply_theme
from widgets.topology.inspector.content import Content, content, setting_words
from widgets.topology.inspector.panel import Action, Inspector
from widgets.topology.inspector.prepared import prepared_content

T = THIN_SPACE
EXTRA = {"Machine": [("including iowait", "31 %", Health.WARN)]}


def words(cluster: ClusterSnapshot, node_id: str, at: float = b.AT) -> Content:
    node = cluster.node(node_id)
    assert node is not None
    return content(cluster, node, at, {})


def rows(made: Content, title: str) -> dict[str, str]:
    section = next(s for s in made.sections if s.title == title)
    return {r.label: r.value for r in section.rows}


def notes(made: Content, title: str) -> dict[str, str]:
    section = next(s for s in made.sections if s.title == title)
    return {r.label: r.note for r in section.rows}


def test_that_identity_tells_address_server_provider_host_and_uptime() -> None:
    shown = rows(words(b.sst_running(), "db2"), "")
    assert shown == {
        "address": "10.20.0.12:3306",
        "server": "MariaDB 10.11.14",
        "provider": "Galera 26.4.23",
        "host": "Debian 12, 16 cores, 128 GB",
        "up": "41 d 3 h",
    }


def test_that_numbers_of_the_machine_go_on_below_and_who_sees_it_stands_in_order() -> None:
    cluster = b.sst_running()
    node = cluster.node("db2")
    assert node is not None
    node = replace(node, seen_by=tuple(reversed(node.seen_by)))
    made = content(cluster, node, b.AT, EXTRA)
    machine = next(s for s in made.sections if s.title == "Machine")
    assert next(r for r in machine.rows if r.label == "including iowait").whole
    seen = rows(made, "Replication")["seen by"]
    assert len(node.seen_by) > 1
    assert seen.split(", ") == sorted(seen.split(", "))


def test_that_a_server_that_gives_no_answer_is_not_said_to_be_up() -> None:
    cluster = b.sst_running()
    silent = replace(cluster, nodes=tuple(replace(node, reach=Reach.SSH_ONLY) for node in cluster.nodes))
    assert "up" not in rows(words(silent, "db2"), "")


def test_that_a_donors_receive_queue_says_that_its_limit_is_ignored() -> None:
    made = words(b.sst_running(), "db2")
    assert rows(made, "Replication")["receive queue"] == f"1{T}284"
    assert notes(made, "Replication")["receive queue"] == "of limit 16: ignored"


def test_that_a_synced_nodes_receive_queue_has_its_limit() -> None:
    assert notes(words(b.sst_running(), "db1"), "Replication")["receive queue"] == "of limit 16"


def test_that_a_replica_tells_both_threads_lag_and_positions() -> None:
    shown = rows(words(b.sst_running(), "report1"), "Replication")
    assert (shown["IO thread"], shown["SQL thread"], shown["behind"]) == ("running", "running", "0.4 s")
    assert shown["relay log"] == "96 MB"


def test_that_a_lag_that_is_null_is_not_zero() -> None:
    cluster = b.sst_running()
    node = cluster.node("report1")
    assert node is not None
    assert node.facts is not None
    assert node.facts.replication is not None
    channel = replace(node.facts.replication.channels[0], seconds_behind=None, sql_running="No", sql_error="Error 1062")
    facts = replace(node.facts, replication=replace(node.facts.replication, channels=(channel,)))
    made = content(cluster, replace(node, facts=facts), b.AT, {})
    assert rows(made, "Replication")["behind"] == "not known"
    assert rows(made, "Replication")["SQL thread"] == "stopped"
    assert rows(made, "Problems")[""] == "Error 1062"


def test_that_threads_of_channels_that_could_not_be_read_are_not_green() -> None:
    cluster = b.sst_running()
    node = cluster.node("report1")
    assert node is not None
    assert node.facts is not None

    def threads(facts: NodeFacts) -> list[Health]:
        made = content(cluster, replace(node, facts=facts), b.AT, {})
        (section,) = [s for s in made.sections if s.title == "Replication"]
        return [row.health for row in section.rows if row.label in {"IO thread", "SQL thread"}]

    assert threads(node.facts) == [Health.GOOD, Health.GOOD]
    refused = replace(node.facts, problems=(Problem("replication", "Access denied", "right-missing"),))
    assert threads(refused) == [Health.UNKNOWN, Health.UNKNOWN]
    made = content(cluster, replace(node, facts=refused), b.AT, {})
    assert rows(made, "Replication")["behind"] == "not known"


def test_that_old_numbers_carry_their_age_in_every_section_they_stand_in() -> None:
    made = words(b.healthy(), "db1", b.AT + 20)
    stale = {s.title: s.stale for s in made.sections}
    assert stale["Replication"] == stale["Machine"] == "21 s ago"
    assert made.age == "21 s ago"
    assert all(not s.stale for s in words(b.healthy(), "db1").sections)


def test_that_sql_and_ssh_grow_old_apart() -> None:
    cluster = b.healthy()
    facts = replace(b.facts("db1"), sql_at=b.AT - 60)
    made = content(cluster, replace(cluster.nodes[0], facts=facts), b.AT, {})
    stale = {s.title: s.stale for s in made.sections}
    assert (stale["Replication"], stale["Machine"]) == ("1 min ago", "")


def test_that_a_node_that_never_answered_shows_no_number_at_all() -> None:
    cluster = b.silent()
    made = content(cluster, cluster.nodes[0], b.AT, {})
    assert made.age == "never"
    assert [s.title for s in made.sections] == ["", "Replication"]
    assert rows(made, "Replication") == {"state since": "3.0 s"}


def test_that_a_full_disk_a_skewed_clock_and_a_stopped_process_stand_out() -> None:
    cluster = b.healthy()
    machine = machine_facts()
    assert machine.data_disk is not None
    disk = replace(machine.data_disk, free=10_000_000_000)
    machine = replace(machine, data_disk=disk, clock_offset_s=-4.2, process_state="T")
    node = replace(cluster.nodes[0], facts=replace(b.facts("db1"), machine=machine))
    section = next(s for s in content(cluster, node, b.AT, {}).sections if s.title == "Machine")
    found = {r.label: (r.value, r.health) for r in section.rows}
    assert found["data disk"] == ("10 GB free of 1.92 TB", Health.WARN)
    assert found["clock"] == ("4.2 s behind", Health.WARN)
    assert found["process"] == ("stopped by a signal", Health.BAD)


@pytest.mark.parametrize(
    ("free", "health"),
    [
        (15 * 2**20, Health.BAD),
        (90_000_000_000, Health.WARN),
        (100_000_000_000, Health.UNKNOWN),
        (None, Health.UNKNOWN),
    ],
)
def test_that_the_data_disk_is_judged_as_on_the_nodes_card(free: int | None, health: Health) -> None:
    machine = machine_facts()
    assert machine.data_disk is not None
    disk = replace(machine.data_disk, free=free)
    node = replace(b.healthy().nodes[0], facts=replace(b.facts("db1"), machine=replace(machine, data_disk=disk)))
    section = next(s for s in content(b.healthy(), node, b.AT, {}).sections if s.title == "Machine")
    assert next(row.health for row in section.rows if row.label == "data disk") is health
    assert health is Health.UNKNOWN or disk_health(disk) is health


def test_that_problems_are_sentences_told_once() -> None:
    cluster = b.healthy()
    problem = Problem("sql", "Too many connections.")
    node = replace(
        cluster.nodes[0], reason="Too many connections.", facts=NodeFacts("db1", b.AT, problems=(problem, problem))
    )
    section = next(s for s in content(cluster, node, b.AT, {}).sections if s.title == "Problems")
    assert [r.value for r in section.rows] == ["Too many connections."]


def test_that_sizes_among_the_settings_are_readable_and_the_rest_is_verbatim() -> None:
    assert setting_words("innodb_buffer_pool_size", "96636764160") == "96.6 GB"
    assert setting_words("sync_binlog", "1") == "1"
    assert setting_words("innodb_log_file_size", "512") == "512"


# -- the widget --------------------------------------------------------------------------------------------------


@pytest.fixture
def inspector(qtbot: QtBot, qapp: QApplication) -> Inspector:
    apply_theme(qapp, "light")
    made = Inspector()
    qtbot.addWidget(made)
    made.resize(316, 900)
    made.show()
    return made


def show(inspector: Inspector, cluster: ClusterSnapshot, node_id: str, at: float = b.AT) -> None:
    node = cluster.node(node_id)
    assert node is not None
    inspector.show_node(prepared_content(cluster, node, at, EXTRA))
    inspector.rows("")  # sections are made one a turn; asking for one finishes them


def test_that_sections_are_made_one_a_turn_and_all_of_them(inspector: Inspector, qtbot: QtBot) -> None:
    cluster = b.healthy()
    inspector.show_node(prepared_content(cluster, cluster.nodes[0], b.AT, EXTRA))
    made = [len(inspector.findChildren(ValueLabel))]
    for _ in range(12):
        QApplication.processEvents()
        made.append(len(inspector.findChildren(ValueLabel)))
    grown = [after - before for before, after in pairwise(made) if after > before]
    assert len(grown) >= 3
    assert max(grown) < 0.5 * made[-1]
    assert inspector.rows("Machine")[0] == ("including iowait", "31 %")


def test_that_a_node_that_goes_leaves_no_section_to_come(inspector: Inspector, qtbot: QtBot) -> None:
    cluster = b.healthy()
    inspector.show_node(prepared_content(cluster, cluster.nodes[0], b.AT, EXTRA))
    inspector.show_node(None)
    before = len(inspector.findChildren(ValueLabel))
    for _ in range(5):
        QApplication.processEvents()
    assert len(inspector.findChildren(ValueLabel)) == before


def test_that_it_is_316_pixels_wide(inspector: Inspector) -> None:
    assert inspector.width() == 316


def test_that_sampled_numbers_stand_first_in_their_section(inspector: Inspector) -> None:
    show(inspector, b.healthy(), "db1")
    assert inspector.rows("Machine")[0] == ("including iowait", "31 %")


def test_that_rows_are_refilled_not_rebuilt(inspector: Inspector) -> None:
    show(inspector, b.healthy(), "db1")
    before = [id(w) for w in inspector.findChildren(ValueLabel)]
    show(inspector, b.healthy(), "db2", b.AT + 1)
    assert [id(w) for w in inspector.findChildren(ValueLabel)] == before


def test_that_rows_never_overlap_even_before_the_next_event(inspector: Inspector, qtbot: QtBot) -> None:
    inspector.resize(316, 300)
    show(inspector, b.sst_running(), "db2")
    qtbot.wait(20)
    tops = sorted(w.mapTo(inspector, QPoint(0, 0)).y() for w in inspector.findChildren(ValueLabel) if w.isVisible())
    assert all(low - high >= 20 for high, low in pairwise(tops))


def test_that_help_is_shown_only_when_something_can_help(inspector: Inspector, qtbot: QtBot) -> None:
    cluster = b.healthy()
    show(inspector, cluster, "db1")
    assert not [w for w in inspector.findChildren(QPushButton) if w.isVisible()]
    actions = (Action("freeze", "Freeze gcache around a downtime"), Action("restart", "Restart", "not while a donor"))
    inspector.show_node(prepared_content(cluster, cluster.nodes[0], b.AT, {}), actions)
    QApplication.processEvents()
    able, unable = (w for w in inspector.findChildren(QPushButton) if w.isVisible())
    assert (able.isEnabled(), unable.isEnabled()) == (True, False)
    spy = QSignalSpy(inspector.action_chosen)
    able.click()
    assert spy.at(0) == ["freeze", "db1"]


def test_that_without_a_node_it_says_what_to_do(inspector: Inspector) -> None:
    inspector.show_node(None)
    assert inspector.rows("Replication") == ()


def test_that_a_long_value_is_cut_in_the_middle_and_copied_whole(inspector: Inspector, qtbot: QtBot) -> None:
    cluster = b.healthy()
    show(inspector, cluster, "db1")
    whole = next(w for w in inspector.findChildren(ValueLabel) if w.text().startswith("gcache.size="))
    assert "…" in whole.shown_text()
    assert whole.shown_text().startswith("gcache")
    qtbot.keyClick(whole, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == whole.text()
    assert whole.text().endswith("evs.suspect_timeout=PT5S")


def test_that_a_cut_label_offers_the_whole_text_as_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("a very long sentence that does not fit")
    qtbot.addWidget(label)
    label.resize(60, 20)
    assert label.shown_text() != label.text()
    label.resize(600, 20)
    assert label.shown_text() == label.text()


def test_that_a_node_without_sql_keeps_its_last_numbers_grey(inspector: Inspector) -> None:
    cluster = b.killed()
    node = cluster.node("db2")
    assert node is not None
    assert node.reach is Reach.SSH_ONLY
    show(inspector, cluster, "db2")
    assert ("receive queue", "0") in inspector.rows("Replication")
