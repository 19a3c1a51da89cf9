"""Every page in the pseudo-language: an unaccented word was never marked for translation, and nothing may be clipped.

Data stay as they are: names, numbers, units, what servers call things, and sentences of a recording. On fake sources.
A test run looks at every estate as it is opened, and with one node chosen; `test everything` with four of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services.discovery.model import ClusterSnapshot
from services.events import Event
from services.i18n import PSEUDO, install, tr
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.sampling.metrics.catalogue import load_catalogue
from services.types import Health
from tests.sample import EVERY
from tests.widgets import builders as b
from tests.widgets.fake_sources import CARDS, NOW, FakeLiveSource, FakeRecording, OpenWindow, open_window
from tests.widgets.seen_texts import clipped, seen
from widgets.common.commands.palette import CommandPalette
from widgets.common.controls.fields import choose
from widgets.common.look.theme import apply_theme
from widgets.inventory.certificate_question import CertificateQuestion, NoTlsQuestion
from widgets.inventory.connection_dialog import ConnectionDialog
from widgets.inventory.draft import Candidate, HostKey, ServerCertificate, StepLine
from widgets.inventory.first_run import FirstRunPage
from widgets.inventory.host_key_question import HostKeyQuestion
from widgets.inventory.import_dialog import ImportDialog

WORD = re.compile(r"(?<!\w)[A-Za-z][A-Za-z_]+(?!\w)")
CODE = re.compile(r"[A-Z]+(?:-[A-Z]+)+")
UNITS = {"kB", "MB", "GB", "TB", "ms", "min", "Hz"}
# The program's and other programs' names, keys, vendors' words, commands and formats: the same in every language.
TERMS = {
    *("Pilothouse", "MariaDB", "MySQL", "Galera", "Percona", "Workbench", "InnoDB", "Debian", "Linux", "OpenSSH"),
    *("SST", "IST", "GTID", "SQL", "SSH", "TLS", "CPU", "UTC", "CET", "CEST", "PNG", "SVG", "CSV", "SHA"),
    *("Ctrl", "Alt", "End", "sudo", "pilothouse", "ssh", "config", "my", "cnf", "pid", "sy", "us"),
    *("ssh-keygen", "keygen", "lf", "etc", "pub", "key", "ed", "gcache", "size", "async"),
}


RAW = (
    "wsrep local recv queue", "active, running", "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
    "openssl s_client -starttls mysql -connect", "</dev/null | openssl x509 -noout -fingerprint -sha256",
)  # fmt: skip


def texts_of(value: object) -> Iterator[str]:
    """Yield every text in a snapshot: what servers, people and recordings say."""
    if isinstance(value, str):
        yield from (line for line in value.splitlines() if WORD.search(line))
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name))
    elif isinstance(value, (tuple, list, frozenset, dict)):
        for part in value.items() if isinstance(value, dict) else value:
            yield from texts_of(part)


def halves(text: str) -> Iterator[str]:
    """Yield what stands on two lines where a code of a check ("DISK-FREE") is broken at a hyphen, as fonts will it."""
    if CODE.fullmatch(text):
        for hyphen in re.finditer("-", text):
            yield from (text[: hyphen.end()], text[hyphen.end() :])


def own_words(text: str, data: Collection[str]) -> set[str]:
    """Return the unaccented words of a text that are neither data (or a line or a cut piece of data) nor terms."""
    found: set[str] = set()
    for piece in re.split("[…·‹›]", text):
        rest = piece.strip()
        if any(rest in known for known in data):
            continue
        for known in data:
            if known not in rest:
                continue
            # The first half of a broken code ends in its hyphen, and stands at the end of its line only.
            end = "$" if known.endswith("-") else r"(?!\w)"
            rest = re.sub(rf"(?<!\w){re.escape(known)}{end}", " ", rest)
        found |= set(WORD.findall(rest))
    return found - UNITS - TERMS


def unaccented(widget: QWidget, *data: object) -> set[tuple[str, str]]:
    """Return (who, text) of what holds a word that was neither translated nor comes from the data."""
    told = {text for part in (*data, *RAW) for text in texts_of(part)}
    known = sorted(told | {half for text in told for half in halves(text)}, key=len, reverse=True)
    return {(who, text) for who, text in seen(widget) if own_words(text, known)}


@pytest.fixture(autouse=True)
def pseudo() -> Iterator[None]:
    assert install(PSEUDO) == PSEUDO
    yield
    install("en")


EVENT = Event(NOW - 60.0, "transfer", "SST from db2 to db4", Health.TRANSFER, until=NOW - 20.0, spans=True)
ESTATES = (
    b.healthy, b.sst_running, b.partitioned, b.no_primary, b.killed, b.two_segments, b.tree_with_broken,
    b.ring, b.multi_source, b.single, b.silent, b.refused,
)  # fmt: skip


def look_at_pages(qapp: QApplication, opened: OpenWindow, *data: object) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for page in ("topology", "charts", "journal"):
        opened.window.show_page(page)
        for _ in range(CARDS + 4):
            qapp.processEvents()
        found |= {(f"{page}: {who}", text) for who, text in unaccented(opened.window, *data)}
        found |= {(f"{page}, clipped: {who}", text) for who, text in clipped(opened.window)}
    return found


@pytest.mark.parametrize("make", ESTATES, ids=lambda make: make.__name__)
def test_that_no_page_of_a_live_estate_says_an_unmarked_word(
    qtbot: QtBot, qapp: QApplication, make: type[ClusterSnapshot]
) -> None:
    cluster = make()
    source = FakeLiveSource(b.estate(cluster))
    source.told = [EVENT]
    with open_window(qapp, source) as opened:
        nodes = cluster.nodes[:4] if EVERY else cluster.nodes[:4][-1:]
        found = look_at_pages(qapp, opened, source.newest, source.told, source.title)
        for node in nodes:
            opened.controller.select_node(node.node_id)
            found |= look_at_pages(qapp, opened, source.newest, source.told, source.title)
    assert found == set()


def test_that_a_recording_and_the_palette_say_no_unmarked_word(qtbot: QtBot, qapp: QApplication) -> None:
    source = FakeRecording()
    with open_window(qapp, source) as opened:
        data = (source.past, source.recorded, source.title)
        found = look_at_pages(qapp, opened, *data)
        opened.controller.look_at(NOW - 250.0)
        found |= look_at_pages(qapp, opened, *data)
        qtbot.keyClick(opened.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        palette = opened.window.findChild(CommandPalette)
        assert palette is not None
        found |= unaccented(palette, *data)
    assert found == set()


def test_that_an_empty_estate_says_no_unmarked_word(qtbot: QtBot, qapp: QApplication) -> None:
    source = FakeLiveSource(b.estate())
    with open_window(qapp, source) as opened:
        found = look_at_pages(qapp, opened, source.title)
    assert found == set()


def test_that_the_ways_in_say_no_unmarked_word(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    entry = HostEntry("db1", "10.20.0.11", SshAccess("dba", sudo="password"), SqlAccess("monitor"))
    dialog = ConnectionDialog()
    dialog.form.show_entry(entry)
    choose(dialog.form.tls, "verify-ca")
    steps = [StepLine(tr("Test"), state, "", ("",)) for state in ("passed", "failed", "warned", "running", "skipped")]
    key = HostKey("db1", "ssh-ed25519", "SHA256:abc")
    shown = ServerCertificate("db1", 3306, ":".join(["AB"] * 32), "CN=MySQL_Server", "self-signed certificate")
    windows: tuple[QWidget, ...] = (
        dialog,
        ConnectionDialog(),
        FirstRunPage(),
        HostKeyQuestion(key),
        CertificateQuestion(shown),
        NoTlsQuestion("db1", "tunnel"),
        ImportDialog("~/.my.cnf", [Candidate(entry, "mycnf")]),
        ImportDialog("~/.my.cnf", []),
    )
    found: set[tuple[str, str]] = set()
    for window in windows:
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(window)
        window.show()
        qapp.processEvents()
        found |= {(f"{type(window).__name__}: {who}", text) for who, text in unaccented(window, entry, key, shown)}
        found |= {(f"{type(window).__name__}, clipped: {who}", text) for who, text in clipped(window)}
    dialog.steps.show_steps(steps)
    dialog.set_testing(True)
    found |= unaccented(dialog, entry)
    assert found == set()


def test_that_every_chart_of_the_catalogue_can_be_said(qapp: QApplication) -> None:
    for metric in load_catalogue():
        assert not WORD.fullmatch(tr(metric.title)) or metric.title in TERMS
