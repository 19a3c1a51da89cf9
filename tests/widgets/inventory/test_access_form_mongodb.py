"""A MongoDB server in the dialog of a host: chosen, without a user where it has no accounts, kept when edited."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from services.inventory.model import HostEntry, MongoAccess, SqlAccess, SshAccess
from services.secrets import SecretRef
from widgets.common.controls.fields import choose
from widgets.inventory.access_form import AccessForm


def _form(qtbot: QtBot) -> AccessForm:
    form = AccessForm()
    qtbot.addWidget(form)
    form.address.setText("10.0.0.7")
    return form


def test_that_a_mongodb_server_is_chosen_and_needs_no_user(qtbot: QtBot) -> None:
    form = _form(qtbot)
    assert form.faults() != ()  # SQL needs a user
    choose(form.kind, "mongodb")
    assert form.sql_port.placeholderText() == "27017"
    assert form.faults() == ()
    form.sql_port.setText("27018")
    entry = form.draft().entry
    assert (entry.kind, entry.sql) == ("mongodb", MongoAccess(port=27018, via="tunnel"))
    choose(form.kind, "mysql")
    assert form.sql_port.placeholderText() == "3306"


def test_that_a_server_that_is_edited_stays_what_it_is_with_what_the_form_does_not_show(qtbot: QtBot) -> None:
    access = MongoAccess("watch", SecretRef.parse("keyring:w"), 27019, source="ops", mechanism="scram")
    form = _form(qtbot)
    form.show_entry(HostEntry("c1", "10.0.0.7", SshAccess("dba"), access, kind="mongodb"))
    entry = form.draft().entry
    assert (entry.kind, entry.sql) == ("mongodb", access)
    choose(form.kind, "mysql")  # another server altogether: nothing of the first one's account goes with it
    changed = form.draft().entry
    assert (changed.kind, type(changed.sql)) == ("mysql", SqlAccess)
    assert changed.sql is not None
    assert changed.sql.password is None
