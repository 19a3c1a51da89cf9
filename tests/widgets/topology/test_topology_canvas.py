"""The drawing as a widget: what it shows, how it is walked, zoomed, changed and exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.discovery.model import ALL_DOWN, NO_PRIMARY_HEARD, ClusterSnapshot
from services.errors import BadInput
from services.facts.model import Problem
from services.types import Health
from tests.widgets import builders as b
from widgets.common.controls.plain import plain_text
from widgets.common.look.theme import apply_theme, theme
from widgets.topology.backdrop import in_whole
from widgets.topology.canvas import Canvas
from widgets.topology.paint_state import Detail
from widgets.topology.view import TopologyView


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> TopologyView:
    apply_theme(qapp, "light")
    page = TopologyView()
    qtbot.addWidget(page)
    page.resize(900, 720)
    page.show()
    qtbot.waitExposed(page)
    return page


def show(view: TopologyView, cluster: ClusterSnapshot, at: float = b.AT) -> Canvas:
    view.show_snapshot(cluster, b.sparks(cluster), at)
    return view.canvas


def test_that_every_node_is_drawn_with_its_words(view: TopologyView) -> None:
    canvas = show(view, b.sst_running())
    item = canvas.item("db2")
    assert item is not None
    assert (item.text.name, item.text.state, item.text.health) == ("db2", "Donor/Desynced", Health.TRANSFER)
    assert canvas.backdrop.titles() == (("Primary component", "4 of 5 votes · may lose 1 at a time · view 214"),)


def test_that_transfer_and_channel_carry_their_boxes(view: TopologyView) -> None:
    labels = {label.kind: (label.first, label.second) for label in show(view, b.sst_running()).edges.labels()}
    assert labels["transfer"] == ("SST, mariabackup · 36 %", "42 of about 118 GB · 6 min 50 s left")
    assert labels["plain"] == ("async · GTID", "lag 0.4 s")


def test_that_a_broken_channel_is_drawn_broken(view: TopologyView) -> None:
    labels = show(view, b.tree_with_broken()).edges.labels()
    assert [label.second for label in labels if label.kind == "broken"] == ["SQL thread stopped"]


def test_that_no_box_covers_a_card(view: TopologyView) -> None:
    for cluster in (b.sst_running(), b.tree_with_broken(), b.ring(), b.ring(2), b.multi_source()):
        canvas = show(view, cluster)
        for label in canvas.edges.labels():
            for node_id in canvas.placement.nodes:
                item = canvas.item(node_id)
                assert item is not None
                card = item.mapRectToScene(item.boundingRect()).adjusted(2, 2, -2, -2)
                assert not card.intersects(label.rect), f"{label.second} over {node_id}"


def test_that_disagreement_is_said_above_the_drawing_with_who_sees_whom(view: TopologyView) -> None:
    show(view, b.partitioned())
    said = view.message()
    assert "do not agree" in said
    assert "db3 sees only itself: non-Primary, 1 of 3 votes" in said


def test_that_a_cluster_without_majority_says_that_nobody_takes_queries(view: TopologyView) -> None:
    show(view, b.no_primary())
    assert "No primary component" in view.message()


def test_that_the_bar_says_what_the_command_line_says_of_a_cluster_without_a_primary_or_without_servers(
    view: TopologyView,
) -> None:
    for code in (NO_PRIMARY_HEARD, ALL_DOWN):
        show(view, replace(b.no_primary(), problems=(Problem("galera", f"Told by {code}.", code),)))
        assert view.message().startswith(f"Told by {code}.\nThe nodes do not agree")


def test_that_agreement_needs_no_bar(view: TopologyView) -> None:
    show(view, b.partitioned())
    show(view, b.healthy())
    assert view.message() == ""


def test_that_items_are_kept_from_snapshot_to_snapshot(view: TopologyView) -> None:
    canvas = show(view, b.healthy())
    before = [canvas.item(n) for n in ("db1", "db2", "db3")]
    show(view, replace(b.healthy(), at=b.AT + 1))
    assert [canvas.item(n) for n in ("db1", "db2", "db3")] == before


def test_that_an_unchanged_snapshot_asks_for_no_repaint(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    qtbot.wait(50)
    changed = QSignalSpy(canvas.scene().changed)
    view.show_snapshot(b.healthy(), b.sparks(b.healthy()), b.AT)
    QApplication.processEvents()
    assert changed.count() == 0


def test_that_a_changed_node_asks_for_a_repaint(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    qtbot.wait(50)
    changed = QSignalSpy(canvas.scene().changed)
    nodes = b.healthy().nodes
    show(view, replace(b.healthy(), nodes=(replace(nodes[0], role=""), *nodes[1:])))
    QApplication.processEvents()
    assert changed.count() > 0


def test_that_a_node_that_is_gone_is_taken_away(view: TopologyView) -> None:
    canvas = show(view, b.sst_running())
    show(view, b.healthy())
    assert canvas.item("db4") is None
    assert set(canvas.placement.nodes) == {"db1", "db2", "db3"}


def test_that_a_click_selects_and_a_double_click_activates(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    point = canvas.centre_of("db2")
    assert point is not None
    with qtbot.waitSignal(view.node_selected) as selected:
        qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert selected.args == ["db2"]
    with qtbot.waitSignal(view.node_activated) as activated:
        qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert activated.args == ["db2"]


def test_that_select_from_outside_emits_nothing(view: TopologyView) -> None:
    canvas = show(view, b.healthy())
    spy = QSignalSpy(view.node_selected)
    view.select("db3")
    assert (canvas.selected, spy.count()) == ("db3", 0)


def test_that_arrows_walk_between_nodes_and_enter_activates(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.sst_running())
    walked = []
    view.node_selected.connect(walked.append)
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Up)
    for key in keys:
        qtbot.keyClick(canvas, key)
    assert walked == ["db1", "db2", "db3", "report1", "db3"]
    with qtbot.waitSignal(view.node_activated) as activated:
        qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert activated.args == ["db3"]


def test_that_keys_and_wheel_zoom_and_f_shows_everything_again(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    fitted = canvas.zoom
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.zoom == pytest.approx(fitted * 1.2)
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    qtbot.keyClick(canvas, Qt.Key.Key_Minus)
    assert canvas.zoom == pytest.approx(fitted / 1.2)
    for key in (Qt.Key.Key_F, Qt.Key.Key_0):
        canvas.zoom_by(3)
        qtbot.keyClick(canvas, key)
        assert canvas.zoom == pytest.approx(fitted)


def test_that_a_snapshot_does_not_undo_the_zoom_a_person_chose(view: TopologyView) -> None:
    canvas = show(view, b.healthy())
    canvas.zoom_in()
    chosen = canvas.zoom
    show(view, b.killed())
    assert canvas.zoom == chosen


def _sight(canvas: Canvas) -> tuple[float, QPoint, QPoint]:
    corners = canvas.viewport().rect()
    return canvas.zoom, *(canvas.mapToScene(p).toPoint() for p in (corners.topLeft(), corners.bottomRight()))


@pytest.mark.parametrize("size", [(730, 640), (1288, 940)])
def test_that_the_first_picture_stands_as_fit_would_put_it(
    qtbot: QtBot, qapp: QApplication, size: tuple[int, int]
) -> None:
    for cluster in (b.healthy(), b.tree_with_broken(), b.partitioned(), b.single(), b.many(60)):
        page = TopologyView()
        qtbot.addWidget(page)
        page.resize(*size)
        page.show()
        page.show_waiting("Opening the estate", "")
        qapp.processEvents()
        canvas = show(page, cluster)
        qapp.processEvents()
        first = _sight(canvas)
        canvas.fit()
        assert _sight(canvas) == first


def test_that_a_zoom_outlives_the_written_name_of_a_cluster(view: TopologyView) -> None:
    written = replace(b.healthy(), cluster_id="written:orders")
    canvas = show(view, written)
    canvas.zoom_in()
    chosen = _sight(canvas)
    show(view, b.healthy())
    assert _sight(canvas) == chosen
    show(view, b.ring(5))  # another cluster is shown whole
    assert _sight(canvas) != chosen


def test_that_the_whole_cluster_is_in_sight_after_fit(view: TopologyView) -> None:
    for cluster in (b.sst_running(), b.partitioned(), b.two_segments(), b.many(120), b.ring(5)):
        canvas = show(view, cluster)
        seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
        assert seen.contains(canvas.content_rect())


def test_that_the_drawing_is_dragged_with_the_mouse(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    before = canvas.centre_of("db1")
    start = QPoint(canvas.viewport().width() - 20, canvas.viewport().height() - 20)
    qtbot.mousePress(canvas.viewport(), Qt.MouseButton.MiddleButton, pos=start)
    qtbot.mouseMove(canvas.viewport(), start - QPoint(40, 30))
    qtbot.mouseRelease(canvas.viewport(), Qt.MouseButton.MiddleButton, pos=start)
    after = canvas.centre_of("db1")
    assert before is not None
    assert after is not None
    assert (after - before).toPoint() == QPoint(-40, -30)


def test_that_far_nodes_are_glyphs_and_near_ones_cards(view: TopologyView) -> None:
    canvas = show(view, b.many(500))
    assert canvas.paint_state.detail is Detail.GLYPH
    canvas.zoom_by(0.5 / canvas.zoom)
    assert canvas.paint_state.detail is Detail.NAME
    canvas.zoom_by(2)
    assert canvas.paint_state.detail is Detail.CARD


def test_that_a_change_of_state_fades_and_ends(view: TopologyView, qtbot: QtBot) -> None:
    canvas = show(view, b.healthy())
    nodes = b.healthy().nodes
    show(view, replace(b.healthy(), nodes=(replace(nodes[0], health=Health.BAD), *nodes[1:])))
    item = canvas.item("db1")
    assert item is not None
    assert item.fade < 1.0
    qtbot.waitUntil(lambda: item.fade == 1.0, timeout=2000)


def test_that_less_motion_means_states_change_at_once_and_nothing_moves(view: TopologyView) -> None:
    view.set_reduced_motion(True)
    canvas = show(view, b.healthy())
    nodes = b.healthy().nodes
    show(view, replace(b.healthy(), nodes=(replace(nodes[0], health=Health.BAD), *nodes[1:])))
    item = canvas.item("db1")
    assert item is not None
    assert item.fade == 1.0
    show(view, b.sst_running())
    assert not canvas.moving


def test_that_only_a_running_transfer_moves(view: TopologyView) -> None:
    canvas = show(view, b.sst_running())
    assert canvas.moving
    done = replace(b.sst_running(), transfers=(replace(b.sst_running().transfers[0], active=False),))
    show(view, done)
    assert not canvas.moving
    show(view, b.sst_running())
    view.hide()
    assert not canvas.moving


def test_that_a_screen_reader_is_told_the_selected_node(view: TopologyView) -> None:
    canvas = show(view, b.healthy())
    view.select("db1")
    assert canvas.accessibleDescription().startswith("db1, Synced, writer, receive queue 0")


def test_that_the_theme_changes_the_ground_at_once(view: TopologyView, qapp: QApplication) -> None:
    show(view, b.healthy())
    apply_theme(qapp, "dark")
    image = view.canvas.grab().toImage()
    assert QColor(image.pixel(2, image.height() - 2)) == theme("dark").canvas
    apply_theme(qapp, "light")


def test_that_png_has_twice_the_size_and_svg_keeps_its_text(view: TopologyView, tmp_path: Path) -> None:
    canvas = show(view, b.many(60))
    view.export(tmp_path / "drawing.png")
    view.export(tmp_path / "drawing.svg")
    image = QImage(str(tmp_path / "drawing.png"))
    assert image.width() == round((canvas.content_rect().width() + 48) * 2)
    svg = (tmp_path / "drawing.svg").read_text(encoding="utf-8")
    assert "db60" in svg
    assert "Primary component" in svg
    assert canvas.paint_state.detail is not Detail.CARD  # the export's own level of detail is not left behind


def test_that_a_file_that_cannot_be_written_is_a_sentence(view: TopologyView, tmp_path: Path) -> None:
    show(view, b.healthy())
    for name in ("a.png", "a.svg"):
        with pytest.raises(BadInput, match="could not be written"):
            view.export(tmp_path / "nowhere" / name)


def test_that_waiting_says_for_what_since_when_and_until_when(view: TopologyView) -> None:
    view.show_snapshot(b.silent(), {}, b.AT)
    title, text, _ = view.empty_texts()
    assert title == "Waiting for the first sample from n1"
    assert "(3.0 s)" in text


def test_that_a_refused_password_says_what_to_try_and_leads_to_the_connection(view: TopologyView, qtbot: QtBot) -> None:
    view.show_snapshot(b.refused(), {}, b.AT)
    title, text, advice = view.empty_texts()
    assert title == "n1: no answer"
    assert text == "The server refused the password of monitor@n1."
    assert "password" in advice
    with qtbot.waitSignal(view.edit_host_requested) as asked:
        view.act_on_empty(0)
    assert asked.args == ["n1"]


def test_that_no_cluster_says_where_to_choose_one(view: TopologyView) -> None:
    view.show_snapshot(None, {}, b.AT)
    assert view.empty_texts()[0] == "No cluster is selected"


def test_that_a_known_cluster_that_falls_silent_stays_drawn(view: TopologyView) -> None:
    nodes = tuple(b.lost(f"db{i}", "no answer", Health.BAD, "the network is gone") for i in (1, 2, 3))
    canvas = show(view, replace(b.galera(nodes), components=()))
    assert canvas.isVisible()
    assert all(canvas.item(n.node_id) for n in nodes)


NASTY = ["", "a" * 500, "two\nlines", "<b>bold</b><img src=x>", "\u202edesrever", "n\x00ul", "\ufffd\ufffd", "名前"]


@pytest.mark.parametrize("text", NASTY)
def test_that_hostile_names_and_states_are_drawn_inside_their_card(view: TopologyView, text: str) -> None:
    nodes = tuple(
        replace(n, name=text, state=text, role=text, reason=text, numbers=((text, text, Health.BAD),) * 3)
        for n in b.sst_running().nodes
    )
    canvas = show(view, replace(b.sst_running(), name=text, nodes=nodes, agreement=text))
    view.select("db1")
    assert not canvas.grab().isNull()
    item = canvas.item("db1")
    assert item is not None
    assert "\n" not in item.text.name


def test_that_a_servers_html_is_shown_as_text() -> None:
    assert plain_text("<b>x</b>\ny") == "<p>&lt;b&gt;x&lt;/b&gt;<br>y</p>"
    assert plain_text("db1 & db2") == "db1 & db2"


def test_that_a_title_which_would_be_cut_is_written_small(view: TopologyView) -> None:
    """At 1280x800 a shard without a majority was called 'Shard rs0: N...'."""
    fonts = show(view, b.sst_running())._state.fonts
    large, small = (fonts.far_name, fonts.far_name_width), (fonts.far_state, fonts.far_state_width)
    title = "Shard rs0: No majority"
    assert in_whole(title, large[1].horizontalAdvance(title), large, small) == large
    assert in_whole(title, large[1].horizontalAdvance(title) - 1, large, small) == small


@pytest.mark.parametrize("steps", [0, 4, -6])
@pytest.mark.parametrize(("across", "down"), [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)])
def test_that_the_drawing_is_never_pushed_out_of_sight(view: TopologyView, steps: int, across: int, down: int) -> None:
    """The canvas was empty, and nothing told where the drawing was."""
    canvas = show(view, b.sst_running())
    for _ in range(abs(steps)):
        canvas.zoom_in() if steps > 0 else canvas.zoom_out()
    for bar, way in ((canvas.horizontalScrollBar(), across), (canvas.verticalScrollBar(), down)):
        bar.setValue(bar.value() + way * 1_000_000)
    seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect().intersected(canvas.content_rect())
    assert min(seen.width(), seen.height()) * canvas.zoom > 20
