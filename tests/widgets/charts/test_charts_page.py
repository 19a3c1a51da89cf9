"""The charts page as a person meets it: what it says and what it draws."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.errors import BadInput
from services.events import Event
from services.types import NOT_OFFERED, NOT_YET, Health
from tests.widgets.chart_data import NOW, columns_with, highest, image_of, near, series, settle, spec
from widgets.charts.model import ChartSpec, CurveSpec, LimitBand, LimitLine
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import apply_theme, curve_color, theme

MakePage = Callable[..., ChartsPage]


@pytest.fixture
def make_page(qtbot: QtBot, qapp: QApplication) -> MakePage:
    apply_theme(qapp, "light")

    def make(*specs: ChartSpec, width: int = 900, height: int = 420, span: float = 900.0) -> ChartsPage:
        page = ChartsPage()
        qtbot.addWidget(page)
        page.resize(width, height)
        page.set_title("orders")
        page.set_specs(specs)
        page.set_range(NOW - span, NOW, live=True)
        page.show()
        qtbot.waitExposed(page)
        return page

    return make


def test_that_an_empty_page_says_what_to_do(make_page: MakePage) -> None:
    page = make_page()
    assert any("Choose a cluster" in text for text in page._empty.texts())
    assert page._empty.isVisible()


def test_that_a_chart_without_samples_waits_and_one_that_is_not_offered_says_why(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page = make_page(spec("a"), spec("b"), spec("c", curves=0, empty="This cluster has no asynchronous replica."))
    assert page.card("a").plot.state.message() == "Waiting for the first sample…"
    page.set_series("b", "db1", series([], missing="This server does not report it.", lacks=NOT_OFFERED))
    settle(qtbot)
    assert page.card("b").plot.state.message() == "This server does not report it."
    assert page.card("b").legend.texts() == ("db1 not available",)
    page.set_series("b", "db1", series([], missing="Known after a minute of writes.", lacks=NOT_YET))
    settle(qtbot)
    assert page.card("b").plot.state.message() == "Known after a minute of writes."
    assert page.card("b").legend.texts() == ("db1 not yet",)
    assert page.card("c").plot.state.message() == "This cluster has no asynchronous replica."


def test_that_the_legend_says_the_newest_value_with_unit_and_goes_grey_with_its_age(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page = make_page(spec(curves=2))
    page.set_series("flow", "db1", series([1.0, 4.1]))
    page.set_series("flow", "db2", series([1.0, 12.2], end=NOW - 14))
    settle(qtbot)
    assert page.card("flow").legend.texts() == ("db1 4.1 %", "db2 12.2 %, 14 s ago")
    assert page.card("flow").legend.items["db2"].reading.stale
    page.append("flow", "db1", series([7.5], end=NOW + 1))
    page.set_range(NOW - 899, NOW + 1, live=True)
    settle(qtbot)
    assert page.card("flow").legend.texts()[0] == "db1 7.5 %"


def test_that_a_gap_is_not_bridged_on_the_screen(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    values = np.full(900, 8.98)
    values[400:500] = np.nan
    page.set_series("flow", "db1", series(values))
    settle(qtbot)
    plot = page.card("flow").plot
    frame = plot.frame_rect()
    seen = columns_with(image_of(plot), curve_color(0), frame.top() + 4, frame.bottom() - 2)
    first, last = plot.x_at(NOW - 900 + 401) + 2, plot.x_at(NOW - 900 + 499) - 2
    assert not [x for x in seen if first < x < last]
    assert len([x for x in seen if x < first]) > 0.9 * (first - frame.left())
    assert len([x for x in seen if last < x < frame.right()]) > 0.9 * (frame.right() - last)


def test_that_a_lone_sample_between_gaps_is_seen(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec(), span=60)
    values = np.full(60, np.nan)
    values[30] = 10.0
    page.set_series("flow", "db1", series(values))
    settle(qtbot)
    plot = page.card("flow").plot
    assert columns_with(image_of(plot), curve_color(0), plot.frame_rect().top(), plot.frame_rect().bottom())


def test_that_one_second_of_stall_in_a_day_is_seen_at_its_height(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec(), span=86_400)
    values = np.full(86_400, 2.0)
    values[43_200] = 90.0
    page.set_series("flow", "db1", series(values))
    settle(qtbot)
    plot = page.card("flow").plot
    middle = plot.x_at(NOW - 43_200)
    top = highest(image_of(plot), curve_color(0), middle - 4, middle + 5)
    assert top <= plot.scale_point(NOW, 85.0).y()


def test_that_an_average_shows_its_band_and_a_dot_for_the_extreme_it_hides(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec(), span=6 * 3600)
    value = np.full(360, 4.0)
    peak = value + 1
    peak[180] = 30.0
    page.set_series("flow", "db1", series(value, step=60, minimum=value - 1, maximum=peak, p5=value - 2, p95=value + 2))
    settle(qtbot)
    plot = page.card("flow").plot
    picture, x = image_of(plot), plot.x_at(NOW - 179 * 60)
    assert abs(highest(picture, curve_color(0), x - 5, x + 6) - plot.scale_point(NOW, 30.0).y()) <= 3
    inside = picture.pixelColor(int(plot.x_at(NOW - 60 * 60)), int(plot.scale_point(NOW, 5.3).y()))
    assert inside != theme("light").panel
    assert not near(inside, curve_color(0), 60)
    assert "one minute a point, band p5 to p95" in page.header_texts()[1]


def test_that_idle_and_iowait_are_greys_and_the_pile_reaches_the_top(make_page: MakePage, qtbot: QtBot) -> None:
    curves = (
        CurveSpec("user", "user", 0),
        CurveSpec("iowait", "iowait", tone="iowait"),
        CurveSpec("idle", "idle", tone="idle"),
    )
    page = make_page(ChartSpec("cpu", "CPU of db2", curves, "available = idle + iowait", "%", "stack", 0, 100))
    for key, share in (("user", 25.0), ("iowait", 35.0), ("idle", 40.0)):
        page.set_series("cpu", key, series(np.full(900, share)))
    settle(qtbot)
    plot = page.card("cpu").plot
    picture, x = image_of(plot), int(plot.x_at(NOW - 450)) + 3
    colors = [picture.pixelColor(x, int(plot.scale_point(NOW, at).y())) for at in (12.0, 45.0, 80.0)]
    assert near(colors[0], curve_color(0), 140)
    for grey in colors[1:]:
        assert grey.hslSaturation() < 90
    assert len({color.name() for color in colors}) == 3
    assert page.card("cpu").legend.texts() == ("user 25 %", "iowait 35 %", "idle 40 %")
    assert page.card("cpu").title_texts() == ("CPU of db2", "available = idle + iowait")


def test_that_limits_are_drawn_and_the_scale_holds_them(make_page: MakePage, qtbot: QtBot) -> None:
    line = spec("ist", unit="h", limits=(LimitLine("4 h, your limit", 4.0),))
    band = spec("redo", unit="B", y_max=8e9, bands=(LimitBand("synchronous flush", 6e9, None, "bad"),))
    page = make_page(line, band)
    page.set_series("ist", "db1", series(np.full(900, 0.5)))
    page.set_series("redo", "db1", series(np.full(900, 3e9)))
    settle(qtbot)
    assert page.card("ist").plot.state.left.high >= 4.0
    plot = page.card("redo").plot
    assert plot.state.left.ticks[-1] == (8e9, "8 GB")
    ground = image_of(plot).pixelColor(int(plot.frame_rect().left()) + 30, int(plot.scale_point(NOW, 7e9).y()))
    assert near(ground, theme("light").bad_tint, 30)


def test_that_a_restart_is_marked(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0), restarts=(NOW - 450.0,)))
    settle(qtbot)
    plot = page.card("flow").plot
    frame = plot.frame_rect()
    seen = columns_with(image_of(plot), theme("light").warn_fill, frame.center().y() - 8, frame.center().y())
    assert any(abs(x - plot.x_at(NOW - 450)) <= 1.5 for x in seen)


def test_that_data_are_asked_for_once_and_again_when_the_view_leaves_them(make_page: MakePage, qtbot: QtBot) -> None:
    asked: list[tuple] = []
    page = make_page(spec(curves=2))
    page.data_wanted.connect(lambda *args: asked.append(args))
    settle(qtbot)
    page.set_range(NOW - 899, NOW + 1, live=True)
    settle(qtbot)
    before = len(asked)
    page.set_range(NOW - 898, NOW + 2, live=True)
    settle(qtbot)
    assert len(asked) == before
    page.set_range(NOW - 90_000, NOW - 89_100, live=False, now=NOW)
    settle(qtbot)
    fresh = asked[before:]
    assert {args[:2] for args in fresh} == {("flow", "db1"), ("flow", "db2")}
    for _, _, start, end, points in fresh:
        assert start <= NOW - 90_000
        assert end >= NOW - 89_100
        assert 500 < points < 10_000


def test_that_zooming_deep_into_coarse_data_asks_for_finer(make_page: MakePage, qtbot: QtBot) -> None:
    asked: list[tuple] = []
    page = make_page(spec(), span=7 * 86400.0)
    page.data_wanted.connect(lambda *args: asked.append(args))
    settle(qtbot)
    asked.clear()
    page.set_range(NOW - 86_400, NOW - 82_800, live=False, now=NOW)
    settle(qtbot)
    assert len(asked) == 1
    assert asked[0][3] - asked[0][2] < 3 * 3600


def test_that_an_answer_for_a_chart_that_is_gone_is_dropped(make_page: MakePage) -> None:
    page = make_page(spec("a"))
    page.set_specs([spec("b")])
    page.set_series("a", "db1", series([1.0]))
    page.append("a", "db1", series([1.0]))
    page.set_series("b", "nobody", series([1.0]))
    assert [s.key for s in page.specs()] == ["b"]


def test_that_a_card_whose_specification_stays_keeps_its_data(make_page: MakePage) -> None:
    page = make_page(spec("a"), spec("b"))
    page.set_series("a", "db1", series([1.0, 2.0]))
    page.set_specs([spec("a"), spec("c")])
    assert len(page.card("a").plot.state.tracks["db1"]) == 2


@pytest.mark.parametrize(("width", "columns"), [(600, 1), (1048, 2), (2328, 3)])
def test_that_cards_side_by_side_stand_in_as_many_columns_as_the_page_is_wide_for(
    make_page: MakePage, qtbot: QtBot, width: int, columns: int
) -> None:
    page = make_page(*(spec(f"c{i}") for i in range(6)), width=width, height=900)
    settle(qtbot)
    assert len({page.card(f"c{i}").x() for i in range(6)}) == 1  # first of all they share the strip's axis
    page.set_side_by_side(True)
    settle(qtbot)
    assert len({page.card(f"c{i}").x() for i in range(6)}) == columns
    lefts = {page.card(f"c{i}").plot.frame_rect().left() for i in range(6)}
    assert len(lefts) == 1


def test_that_many_appends_are_one_paint(make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = make_page(spec(curves=4))
    settle(qtbot)
    paints: list[int] = []
    plot = page.card("flow").plot
    paint = plot.paint_picture
    monkeypatch.setattr(plot, "paint_picture", lambda: (paints.append(1), paint()))
    for second in range(1, 6):
        for number in range(1, 5):
            page.append("flow", f"db{number}", series([3.0], end=NOW + second))
        page.set_range(NOW - 900 + second, NOW + second, live=True)
    settle(qtbot)
    assert len(paints) == 1


def test_that_moving_the_crosshair_does_not_paint_the_curves_again(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0)))
    page.set_cursor(NOW - 500)
    settle(qtbot)
    paints: list[int] = []
    plot = page.card("flow").plot
    paint = plot.paint_picture
    monkeypatch.setattr(plot, "paint_picture", lambda: (paints.append(1), paint()))
    for second in range(20):
        page.set_cursor(NOW - 400 + second)
        QApplication.processEvents()
    assert not paints


def test_that_an_event_is_a_thin_mark_in_every_chart(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec("a"), spec("b"))
    for key in ("a", "b"):
        page.set_series(key, "db1", series(np.full(900, 3.0)))
    page.set_events((Event(NOW - 450, "transfer", "SST from db2 to db4", Health.TRANSFER, spans=True),))
    settle(qtbot)
    for key in ("a", "b"):
        plot = page.card(key).plot
        frame = plot.frame_rect()
        seen = columns_with(image_of(plot), theme("light").transfer, frame.top(), frame.center().y())
        assert {x for x in seen if abs(x - plot.x_at(NOW - 450)) <= 1.5}


def test_that_the_export_holds_every_chart_and_svg_keeps_text_as_text(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path
) -> None:
    page = make_page(*(spec(f"c{i}", title=f"Chart number {i}") for i in range(8)), width=900, height=400)
    page.set_series("c7", "db1", series(np.full(900, 3.0)))
    settle(qtbot)
    page.export(tmp_path / "charts.png")
    page.export(tmp_path / "charts.svg")
    words = (tmp_path / "charts.svg").read_text(encoding="utf-8")
    for title in (f"Chart number {i}" for i in range(8)):
        assert title in words
    assert "orders" in words
    assert (tmp_path / "charts.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadInput, match="could not be written"):
        page.export(tmp_path / "nowhere" / "charts.png")


def test_that_both_themes_repaint_the_plots(make_page: MakePage, qtbot: QtBot, qapp: QApplication) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0)))
    settle(qtbot)
    apply_theme(qapp, "dark")
    settle(qtbot)
    corner = image_of(page.card("flow").plot).pixelColor(1, 1)
    assert corner == theme("dark").panel
    apply_theme(qapp, "light")


def test_that_the_page_and_its_models_load_neither_numpy_nor_pyqtgraph() -> None:
    program = (
        "import sys; import widgets.charts.page, widgets.charts.model, widgets.timeline.strip, "
        "widgets.timeline.replay_bar; print(sorted({'numpy', 'pyqtgraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_that_a_sample_in_a_long_view_is_painted_within_a_quarter_of_a_second(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(spec(), span=86_400)
    page.set_series("flow", "db1", series(np.full(3000, 3.0)))
    settle(qtbot)
    paints: list[int] = []
    plot = page.card("flow").plot
    paint = plot.paint_picture
    monkeypatch.setattr(plot, "paint_picture", lambda: (paints.append(1), paint()))
    for second in range(1, 9):
        page.append("flow", "db1", series([90.0], end=NOW + second))
        page.set_range(NOW - 86_400 + second, NOW + second, live=True)
        QApplication.processEvents()
    assert not paints
    qtbot.waitUntil(lambda: bool(paints), timeout=600)
    assert len(paints) == 1
