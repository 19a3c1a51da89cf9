"""What the add-host dialog offers and writes: ways, users, passwords; a name that nobody knows, a missing keyring.

The probe itself runs, over a scripted resolver.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from services.errors import Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.inventory.toml_file import load_inventory
from services.secrets import Secret, SecretRef
from tests.widgets.add_host_person import Person, button
from widgets.common.controls.fields import choose
from widgets.inventory.passwords import reference


def knows_no(name: str) -> Callable[..., list[Any]]:
    """A resolver that knows no such name, and everybody else at the address of documentation."""

    def look_up(host: str, port: object, **_kind: object) -> list[Any]:
        if host == name:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", port))]

    return look_up


# -- an unknown name ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ssh", [True, False])
def test_that_a_name_that_nobody_knows_is_told_at_the_address(
    person: Person, monkeypatch: pytest.MonkeyPatch, ssh: bool
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", knows_no("db1"))
    dialog = person.fills()
    form = dialog.form
    form.ssh_on.setChecked(ssh)
    choose(form.via, "direct")
    height = form.name.y()
    person.presses("Test")
    person.ops.do("test-host")
    QApplication.processEvents()
    assert form.address_note.text() == 'The name "db1" cannot be resolved.'
    assert form.address.property("wrong") is True
    assert form.name.y() == height
    assert dialog.steps.told().startswith("Failed: Name")
    form.address.setText("db2")
    assert form.address_note.text() == "A name, an IP address, or a Host from ~/.ssh/config"
    assert form.address.property("wrong") is False


def test_that_the_unknown_name_of_a_jump_host_is_not_told_at_the_address(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", knows_no("gate"))
    dialog = person.fills()
    dialog.form.jump.setText("dba@gate")
    person.presses("Test")
    person.ops.do("test-host")
    assert dialog.form.address.property("wrong") is not True
    assert 'The name "gate" cannot be resolved (Name or service not known).' in dialog.steps.words()


# -- ways -----------------------------------------------------------------------------------------------------------


def test_that_no_way_through_ssh_is_offered_without_it(person: Person) -> None:
    form = person.fills().form
    assert form.draft().entry.sql == SqlAccess("monitor", via="tunnel")
    form.ssh_on.setChecked(False)
    assert [form.via.itemData(i) for i in range(form.via.count())] == ["direct", "socket"]
    assert "SSH" not in "".join(form.via.itemText(i) for i in range(form.via.count()))
    assert form.draft().entry.sql == SqlAccess("monitor", via="direct")
    form.ssh_on.setChecked(True)
    assert form.draft().entry.sql == SqlAccess("monitor", via="tunnel")


def test_that_the_socket_of_this_machine_needs_no_ssh(person: Person) -> None:
    local = HostEntry("here", "localhost", None, SqlAccess("me", via="socket", socket="/run/mysqld/mysqld.sock"))
    dialog = person.opens(local)
    assert dialog.form.faults() == ()
    assert dialog.form.draft().entry == local


# -- what is written ------------------------------------------------------------------------------------------------


def test_that_an_unticked_keyring_is_named_by_nothing_that_is_written(person: Person) -> None:
    dialog = person.fills()
    dialog.form.name.setText("db1")
    dialog.form.sql_password.insert("hunter2")
    dialog.form.keep.setChecked(False)
    assert "PILOTHOUSE_db1_SQL_PASSWORD" in dialog.form.keeping.note.text()
    person.presses("Add and watch")
    person.ops.do("save-host")
    text = person.path.read_text()
    assert "keyring" not in text
    assert "hunter2" not in text
    ref = SecretRef("env", "PILOTHOUSE_db1_SQL_PASSWORD")
    assert load_inventory(person.path).hosts[0].sql == SqlAccess("monitor", password=ref, via="tunnel")
    assert person.vault.get(ref) == Secret("hunter2")  # this run needs no variable


def test_that_no_two_hosts_share_a_variable() -> None:
    names = ("db1", "DB1", "db-1", "db.1", "db_1", "db__1", "db 1", "_db1", "dbü", "10.20.0.11", "10-20-0-11")
    refs = {reference(name, what, keep=False).name for name in names for what in ("sql", "ssh", "ssh-key")}
    assert len(refs) == 3 * len(names)
    assert all(ref.replace("_", "a").isalnum() and ref.isascii() for ref in refs)


def test_that_ways_that_are_unticked_are_not_written_though_the_inventory_has_defaults(person: Person) -> None:
    person.path.parent.mkdir()
    person.path.write_text('version = 1\n[defaults.ssh]\nuser = "dba"\n[defaults.sql]\nuser = "observer"\n')
    dialog = person.opens()
    person.ops.do("about-hosts")
    dialog.form.address.setText("db1")
    dialog.form.ssh_on.setChecked(False)
    assert dialog.form.sql_user.placeholderText() == "observer, from [defaults] of the inventory"
    person.presses("Add and watch")
    person.ops.do("save-host")
    assert load_inventory(person.path).hosts == (HostEntry("db1", "db1", None, SqlAccess("observer")),)
    assert person.added[0] == load_inventory(person.path).hosts


def test_that_the_users_name_may_be_left_to_ssh_config(person: Person) -> None:
    person.fills()
    person.presses("Add and watch")
    person.ops.do("save-host")
    assert load_inventory(person.path).hosts[0].ssh == SshAccess("")
    assert "[host.ssh]" in person.path.read_text()


def test_that_the_users_name_may_be_left_to_the_inventorys_defaults(person: Person) -> None:
    person.path.parent.mkdir()
    person.path.write_text('version = 1\n[defaults.ssh]\nuser = "dba"\n')
    person.fills()
    person.presses("Add and watch")
    person.ops.do("save-host")
    assert person.added[0][0].ssh == SshAccess("dba")
    assert load_inventory(person.path).hosts == person.added[0]


def test_that_a_new_host_does_not_take_the_place_of_another_of_its_name(person: Person) -> None:
    person.path.parent.mkdir()
    person.path.write_text('version = 1\n[[host]]\nname = "db1"\naddress = "10.9.9.9"\n')
    dialog = person.fills()
    person.presses("Add and watch")
    person.ops.do("save-host")
    assert 'The inventory already has a host named "db1".' in dialog.message()
    assert load_inventory(person.path).hosts[0].address == "10.9.9.9"


def test_that_a_new_host_that_looks_like_another_is_not_written_beside_it(person: Person) -> None:
    person.path.parent.mkdir()
    person.path.write_text('version = 1\n[[host]]\nname = "DB1."\naddress = "10.9.9.9"\n')
    dialog = person.fills()
    person.presses("Add and watch")
    person.ops.do("save-host")
    words = 'the host names "DB1." and "db1" look alike and could be confused; rename one.'
    assert words in dialog.message()
    assert [host.name for host in load_inventory(person.path).hosts] == ["DB1."]


def test_that_a_password_for_sudo_is_asked_for_where_sudo_wants_one(person: Person) -> None:
    dialog = person.fills()
    choose(dialog.form.sudo, "password")
    assert dialog.form.faults() == ("Enter the password for sudo, or choose sudo without a password.",)
    dialog.form.sudo_password.insert("hunter2")
    assert dialog.form.faults() == ()


# -- no keyring -----------------------------------------------------------------------------------------------------


def test_that_a_machine_without_a_keyring_says_so_before_anything_is_typed(person: Person) -> None:
    dialog = person.opens()
    person.ops.do("about-hosts")  # the suite has no keyring
    keep, note = dialog.form.keep, dialog.form.keeping.note
    assert not keep.isChecked()
    assert not keep.isEnabled()
    assert note.text().startswith("This workstation has no keyring that can store a password.")
    assert "env:VARIABLE" in note.text()


def test_that_a_keyring_that_is_missed_only_on_saving_names_the_way_out(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    dialog = person.fills()
    dialog.form.sql_password.insert("hunter2")
    person.presses("Add and watch")
    person.ops.do("save-host")
    assert not person.path.exists()
    assert "no keyring" in dialog.message()
    assert "Install gnome-keyring or KWallet" in dialog.message()
    assert "env:VARIABLE" in dialog.message()


def test_that_a_failure_to_reach_the_host_at_all_ends_the_test(person: Person) -> None:
    dialog = person.fills()
    person.presses("Test")
    person.ops.fail("test-host", Unreachable("The road is closed."))
    assert "The road is closed." in dialog.message()
    assert button(dialog, "Test").text() == "Test"
