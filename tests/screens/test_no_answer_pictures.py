"""Pictures of an estate where nothing answers: two clusters of fifteen hosts, one that refuses and one that is silent.

PILOTHOUSE_PICTURES=DIR keeps them (DIR/light, DIR/dark): so are those of the docs made.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.vault import SessionVault
from app.window.hosts.add_host import AddHost
from app.window.hosts.host_actions import HostActions
from services.sampling.watcher import Watcher
from tests.screens.test_security_pictures import THEMES, kept, shades
from tests.widgets.fake_sources import open_window
from tests.widgets.topology.test_no_answer import DarkSource, FakeWatcher
from widgets.bridge.ops import Ops
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import ThemeName

pytestmark = pytest.mark.slow
SIZES = ((960, 600), (1280, 800), (2560, 1440))


@pytest.mark.parametrize("theme", THEMES)
def test_that_an_estate_where_nothing_answers_says_so_on_each_page(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, theme: str
) -> None:
    with open_window(qapp, DarkSource(), cast("ThemeName", theme)) as opened:
        window, ops = opened.window, opened.ops
        hosts = AddHost(window, cast("Ops", ops), SessionVault(), tmp_path / "inventory.toml", window)
        HostActions(opened.controller, cast("Watcher", FakeWatcher()), window, hosts, ops, window)
        opened.controller.select_node("eu-02")
        for width, height in SIZES:
            window.resize(width, height)
            assert shades(kept(window, theme, "no-answer")) > 20
        window.resize(1280, 800)
        for page in ("charts", "journal"):
            window.show_page(page)
            qtbot.waitUntil(lambda: not ops.busy(), timeout=10_000)
            for charts in window.findChildren(ChartsPage):
                charts.paint_now()
            assert shades(kept(window, theme, f"no-answer-{page}")) > 10
