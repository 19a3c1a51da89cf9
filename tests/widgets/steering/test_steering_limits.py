"""The answers that a person set for every procedure stand in its form at the beginning, and can be typed over."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.widgets.steering_builders import scripted, steering_window


def test_that_a_procedure_begins_with_the_limits_of_the_settings(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    with steering_window(qtbot, qapp, tmp_path, scripted()) as person:
        person.door.answers["drain_limit"] = "7 min"
        person.door.answers["soak"] = "90 s"  # this procedure has no such question
        person.steering.choose("desync-for-backup", "db2")
        person.waits(lambda: bool(person.wizard.stages.form.rows))
        rows = person.wizard.stages.form.rows
        assert rows["drain_limit"].text() == "7 min"
        assert rows["node"].text() == "db2"
        assert "soak" not in rows
        person.presses(person.wizard, "Check")
        person.waits(lambda: bool(person.wizard.stages.checklist.isVisible()))
        assert person.steering._flow._draft.faults == ()
