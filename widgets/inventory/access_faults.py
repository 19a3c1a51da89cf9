"""What keeps the fields of a connection from being an inventory entry: each field, whether it is wrong, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from services.i18n import tr
from widgets.bridge.typed import is_address, is_login, is_way

if TYPE_CHECKING:
    from widgets.inventory.access_form import AccessForm

_PORT = re.compile(r"[0-9]{1,5}")
Check = tuple[QLineEdit, bool, str]


def checks(form: AccessForm) -> tuple[Check, ...]:
    """Return (field, is it wrong, the sentence) in the order of the form."""
    address = form.address.text().strip()
    here = (form.address, not is_address(address), tr("Enter an address: a host name or an IP address."))
    return (here, *_of_ssh(form, form.ssh_on.isChecked()), *_of_sql(form, form.sql_on.isChecked()))


def _of_ssh(form: AccessForm, on: bool) -> tuple[Check, ...]:
    login, jump = form.ssh_user.text().strip(), form.jump.text().strip()
    odd_login = login != "" and not is_login(login)
    without = form.sudo.currentData() == "password" and not form.has_sudo_password()
    return (
        (form.ssh_user, on and odd_login, tr("The SSH user name must not contain spaces or shell metacharacters.")),
        (form.ssh_port, on and not is_port(form.ssh_port), tr("The SSH port must be a number from 1 to 65535.")),
        (form.jump, on and jump != "" and not is_way(jump), tr("Write a jump host as user@host:port.")),
        (form.sudo_password, on and without, tr("Enter the password for sudo, or choose sudo without a password.")),
    )


def _of_sql(form: AccessForm, on: bool) -> tuple[Check, ...]:
    nobody = form.what.needs_user and not form.sql_user.text().strip() and not form.sql_user_known
    return (
        (form.sql_user, on and nobody, tr("Enter an SQL user.")),
        (form.sql_port, on and not is_port(form.sql_port), tr("The SQL port must be a number from 1 to 65535.")),
    )


def is_port(field: QLineEdit) -> bool:
    """Return whether the field holds a port, or nothing."""
    text = field.text().strip()
    return not text or (bool(_PORT.fullmatch(text)) and 1 <= int(text) <= 65535)


def port(field: QLineEdit, default: int) -> int:
    """Return the field's port; without one, or with what is none, `default`."""
    text = field.text().strip()
    return int(text) if text and is_port(field) else default
