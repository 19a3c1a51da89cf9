"""Adding, editing and importing hosts in the window: the test, the host-key question, the inventory's file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.vault import SessionVault
from app.window.main_window import MainWindow
from services.connections.probe.steps import TITLES, steps_of
from services.errors import BadInput, CertificateUnknown, HostKeyUnknown, UserError
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory
from services.secrets import Secret, SecretRef
from services.types import Health
from services.workstation.files import is_missing
from widgets.bridge.ops import Ops
from widgets.inventory.draft import Candidate, HostDraft, HostKey, ServerCertificate, StepLike, StepLine

if TYPE_CHECKING:
    from services.connections.probe.test import AccessReport
    from widgets.inventory.connection_dialog import ConnectionDialog

_SOURCES = {"ssh": "~/.ssh/config", "mycnf": "~/.my.cnf", "workbench": "MySQL Workbench"}


class AddHost(QObject):
    """Opens the dialogs and does what they ask on a worker.

    Signals:
        added(tuple[HostEntry, ...]): these hosts stand in the inventory's file now.
        changed(str, HostEntry): the host watched under this name is reached in another way now.
    """

    added = Signal(object)
    changed = Signal(str, object)
    _stepped = Signal(int, object)

    def __init__(self, window: MainWindow, ops: Ops, vault: SessionVault, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._ops = ops
        self._vault = vault
        self._path = path
        self._dialog: ConnectionDialog | None = None
        self._question: HostKeyUnknown | CertificateUnknown | None = None
        self._draft: HostDraft | None = None
        self._steps: list[StepLike] = []
        self._tests = 0
        self.fixed = False
        """The window shows a recording: its hosts are what they were, and nothing is written from there."""
        self._stepped.connect(self._show_step)
        window.tree.add_host_requested.connect(self.open)

    @property
    def vault(self) -> SessionVault:
        """Return what holds the passwords that were typed in this run."""
        return self._vault

    @property
    def path(self) -> Path:
        """Return the inventory's file."""
        return self._path

    def use(self, path: Path) -> None:
        """Write into another inventory's file from now on."""
        self._path = path

    def open(self) -> None:
        """Open the connection dialog for a new host; a recording has no room for one, and says so."""
        if self.fixed:
            sentences = (
                tr("This is a recording: its hosts are fixed. Nothing was written."),
                tr("To watch your own hosts, start Pilothouse without demo or replay and add them there."),
            )
            self._window.messages.say(Health.WARN, sentences, tr("Dismiss"))
            return
        self._open(_dialog(self._window))

    def edit(self, entry: HostEntry) -> None:
        """Open the connection dialog on a host that is watched already."""
        self._open(_dialog(self._window, entry))

    def _open(self, dialog: ConnectionDialog) -> None:
        if self._dialog is not None:
            self._dialog.reject()
        dialog.test_requested.connect(self._test)
        dialog.outdated.connect(self._drop_test)
        dialog.save_requested.connect(self._save)
        dialog.host_key_answered.connect(self._answered)
        dialog.certificate_answered.connect(self._answered)
        dialog.finished.connect(lambda _result, gone=dialog: self._forget(gone))
        self._dialog = dialog
        dialog.show()
        path = self._path
        self._ops.run("about-hosts", lambda: _about(path), self._tell_about, self._failed)

    def _tell_about(self, about: About) -> None:
        if self._dialog is not None:
            self._dialog.form.show_defaults(*about.users)
            self._dialog.show_keyring_absence(about.keyring)

    def _forget(self, dialog: ConnectionDialog) -> None:
        """The dialog deletes itself when it closes; an answer that comes later finds none."""
        if self._dialog is dialog:
            self._dialog = None

    def open_import(self, kind: str) -> None:
        """Read another program's settings on a worker, then show what was found."""
        self._ops.run("import", lambda: _found(kind), lambda hosts: self._show_import(kind, hosts))

    # --- the connection dialog ---------------------------------------------------------------------------------------

    def _test(self, draft: HostDraft) -> None:
        self._draft = draft
        for ref, secret in draft.secrets:
            self._vault.put(ref, secret)
        self._steps = []
        self._tests += 1
        vault, path, number, stepped = self._vault, self._path, self._tests, self._stepped
        if self._dialog is not None:
            waiting = [StepLine(tr(TITLES[name]), "waiting", name=name) for name in steps_of(draft.entry)]
            self._dialog.begin_steps(waiting)

        def work() -> object:
            from services.connections.probe.test import probe_access

            entry = _with_default_users(draft.entry, path)
            return probe_access(entry, vault, on_step=lambda step: stepped.emit(number, step))

        self._ops.run(
            "test-host",
            work,
            lambda report: self._tested(number, report),
            lambda problem: self._not_tested(number, problem),
        )

    def _drop_test(self) -> None:
        """What was tested is not what stands in the form now: nothing of it is shown, asked or repeated."""
        self._tests += 1
        self._question = None

    def _not_tested(self, number: int, problem: UserError) -> None:
        if number == self._tests:
            self._failed(problem)

    def _show_step(self, number: int, step: StepLike) -> None:
        """Show a step as soon as it is known: the next one may take its whole limit."""
        if number == self._tests and self._dialog is not None:
            self._steps.append(step)
            self._dialog.show_steps(self._steps, done=False)

    def _tested(self, number: int, report: object) -> None:
        from services.connections.probe.test import AccessReport

        if self._dialog is None or number != self._tests or not isinstance(report, AccessReport):
            return
        self._tests += 1  # a step that is still on its way belongs to a test that is over
        self._dialog.show_steps(report.steps)
        if report.unknown_name:
            self._dialog.tell_unknown_name(report.unknown_name)
        self._question = report.question or report.certificate
        self._ask(self._dialog, self._question, report)

    def _ask(
        self, dialog: ConnectionDialog, question: HostKeyUnknown | CertificateUnknown | None, report: AccessReport
    ) -> None:
        """Ask the one thing that stopped the test, where a person can answer it."""
        sql = self._draft.entry.sql if self._draft is not None else None
        if isinstance(question, HostKeyUnknown):
            dialog.ask_host_key(HostKey(report.host, question.key_type, question.fingerprint))
        elif question is not None and sql is not None:
            shown = ServerCertificate(report.host, sql.port, question.fingerprint, question.subject, question.why)
            dialog.ask_certificate(shown)
        elif report.without_tls and sql is not None and sql.tls == "verify":
            dialog.ask_without_tls(report.host)

    def _answered(self, _shown: HostKey | ServerCertificate, accepted: bool) -> None:
        question, draft, number = self._question, self._draft, self._tests
        if not accepted or question is None or draft is None:
            return

        def work() -> None:
            from services.connections.ssh.host_key_check import accept_host_key
            from services.connections.tls.known_certificates import accept_certificate

            if isinstance(question, HostKeyUnknown):
                accept_host_key(question)
            else:
                accept_certificate(question)

        def again() -> None:
            if number == self._tests and self._dialog is not None:
                self._dialog.set_testing(True)
                self._test(draft)

        self._ops.run("accept-key", work, lambda _none: again(), self._failed)

    def _save(self, draft: HostDraft) -> None:
        vault, path = self._vault, self._path

        def work() -> tuple[HostEntry, ...]:
            entry = _with_default_users(draft.entry, path)
            _refuse_another(path, entry.name, draft.replaces)
            for ref, secret in draft.secrets:
                (vault.keep if draft.keep else vault.put)(ref, secret)
            _write(path, (entry,), draft.replaces)
            return (entry,)

        self._ops.run("save-host", work, lambda entries: self._saved(entries, draft.replaces), self._failed)

    def _saved(self, entries: tuple[HostEntry, ...], replaces: str) -> None:
        if self._dialog is not None:
            self._dialog.accept()
        if replaces:
            self.changed.emit(replaces, entries[0])
        else:
            self.added.emit(entries)

    def _failed(self, problem: UserError) -> None:
        if self._dialog is not None:
            self._dialog.set_testing(False)
            self._dialog.say(Health.BAD, (str(problem), problem.safe, *problem.try_))
        else:
            self._window.messages.say_error(problem)

    # --- imports -----------------------------------------------------------------------------------------------------

    def _show_import(self, kind: str, found: Found) -> None:
        from widgets.inventory.import_dialog import ImportDialog  # late: the frame stands without it

        dialog = ImportDialog(_SOURCES[kind], found.candidates, self._window, why=found.told)
        path, vault = self._path, self._vault

        def take(entries: tuple[HostEntry, ...]) -> None:
            def work() -> Imported:
                done = _import(path, entries)
                used = {entry.sql.password for entry in done.added if entry.sql is not None}
                for ref, secret in found.secrets:
                    if ref in used:
                        vault.put(ref, secret)  # for this run; nothing of them is written anywhere
                return done

            self._ops.run("import-write", work, self._imported, self._failed)

        dialog.import_requested.connect(take)
        dialog.show()

    def _imported(self, done: Imported) -> None:
        told = list(done.problems)
        if done.conflicts:
            names = ", ".join(done.conflicts)
            told.append(tr("Already in the inventory with different values; left unchanged: {names}.", names=names))
        if told:
            self._window.messages.say(Health.WARN, tuple(told))
        self.added.emit(done.added)


def _dialog(window: MainWindow, entry: HostEntry | None = None) -> ConnectionDialog:
    """Return the dialog for a new host, or on one that is there."""
    # Late: the frame stands without it and what it asks with, and most starts never open one.
    from widgets.inventory.connection_dialog import ConnectionDialog

    return ConnectionDialog(window, entry)


@dataclass(frozen=True, slots=True)
class About:
    """What the connection dialog must know: the users that the inventory gives, and why no password can be kept."""

    users: tuple[str, str]
    keyring: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What another program's settings gave: hosts to choose from, and the passwords that stood beside them."""

    candidates: tuple[Candidate, ...]
    secrets: tuple[tuple[SecretRef, Secret], ...] = ()
    told: tuple[str, ...] = ()
    """What was left out and what could not be read, a sentence each."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What stands in the inventory now: hosts that were added, names that were left because they differ.

    `problems`: a sentence for each host that was left out.
    """

    added: tuple[HostEntry, ...]
    conflicts: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _import(path: Path, entries: tuple[HostEntry, ...]) -> Imported:
    from services.inventory.imports import ImportReport, merge
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory

    inventory = Inventory(path=str(path)) if is_missing(path) else load_inventory(path)
    merged = merge(inventory, ImportReport("import", entries))
    save_inventory(replace(merged.inventory, path=str(path)), path)
    return Imported(tuple(e for e in entries if e.name in merged.added), merged.conflicts, merged.problems)


def _about(path: Path) -> About:
    from services.inventory.toml_file import default_users
    from services.secrets import keyring_absence

    absence = keyring_absence()
    return About(default_users(path), () if absence is None else (absence.sentence, *absence.try_))


def _with_default_users(entry: HostEntry, path: Path) -> HostEntry:
    """Return the entry as the inventory will read it: a user that is left out is the one of [defaults]."""
    from services.inventory.toml_file import default_users

    ssh, user = default_users(path, entry.what.way)
    if entry.ssh is not None and not entry.ssh.user:
        entry = replace(entry, ssh=replace(entry.ssh, user=ssh))
    if entry.sql is not None and not entry.sql.user and entry.what.needs_user:
        entry = replace(entry, sql=replace(entry.sql, user=user))
    return entry


def _refuse_another(path: Path, name: str, replaces: str) -> None:
    """Raise BadInput where saving would put this host in another one's place, or beside one that looks like it."""
    from services.inventory.lookalikes import alike, told_alike
    from services.inventory.toml_file import load_inventory

    if name == replaces or is_missing(path):
        return
    others = [host.name for host in load_inventory(path).hosts if host.name != replaces]
    safe, advice = tr("Nothing was written."), (tr("Choose another name, or edit the existing host."),)
    if name in others:
        raise BadInput(tr('The inventory already has a host named "{name}".', name=name), safe=safe, try_=advice)
    if like := alike(name, others):
        told = told_alike("host", like, name)
        raise BadInput(tr("Not saved: {told}", told=told), safe=safe, try_=advice)


def _write(path: Path, entries: tuple[HostEntry, ...], replaces: str = "") -> None:
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory, with_host

    inventory = Inventory(path=str(path)) if is_missing(path) else load_inventory(path)
    if replaces:
        inventory = renamed(inventory, replaces, entries[0].name)
    for entry in entries:
        inventory = with_host(inventory, entry)
    save_inventory(replace(inventory, path=str(path)), path)


def renamed(inventory: Inventory, old: str, new: str) -> Inventory:
    """Return the inventory in which a host has another name, among the seeds and as a jump host too."""
    hosts = tuple(_jumping_by(replace(h, name=new) if h.name == old else h, old, new) for h in inventory.hosts)
    clusters = tuple(replace(c, seeds=tuple(new if s == old else s for s in c.seeds)) for c in inventory.clusters)
    return replace(inventory, hosts=hosts, clusters=clusters)


def _jumping_by(host: HostEntry, old: str, new: str) -> HostEntry:
    if host.ssh is None or host.ssh.jump != old:
        return host
    return replace(host, ssh=replace(host.ssh, jump=new))


def _found(kind: str) -> Found:
    from services.inventory.imports_mycnf import import_my_cnf
    from services.inventory.imports_ssh import import_ssh_config
    from services.inventory.imports_workbench import import_workbench

    report = {"ssh": import_ssh_config, "mycnf": import_my_cnf, "workbench": import_workbench}[kind]()
    told = (*report.problems, *report.notes)
    return Found(tuple(Candidate(host, report.source) for host in report.hosts), report.secrets, told)
