"""The fields of a connection, and their way into an inventory entry and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLineEdit, QVBoxLayout, QWidget

from services.i18n import mark, tr
from services.inventory.kinds import KINDS, MYSQL, InstanceKind
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import Secret, SecretRef
from widgets.common.controls.boxes import hairline
from widgets.common.controls.fields import (
    FileField,
    SecretField,
    add_row,
    align_names,
    choice,
    choose,
    form,
    line,
    mark_wrong,
    offer,
)
from widgets.common.controls.labels import ElidedLabel, label, set_kind
from widgets.common.controls.plain import set_tip
from widgets.common.look.theme import theme_holder
from widgets.inventory.access_faults import checks, port
from widgets.inventory.draft import HostDraft
from widgets.inventory.passwords import KeepBox, reference

_SUDO = (("none", mark("not needed")), ("nopasswd", mark("without a password")), ("password", mark("with a password")))
_VIA = (
    ("tunnel", mark("through the SSH tunnel")),
    ("direct", mark("directly over the network")),
    ("socket", mark("the Unix socket, over SSH")),
)
_VIA_WITHOUT_SSH = (
    ("direct", mark("directly over the network")),
    ("socket", mark("the Unix socket of this machine")),
)
_KINDS = tuple((kind.code, kind.name) for kind in KINDS.values() if kind.read)
_TLS = (
    ("verify", mark("verified, by a CA or once by you")),
    ("verify-identity", mark("verified by CA, including the name")),
    ("verify-ca", mark("verified by CA, any name")),
    ("required", mark("encrypted, not verified")),
    ("off", mark("none")),
)
_WHY_TWO = mark(
    "There are two accounts. Watching uses an account that cannot change anything. The operator's account "
    "changes a server only while a procedure that you approved runs. If it is empty, procedures use the "
    "observer's account, or sudo on the host."
)
_ADDRESS_HINT = mark("A name, an IP address, or a Host from ~/.ssh/config")
Typed = dict[SecretRef, Secret]


class _Operator(TypedDict):
    operator_user: str | None
    operator_password: SecretRef | None


class AccessForm(QWidget):
    """Host, SSH, SQL. `draft()` gives the outcome, `faults()` what keeps it from being one.

    Signal: `changed` when something that a test tries is another now.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._editing: HostEntry | None = None
        self.sql_user_known = False
        self._via_over_ssh = ""
        self.name = line(tr("Name"), tr("a name of your choice; default: the address"))
        self.address = line(tr("Address"), tr("host name or IP address"))
        self.address_note = ElidedLabel(tr(_ADDRESS_HINT), "second", Qt.TextElideMode.ElideRight)
        self._make_ssh()
        self._make_sql()
        self.keeping = KeepBox()
        self.keep = self.keeping.tick
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        top = form()
        add_row(top, tr("Address"), self.address)
        top.addRow("", self.address_note)
        add_row(top, tr("Name"), self.name)
        column.addLayout(top)
        self._forms = (top, self._ssh_form, self._sql_form)
        for switch, layout in ((self.ssh_on, self._ssh_form), (self.sql_on, self._sql_form)):
            column.addWidget(hairline())
            column.addWidget(switch)
            column.addLayout(layout)
        column.addWidget(hairline())
        column.addWidget(self.keeping)
        column.addStretch(1)
        self._follow_choices()
        self._watch_inputs()
        self._align()
        theme_holder().sized.connect(self._align)

    def _align(self) -> None:
        align_names(*self._forms)

    # -- fields --------------------------------------------------------------------------------------------------
    def _make_ssh(self) -> None:
        self.ssh_on = QCheckBox(tr("SSH: host metrics, log, tunnel"))
        self.ssh_on.setChecked(True)
        self.ssh_user = line(tr("SSH user"), tr("from ssh_config, else your login name"))
        self.ssh_port = line(tr("SSH port"), "22")
        self.ssh_key = FileField(tr("Key file"), tr("default: the agent and ~/.ssh"))
        self.passphrase = SecretField(tr("Passphrase of the key, or SSH password"))
        self.jump = line(tr("Jump host"), tr("user@host, as for ssh -J; ~/.ssh/config applies"))
        self.sudo = choice("sudo", _SUDO)
        self.sudo_password = SecretField(tr("Password for sudo"))
        self._ssh_form = form()
        rows = (
            (tr("User"), self.ssh_user),
            (tr("Port"), self.ssh_port),
            (tr("Key file"), self.ssh_key),
            (tr("Passphrase"), self.passphrase),
            (tr("Jump host"), self.jump),
            ("sudo", self.sudo),
            (tr("sudo password"), self.sudo_password),
        )
        self._fill(self._ssh_form, rows)
        self.passphrase.setPlaceholderText(tr("of the key; without a key file, the SSH password"))
        self.ssh_on.toggled.connect(self._offer_ways)
        self.ssh_on.toggled.connect(self._follow_choices)
        self.sudo.currentIndexChanged.connect(self._follow_choices)

    def _make_sql(self) -> None:
        self.sql_on = QCheckBox(tr("SQL: server state and settings"))
        self.sql_on.setChecked(True)
        self.kind = choice(tr("Server"), _KINDS)
        self.sql_user = line(tr("SQL user"), tr("required, for example pilothouse"))
        self.sql_password = SecretField(tr("SQL password"))
        self.via = choice(tr("Connection to the server"), _VIA)
        self.sql_port = line(tr("SQL port"), "3306")
        self.socket = line(tr("Socket"), tr("default: from the server's configuration"))
        self.tls = choice("TLS", _TLS)
        self.ca = FileField(tr("CA certificate"), tr("default: the system's CAs"))
        self.operator_user = line(tr("Operator user"), tr("only for procedures; optional"))
        self.operator_password = SecretField(tr("Operator password"))
        for field in (self.operator_user, self.operator_password):
            set_tip(field, tr(_WHY_TWO))
        self._sql_form = form()
        rows = (
            (tr("Server"), self.kind),
            (tr("User"), self.sql_user),
            (tr("Password"), self.sql_password),
            (tr("Connection"), self.via),
            (tr("Port"), self.sql_port),
            (tr("Socket"), self.socket),
            ("TLS", self.tls),
            (tr("CA file"), self.ca),
            (tr("Operator user"), self.operator_user),
            (tr("Operator password"), self.operator_password),
        )
        self._fill(self._sql_form, rows)
        self.why_two = label(tr(_WHY_TWO), "second", wrap=True)
        self._sql_form.addRow(self.why_two)
        self.sql_on.toggled.connect(self._follow_choices)
        self.kind.currentIndexChanged.connect(self._follow_choices)
        self.via.currentIndexChanged.connect(self._follow_choices)
        self.tls.currentIndexChanged.connect(self._follow_choices)
        self.operator_user.textChanged.connect(self._follow_choices)

    @staticmethod
    def _fill(layout: QFormLayout, rows: tuple[tuple[str, QWidget], ...]) -> None:
        for words, field in rows:
            add_row(layout, words, field)

    def _follow_choices(self) -> None:
        """Show only the fields that mean something with the present choices."""
        ssh, sql = self.ssh_on.isChecked(), self.sql_on.isChecked()
        for row in range(self._ssh_form.rowCount()):
            self._ssh_form.setRowVisible(row, ssh)
        for row in range(self._sql_form.rowCount()):
            self._sql_form.setRowVisible(row, sql)
        self._ssh_form.setRowVisible(self.sudo_password, ssh and self.sudo.currentData() == "password")
        via = self.via.currentData()
        self.sql_port.setPlaceholderText(str(self.what.port))
        self._sql_form.setRowVisible(self.sql_port, sql and (via != "socket" or self.what.names_socket))
        self._sql_form.setRowVisible(self.socket, sql and via == "socket")
        self._sql_form.setRowVisible(self.tls, sql and via != "socket")
        verified = self.tls.currentData() in {"verify", "verify-ca", "verify-identity"}
        self._sql_form.setRowVisible(self.operator_password, sql and bool(self.operator_user.text().strip()))
        self._sql_form.setRowVisible(self.ca, sql and via != "socket" and verified)

    def _offer_ways(self, ssh: bool) -> None:
        """Offer a way through SSH only with SSH; the one that was chosen comes back with it."""
        if ssh:
            offer(self.via, _VIA)
            choose(self.via, self._via_over_ssh or self.via.currentData())
        else:
            self._via_over_ssh = self.via.currentData()
            offer(self.via, _VIA_WITHOUT_SSH)

    def _watch_inputs(self) -> None:
        """Tell each change of what a test tries; a host's name and the keyring's tick are no part of it."""
        for field in self.findChildren(QLineEdit):
            if field is not self.name:
                field.textChanged.connect(self._input_changed)
        for box in self.findChildren(QComboBox):
            box.currentIndexChanged.connect(self._input_changed)
        for switch in (self.ssh_on, self.sql_on):
            switch.toggled.connect(self._input_changed)
        self.name.textChanged.connect(self._follow_passwords)
        self.keep.toggled.connect(self._follow_passwords)

    def _input_changed(self) -> None:
        self.tell_address("")
        self._follow_passwords()
        self.changed.emit()

    def _follow_passwords(self) -> None:
        self.keeping.follow([ref for ref, _ in self.draft().secrets])

    def tell_address(self, told: str) -> None:
        """Say at the address field what is wrong with it; '' takes it back."""
        mark_wrong(self.address, bool(told))
        set_kind(self.address_note, "bad" if told else "second")
        self.address_note.setText(told or tr(_ADDRESS_HINT))
        self.address.setAccessibleDescription(told)

    def show_defaults(self, ssh_user: str, sql_user: str) -> None:
        """Show the users that the inventory's [defaults] give to a host that names none."""
        self.sql_user_known = bool(sql_user)
        for field, user in ((self.ssh_user, ssh_user), (self.sql_user, sql_user)):
            if user:
                field.setPlaceholderText(tr("{user}, from [defaults] of the inventory", user=user))

    def other_way_through_ssh(self) -> str:
        """Return the way through SSH that was not tried yet: 'tunnel', 'socket', or '' without SSH."""
        if not self.ssh_on.isChecked():
            return ""
        return "socket" if self.via.currentData() == "tunnel" else "tunnel"

    def choose_way(self, way: str) -> None:
        """Take 'tunnel' or 'socket' as the way to the server, or 'off' as its TLS."""
        if way == "off":
            choose(self.tls, way)
        else:
            choose(self.via, way)

    @property
    def what(self) -> InstanceKind:
        """Return the kind of server that is chosen."""
        return KINDS[self.kind.currentData()]

    # -- in ------------------------------------------------------------------------------------------------------
    def show_entry(self, entry: HostEntry) -> None:
        """Fill the form for editing; secrets stay where they are and are shown by name only."""
        self._editing = entry
        self.name.setText(entry.name)
        self.address.setText(entry.address)
        self.ssh_on.setChecked(entry.ssh is not None)
        self.sql_on.setChecked(entry.sql is not None)
        if entry.ssh is not None:
            self.ssh_user.setText(entry.ssh.user)
            self.ssh_port.setText(str(entry.ssh.port or ""))
            self.ssh_key.set_path(entry.ssh.key)
            self.jump.setText(entry.ssh.jump or "")
            choose(self.sudo, entry.ssh.sudo)
            _say_kept(self.passphrase, entry.ssh.passphrase or entry.ssh.password)
            _say_kept(self.sudo_password, entry.ssh.sudo_password)
        choose(self.kind, entry.kind)
        if entry.sql is not None:
            self.sql_user.setText(entry.sql.user)
            self.sql_port.setText(str(entry.sql.port))
            self.socket.setText(entry.sql.socket or "")
            self.ca.set_path(entry.sql.ca)
            choose(self.via, entry.sql.via)
            choose(self.tls, entry.sql.tls)
            _say_kept(self.sql_password, entry.sql.password)
            self.operator_user.setText(entry.sql.operator_user or "")
            _say_kept(self.operator_password, entry.sql.operator_password)
        self._follow_choices()

    # -- out -----------------------------------------------------------------------------------------------------
    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with the fields, as sentences, and frame those fields."""
        found = checks(self)
        for field, wrong, _ in found:
            mark_wrong(field, wrong)
        sentences = [sentence for _, wrong, sentence in found if wrong]
        self.tell_address(next((told for field, wrong, told in found if wrong and field is self.address), ""))
        if not self.ssh_on.isChecked() and not self.sql_on.isChecked():
            sentences.append(tr("At least one connection is needed: SSH, SQL or both."))
        return tuple(sentences)

    def first_wrong(self) -> QWidget | None:
        """Return the first field, from the top, that `faults()` framed."""
        wrong = [field for field in self.findChildren(QLineEdit) if field.property("wrong")]
        return min(wrong, key=lambda field: field.mapTo(self, QPoint()).y(), default=None)

    def has_sudo_password(self) -> bool:
        """Return whether a password for sudo was typed, or is kept already."""
        kept = self._editing.ssh.sudo_password if self._editing and self._editing.ssh else None
        return self.sudo_password.secret() is not None or kept is not None

    def draft(self) -> HostDraft:
        """Return the outcome; call it only while `faults()` is empty."""
        address = self.address.text().strip()
        name = self.name.text().strip() or address
        typed: Typed = {}
        entry = HostEntry(
            name,
            address,
            self._ssh_access(name, typed) if self.ssh_on.isChecked() else None,
            self._sql_access(name, typed) if self.sql_on.isChecked() else None,
            kind=self.what.code if self.sql_on.isChecked() else MYSQL.code,
        )
        replaces = self._editing.name if self._editing else ""
        return HostDraft(entry, tuple(typed.items()), self.keep.isChecked(), replaces)

    def _ssh_access(self, name: str, typed: Typed) -> SshAccess:
        old = self._editing.ssh if self._editing and self._editing.ssh else SshAccess("")
        key = self.ssh_key.path()
        # One field for both: with a key file it is the key's passphrase, without one the login's password.
        passphrase, password = old.passphrase if key else None, old.password if not key else None
        if key:
            passphrase = self._taken(self.passphrase, name, "ssh-key", passphrase, typed)
        else:
            password = self._taken(self.passphrase, name, "ssh", password, typed)
        sudo_password = self._taken(self.sudo_password, name, "sudo", old.sudo_password, typed)
        sudo = self.sudo.currentData()
        return replace(
            old,
            user=self.ssh_user.text().strip(),
            port=port(self.ssh_port, 0) or None,
            key=key,
            passphrase=passphrase,
            password=password,
            jump=self.jump.text().strip() or None,
            sudo=sudo,
            sudo_password=sudo_password if sudo == "password" else None,
        )

    def _sql_access(self, name: str, typed: Typed) -> SqlAccess:
        old = self.what.access(user="", port=self.what.port)
        if self._editing and self._editing.sql and self._editing.kind == self.what.code:
            old = self._editing.sql
        via, tls = self.via.currentData(), self.tls.currentData()
        return replace(
            old,
            user=self.sql_user.text().strip(),
            password=self._taken(self.sql_password, name, "sql", old.password, typed),
            port=port(self.sql_port, self.what.port),
            via=via,
            socket=self.socket.text().strip() or None,
            tls="verify" if via == "socket" and tls.startswith("verify-") else tls,  # a socket shows no certificate
            ca=self.ca.path(),
            **self._operator(name, old, typed),
        )

    def _operator(self, name: str, old: SqlAccess, typed: Typed) -> _Operator:
        """Return the account of procedures; without a user there is no password either."""
        user = self.operator_user.text().strip() or None
        # A kept password is the old user's: another user does not log in with it.
        kept = old.operator_password if user == old.operator_user else None
        password = self._taken(self.operator_password, name, "operator", kept, typed) if user else None
        return {"operator_user": user, "operator_password": password}

    def _taken(
        self, field: SecretField, name: str, what: str, kept: SecretRef | None, typed: Typed
    ) -> SecretRef | None:
        """Return the reference a field stands for; what was typed goes into `typed` under it."""
        secret = field.secret()
        if secret is None:
            return kept
        ref = reference(name, what, keep=self.keep.isChecked())
        typed[ref] = secret
        return ref


def _say_kept(field: SecretField, ref: SecretRef | None) -> None:
    if ref is not None:
        field.setPlaceholderText(tr("stored in {ref}; type to replace it", ref=ref))
