"""Pictures of what asks a person for a word of trust: hosts that are named, the list of them, a certificate.

PILOTHOUSE_PICTURES=DIR keeps them (DIR/light, DIR/dark): so are those of the docs made.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services.discovery.model import Unasked
from services.discovery.unasked import with_unasked
from services.inventory.model import Inventory
from services.inventory.toml_save import save_inventory
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, open_window
from tests.widgets.inventory.test_unasked_hosts import N1, ProcedureService
from widgets.common.look.theme import ThemeName, apply_theme
from widgets.inventory.certificate_question import CertificateQuestion
from widgets.inventory.draft import ServerCertificate

pytestmark = pytest.mark.slow

THEMES = ("light", "dark")
SHOWN = ServerCertificate(
    "db1", 3306, ":".join(f"{(n * 37 + 11) % 256:02X}" for n in range(32)),
    "CN=MySQL_Server_8.4_Auto_Generated_Server_Certificate", "self-signed certificate in certificate chain",
)  # fmt: skip


def kept(widget: QWidget, theme: str, name: str) -> QImage:
    """Return the picture of a widget as it stands on screen, kept where somebody wants it."""
    loop = QEventLoop()
    QTimer.singleShot(400, loop.quit)
    loop.exec()
    image = widget.grab().toImage()
    if folder := os.environ.get("PILOTHOUSE_PICTURES", ""):
        place = Path(folder) / theme
        place.mkdir(parents=True, exist_ok=True)
        assert image.save(str(place / f"{name}-{theme}-{image.width()}x{image.height()}.png"))
    return image


def shades(image: QImage) -> int:
    """Return how many colours a picture has: an empty one has two or three."""
    return len({image.pixel(x, y) for y in range(0, image.height(), 3) for x in range(0, image.width(), 3)})


@pytest.mark.parametrize("theme", THEMES)
def test_that_named_hosts_are_drawn_with_one_action_and_a_list(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path, theme: str
) -> None:
    save_inventory(Inventory(hosts=(N1,)), tmp_path / "inventory.toml")
    cluster = b.healthy()
    first, second = (node.host for node in cluster.nodes[:2])
    named = (
        Unasked("10.20.0.14", "db4", (first,), first),
        Unasked("10.20.0.15", "db5", (first, second), first),
        Unasked("10.20.0.99", "10.20.0.99", (first,), first, sure=False),
    )
    at = b.estate(cluster).at
    estate = replace(b.estate(*with_unasked([cluster], named, None, at)), unasked=named)
    with open_window(qapp, FakeLiveSource(estate), cast("ThemeName", theme)) as window:
        service = ProcedureService(window, tmp_path / "inventory.toml")
        qtbot.waitUntil(service.more.notice.isVisible, timeout=5000)
        assert shades(kept(window.window, theme, "named-hosts")) > 20
        service.more.open()
        dialog = service.dialog()
        assert shades(kept(dialog, theme, "named-hosts-list")) > 10
        dialog.reject()


@pytest.mark.parametrize("theme", THEMES)
def test_that_a_certificate_is_asked_about_with_its_fingerprint(qapp: QApplication, qtbot: QtBot, theme: str) -> None:
    apply_theme(qapp, cast("ThemeName", theme))
    question = CertificateQuestion(SHOWN)
    qtbot.addWidget(question)
    question.show()
    assert shades(kept(question, theme, "certificate-question")) > 10
