"""The three ways in, clicked through to real hosts: add a host, import what is there, open the demo. Off screen.

What a person does is done with mouse and keyboard; what the window then shows is asked of the window.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from app.window.session import WindowSession
from app.window.window_run import Play, WindowStart
from services.discovery.model import ClusterSnapshot
from services.inventory.toml_file import load_inventory
from services.types import Health, Reach
from tests.lab.connections.connecting import known_hosts_of
from tests.lab.estate.estate import Estate
from tests.lab.estate.vault import VARIABLES
from tests.lab.window_hooks import TestedHooks
from widgets.common.controls.boxes import HealthMark
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.first_run import FirstRunPage
from widgets.inventory.import_dialog import ImportDialog
from widgets.inventory.unasked import UnaskedDialog

LIVE_S = 20.0
"""The window's own loading, the crawl and a poll of each host, on two shared cores."""


@dataclass
class Person:
    """Somebody in front of the window of a workstation with an empty home."""

    qtbot: QtBot
    window: MainWindow
    session: WindowSession
    inventory: Path
    home: Path

    def presses(self, inside: QWidget, text: str) -> None:
        """Click the button whose words begin so."""
        found = [b for b in inside.findChildren(QPushButton) if b.isVisible() and b.text().startswith(text)]
        assert found, (text, buttons(inside))
        assert found[0].isEnabled()
        self.qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)

    def types(self, field: QLineEdit, text: str) -> None:
        """Fill a field by the keyboard."""
        field.clear()
        self.qtbot.keyClicks(field, text)

    def sees(self, kind: type[QWidget]) -> QWidget:
        """Return the one widget of a kind that is on screen, waiting for it."""
        self.qtbot.waitUntil(lambda: any(w.isVisible() for w in self.window.findChildren(kind)), timeout=LIVE_S * 1000)
        return next(w for w in self.window.findChildren(kind) if w.isVisible())

    def dialog(self) -> ConnectionDialog:
        """Return the connection dialog."""
        found = self.sees(ConnectionDialog)
        assert isinstance(found, ConnectionDialog)
        return found

    def cluster(self) -> ClusterSnapshot | None:
        """Return the cluster on screen."""
        controller = self.session.controller
        return controller.cluster() if controller is not None else None

    def waits_for_cluster(self, states: dict[str, str]) -> ClusterSnapshot:
        """Wait until the drawing shows these nodes by address, each in its state, and nothing bad."""

        def shown() -> None:
            cluster = self.cluster()
            assert cluster is not None
            assert {n.address.partition(":")[0]: n.state for n in cluster.nodes} == states, words(self.window)
            assert all(n.health is Health.GOOD for n in cluster.nodes)
            canvas = self.window.topology.canvas
            assert canvas.isVisible()
            assert all(canvas.item(n.node_id) is not None for n in cluster.nodes)

        self.qtbot.waitUntil(shown, timeout=LIVE_S * 1000)
        cluster = self.cluster()
        assert cluster is not None
        return cluster

    def watches_more(self, count: int) -> None:
        """Agree that the hosts that the first one names may be asked: one action for all of them."""
        offer = f"Watch {count} more with the account of "

        def offered() -> None:
            assert any(text.startswith(offer) for text in buttons(self.window)), words(self.window)

        self.qtbot.waitUntil(offered, timeout=LIVE_S * 1000)
        self.presses(self.window, offer)
        self.presses(self.sees(UnaskedDialog), offer)

    def reads_numbers(self, cluster: ClusterSnapshot) -> None:
        """Wait until charts have samples of every node: the cluster is live, not only drawn."""
        assert self.session.controller is not None
        source = self.session.controller.source

        def sampled() -> None:
            for node in cluster.nodes:
                series = source.tail(node.host, "load.questions", source.now() - 10.0)
                assert len(series.t) >= 2, node.host

        self.qtbot.waitUntil(sampled, timeout=LIVE_S * 1000)


def words(widget: QWidget) -> str:
    """Return every label on screen."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def buttons(widget: QWidget) -> list[str]:
    """Return the words of every button on screen."""
    return [button.text() for button in widget.findChildren(QPushButton) if button.isVisible()]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of its own for the window; tests of the lab have the real one otherwise (conftest)."""
    folder = tmp_path / "home"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patched:  # given back before an estate is made whole
        for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
            patched.setenv(name, str(folder))
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "SSH_AUTH_SOCK"):
            patched.delenv(name, raising=False)
        yield folder


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path, home: Path) -> Iterator[Person]:
    """The window as the program starts it, with an inventory that does not exist yet."""
    inventory = tmp_path / "configuration" / "inventory.toml"
    window = MainWindow(bare=True)
    window.resize(1440, 900)
    options = Namespace(inventory=inventory, data=tmp_path / "data", theme="light")
    start = WindowStart(options, TestedHooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    made = Person(qtbot, window, start.at_once(), inventory, home)
    try:
        made.sees(FirstRunPage)
        yield made
    finally:
        start.stop()
        window.close()
        window.deleteLater()
        qapp.processEvents()


def _all_synced(estate: Estate) -> dict[str, str]:
    return {estate.addresses[name]: "Synced" for name in ("n1", "n2", "n3")}


def _ssh(estate: Estate, person: Person, *known: str) -> Path:
    """Prepare ~/.ssh as somebody has it who was on these hosts before; return it."""
    ssh = person.home / ".ssh"
    ssh.mkdir(mode=0o700)
    if known:
        (ssh / "known_hosts").write_text(known_hosts_of(estate, *known), encoding="utf-8")
    return ssh


def test_that_an_added_host_is_tested_its_key_compared_and_its_cluster_drawn_live(
    galera: Estate, person: Person
) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    ssh = _ssh(galera, person, "n2", "n3")
    _add_host(galera, person, "n1")
    person.watches_more(2)
    cluster = person.waits_for_cluster(_all_synced(galera))
    assert [c.primary for c in cluster.components] == [True]
    assert len((ssh / "known_hosts").read_text(encoding="utf-8").splitlines()) == 3  # hashed where ssh_config says so
    person.reads_numbers(cluster)
    person.qtbot.waitUntil(lambda: _all_reached(person), timeout=LIVE_S * 1000)
    assert "Primary component" in dict(person.window.topology.canvas.backdrop.titles())
    assert [host.name for host in load_inventory(person.inventory).hosts] == ["n1", "n2", "n3"]
    assert _password(galera) not in person.inventory.read_text(encoding="utf-8")


def test_that_an_added_source_leads_to_its_replicas(replication: Estate, person: Person) -> None:
    _ssh(replication, person, "r1", "r2")
    _add_host(replication, person, "src")
    person.watches_more(2)
    source = replication.addresses["src"]
    states = {a: "source" if a == source else "replica of src" for a in replication.addresses.values()}
    cluster = person.waits_for_cluster(states)
    assert len(cluster.replication) == 2
    person.reads_numbers(cluster)


def _add_host(estate: Estate, person: Person, name: str) -> None:
    """First run -> the dialog -> Test -> the host-key question -> Accept -> every step passed -> Add and watch."""
    person.presses(person.window, "Add a host")
    dialog = person.dialog()
    form = dialog.form
    person.types(form.address, estate.addresses[name])
    person.types(form.name, name)
    person.types(form.ssh_user, "dba")
    person.types(form.ssh_key.line, str(estate.client_dir / "id_ed25519"))
    form.sudo.setCurrentIndex(form.sudo.findData("nopasswd"))
    person.types(form.sql_user, "observer")
    person.types(form.sql_password, _password(estate))
    form.keep.setChecked(False)  # this workstation has no keyring
    person.presses(dialog, "Test")
    person.qtbot.waitUntil(lambda: dialog.question is not None, timeout=LIVE_S * 1000)
    question = dialog.question
    assert question is not None
    printed = estate.host(name).sh("ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub").out.split()[1]
    assert printed in question.words()
    person.presses(question, "Accept")

    def passed() -> None:
        assert "Test" in [b.text() for b in dialog.findChildren(QPushButton)]  # it says "Testing…" meanwhile
        assert set(_steps(dialog)) == {"passed"}, words(dialog.steps)

    person.qtbot.waitUntil(passed, timeout=LIVE_S * 1000)
    person.presses(dialog, "Add and watch")


def _steps(dialog: ConnectionDialog) -> list[str]:
    """Return how each step of the connection test ended: a mark's spoken name is that and the step's."""
    marks = (mark for mark in dialog.steps.findChildren(HealthMark) if mark.isVisible())
    return [mark.accessibleName().partition(",")[0] for mark in marks]


def _password(estate: Estate) -> str:
    return estate.environment()[VARIABLES["observer"]]


def _all_reached(person: Person) -> bool:
    cluster = person.cluster()
    return cluster is not None and all(n.reach is Reach.FULL for n in cluster.nodes)


def test_that_a_server_of_my_cnf_leads_to_its_live_cluster(galera: Estate, person: Person) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    password = _password(galera)
    option_file = person.home / ".my.cnf"
    login = f"host={galera.addresses['n1']}\nuser=observer\npassword={password}\n"
    option_file.write_text(f"[client]\n{login}ssl-ca={galera.client_dir}/ca.pem\n", "utf-8")
    person.presses(person.window, "~/.my.cnf")
    dialog = person.sees(ImportDialog)
    assert password not in words(dialog)
    person.presses(dialog, "Import 1 host")
    person.watches_more(2)
    cluster = person.waits_for_cluster(_all_synced(galera))
    person.reads_numbers(cluster)
    assert password not in person.inventory.read_text(encoding="utf-8")


def test_that_a_host_of_ssh_config_is_watched_and_given_sql_leads_to_its_live_cluster(
    galera: Estate, person: Person
) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    ssh = _ssh(galera, person, "n1", "n2", "n3")
    (ssh / "config").write_text(
        f"Host first\n  HostName {galera.addresses['n1']}\nHost first 10.213.*\n  User dba\n"
        f"  IdentityFile {galera.client_dir}/id_ed25519\n  IdentitiesOnly yes\n",
        encoding="utf-8",
    )
    person.presses(person.window, "~/.ssh/config")
    person.presses(person.sees(ImportDialog), "Import 1 host")
    person.qtbot.waitUntil(lambda: _reach_of_first(person) is Reach.SSH_ONLY, timeout=LIVE_S * 1000)
    person.qtbot.waitUntil(lambda: _shows(person, "Edit the connection of first…"), timeout=LIVE_S * 1000)
    person.presses(person.window, "Edit the connection of first")
    form = person.dialog().form
    assert form.address.text() == "first"  # ssh_config's business, as it is ssh's
    person.types(form.ssh_user, "dba")
    form.sql_on.setChecked(True)
    person.types(form.sql_user, "observer")
    person.types(form.sql_password, _password(galera))
    form.keep.setChecked(False)
    person.presses(person.dialog(), "Save")
    person.watches_more(2)
    states = _all_synced(galera)
    states["first"] = states.pop(galera.addresses["n1"])
    cluster = person.waits_for_cluster(states)
    person.reads_numbers(cluster)


def _shows(person: Person, text: str) -> None:
    assert text in buttons(person.window), words(person.window)


def _reach_of_first(person: Person) -> Reach | None:
    cluster = person.cluster()
    return next((n.reach for n in cluster.nodes if n.host == "first"), None) if cluster is not None else None


def test_that_the_demo_opens_from_the_first_run_and_plays(person: Person) -> None:
    person.presses(person.window, "Open the demo")
    person.qtbot.waitUntil(lambda: person.cluster() is not None, timeout=LIVE_S * 1000)
    cluster = person.cluster()
    assert cluster is not None
    assert sorted(n.name for n in cluster.nodes) == ["n1", "n2", "n3"]
    person.qtbot.waitUntil(person.window.topology.canvas.isVisible, timeout=5_000)
    controller = person.session.controller
    assert controller is not None
    assert not controller.source.is_live
    began = controller.source.now()
    person.qtbot.waitUntil(lambda: controller.source.now() > began + 0.5, timeout=5_000)
    assert not person.inventory.exists()
