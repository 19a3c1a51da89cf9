"""The add-host dialog while results come in: their places, what makes them old, the focus, the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from services.connections.probe.test import AccessReport, Step
from services.errors import HostKeyUnknown
from services.inventory.toml_file import load_inventory
from tests.widgets.add_host_person import RESULTS, Person, button
from widgets.common.controls.fields import choose

QUESTION = HostKeyUnknown(
    "Not known.", host="db1", key_type="ssh-ed25519", fingerprint="SHA256:uNiVztksCsDhcc0u9e8", key_base64="AAAA"
)

# -- results keep their place ---------------------------------------------------------------------------------------


def test_that_each_result_fills_the_place_that_its_step_had_from_the_beginning(person: Person) -> None:
    dialog = person.fills()
    person.presses("Test")
    person.qtbot.wait(20)  # the pane takes its size
    names = [step.name for step in RESULTS]
    places = [dialog.steps.place_of(name) for name in names]
    assert places == sorted(set(places))
    for step in RESULTS:
        person.hears(step)
        assert [dialog.steps.place_of(name) for name in names] == places
    person.ops.answer("test-host", AccessReport("db1", RESULTS))
    QApplication.processEvents()
    assert [dialog.steps.place_of(name) for name in names] == places
    assert dialog.steps.told() == "Every step passed, some with a note."


def test_that_a_second_test_stands_where_the_first_one_stood(person: Person) -> None:
    dialog = person.fills()
    seen = []
    for _ in range(3):
        person.presses("Test")
        person.hears(*RESULTS)
        person.ops.answer("test-host", AccessReport("db1", RESULTS))
        QApplication.processEvents()
        seen.append([dialog.steps.place_of(step.name) for step in RESULTS])
    assert seen[0] == seen[1] == seen[2]


def test_that_what_was_not_come_to_says_so_and_the_failure_is_named(person: Person) -> None:
    dialog = person.fills()
    person.presses("Test")
    failed = Step("ssh-login", "SSH login", "failed", "The host refused the login of dba.")
    person.ops.answer("test-host", AccessReport("db1", (*RESULTS[:3], failed)))
    assert dialog.steps.told() == "Failed: SSH login."
    assert dialog.steps.words()[-2:] == ("Rights", "Not reached.")


def test_that_the_failed_step_is_in_sight_in_a_small_window(person: Person) -> None:
    dialog = person.fills()
    assert dialog.height() <= 560
    assert dialog.rect().contains(button(dialog, "Add and watch").geometry())
    person.presses("Test")
    failed = Step("rights", "Rights", "failed", "The server went away.")
    person.ops.answer("test-host", AccessReport("db1", (*RESULTS[:-1], failed)))
    row = dialog.steps._rows["rights"]
    person.qtbot.waitUntil(lambda: not row.visibleRegion().isEmpty())


# -- old results ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["address", "ssh_user", "ssh_port", "jump", "sql_user", "sql_port", "sql_password"])
def test_that_results_go_when_what_was_tested_is_another_now(person: Person, field: str) -> None:
    dialog = person.fills()
    person.presses("Test")
    person.ops.answer("test-host", AccessReport("db1", RESULTS))
    getattr(dialog.form, field).insert("1")
    assert dialog.steps.words() == ()
    assert dialog.steps.told() == "The values have changed since the test: test again."


def test_that_choices_and_ticks_make_results_old_and_a_name_does_not(person: Person) -> None:
    dialog = person.fills()
    form = dialog.form
    changes: tuple[Callable[[], object], ...] = (
        lambda: choose(form.via, "direct"),
        lambda: choose(form.tls, "off"),
        lambda: choose(form.sudo, "nopasswd"),
        lambda: form.ssh_on.setChecked(False),
    )
    for change in changes:
        person.presses("Test")
        person.ops.answer("test-host", AccessReport("db1", RESULTS))
        form.name.setText(f"{form.name.text()}n")
        assert dialog.steps.words()
        change()
        assert dialog.steps.words() == ()


def test_that_answers_to_what_stood_there_before_are_not_shown_and_ask_nothing(person: Person) -> None:
    dialog = person.fills()
    person.presses("Test")
    number = person.hosts._tests
    dialog.form.address.setText("db2")
    person.hosts._stepped.emit(number, RESULTS[0])
    step = Step("host-key", "Host key", "failed", "Not known.", error=QUESTION)
    person.ops.answer("test-host", AccessReport("db1", (step,)))
    assert dialog.steps.words() == ()
    assert dialog.question is None
    assert button(dialog, "Test").text() == "Test"  # and a new one may begin at once


def test_that_a_complaint_about_fields_follows_what_is_typed(person: Person) -> None:
    dialog = person.opens()
    person.presses("Test")
    assert len(dialog.message().splitlines()) == 2
    dialog.form.address.setText("db1")
    assert dialog.message() == "Enter an SQL user."
    dialog.form.sql_user.setText("monitor")
    assert dialog.message() == ""


# -- focus, and the keyboard alone ----------------------------------------------------------------------------------


def test_that_the_focus_stays_where_it_was_while_results_come_in(person: Person) -> None:
    dialog = person.fills()
    test = button(dialog, "Test")
    for widget in (test, dialog.form.sql_password, dialog.form.jump):
        test.setFocus()
        person.key(Qt.Key.Key_Space)
        widget.setFocus()
        for step in RESULTS:
            person.hears(step)
            assert QApplication.focusWidget() is widget
        person.ops.answer("test-host", AccessReport("db1", RESULTS))
        assert QApplication.focusWidget() is widget


def test_that_a_host_is_added_with_the_keyboard_alone(person: Person) -> None:
    dialog = person.opens()
    form = dialog.form
    assert QApplication.focusWidget() is form.address
    person.types("db1")
    for field, text in ((form.name, "first"), (form.sql_user, "monitor"), (form.sql_password, "hunter2")):
        person.tabs_to(field)
        person.types(text)
        assert not field.visibleRegion().isEmpty()
    person.tabs_to(form.keep)
    person.key(Qt.Key.Key_Space)
    person.tabs_to(button(dialog, "Test"))
    person.key(Qt.Key.Key_Space)
    person.ops.answer("test-host", AccessReport("db1", RESULTS))
    person.key(Qt.Key.Key_Space)
    assert "test-host" in person.ops.waiting  # the focus is on Test still
    person.tabs_to(button(dialog, "Add and watch"))
    person.key(Qt.Key.Key_Return)
    person.ops.do("save-host")
    assert [host.name for host in load_inventory(person.path).hosts] == ["first"]
    assert [entry.name for entry in person.added[0]] == ["first"]


def test_that_the_tab_key_goes_from_the_top_to_the_bottom(person: Person) -> None:
    form = person.opens().form
    seen: list[int] = []
    for _ in range(8):
        focused = QApplication.focusWidget()
        assert focused is not None
        seen.append(focused.mapTo(form, focused.rect().topLeft()).y())
        person.key(Qt.Key.Key_Tab)
    assert seen == sorted(seen)


def test_that_a_field_that_is_wrong_gets_the_focus_and_is_in_sight(person: Person) -> None:
    dialog = person.opens()
    dialog.form.address.setText("db1")
    person.presses("Add and watch")
    assert QApplication.focusWidget() is dialog.form.sql_user
    assert not dialog.form.sql_user.visibleRegion().isEmpty()
