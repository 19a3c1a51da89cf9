"""Every page, dialog and state with large text in small windows: words are whole, or cut with a sign; all is in reach.

PILOTHOUSE_PICTURES=DIR keeps a picture of each. A test run looks at everything in the smallest window with the largest
text, and at one part more in each other look; `test everything` looks at everything in each.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.window.hosts.first_run import show_first_run
from app.window.main_window import MainWindow
from app.window.settings.door import SettingsDoor
from app.window.settings.keeper import Keeper
from app.window.settings.window_state import WindowState
from services.procedures.plan.run_model import RunState
from services.types import Health
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.add_host_person import RESULTS
from tests.widgets.builders_facts import AT
from tests.widgets.every_view import View
from tests.widgets.fake_sources import FakeLiveSource, FakeRecording, OpenWindow, open_window
from tests.widgets.inventory.test_certificate_question import SHOWN
from tests.widgets.inventory.test_connection_dialog_form import ENTRY, KEY
from tests.widgets.steering_builders import Person, scripted, steering_window
from widgets.common.commands.palette import CommandPalette
from widgets.common.look.theme import apply_text_size, apply_theme
from widgets.inventory.certificate_question import CertificateQuestion, NoTlsQuestion
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.draft import Candidate, StepLine
from widgets.inventory.host_key_question import HostKeyQuestion
from widgets.inventory.import_dialog import ImportDialog
from widgets.procedures.run.wizard import WizardPage

CASES = {
    "960x600-200-light": ((960, 600), 200, "light"),
    "960x600-200-dark": ((960, 600), 200, "dark"),
    "1280x800-200-dark": ((1280, 800), 200, "dark"),
    "960x600-150-light": ((960, 600), 150, "light"),
}


def looks(*taken: str) -> pytest.MarkDecorator:
    """Give a test every look, as long cases those that a test run does not take: the first it always takes."""
    shown = {next(iter(CASES)), *taken}
    cases = [
        pytest.param(case, id=name, marks=[] if name in shown else [pytest.mark.long]) for name, case in CASES.items()
    ]
    return pytest.mark.parametrize("view", cases, indirect=True)


@pytest.fixture
def view(request: pytest.FixtureRequest, qapp: QApplication, qtbot: QtBot) -> Iterator[View]:
    """A text size, a window's size, a theme; what is looked at is noted."""
    size, percent, theme = request.param
    apply_theme(qapp, theme)
    apply_text_size(qapp, percent)
    made = View(size, qtbot, theme)
    yield made
    apply_text_size(qapp, 100)
    apply_theme(qapp, "light")


def settings_of(made: OpenWindow, qapp: QApplication, folder: Path) -> None:
    """Give a window its page of settings, as the program does."""
    keeper = Keeper(folder / "kept.toml")
    session: Any = SimpleNamespace(controller=made.controller, ready=SimpleNamespace(connect=lambda _slot: None))
    standing = WindowState(made.window, keeper, qapp, None)
    options = Namespace(inventory=folder / "estate.toml", data=folder)
    made.window.setProperty("door", SettingsDoor(made.window, made.ops, keeper, standing, options, session))


@looks("960x600-200-dark")
def test_that_a_recordings_pages_have_room_for_their_words(view: View, qapp: QApplication, tmp_path: Path) -> None:
    with open_window(qapp, FakeRecording()) as made:
        view.shape(made.window)
        settings_of(made, qapp, tmp_path)
        for page in ("topology", "charts", "procedures", "journal", "settings"):
            made.window.show_page(page)
            made.controller.look_at(AT - 253.0)
            view.look(made.window, f"replay-{page}")
    view.judge()


@looks("960x600-150-light")
def test_that_a_live_windows_pages_have_room_for_their_words(view: View, qapp: QApplication, tmp_path: Path) -> None:
    cluster = b.sst_running()
    with open_window(qapp, FakeLiveSource(b.estate(cluster, b.tree_with_broken()))) as made:
        view.shape(made.window)
        settings_of(made, qapp, tmp_path)
        for page in ("topology", "charts", "journal", "settings"):
            made.window.show_page(page)
            if page == "topology":
                made.window.tree.node_selected.emit(cluster.nodes[1].node_id)
            view.look(made.window, f"live-{page}")
        made.window.show_sheet()
        view.look(made.window, "sheet")
        made.window.show_sheet()
        made.window.palette_wanted.emit()
        for palette in made.window.findChildren(CommandPalette):
            view.look(palette, "palette")
            palette.close_palette()
    view.judge()


@looks()
def test_that_a_runs_pages_have_room_for_their_words(
    view: View, qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    with steering_window(qtbot, qapp, tmp_path, scripted()) as person:
        view.shape(person.window)
        person.window.show_page("procedures")
        view.look(person.window, "run-cards")
        _walk(person, view)
    view.judge()


def _walk(person: Person, view: View) -> None:
    person.steering.choose("desync-for-backup", "db2")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    view.look(person.window, "run-inputs")
    person.presses(person.wizard, "Check")
    person.sees(person.wizard, "Show plan")
    view.look(person.window, "run-checks")
    person.presses(person.wizard, "Show plan")
    person.waits(lambda: bool(person.wizard.stages.steps.rows))
    view.look(person.window, "run-plan")
    person.presses(person.wizard, "Approve and start")
    person.waits(lambda: person.wizard.question.question() is not None)
    view.look(person.window, "run-question")
    person.window.show_page("topology")
    view.look(person.window, "run-armed")
    person.window.show_page("procedures")
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: person.wizard.run().state is RunState.DONE)
    view.look(person.window, "run-report")


@looks("1280x800-200-dark")
def test_that_a_procedures_hard_moments_have_room_for_their_words(view: View, qapp: QApplication) -> None:
    window = MainWindow()
    page = WizardPage(lambda: p.NOW)
    window.add_page("procedures", page)
    view.shape(window)
    window.show()
    window.show_page("procedures")
    page.set_about(p.ABOUTS[0])
    page.set_fields(p.FIELDS, {"node": "db2"}, ())
    view.look(window, "hard-inputs")
    page.set_checks((*p.CHECKS, p.BLOCK, p.ABSOLUTE))
    view.look(window, "hard-checks")
    page.set_plan(p.confirming_plan(), p.WORDING)
    view.look(window, "hard-plan")
    page.say_message(Health.BAD, ("The lock of db1 is held by ada@desk.",))
    page.set_run(p.run(), p.WORDING)
    view.look(window, "hard-run")
    page.head.cancel_pressed.emit()
    view.look(window, "hard-cancel")
    page.set_run(p.failed(), p.WORDING)
    page.head.leave_pressed.emit()
    view.look(window, "hard-failed")
    window.close()
    window.deleteLater()
    view.judge()


@looks("1280x800-200-dark", "960x600-150-light")
def test_that_dialogs_have_room_for_their_words(view: View, qapp: QApplication) -> None:
    window = MainWindow()
    view.shape(window)
    window.show()
    show_first_run(window)
    view.look(window, "first-run")
    adding, editing = ConnectionDialog(window), ConnectionDialog(window, entry=ENTRY)
    found = ImportDialog("~/.ssh/config", [Candidate(ENTRY, "ssh")], window)
    for name, dialog in (
        ("add-host", adding),
        ("edit-host", editing),
        ("import", found),
        ("host-key", HostKeyQuestion(KEY, window)),
        ("certificate", CertificateQuestion(SHOWN, window)),
        ("no-tls", NoTlsQuestion("db1", "tunnel", window)),
    ):
        dialog.show()
        if dialog is editing:
            editing.show_steps(tuple(StepLine(step.title, step.state, step.sentence) for step in RESULTS))
        view.look(dialog, name)
        _fits(dialog, window)
        dialog.close()
    window.close()
    window.deleteLater()
    view.judge()


def _fits(dialog: QDialog, window: MainWindow) -> None:
    assert dialog.height() <= window.height()
    assert dialog.width() <= window.width()
