"""Hosts that are named and not asked, in the window: one action for all, a list to look at, kept in the inventory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.vault import SessionVault
from app.window.hosts.add_host import AddHost
from app.window.hosts.ask_keys import AskKeys
from app.window.hosts.ask_more import AskMore, with_named
from services.connections.probe.test import AccessReport, Step
from services.discovery.model import Unasked
from services.errors import BadInput, HostKeyUnknown
from services.inventory.model import HostEntry, Instance, Inventory, SqlAccess, SshAccess
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from services.secrets import SecretRef
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, FakeOps, open_window
from widgets.bridge.ops import Ops
from widgets.inventory.host_key_question import HostKeyQuestion
from widgets.inventory.unasked import UnaskedDialog, UnaskedNotice

N1 = HostEntry("n1", "10.0.0.1", SshAccess("dba"), SqlAccess("monitor", password=SecretRef("env", "PW")))
TWO = (Unasked("10.0.0.2", "n2", ("n1",), "n1"), Unasked("10.0.0.3", "n3", ("n1",), "n1"))
OLD = Unasked("10.0.0.9", "10.0.0.9", ("n1",), "n1", sure=False)


class ProcedureService:
    """A live window whose estate names hosts, and an inventory with the one that names them."""

    def __init__(self, window: object, path: Path) -> None:
        from tests.widgets.fake_sources import OpenWindow

        assert isinstance(window, OpenWindow)
        self.open = window
        self.path = path
        self.ops = FakeOps()
        self.hosts = AddHost(window.window, cast("Ops", self.ops), SessionVault(), path, window.window)
        self.added: list[tuple[HostEntry, ...]] = []
        self.hosts.added.connect(self.added.append)
        self.more = AskMore(window.controller, window.window, self.hosts, cast("Ops", self.ops), window.window)

    def dialog(self) -> UnaskedDialog:
        return next(d for d in self.open.window.findChildren(UnaskedDialog) if d.isVisible())


@pytest.fixture
def source() -> FakeLiveSource:
    return FakeLiveSource(replace(b.estate(b.healthy()), unasked=(*TWO, OLD)))


@pytest.fixture
def service(qapp: QApplication, source: FakeLiveSource, tmp_path: Path, qtbot: QtBot) -> Iterator[ProcedureService]:
    save_inventory(Inventory(hosts=(N1,)), tmp_path / "inventory.toml")
    with open_window(qapp, source) as window:
        made = ProcedureService(window, tmp_path / "inventory.toml")
        qtbot.waitUntil(made.more.notice.isVisible, timeout=5000)
        yield made


def test_that_one_action_watches_all_that_are_members_now(service: ProcedureService, qtbot: QtBot) -> None:
    notice = service.more.notice
    assert notice.text() == "3 hosts are named but not queried yet: n2, n3, 10.0.0.9."
    assert notice._action.text() == "Watch 2 more with the account of n1…"
    qtbot.keyClick(notice.later, Qt.Key.Key_Backtab)
    notice.acted.emit()
    dialog = service.dialog()
    assert dialog.ticked() == TWO  # a line of a configuration may be of years ago
    assert dialog._watch.text() == "Watch 2 more with the account of n1"
    qtbot.mouseClick(dialog._watch, Qt.MouseButton.LeftButton)
    service.ops.do("watch-more")
    written = load_inventory(service.path)
    assert [(h.name, h.address, h.sql) for h in written.hosts] == [
        ("n1", "10.0.0.1", N1.sql), ("n2", "10.0.0.2", N1.sql), ("n3", "10.0.0.3", N1.sql)
    ]  # fmt: skip
    assert [[entry.name for entry in entries] for entries in service.added] == [["n2", "n3"]]


def test_that_a_host_that_is_unticked_is_not_written(service: ProcedureService, qtbot: QtBot) -> None:
    service.more.open()
    dialog = service.dialog()
    dialog.set_ticked(0, ticked=False)
    dialog.set_ticked(1, ticked=False)
    assert not dialog._watch.isEnabled()
    dialog.set_ticked(2, ticked=True)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    service.ops.do("watch-more")
    assert [h.address for h in load_inventory(service.path).hosts] == ["10.0.0.1", "10.0.0.9"]


def test_that_an_inventory_that_lost_the_account_s_host_is_left_as_it_is(service: ProcedureService) -> None:
    save_inventory(Inventory(hosts=(replace(N1, name="other"),)), service.path)
    before = service.path.read_bytes()
    service.more._watch(TWO)
    service.ops.do("watch-more")
    assert service.path.read_bytes() == before
    assert (
        "The account of n1 cannot be used: the host is no longer in the inventory."
        in service.open.window.messages.text()
    )


def test_that_not_now_holds_until_another_is_named(qtbot: QtBot) -> None:
    notice = UnaskedNotice()
    qtbot.addWidget(notice)
    notice.show_unasked(TWO)
    assert not notice.isHidden()
    notice.later.click()
    assert notice.isHidden()
    notice.show_unasked(TWO[:1])
    assert notice.isHidden()
    notice.show_unasked((*TWO, OLD))
    assert not notice.isHidden()
    notice.show_unasked(())
    assert notice.isHidden()


def test_that_names_a_server_made_up_become_no_names_of_the_inventory() -> None:
    odd = (Unasked("10.0.0.2", "<b>n1</b>\u202e", ("n1",), "n1"), Unasked("10.0.0.3", "N1", ("n1",), "n1"))
    _, entries = with_named(Inventory(hosts=(N1,)), odd)
    assert [entry.name for entry in entries] == ["10.0.0.2", "10.0.0.3"]
    assert with_named(Inventory(hosts=(N1,)), (Unasked("10.0.0.1", "x", ("n1",), "n1"),))[1] == ()
    with pytest.raises(BadInput):
        with_named(Inventory(), TWO)


def test_that_a_host_named_by_an_instance_is_written_with_its_account_and_with_nothing_else_of_its_host() -> None:
    account = SqlAccess("inst", port=3307)
    host = replace(N1, beside=(Instance("n1", "mysql", 3307, account),))
    inventory = Inventory(hosts=(host,))
    (by_host,) = with_named(inventory, (Unasked("10.0.0.2", "n2", ("n1",), "n1"),))[1]
    assert (by_host.sql, by_host.beside) == (N1.sql, ())
    (by_instance,) = with_named(inventory, (Unasked("10.0.0.2", "n2", ("n1:3307",), "n1:3307"),))[1]
    assert (by_instance.sql, by_instance.on, by_instance.beside) == (account, "", ())


# -- their host keys -------------------------------------------------------------------------------------------------
def unknown(name: str) -> AccessReport:
    asked = HostKeyUnknown(
        f"The host key of {name} is not known yet.", host=name, key_type="ssh-ed25519", fingerprint=f"SHA256:{name}",
        key_base64="AAAA",
    )  # fmt: skip
    return AccessReport(name, (Step("host-key", "Host key", "failed", "Not known.", error=asked),))


class AskedKeys:
    """Two hosts that were taken at once, and who is asked again at once."""

    def __init__(self, service: ProcedureService) -> None:
        self.service, self.ops = service, service.ops
        self.tried: list[str] = []
        window = service.open.window
        keys = AskKeys(window, cast("Ops", self.ops), SessionVault(), self.tried.extend, window)
        service.more.ask_about = keys.ask_about
        service.more._watch(TWO)
        self.ops.do("watch-more")

    def question(self) -> HostKeyQuestion | None:
        asked = self.service.open.window.findChildren(HostKeyQuestion)
        return next((one for one in asked if one.isVisible()), None)

    def answer(self, words: str) -> None:
        question = self.question()
        assert question is not None
        next(one for one in question.findChildren(QPushButton) if one.text().startswith(words)).click()


def test_that_the_keys_of_hosts_taken_at_once_are_asked_one_after_the_other(service: ProcedureService) -> None:
    asked = AskedKeys(service)
    asked.ops.answer("try-key", unknown("n2"))
    question = asked.question()
    assert question is not None
    assert "SHA256:n2" in question.words()
    assert not question.isModal()  # the drawing stays in reach
    assert "try-key" not in asked.ops.waiting
    asked.answer("Accept the key of n2")
    asked.ops.answer("keep-key", None)
    assert asked.tried == ["n2"]
    asked.ops.answer("try-key", unknown("n3"))
    asked.answer("Accept the key of n3")
    asked.ops.answer("keep-key", None)
    assert (asked.tried, asked.question(), asked.ops.waiting) == (["n2", "n3"], None, {})


def test_that_who_leaves_a_question_is_asked_the_next_and_accepted_nothing(service: ProcedureService) -> None:
    asked = AskedKeys(service)
    asked.ops.answer("try-key", unknown("n2"))
    question = asked.question()
    assert question is not None
    question.close()
    assert "keep-key" not in asked.ops.waiting
    asked.ops.answer("try-key", unknown("n3"))
    asked.answer("Refuse")
    assert (asked.tried, asked.question(), asked.ops.waiting) == ([], None, {})


def test_that_a_host_whose_key_is_known_is_not_asked_about(service: ProcedureService) -> None:
    asked = AskedKeys(service)
    asked.ops.answer("try-key", AccessReport("n2", ()))
    assert asked.question() is None
    assert "try-key" in asked.ops.waiting
