"""The ways in: the connection dialog, the host-key question, the first page, the import preview."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import Secret, SecretRef
from services.types import Health
from widgets.common.controls.fields import SecretField, choose
from widgets.common.look.theme import apply_theme
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.draft import Candidate, HostDraft, HostKey, StepLine
from widgets.inventory.first_run import FirstRunPage
from widgets.inventory.host_key_question import HostKeyQuestion
from widgets.inventory.import_dialog import ImportDialog

KEY = HostKey("db1", "ssh-ed25519", "SHA256:uNiVztksCsDhcc0u9e8BrrHYTgJ5bBgOgQ2wZ3tYyKc")
ENTRY = HostEntry(
    "db1",
    "10.20.0.11",
    SshAccess("dba", port=2222, key="/home/dba/.ssh/id", passphrase=SecretRef("keyring", "old"), sudo="nopasswd"),
    SqlAccess(
        "monitor", SecretRef("env", "DB_PASSWORD"), via="socket", socket="/run/mysqld/mysqld.sock", cert="/c.pem"
    ),
)


@pytest.fixture
def dialog(qtbot: QtBot, qapp: QApplication) -> ConnectionDialog:
    apply_theme(qapp, "light")
    made = ConnectionDialog()
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    return made


def press(widget: ConnectionDialog | ImportDialog | FirstRunPage | HostKeyQuestion, text: str) -> None:
    found = next(b for b in widget.findChildren(QPushButton) if b.text().startswith(text))
    found.click()


def fill(dialog: ConnectionDialog) -> None:
    dialog.form.address.setText("10.20.0.11")
    dialog.form.ssh_user.setText("root")
    dialog.form.sql_user.setText("monitor")


def test_that_it_is_not_modal(dialog: ConnectionDialog) -> None:
    assert not dialog.isModal()


def test_that_the_defaults_are_those_of_ssh_and_mariadb(dialog: ConnectionDialog) -> None:
    fill(dialog)
    entry = dialog.form.draft().entry
    assert entry == HostEntry("10.20.0.11", "10.20.0.11", SshAccess("root"), SqlAccess("monitor", via="tunnel"))


def test_that_faults_are_all_told_and_their_fields_framed(dialog: ConnectionDialog) -> None:
    spy = QSignalSpy(dialog.save_requested)
    dialog.form.ssh_port.setText("70000")
    dialog.form.ssh_user.setText("root")
    press(dialog, "Add and watch")
    assert spy.count() == 0
    assert dialog.message().splitlines() == [
        "Enter an address: a host name or an IP address.",
        "The SSH port must be a number from 1 to 65535.",
        "Enter an SQL user.",
    ]
    assert dialog.form.address.property("wrong") is True
    assert dialog.form.ssh_user.property("wrong") is not True


def test_that_some_way_in_is_needed(dialog: ConnectionDialog) -> None:
    fill(dialog)
    dialog.form.ssh_on.setChecked(False)
    assert dialog.form.faults() == ()
    dialog.form.sql_on.setChecked(False)
    assert dialog.form.faults() == ("At least one connection is needed: SSH, SQL or both.",)


def test_that_a_typed_password_leaves_as_a_secret_beside_the_entry(dialog: ConnectionDialog) -> None:
    fill(dialog)
    dialog.form.sql_password.setFocus()
    dialog.form.sql_password.insert("hunter2")
    draft = dialog.form.draft()
    assert draft.entry.sql is not None
    assert draft.entry.sql.password == SecretRef("keyring", "10.20.0.11/sql")
    assert draft.secrets == ((SecretRef("keyring", "10.20.0.11/sql"), Secret("hunter2")),)
    assert "hunter2" not in repr(draft)
    assert "hunter2" not in str(draft)


def test_that_a_secret_field_gives_no_text(qtbot: QtBot) -> None:
    field = SecretField("Password")
    qtbot.addWidget(field)
    field.insert("hunter2")
    assert field.text() == ""
    secret = field.secret()
    assert secret is not None
    assert secret.reveal() == "hunter2"
    assert field.displayText() == "●" * 7 or "hunter2" not in field.displayText()


def test_that_no_secret_reaches_the_log(dialog: ConnectionDialog, caplog: pytest.LogCaptureFixture) -> None:
    fill(dialog)
    dialog.form.passphrase.insert("hunter2")
    with caplog.at_level(logging.DEBUG):
        press(dialog, "Test")
        press(dialog, "Add and watch")
    assert "hunter2" not in caplog.text


def test_that_the_passphrase_field_means_the_key_or_the_login(dialog: ConnectionDialog) -> None:
    fill(dialog)
    dialog.form.passphrase.insert("x")
    ssh = dialog.form.draft().entry.ssh
    assert ssh is not None
    assert (ssh.password, ssh.passphrase) == (SecretRef("keyring", "10.20.0.11/ssh"), None)
    dialog.form.ssh_key.set_path("/home/dba/.ssh/id")
    ssh = dialog.form.draft().entry.ssh
    assert ssh is not None
    assert (ssh.password, ssh.passphrase) == (None, SecretRef("keyring", "10.20.0.11/ssh-key"))


def test_that_fields_without_meaning_are_out_of_sight(dialog: ConnectionDialog) -> None:
    form = dialog.form
    assert not form.sudo_password.isVisible()
    choose(form.sudo, "password")
    assert form.sudo_password.isVisible()
    choose(form.via, "socket")
    assert form.socket.isVisible()
    assert not form.sql_port.isVisible()
    assert not form.tls.isVisible()
    choose(form.via, "direct")
    choose(form.tls, "verify-ca")
    assert form.ca.isVisible()
    form.ssh_on.setChecked(False)
    assert not form.ssh_user.isVisible()


def test_that_editing_changes_nothing_a_person_did_not_touch(qtbot: QtBot) -> None:
    made = ConnectionDialog(entry=ENTRY)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    draft = made.form.draft()
    assert draft.entry == ENTRY
    assert draft.secrets == ()
    assert draft.replaces == "db1"


def test_that_a_typed_password_replaces_the_kept_one(qtbot: QtBot) -> None:
    made = ConnectionDialog(entry=ENTRY)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    assert "env:DB_PASSWORD" in made.form.sql_password.placeholderText()
    made.form.sql_password.insert("new")
    entry = made.form.draft().entry
    assert entry.sql is not None
    assert entry.sql.password == SecretRef("keyring", "db1/sql")


def test_that_the_account_of_procedures_is_apart_from_the_observers_and_may_stay_empty(
    dialog: ConnectionDialog,
) -> None:
    fill(dialog)
    form = dialog.form
    assert form.operator_user.isVisible()
    assert not form.operator_password.isVisible()
    assert "cannot change anything" in form.why_two.text()
    assert form.draft().entry.sql == SqlAccess("monitor", via="tunnel")
    form.operator_user.setText(" pilot ")
    assert form.operator_password.isVisible()
    form.operator_password.insert("hunter3")
    draft = form.draft()
    ref = SecretRef("keyring", "10.20.0.11/operator")
    assert draft.entry.sql == SqlAccess("monitor", via="tunnel", operator_user="pilot", operator_password=ref)
    assert draft.secrets == ((ref, Secret("hunter3")),)
    assert "hunter3" not in repr(draft)
    form.operator_user.clear()  # a password without a user is none
    assert form.draft().entry.sql == SqlAccess("monitor", via="tunnel")
    assert form.draft().secrets == ()


def test_that_the_account_of_procedures_is_edited_without_its_password(qtbot: QtBot) -> None:
    kept = SecretRef("env", "PILOT_PASSWORD")
    assert ENTRY.sql is not None
    entry = replace(ENTRY, sql=replace(ENTRY.sql, operator_user="pilot", operator_password=kept))
    made = ConnectionDialog(entry=entry)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    assert made.form.draft().entry == entry
    assert "env:PILOT_PASSWORD" in made.form.operator_password.placeholderText()
    made.form.operator_user.setText("other")  # the kept password is the old user's
    sql = made.form.draft().entry.sql
    assert sql is not None
    assert (sql.operator_user, sql.operator_password) == ("other", None)
    made.form.operator_user.clear()
    sql = made.form.draft().entry.sql
    assert sql is not None
    assert (sql.operator_user, sql.operator_password) == (None, None)


def test_that_a_test_asks_once_and_shows_every_step(dialog: ConnectionDialog) -> None:
    fill(dialog)
    spy = QSignalSpy(dialog.test_requested)
    press(dialog, "Test")
    assert isinstance(spy.at(0)[0], HostDraft)
    assert dialog.steps.told() == "Trying to reach 10.20.0.11."
    press(dialog, "Testing…")
    assert spy.count() == 1
    dialog.show_steps(
        (
            StepLine("SSH login", "failed", "The host refused the login of root.", ("Name another key file.",)),
            StepLine("sudo", "skipped"),
        )
    )
    assert dialog.steps.words() == (
        "SSH login",
        "The host refused the login of root.",
        "Try: Name another key file.",
        "sudo",
    )
    press(dialog, "Test")
    assert spy.count() == 2


def test_that_a_failed_save_is_told_in_the_dialog(dialog: ConnectionDialog) -> None:
    dialog.say(Health.BAD, ("The inventory could not be written.",))
    assert dialog.message() == "The inventory could not be written."


@pytest.mark.parametrize(("button", "accepted"), [("Accept", True), ("Refuse", False)])
def test_that_the_host_key_question_is_answered_once(
    dialog: ConnectionDialog, qtbot: QtBot, button: str, accepted: bool
) -> None:
    question = dialog.ask_host_key(KEY)
    assert question.isModal()
    spy = QSignalSpy(dialog.host_key_answered)
    press(question, button)
    assert (spy.count(), spy.at(0)) == (1, [KEY, accepted])


def test_that_enter_and_escape_refuse_a_key_nobody_compared(dialog: ConnectionDialog, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        question = dialog.ask_host_key(KEY)
        spy = QSignalSpy(question.answered)
        qtbot.keyClick(question, key)
        assert spy.at(0) == [KEY, False]


def test_that_the_question_shows_type_fingerprint_and_how_to_compare(dialog: ConnectionDialog) -> None:
    question = dialog.ask_host_key(KEY)
    texts = [w.text() for w in question.findChildren(QPushButton)]
    labels = question.words()
    assert "Accept the key of db1" in texts
    assert KEY.fingerprint in labels
    assert "ssh-ed25519 key" in labels
    assert "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" in labels
    question.reject()


def test_that_the_first_page_offers_three_ways_each_one_click(qtbot: QtBot) -> None:
    page = FirstRunPage()
    qtbot.addWidget(page)
    add, demo, imports = (
        QSignalSpy(page.add_host_requested),
        QSignalSpy(page.demo_requested),
        QSignalSpy(page.import_requested),
    )
    for text in ("Add a host", "Open the demo", "~/.ssh/config", "~/.my.cnf", "MySQL Workbench"):
        press(page, text)
    assert (add.count(), demo.count()) == (1, 1)
    assert [imports.at(i)[0] for i in range(imports.count())] == ["ssh", "mycnf", "workbench"]


def test_that_an_import_takes_only_what_is_ticked(qtbot: QtBot) -> None:
    other = HostEntry("db2", "10.20.0.12", SshAccess("root"))
    made = ImportDialog(
        "~/.ssh/config", [Candidate(ENTRY, "ssh"), Candidate(other, "ssh", "already in the inventory", ticked=False)]
    )
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    assert made.ticked() == (ENTRY,)
    made.set_ticked(1, True)
    spy = QSignalSpy(made.import_requested)
    press(made, "Import 2 hosts")
    assert spy.at(0) == [(ENTRY, other)]


def test_that_what_an_import_left_out_is_read_whole_and_passwords_only_where_there_are_any(qtbot: QtBot) -> None:
    left = tuple(f"/home/dba/.ssh/config, line {n}: patterns do not name a single host: *.prod" for n in range(1, 10))
    made = ImportDialog("~/.ssh/config", [Candidate(HostEntry("db2", "db2", SshAccess("")), "ssh")], why=left)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    said = "\n".join(part.text() for part in made.findChildren(QLabel))
    assert "\n".join((*left[:6], "and 3 more")) in said
    assert "Passwords" not in said
    (table,) = made.findChildren(QTableWidget)
    cells = [item.text() if (item := table.item(0, n)) else "" for n in range(table.columnCount())]
    assert cells == ["db2", "db2", "from ssh_config", "no"]


def test_that_an_import_that_found_nothing_says_why_and_offers_no_choice_there_is_not(qtbot: QtBot) -> None:
    why = "/home/dba/.my.cnf cannot be read: No such file or directory."
    made = ImportDialog("~/.my.cnf", [], why=(why,))
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    said = "\n".join(part.text() for part in made.findChildren(QLabel))
    assert why in said
    assert "source" not in said
    assert [part.text() for part in made.findChildren(QPushButton) if part.isVisible()] == ["Close"]


def test_that_the_examples_of_a_form_do_not_look_like_defaults(dialog: ConnectionDialog) -> None:
    assert dialog.form.sql_user.placeholderText() == "required, for example pilothouse"


def test_that_an_import_without_a_tick_can_not_be_pressed(qtbot: QtBot) -> None:
    made = ImportDialog("~/.my.cnf", [Candidate(ENTRY, "mycnf", ticked=False)])
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    take = next(b for b in made.findChildren(QPushButton) if b.text() == "Import")
    assert not take.isEnabled()


def test_that_every_stop_of_tab_shows_that_it_has_the_keys(qtbot: QtBot, dialog: ConnectionDialog) -> None:
    dialog.resize(880, 1400)  # nothing scrolls while two pictures are compared
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    dialog.form.address.setFocus(Qt.FocusReason.TabFocusReason)
    first, dull = QApplication.focusWidget(), []
    while True:
        stop = QApplication.focusWidget()
        assert stop is not None
        QApplication.processEvents()
        with_keys = picture_of(dialog, stop)
        QTest.keyClick(stop, Qt.Key.Key_Tab)
        QApplication.processEvents()
        if picture_of(dialog, stop) == with_keys:
            dull.append(stop.accessibleName() or type(stop).__name__)
        if QApplication.focusWidget() is first:
            break
    assert dull == []


def picture_of(dialog: ConnectionDialog, stop: QWidget) -> QImage:
    """Return how a stop looks with 3 px around it, without a cursor that blinks."""
    place = QRect(stop.mapTo(dialog, QPoint(0, 0)), stop.size()).adjusted(-3, -3, 3, 3)
    return dialog.grab(place).toImage()
