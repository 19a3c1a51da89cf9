"""The questions about a server's certificate, and about a server without one, in the connection dialog."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from services.connections.probe.test import AccessReport, Step
from services.connections.tls import known_certificates
from services.errors import CertificateUnknown, TlsMissing
from tests.widgets.window.test_window_hosts import Hosts, press
from tests.widgets.window.test_window_hosts import hosts as hosts  # noqa: PLC0414 - a fixture
from tests.widgets.window.test_window_hosts import window as window  # noqa: PLC0414 - a fixture
from widgets.common.controls.fields import choose
from widgets.common.look.theme import apply_theme
from widgets.inventory.certificate_question import CertificateQuestion, NoTlsQuestion
from widgets.inventory.draft import ServerCertificate

PRINT = ":".join(f"{n:02X}" for n in range(32))
SHOWN = ServerCertificate("db1", 3307, PRINT, "CN=MySQL_Server_8.4_Auto_Generated", "self-signed certificate in chain")
UNKNOWN = CertificateUnknown(
    "The certificate cannot be verified.", host="db1", fingerprint=PRINT, name="10.20.0.11:3306", subject="CN=x",
    why="self-signed certificate", try_=(),
)  # fmt: skip


@pytest.fixture
def question(qtbot: QtBot, qapp: QApplication) -> CertificateQuestion:
    apply_theme(qapp, "light")
    made = CertificateQuestion(SHOWN)
    qtbot.addWidget(made)
    made.show()
    return made


def failed(error: CertificateUnknown | TlsMissing) -> AccessReport:
    return AccessReport("db1", (Step("tls", "TLS", "failed", error.sentence, error=error),))


def buttons(widget: QWidget) -> list[str]:
    return [b.text() for b in widget.findChildren(QPushButton)]


def test_that_it_shows_fingerprint_reason_and_how_to_compare(question: CertificateQuestion) -> None:
    said = "\n".join(question.words())
    assert PRINT in said.replace(":\n", ":")
    assert "openssl s_client -starttls mysql -connect 127.0.0.1:3307" in said
    assert "self-signed certificate in chain" in said
    assert "CN=MySQL_Server_8.4_Auto_Generated" in said
    assert "No login was attempted" in said
    assert buttons(question) == ["Refuse", "Accept the certificate of db1"]


def test_that_nothing_of_it_is_cut_off(question: CertificateQuestion, qtbot: QtBot) -> None:
    qtbot.waitExposed(question)
    for label in question.findChildren(QWidget):
        assert label.width() <= question.width()
        assert label.sizeHint().width() <= question.width() or label.hasHeightForWidth()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_that_enter_and_escape_refuse_a_certificate_nobody_compared(
    question: CertificateQuestion, qtbot: QtBot, key: Qt.Key
) -> None:
    spy = QSignalSpy(question.answered)
    qtbot.keyClick(question, key)
    assert (spy.count(), spy.at(0)) == (1, [SHOWN, False])


def test_that_an_accepted_certificate_is_kept_and_the_test_runs_again(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    hosts.ops.answer("test-host", failed(UNKNOWN))
    asked = hosts.dialog().question
    assert isinstance(asked, CertificateQuestion)
    press(asked, "Accept")
    hosts.ops.do("accept-key")
    assert known_certificates.place().read_text() == f"10.20.0.11:3306 sha256 {PRINT}\n"
    assert "test-host" in hosts.ops.waiting


def test_that_a_refused_certificate_is_not_kept(hosts: Hosts) -> None:
    hosts.hosts.open()
    hosts.fill()
    press(hosts.dialog(), "Test")
    hosts.ops.answer("test-host", failed(UNKNOWN))
    asked = hosts.dialog().question
    assert asked is not None
    press(asked, "Refuse")
    assert {"accept-key", "test-host", "save-host"}.isdisjoint(hosts.ops.waiting)
    assert not known_certificates.place().exists()


def _without_tls(hosts: Hosts, *, ssh: bool, via: str = "direct", tls: str = "verify") -> NoTlsQuestion | None:
    hosts.hosts.open()
    hosts.fill()
    form = hosts.dialog().form
    form.ssh_on.setChecked(ssh)
    choose(form.via, via)
    choose(form.tls, tls)
    press(hosts.dialog(), "Test")
    hosts.ops.answer("test-host", failed(TlsMissing("The server offers no TLS.", host="db1")))
    asked = hosts.dialog().question
    assert asked is None or isinstance(asked, NoTlsQuestion)
    return asked


@pytest.mark.parametrize(
    ("via", "answer", "found"),
    [
        ("direct", "Through SSH", ("tunnel", "verify")),
        ("tunnel", "Through SSH", ("socket", "verify")),
        ("direct", "Unencrypted", ("direct", "off")),
    ],
)
def test_that_a_server_without_tls_is_watched_by_two_clicks(
    hosts: Hosts, via: str, answer: str, found: tuple[str, str]
) -> None:
    asked = _without_tls(hosts, ssh=True, via=via)
    assert asked is not None
    press(asked, answer)
    sql = hosts.dialog().form.draft().entry.sql
    assert sql is not None
    assert (sql.via, sql.tls) == found
    assert "test-host" in hosts.ops.waiting


def test_that_without_ssh_the_only_way_left_says_what_it_shows(hosts: Hosts) -> None:
    asked = _without_tls(hosts, ssh=False)
    assert asked is not None
    assert buttons(asked) == ["Cancel", "Unencrypted"]
    assert any("can be read in transit" in words for words in asked.words())
    assert any("never sent" in words for words in asked.words())


def test_that_enter_chooses_no_unencrypted_way(hosts: Hosts, qtbot: QtBot) -> None:
    asked = _without_tls(hosts, ssh=False)
    assert asked is not None
    qtbot.keyClick(asked, Qt.Key.Key_Return)
    sql = hosts.dialog().form.draft().entry.sql
    assert sql is not None
    assert sql.tls == "verify"
    assert {"accept-key", "test-host", "save-host"}.isdisjoint(hosts.ops.waiting)


def test_that_somebody_who_demanded_verification_is_not_offered_less(hosts: Hosts) -> None:
    assert _without_tls(hosts, ssh=True, tls="verify-identity") is None
