"""Hosts in the window: first run, add, test, host key, import, edit; what can't open. Hosts' answers are faked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from app.mark_shelf import MarkShelf, SessionShelf
from app.vault import SessionVault
from app.window.hosts.add_host import AddHost, renamed
from app.window.hosts.host_actions import remove_from_file
from app.window.main_window import MainWindow
from app.window.session import WindowSession
from app.written_estate import NothingToWatch
from services.connections.probe.test import AccessReport, Step
from services.errors import AuthFailed, HostKeyUnknown, SecretMissing, StoreError, UserError
from services.inventory.model import ClusterEntry, HostEntry, Inventory, SqlAccess, SshAccess
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from services.secrets import SecretRef
from tests.widgets.fake_sources import FakeLiveSource, FakeOps
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.common.empty import EmptyState
from widgets.common.look.theme import apply_theme
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.first_run import FirstRunPage
from widgets.inventory.import_dialog import ImportDialog

QUESTION = HostKeyUnknown(
    "The host's key is not known.",
    host="db1",
    key_type="ssh-ed25519",
    fingerprint="SHA256:uNiVztksCsDhcc0u9e8BrrHYTgJ5bBgOgQ2wZ3tYyKc",
    key_base64="AAAA",
)
DB1 = HostEntry("db1", "10.20.0.11", SshAccess("dba"), SqlAccess("monitor"))


def press(widget: QWidget, text: str) -> None:
    next(b for b in widget.findChildren(QPushButton) if b.text().startswith(text)).click()


class Hosts:
    """A window, its host dialogs, and background calls that the test answers."""

    def __init__(self, window: MainWindow, path: Path) -> None:
        self.window = window
        self.path = path
        self.ops = FakeOps()
        self.hosts = AddHost(window, cast("Ops", self.ops), SessionVault(), path, window)
        self.added: list[tuple[HostEntry, ...]] = []
        self.changed: list[tuple[str, HostEntry]] = []
        self.hosts.added.connect(self.added.append)
        self.hosts.changed.connect(lambda name, entry: self.changed.append((name, entry)))

    def dialog(self) -> ConnectionDialog:
        return next(d for d in self.window.findChildren(ConnectionDialog) if d.isVisible())

    def fill(self) -> None:
        form = self.dialog().form
        form.address.setText("10.20.0.11")
        form.name.setText("db1")
        form.ssh_user.setText("dba")
        form.sql_user.setText("monitor")
        form.keep.setChecked(False)


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> MainWindow:
    apply_theme(qapp, "light")
    made = MainWindow()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def hosts(window: MainWindow, tmp_path: Path) -> Hosts:
    return Hosts(window, tmp_path / "conf" / "inventory.toml")


def test_that_a_host_is_added_to_a_new_inventory(hosts: Hosts) -> None:
    press(hosts.window.tree, "Add a host")
    hosts.fill()
    press(hosts.dialog(), "Add and watch")
    hosts.ops.do("save-host")
    assert load_inventory(hosts.path).hosts[0].name == "db1"
    assert [entry.name for entry in hosts.added[0]] == ["db1"]


def test_that_the_first_unreachable_step_is_shown_while_the_others_are_awaited(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    hosts.hosts._stepped.emit(1, Step("tcp", "SSH port", "failed", "No route to 10.20.0.11."))
    assert "No route to 10.20.0.11." in _words(hosts.dialog())
    assert "Testing…" in [b.text() for b in hosts.dialog().findChildren(QPushButton)]


def test_that_a_step_of_an_older_test_is_not_shown(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    hosts.ops.answer("test-host", AccessReport("db1", (Step("tcp", "SSH port", "passed", "Open."),)))
    hosts.hosts._stepped.emit(1, Step("tcp", "SSH port", "failed", "Too late."))
    assert "Too late." not in _words(hosts.dialog())


def _words(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


def test_that_an_unknown_host_key_asks_and_an_accepted_one_tests_again(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    step = Step("host-key", "Host key", "failed", "Not known.", error=QUESTION)
    hosts.ops.answer("test-host", AccessReport("db1", (step,)))
    question = hosts.dialog().question
    assert question is not None
    assert QUESTION.fingerprint in question.words()
    press(question, "Accept")
    hosts.ops.answer("accept-key", None)
    assert "test-host" in hosts.ops.waiting


def test_that_a_refused_host_key_writes_nothing(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    step = Step("host-key", "Host key", "failed", "Not known.", error=QUESTION)
    hosts.ops.answer("test-host", AccessReport("db1", (step,)))
    question = hosts.dialog().question
    assert question is not None
    press(question, "Refuse")
    assert {"accept-key", "test-host", "save-host"}.isdisjoint(hosts.ops.waiting)


def test_that_a_failed_save_is_told_in_the_dialog_and_keeps_what_was_typed(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Add and watch")
    hosts.ops.fail("save-host", StoreError("The disk is full.", try_=("Free some space.",)))
    assert hosts.dialog().message() == "The disk is full.\nNothing was changed.\nFree some space."
    assert hosts.dialog().form.address.text() == "10.20.0.11"


def test_that_a_broken_inventory_is_not_overwritten_by_an_added_host(hosts: Hosts) -> None:
    hosts.path.parent.mkdir()
    hosts.path.write_text("version = 1\n[[host]]\nnme = 3\n")
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Add and watch")
    hosts.ops.do("save-host")
    assert "faults" in hosts.dialog().message()
    assert hosts.path.read_text() == "version = 1\n[[host]]\nnme = 3\n"


def test_that_an_answer_after_the_dialog_is_closed_hurts_nobody(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    hosts.dialog().reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert hosts.window.findChild(ConnectionDialog) is None
    hosts.ops.answer("test-host", AccessReport("db1", ()))


def test_that_a_second_dialog_takes_the_place_of_the_first(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.hosts.edit(DB1)
    visible = [d for d in hosts.window.findChildren(ConnectionDialog) if d.isVisible()]
    assert [d.windowTitle() for d in visible] == ["Connection of db1"]


def test_that_an_edited_host_is_written_and_told_under_the_name_it_was_watched_by(hosts: Hosts) -> None:
    hosts.path.parent.mkdir()
    save_inventory(Inventory(hosts=(DB1,), clusters=(ClusterEntry("orders", ("db1",)),)), hosts.path)
    hosts.hosts.edit(DB1)
    hosts.dialog().form.name.setText("first")
    press(hosts.dialog(), "Save")
    hosts.ops.do("save-host")
    written = load_inventory(hosts.path)
    assert [host.name for host in written.hosts] == ["first"]
    assert written.clusters[0].seeds == ("first",)
    assert [(name, entry.name) for name, entry in hosts.changed] == [("db1", "first")]
    assert hosts.added == []


def test_that_a_renamed_jump_host_is_followed() -> None:
    behind = HostEntry("db2", "10.20.0.12", SshAccess("dba", jump="db1"))
    assert renamed(Inventory(hosts=(DB1, behind)), "db1", "first").hosts[1].ssh == SshAccess("dba", jump="first")


def test_that_a_removed_host_leaves_the_file_and_its_empty_cluster(tmp_path: Path) -> None:
    path = tmp_path / "inventory.toml"
    other = HostEntry("db2", "10.20.0.12", SshAccess("dba"))
    clusters = (ClusterEntry("orders", ("db1",)), ClusterEntry("pay", ("db1", "db2")))
    save_inventory(Inventory(hosts=(DB1, other), clusters=clusters), path)
    assert remove_from_file(path, "db1")
    left = load_inventory(path)
    assert [host.name for host in left.hosts] == ["db2"]
    assert [(c.name, c.seeds) for c in left.clusters] == [("pay", ("db2",))]
    assert not remove_from_file(path, "db1")


def test_that_hosts_of_ssh_config_are_shown_before_they_are_taken(hosts: Hosts) -> None:
    ssh = Path.home() / ".ssh"
    ssh.mkdir()
    (ssh / "config").write_text("Host db1\n  HostName 10.20.0.11\n  User dba\n")
    hosts.hosts.open_import("ssh")
    hosts.ops.do("import")
    dialog = next(d for d in hosts.window.findChildren(ImportDialog) if d.isVisible())
    assert [entry.name for entry in dialog.ticked()] == ["db1"]
    assert not hosts.path.exists()
    press(dialog, "Import 1 host")
    hosts.ops.do("import-write")
    assert load_inventory(hosts.path).hosts[0].address == "db1"  # resolved by ssh_config at each login, as ssh does
    assert [entry.name for entry in hosts.added[0]] == ["db1"]


def test_that_a_host_that_looks_like_one_of_the_inventory_is_told_and_the_others_are_taken(hosts: Hosts) -> None:
    save_inventory(Inventory(hosts=(DB1,)), hosts.path)
    ssh = Path.home() / ".ssh"
    ssh.mkdir()
    (ssh / "config").write_text("Host DB1 db7\n")
    hosts.hosts.open_import("ssh")
    hosts.ops.do("import")
    press(next(d for d in hosts.window.findChildren(ImportDialog) if d.isVisible()), "Import 2 hosts")
    hosts.ops.do("import-write")
    assert [host.name for host in load_inventory(hosts.path).hosts] == ["db1", "db7"]
    assert '"DB1" is left out' in hosts.window.messages.text()


def test_that_an_import_gives_this_run_the_passwords_of_the_hosts_that_it_takes_alone(hosts: Hosts) -> None:
    mine = HostEntry("db1", "db1", sql=SqlAccess("u", SecretRef("keyring", "u@db1:3306"), tls="required"))
    save_inventory(Inventory(hosts=(mine,)), hosts.path)
    options = "[client]\nuser=u\npassword=of-last-year\nhost=db1\n[clientdb2]\nhost=db2\n"
    (Path.home() / ".my.cnf").write_text(options)
    hosts.hosts.open_import("mycnf")
    hosts.ops.do("import")
    press(next(d for d in hosts.window.findChildren(ImportDialog) if d.isVisible()), "Import 2 hosts")
    hosts.ops.do("import-write")
    vault = hosts.hosts._vault
    assert vault.get(SecretRef("keyring", "u@db2:3306")).reveal() == "of-last-year"
    with pytest.raises(SecretMissing):
        vault.get(SecretRef("keyring", "u@db1:3306"))


@pytest.mark.parametrize("kind", ["ssh", "mycnf", "workbench"])
def test_that_an_import_without_anything_to_import_says_so(hosts: Hosts, kind: str) -> None:
    hosts.hosts.open_import(kind)
    hosts.ops.do("import")
    words = hosts.window.messages.text() + "".join(_words(d) for d in hosts.window.findChildren(ImportDialog))
    assert words


# --- the session --------------------------------------------------------------------------------------------------


class FakeOpener:
    """Opens a fake source, after as many failures as the test asks for."""

    def __init__(self, *problems: UserError) -> None:
        self.problems = list(problems)
        self.closed = 0

    def refuse_nothing(self) -> None:
        return None

    def open(self) -> EstateSource:
        if self.problems:
            raise self.problems.pop(0)
        return FakeLiveSource()

    def door(self) -> None:
        return None

    def shelf(self) -> MarkShelf:
        return SessionShelf()

    def close(self) -> None:
        self.closed += 1


class Opened:
    """A session on a fake opener, loaded."""

    def __init__(self, qtbot: QtBot, window: MainWindow, *problems: UserError) -> None:
        self.window = window
        self.ops = Ops()
        self.opener = FakeOpener(*problems)
        self.session = WindowSession(window, self.ops, ErrorHooks(), self.opener)
        self.hosts = AddHost(window, self.ops, SessionVault(), Path.home() / "inventory.toml", self.session)
        self.session.wire_hosts(self.hosts)
        self.load(qtbot)

    def load(self, qtbot: QtBot) -> None:
        with qtbot.waitSignal(self.session.ready, timeout=20_000):
            self.session.load()


@pytest.fixture
def sessions() -> Iterator[list[Opened]]:
    made: list[Opened] = []
    yield made
    for opened in made:
        opened.session.stop()


def test_that_a_window_without_any_host_has_the_programs_icon(
    window: MainWindow, qtbot: QtBot, sessions: list[Opened]
) -> None:
    """Seen in a panel: a first start showed the desktop's own icon for what it does not know."""
    assert window.windowIcon().isNull()
    sessions.append(Opened(qtbot, window, NothingToWatch("There is no inventory.")))
    assert not window.windowIcon().isNull()


def test_that_the_first_run_teaches_three_ways_in(qtbot: QtBot, window: MainWindow, sessions: list[Opened]) -> None:
    opened = Opened(qtbot, window, NothingToWatch("There is no inventory."))
    sessions.append(opened)
    page = window.findChild(FirstRunPage)
    assert page is not None
    assert window.page() == "first-run"
    assert not window.messages.isVisible()
    press(page, "Add a host")
    assert window.findChild(ConnectionDialog) is not None


def test_that_the_first_host_leads_from_the_first_run_to_the_topology(
    qtbot: QtBot, window: MainWindow, sessions: list[Opened]
) -> None:
    opened = Opened(qtbot, window, NothingToWatch("There is no inventory."))
    sessions.append(opened)
    with qtbot.waitSignal(opened.session.ready, timeout=20_000):
        opened.hosts.added.emit((DB1,))
    assert window.page() == "topology"
    assert opened.session.failed is None
    assert opened.session.controller is not None


def test_that_the_pages_stay_in_reach_of_the_settings_once_there_is_a_host(
    qtbot: QtBot, window: MainWindow, sessions: list[Opened]
) -> None:
    opened = Opened(qtbot, window, NothingToWatch("There is no inventory."))
    sessions.append(opened)
    with qtbot.waitSignal(opened.session.ready, timeout=20_000):
        opened.hosts.added.emit((DB1,))
    window.add_page("settings", QWidget())
    window.show_settings()
    shown = [tab.text() for tab in window.top.findChildren(QPushButton) if tab.isVisible() and tab.isCheckable()]
    assert shown == ["Topology", "Charts", "Procedures", "Journal", "Settings"]


def test_that_a_missing_demo_is_told_and_leaves_the_ways_in(
    qtbot: QtBot, window: MainWindow, sessions: list[Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise StoreError("The demo recording is missing.")

    monkeypatch.setattr("app.places.demo_recording", missing)
    sessions.append(Opened(qtbot, window, NothingToWatch("There is no inventory.")))
    page = window.findChild(FirstRunPage)
    assert page is not None
    press(page, "Open the demo")
    assert "The demo recording is missing." in window.messages.text()
    press(window.messages, "Dismiss")
    assert not window.messages.isVisible()
    assert window.page() == "first-run"


@pytest.mark.parametrize(
    "problem",
    [
        StoreError("The history cannot be written: the disk is full.", try_=("Free some space.",)),
        AuthFailed("Refused."),
    ],
)
def test_that_an_estate_that_cannot_open_says_why_and_can_be_tried_again(
    qtbot: QtBot, window: MainWindow, sessions: list[Opened], problem: UserError
) -> None:
    opened = Opened(qtbot, window, problem)
    sessions.append(opened)
    page = next(e for e in window.findChildren(EmptyState) if e.isVisible())
    assert page.texts()[0] == problem.sentence
    assert problem.safe in page.texts()[1]
    with qtbot.waitSignal(opened.session.ready, timeout=20_000):
        press(page, "Try again")
    assert window.page() == "topology"
    assert opened.session.failed is None


def test_that_two_failures_in_a_row_leave_one_page(qtbot: QtBot, window: MainWindow, sessions: list[Opened]) -> None:
    opened = Opened(qtbot, window, StoreError("First."), StoreError("Second."))
    sessions.append(opened)
    opened.load(qtbot)
    shown = [e.texts()[0] for e in window.findChildren(EmptyState) if e.isVisible()]
    assert shown == ["Second."]


def test_that_stopping_closes_the_source(qtbot: QtBot, window: MainWindow) -> None:
    opened = Opened(qtbot, window)
    opened.session.stop()
    assert opened.opener.closed == 1
