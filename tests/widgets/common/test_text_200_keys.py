"""Tab at 200 % in the smallest window: whatever gets the keys is scrolled into sight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.add_host_person import RESULTS
from tests.widgets.common.test_text_200 import settings_of
from tests.widgets.fake_sources import FakeLiveSource, FakeRecording, open_window
from tests.widgets.inventory.test_certificate_question import SHOWN
from tests.widgets.inventory.test_connection_dialog_form import ENTRY
from widgets.common.look.theme import apply_theme
from widgets.inventory.certificate_question import CertificateQuestion
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.draft import Candidate, StepLine
from widgets.inventory.import_dialog import ImportDialog
from widgets.procedures.run.wizard import WizardPage

STEPS = 60


def seen_part(held: QWidget) -> QRect:
    """Return what of a widget is in sight, in its own coordinates."""
    box, around = held.rect(), held
    while not around.isWindow():
        place = around.parentWidget()
        assert place is not None
        room = place.rect()
        box &= QRect(held.mapFrom(place, room.topLeft()), room.size())
        around = place
    return box


def held_by(root: QWidget) -> QWidget | None:
    """Return what of a window has the keys; its stub says that there is always something."""
    return root.focusWidget()


def hidden_stops(root: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> list[str]:
    """Press Tab until it goes round; return what had the keys out of sight."""
    found: list[str] = []
    met: list[QWidget] = []
    for _ in range(STEPS // 2):
        QApplication.processEvents()
    for _ in range(STEPS):
        QTest.keyClick(held_by(root) or root, key)
        QApplication.processEvents()
        held = held_by(root)
        if held is None or held in met[:1]:
            break
        met.append(held)
        seen = seen_part(held)
        whole = seen == held.rect()
        large = seen.width() > 40 and seen.height() > 40  # a drawing or a table larger than its place
        if not whole and not large:
            where = held.mapTo(root, QPoint(0, 0)).toTuple()
            found.append(f"{type(held).__name__} {held.accessibleName()!r} at {where}: {seen.getRect()} seen")
    assert len(met) > 1, "Tab goes nowhere"
    return found


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (FakeRecording, Qt.Key.Key_Tab),
        (lambda: FakeLiveSource(b.estate(b.sst_running())), Qt.Key.Key_Backtab),
    ],
    ids=["recording-tab", "live-backtab"],
)
def test_that_tab_brings_all_of_a_page_into_sight(
    kind: Callable[[], FakeLiveSource],
    key: Qt.Key,
    qtbot: QtBot,
    qapp: QApplication,
    tmp_path: Path,
    text_size: Callable[[int], None],
) -> None:
    with open_window(qapp, kind()) as made:
        made.window.resize(960, 600)
        text_size(200)
        settings_of(made, qapp, tmp_path)
        found = []
        for page in ("topology", "charts", "procedures", "journal", "settings"):
            made.window.show_page(page)
            qtbot.waitUntil(lambda: not made.ops.busy())  # what it asked for is on the page
            found += [f"{page}: {fault}" for fault in hidden_stops(made.window, key)]
    assert found == []


def test_that_a_page_that_settles_late_leaves_the_scroll_bar_to_a_person_who_goes_on_by_tab(
    qtbot: QtBot, qapp: QApplication, text_size: Callable[[int], None]
) -> None:
    """On a busy workstation what an ended run brings into sight came behind the first Tab, and took its stop away."""
    apply_theme(qapp, "light")
    text_size(200)
    window = MainWindow()
    qtbot.addWidget(window)
    page = WizardPage(lambda: p.NOW)
    window.add_page("procedures", page)
    window.resize(960, 600)
    window.show()
    window.show_page("procedures")
    page.set_about(p.ABOUTS[0])
    for _ in range(STEPS // 2):
        QApplication.processEvents()
    page.set_run(p.failed(), p.WORDING)
    QApplication.processEvents()
    held = window
    while not held.accessibleName().startswith("Plan "):
        QTest.keyClick(held_by(window) or window, Qt.Key.Key_Tab)
        QApplication.processEvents()
        held = held_by(window) or window
    assert seen_part(held) == held.rect()
    bar = page.findChild(QScrollArea).verticalScrollBar()
    bar.rangeChanged.emit(bar.minimum(), bar.maximum())  # what opened and folded has its place at last
    qtbot.wait(300)
    assert seen_part(held) == held.rect()


def test_that_tab_brings_all_of_a_run_into_sight(
    qtbot: QtBot, qapp: QApplication, text_size: Callable[[int], None]
) -> None:
    apply_theme(qapp, "light")
    text_size(200)
    window = MainWindow()
    qtbot.addWidget(window)
    page = WizardPage(lambda: p.NOW)
    window.add_page("procedures", page)
    window.resize(960, 600)
    window.show()
    window.show_page("procedures")
    page.set_about(p.ABOUTS[0])
    page.set_fields(p.FIELDS, {"node": "db2"}, ())
    found = hidden_stops(window)
    page.set_run(p.failed(), p.WORDING)
    page.head.leave_pressed.emit()
    found += hidden_stops(window)
    assert found == []


def made_dialogs(window: MainWindow) -> list[QDialog]:
    """Return every dialog that may need more room than the window has."""
    editing = ConnectionDialog(window, entry=ENTRY)
    editing.show_steps(tuple(StepLine(step.title, step.state, step.sentence) for step in RESULTS))
    found = ImportDialog("~/.ssh/config", [Candidate(ENTRY, "ssh")], window)
    return [ConnectionDialog(window), editing, found, CertificateQuestion(SHOWN, window)]


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_that_tab_brings_all_of_a_dialog_into_sight(
    key: Qt.Key, qtbot: QtBot, qapp: QApplication, text_size: Callable[[int], None]
) -> None:
    apply_theme(qapp, "light")
    text_size(200)
    window = MainWindow()
    qtbot.addWidget(window)
    window.resize(960, 600)
    window.show()
    found = []
    for dialog in made_dialogs(window):
        dialog.show()
        qtbot.wait(30)
        found += [f"{dialog.windowTitle()}: {fault}" for fault in hidden_stops(dialog, key)]
        dialog.close()
    assert found == []
