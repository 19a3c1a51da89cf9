"""A chart that its file writes wrongly is told on the page by name; the others are drawn."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.window.charts import chart_feed, chart_plan
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.charts import parse_charts
from tests.widgets.fake_sources import FakeLiveSource, open_window
from widgets.charts.page import ChartsPage

WRITTEN = (
    '[[chart]]\nkey="mine"\ntitle="Mine"\n[[chart.curve]]\nmetric="cpu.user"\n'
    '[[chart]]\nkey="good"\ntitle="Good one"\n[[chart.curve]]\nmetric="cpu.user"\nlabel="user"\n'
)


def test_that_a_chart_without_a_label_is_named_on_the_page_and_the_others_are_drawn(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = parse_charts(WRITTEN, load_catalogue(), "charts.toml")
    monkeypatch.setattr(chart_feed, "read_charts", lambda: read)
    monkeypatch.setattr(chart_plan, "load_charts", lambda: read.charts)
    with open_window(qapp, FakeLiveSource()) as made:
        made.window.show_page("charts")
        page = made.window.findChild(ChartsPage)
        assert page is not None
        qtbot.waitUntil(lambda: len(page.specs()) == 1)
        assert [spec.title for spec in page.specs()] == ["Good one"]
        text = 'charts.toml: the chart "mine" is left out: its curve 1 has no `label`.'
        assert [words for words in page.findChildren(QLabel) if words.isVisible() and words.text() == text]
        assert not made.window.messages.isVisible()
