"""The Test button: every step to a host tried once, each with its own answer, so that a person sees where it stops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from services.boundary import foreign, unforeseen
from services.connections import remote_command, sudo
from services.connections.limits import Limits
from services.connections.names import addresses_of
from services.connections.ports import Output
from services.connections.probe import operator as probe_operator
from services.connections.probe.steps import TITLES, said_by
from services.connections.probe.told import StepState
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.connections.server_kinds import SERVER_KINDS
from services.connections.ssh.config import target_for
from services.connections.ssh.connection import SshLink
from services.connections.ssh.host_key_check import HostKeyPolicy
from services.connections.ssh.no_commands import commands_tried
from services.errors import (
    AuthFailed,
    CertificateUnknown,
    HostKeyChanged,
    HostKeysUnread,
    HostKeyUnknown,
    NameUnknown,
    ResolverSilent,
    SecretMissing,
    TlsFailed,
    TlsMissing,
    Unforeseen,
    UserError,
)
from services.i18n import tr

if TYPE_CHECKING:
    from services.inventory.model import HostEntry
    from services.secrets import Vault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One step's outcome.

    Attributes:
        name: stable: one of `probe_steps.TITLES`.
        title: for the person; sentence: what happened; try_: advice; error: the error behind a failure.
        seconds: how long it took.
    """

    name: str
    title: str
    state: StepState
    sentence: str
    try_: tuple[str, ...] = ()
    error: UserError | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AccessReport:
    """All steps in order, for one host."""

    host: str
    steps: tuple[Step, ...]

    @property
    def ok(self) -> bool:
        """Return whether nothing failed (warnings may stand)."""
        return all(step.state != "failed" for step in self.steps)

    @property
    def certificate(self) -> CertificateUnknown | None:
        """Return the question about the server's certificate, where that is what stopped the test."""
        return next((step.error for step in self.steps if isinstance(step.error, CertificateUnknown)), None)

    @property
    def without_tls(self) -> bool:
        """Return whether the server has no TLS at all, which is what stopped the test."""
        return any(isinstance(step.error, TlsMissing) for step in self.steps)

    @property
    def question(self) -> HostKeyUnknown | None:
        """Return the host key question, where that is what stopped the test."""
        return next((step.error for step in self.steps if isinstance(step.error, HostKeyUnknown)), None)

    @property
    def unknown_name(self) -> str:
        """Return the name of the host that nobody here knows, '' where that is not what stopped the test."""
        errors = (step.error for step in self.steps if step.name == "name")
        return next((error.name for error in errors if isinstance(error, NameUnknown)), "")

    def as_text(self) -> str:
        """Return the report for a terminal."""
        marks = {"passed": tr("ok"), "failed": tr("FAILED"), "skipped": "-", "warned": tr("note")}
        lines = []
        for step in self.steps:
            lines.append(f"{marks[step.state]:>6}  {step.title}: {step.sentence}")
            lines += [f"        {tr('Try: {advice}', advice=advice)}" for advice in step.try_]
        return "\n".join(lines)


def probe_access(
    entry: HostEntry,
    vault: Vault,
    *,
    on_host_key: HostKeyPolicy | None = None,
    limits: Limits | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> AccessReport:
    """Try every way the inventory gives to a host, once (no login is repeated: accounts get locked).

    Args:
        on_step: called with each step as it is known, in the calling thread.

    Changes nothing on the host or server; blocks within `limits`, so call it on a lane.
    """
    return _Probe(entry, vault, on_host_key, limits or Limits(), on_step).run()


@dataclass(slots=True)
class _Probe:
    """The steps found so far."""

    entry: HostEntry
    vault: Vault
    policy: HostKeyPolicy | None
    limits: Limits
    on_step: Callable[[Step], None] | None
    steps: list[Step] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def run(self) -> AccessReport:
        link: SshLink | None = None
        try:
            if self.entry.ssh is not None:
                link = self._bounded("ssh-login", self._ssh)
                if link is not None and self._bounded("shell", partial(self._shell, link)):
                    self._bounded("sudo", partial(self._sudo, link))
            if self.entry.sql is not None:
                self._bounded("sql-login", partial(self._sql, link))
        finally:
            if link is not None:
                link.close()
        return AccessReport(self.entry.name, tuple(self.steps))

    def _bounded(self, name: str, step: Callable[[], T]) -> T | None:
        """Take some steps; what nobody foresaw is told as one that failed, and the others are taken all the same."""
        try:
            with foreign(lambda problem: unforeseen(problem, tr("Testing this connection"), self.entry.name)):
                return step()
        except Unforeseen as problem:
            self._fail(name, problem)
            return None

    def _add(self, name: str, state: StepState, sentence: str, *, error: UserError | None = None) -> None:
        now = time.monotonic()
        advice = error.try_ if error is not None else ()
        step = Step(name, tr(TITLES[name]), state, sentence, advice, error, now - self.started)
        self.started = now
        self.steps.append(step)
        if self.on_step is not None:
            self.on_step(step)

    def _fail(self, name: str, error: UserError) -> None:
        self._add(name, "failed", error.sentence, error=error)

    def _ssh(self) -> SshLink | None:
        access = self.entry.ssh
        assert access is not None
        try:
            target = target_for(access, self.entry.address)
        except UserError as problem:
            self._fail("name", problem)
            return None
        if target.jumps or target.proxy_command:
            way = " then ".join(target.jumps) or "ProxyCommand"
            self._add("name", "skipped", tr("{host} is resolved remotely, through {way}.", host=target.host, way=way))
        else:
            self._resolve(target.host)
        try:
            link = SshLink.open(self.entry, self.vault, policy=self.policy, limits=self.limits)
        except (HostKeyUnknown, HostKeyChanged) as problem:
            self._add("tcp", "passed", tr("{host} port {port} answers as SSH.", host=target.host, port=target.port))
            self._fail("host-key", problem)
        except (AuthFailed, SecretMissing) as problem:
            self._add("tcp", "passed", tr("{host} port {port} answers as SSH.", host=target.host, port=target.port))
            self._add("host-key", "passed", tr("The host key of {name} is known.", name=target.key_name))
            self._fail("ssh-login", problem)
        except HostKeysUnread as problem:
            self._fail("host-key", problem)
        except UserError as problem:
            name = problem.name if isinstance(problem, NameUnknown | ResolverSilent) else None
            nameless = name == target.host  # not a jump host's
            self._fail("name" if nameless else "tcp", problem)
        else:
            self._add("tcp", "passed", tr("{host} port {port} answers as SSH.", host=target.host, port=target.port))
            self._add("host-key", "passed", tr("The host key of {name} is known.", name=target.key_name))
            self._add("ssh-login", "passed", tr("Logged in as {user} by {login}.", user=target.user, login=link.login))
            return link
        return None

    def _resolve(self, host: str) -> None:
        try:
            found = sorted({str(info[4][0]) for info in addresses_of(host, None, self.limits.connect_s)})
        except OSError:
            return  # the connection's own error says it, with advice
        shown = host if found == [host] else f"{host} is {', '.join(found)}"
        self._add("name", "passed", f"{shown}.")

    def _shell(self, link: SshLink) -> bool:
        """Say whether a command is run for the login at all."""
        try:
            mute: UserError | None = commands_tried(partial(self._output, link), self.entry.name)
        except UserError as problem:
            mute = problem
        if mute is not None:
            self._fail("shell", mute)
            return False
        self._add("shell", "passed", tr("The login can run commands."))
        return True

    def _output(self, link: SshLink, read: CommandRead, wrapped: sudo.Wrapped | None = None) -> Output:
        command = command_of(read)
        line = wrapped or sudo.without_sudo(command)
        return remote_command.run(link, line, None, host=self.entry.name, limit_s=15.0, most=65536, what=command.brief)

    def _sudo(self, link: SshLink) -> None:
        access = self.entry.ssh
        assert access is not None
        user = link.target.user
        if user == "root":
            self._add("sudo", "skipped", tr("The login is root."))
            return
        if access.sudo == "none":
            self._add(
                "sudo", "skipped", tr("Not configured: data only for root (logs, /proc of other users) is not shown.")
            )
            return
        read = commands.WHO.read(sudo=True)
        try:
            wrapped = sudo.wrap(command_of(read), access, self.vault, user=user, host=self.entry.name)
            output = self._output(link, read, wrapped)
        except UserError as problem:
            self._fail("sudo", problem)
            return
        if output.text.strip() == "0":
            self._add("sudo", "passed", tr("{user} may become root.", user=user))
        else:
            self._add(
                "sudo",
                "failed",
                tr("sudo ran, but {user} did not become root: {text}", user=user, text=said_by(output)),
            )

    def _sql(self, link: SshLink | None) -> None:
        access = self.entry.sql
        assert access is not None
        if access.via != "direct" and self.entry.ssh is not None and link is None:
            self._add("sql-tcp", "skipped", tr("The connection to the database needs SSH, which failed."))
            return
        through = (lambda: link) if link is not None else None
        if self.entry.ssh is None and access.via == "direct":
            self._resolve(self.entry.address)
        try:
            opened = SERVER_KINDS[self.entry.kind].tester()
            server = opened(self.entry, self.vault, through, self.limits)
        except (AuthFailed, SecretMissing) as problem:
            self._fail("sql-login", problem)
            self._operator(through)
        except TlsFailed as problem:
            self._fail("tls", problem)
        except UserError as problem:
            nameless = isinstance(problem, NameUnknown | ResolverSilent) and self.entry.ssh is None
            self._fail("name" if nameless else "sql-tcp", problem)
        else:
            try:
                for told in server.told():
                    self._add(*told)
            except UserError as problem:
                self._fail("rights", problem)
            finally:
                server.close()
            self._operator(through)

    def _operator(self, through: Callable[[], SshLink] | None) -> None:
        """Try the account of procedures, where there is one; its session is as read-only as the observer's."""
        access = self.entry.sql
        assert access is not None
        user = access.operator_user
        if not user or not SERVER_KINDS[self.entry.kind].tests_operator:
            return
        try:
            rights = probe_operator.changing_rights(self.entry, self.vault, through, self.limits)
        except UserError as problem:
            self._fail("operator", problem)
            return
        if user == access.user:
            words = tr("{user} is also the observer's account: watching could change the server.", user=user)
            self._add("operator", "warned", words)
        elif rights:
            words = tr("{user} may change the server ({rights}).", user=user, rights=", ".join(sorted(rights)))
            self._add("operator", "passed", words)
        else:
            self._add(
                "operator",
                "warned",
                tr(
                    "{user} logs in, but SHOW GRANTS lists neither SUPER nor SYSTEM_VARIABLES_ADMIN: "
                    "procedures could not set the variables they need.",
                    user=user,
                ),
            )
