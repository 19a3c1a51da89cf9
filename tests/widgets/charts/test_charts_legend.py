"""What the charts page explains: upright lines, limits, zones and areas; and that no words lie over curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.events import Event
from services.types import Health
from tests.widgets.chart_data import NOW, image_of, near, series, settle, spec
from widgets.charts.card import ChartCard
from widgets.charts.legend import Legend, Reading
from widgets.charts.legend_key import EventLegend
from widgets.charts.model import ChartSpec, CurveSpec, LimitBand, LimitLine
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import ThemeName, apply_theme, theme

MakePage = Callable[..., ChartsPage]
THEMES: tuple[ThemeName, ...] = ("light", "dark")


@pytest.fixture
def make_page(qtbot: QtBot) -> MakePage:
    def make(*specs: ChartSpec, width: int = 1048) -> ChartsPage:
        page = ChartsPage()
        qtbot.addWidget(page)
        page.resize(width, 420)
        page.set_specs(specs)
        page.set_range(NOW - 900, NOW, live=True)
        page.show()
        qtbot.waitExposed(page)
        return page

    return make


@pytest.fixture(autouse=True)
def light(qapp: QApplication) -> None:
    apply_theme(qapp, "light")


def event_words(page: ChartsPage) -> tuple[str, ...]:
    legend = page.findChild(EventLegend)
    return legend.texts() if legend.isVisible() else ()


def test_that_each_kind_of_upright_line_in_sight_is_explained_once(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec())
    page.set_series("flow", "db1", series(np.full(900, 3.0)))
    settle(qtbot)
    assert event_words(page) == ()
    page.set_events(
        (
            Event(NOW - 700, "state", "db1 left", Health.BAD),
            Event(NOW - 650, "state", "db2 left", Health.BAD),
            Event(NOW - 500, "transfer", "SST from db2 to db4", Health.TRANSFER, until=NOW - 400, spans=True),
            Event(NOW - 5000, "state", "db1 came", Health.GOOD),
        )
    )
    settle(qtbot)
    assert event_words(page) == ("bad", "in transfer")
    page.set_series("flow", "db1", series(np.full(900, 3.0), restarts=(NOW - 450.0,)))
    settle(qtbot)
    assert event_words(page) == ("bad", "in transfer", "restart, counters start at 0")
    page.set_range(NOW - 100, NOW, live=True)
    settle(qtbot)
    assert event_words(page) == ()


@pytest.mark.parametrize("name", THEMES)
def test_that_an_areas_square_in_the_legend_has_the_areas_colour(
    make_page: MakePage, qtbot: QtBot, qapp: QApplication, name: ThemeName
) -> None:
    apply_theme(qapp, name)
    shares = {"user": 25.0, "iowait": 35.0, "idle": 40.0}
    curves = tuple(
        CurveSpec(key, key, *((0, "") if key == "user" else (None, key)))  # greys are named, colours are numbered
        for key in shares
    )
    page = make_page(ChartSpec("cpu", "CPU of db2", curves, unit="%", kind="stack", y_max=100))
    for key, share in shares.items():
        page.set_series("cpu", key, series(np.full(900, share)))
    settle(qtbot)
    card = page.card("cpu")
    picture, legend = image_of(card.plot), image_of(card.legend)
    for key, height in (("user", 12.0), ("iowait", 45.0), ("idle", 85.0)):
        area = picture.pixelColor(card.plot.scale_point(NOW - 450, height).toPoint() + QPoint(3, 0))
        square = card.legend.items[key].geometry()
        shown = legend.pixelColor(square.left() + 5, square.center().y() + 1)
        assert near(area, shown, 12), (key, area.name(), shown.name())


def words_in_frame(card: ChartCard, picture: QImage) -> bool:
    """Whether the ground of a label is seen where curves are drawn."""
    frame, tint = card.plot.frame_rect(), theme("light").warn_tint
    rows = range(int(frame.top()) + 1, int(frame.bottom()))
    return any(
        near(picture.pixelColor(x, y), tint, 6) for x in range(int(frame.left()), int(frame.right()), 3) for y in rows
    )


def test_that_who_restarted_is_said_above_the_curves(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(spec(curves=2))
    page.set_series("flow", "db1", series(np.full(900, 3.0), restarts=(NOW - 450.0,)))
    page.set_series("flow", "db2", series(np.full(900, 4.0)))
    settle(qtbot)
    card = page.card("flow")
    assert card.plot.state.restarts == ((NOW - 450.0, "db1 restarted"),)
    picture, frame = image_of(card.plot), card.plot.frame_rect()
    assert not words_in_frame(card, picture)
    above = [picture.pixelColor(round(card.plot.x_at(NOW - 450)) + 3, y) for y in range(int(frame.top()))]
    assert any(near(color, theme("light").warn_tint, 6) for color in above)


def test_that_limits_and_zones_are_named_in_the_legend(make_page: MakePage) -> None:
    line = spec("ist", unit="h", limits=(LimitLine("your limit 4 h", 4.0),))
    band = spec(
        "redo", unit="B", y_max=8e9, bands=(LimitBand("", 5e9), LimitBand("synchronous flush", 6e9, None, "bad"))
    )
    page = make_page(line, band)
    for key, words in (("ist", ["your limit 4 h"]), ("redo", ["synchronous flush"])):
        legend = page.card(key).legend
        assert [sign.key.words for sign in legend.keys] == words
        for sign in legend.keys:
            assert legend.rect().contains(sign.geometry())
            assert not any(sign.geometry().intersects(item.geometry()) for item in legend.items.values())


@pytest.mark.parametrize(("width", "beside"), [(700, False), (1048, True), (2328, True)])
def test_that_a_wide_card_has_title_legend_and_subtitle_in_one_line_and_none_is_cut(
    make_page: MakePage, qtbot: QtBot, width: int, beside: bool
) -> None:
    page = make_page(spec(curves=3), width=width)
    settle(qtbot)
    card = page.card("flow")
    assert (card.legend.y() < card.plot.y()) is beside
    assert card._subtitle.shown_text() == "share of each second paused"
    inside = card.rect()
    assert all(inside.contains(part.geometry()) for part in (card._title, card._subtitle, card.legend, card.plot))


def test_that_old_words_beside_a_value_give_their_room_back_after_a_while_and_not_at_once(qtbot: QtBot) -> None:
    legend = Legend((CurveSpec("a", "db1", 0), CurveSpec("b", "db2", 1)), "lag")
    qtbot.addWidget(legend)
    legend.resize(600, 22)
    legend.set_readings({"a": Reading("4 ms"), "b": Reading("5 ms")})
    narrow = legend.items["b"].x()
    legend.set_readings({"a": Reading("4 ms, 1 min 12 s ago", stale=True)})
    wide = legend.items["b"].x()
    assert wide > narrow + 40
    for _ in range(10):
        legend.set_readings({"a": Reading("4 ms")})
        assert legend.items["b"].x() == wide
    for _ in range(15):
        legend.set_readings({"a": Reading("4 ms")})
    assert legend.items["b"].x() == narrow
    legend.set_readings({"a": Reading("1 234 ms")})
    grown = legend.items["b"].x()
    assert grown > narrow
    for _ in range(40):
        legend.set_readings({"a": Reading("4 ms")})
    assert legend.items["b"].x() == grown  # numbers that change must not push others


def test_that_shares_that_sum_up_to_the_whole_keep_the_scale_of_the_whole(make_page: MakePage, qtbot: QtBot) -> None:
    curves = (CurveSpec("user", "user", 0), CurveSpec("system", "system", 1))
    page = make_page(ChartSpec("cpu", "CPU of db2", curves, unit="%", kind="stack", y_max=100))
    page.set_series("cpu", "user", series(np.full(900, 60.00000000000001)))
    page.set_series("cpu", "system", series(np.full(900, 40.00000000000001)))
    settle(qtbot)
    assert page.card("cpu").plot.state.left.high == 100
    page.set_series("cpu", "system", series(np.full(900, 43.0)))
    settle(qtbot)
    assert page.card("cpu").plot.state.left.high > 100  # what is really more is seen
