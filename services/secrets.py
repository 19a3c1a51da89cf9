"""Secrets: a type that never prints itself, references to where one lives, and the vault that fetches it."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from services.boundary import bounded
from services.errors import BadInput, KeyringSilent, SecretMissing, UserError
from services.i18n import tr
from services.workstation import os_keyring

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")
KEYRING_SERVICE = "pilothouse"
READ_S = 3.0
"""For an entry of the keyring: less than a host has to answer, so that the keyring is named and not the host."""
WRITE_S = 30.0
"""For a question at which a person sits, who may have to unlock the keyring first."""
_NAMED: set[str] = set()
"""The variables that a reference has named, in upper case: no child gets them."""
_TELLING = re.compile(
    r"(?:^|_)(?:pwd|pass|passwd|password|passphrase|secret|token|sshpass|apikey|api_key)(?:_|$)|^pgpass", re.IGNORECASE
)
_NO_SECRETS = frozenset(
    {
        *("PWD", "OLDPWD", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GIT_ASKPASS", "SUDO_ASKPASS"),
        *("PASSWORD_STORE_DIR", "AWS_WEB_IDENTITY_TOKEN_FILE"),  # places
    }
)


class Secret:
    """A password or passphrase in memory. `str` and `repr` are masked; only `reveal` gives the text."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text, for the connector that needs it and nobody else."""
        return self._value

    def __str__(self) -> str:
        return "********"

    def __repr__(self) -> str:
        return "Secret(********)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> str | tuple[object, ...]:
        # A pickled or copied-to-disk secret would be one in the clear.
        message = "a Secret cannot be serialised"
        raise TypeError(message)


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Where a secret lives: `keyring:NAME`, `env:VARIABLE` or `fd:NUMBER`; never the secret itself."""

    scheme: str
    name: str

    @classmethod
    def parse(cls, text: str) -> SecretRef:
        """Parse `scheme:name`; raise BadInput when it is not a reference (a bare password, say)."""
        scheme, _, name = text.partition(":")
        if scheme not in {"keyring", "env", "fd"} or not name:
            # The text is not quoted back: it may be a password typed in the wrong place.
            raise BadInput(
                tr("A secret in the inventory must be a reference, not the secret itself."),
                try_=('Write "keyring:NAME", "env:VARIABLE" or "fd:NUMBER".',),
            )
        if scheme == "env":
            _NAMED.add(name.upper())
        return cls(scheme, name)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}"


def environment_for_children() -> dict[str, str]:
    """Return the environment that a program started by this one gets: this one's without its secrets.

    Left out are the variables that a reference `env:NAME` has named, and those whose name says that they hold one
    (MYSQL_PWD, SSHPASS, PGPASSWORD, DB_PASSWORD ...).
    """
    return {name: value for name, value in os.environ.items() if not _holds_a_secret(name)}


def kept_from_children() -> tuple[str, ...]:
    """Return the names of the variables that they don't get."""
    return tuple(sorted(name for name in os.environ if _holds_a_secret(name)))


def _holds_a_secret(name: str) -> bool:
    # Windows knows no upper and lower case in them, and hands all over in upper case.
    return name.upper() in _NAMED or (name not in _NO_SECRETS and _TELLING.search(name) is not None)


def keyring_absence() -> SecretMissing | None:
    """Return why no password can be kept on this machine, with the ways out; None where a keyring is there.

    It may talk to the desktop's bus: call it on a worker.
    """
    try:
        # https://keyring.readthedocs.io: the backends that keep nothing have no priority above 0.
        usable = _asked(lambda keyring: float(keyring.get_keyring().priority) > 0, READ_S)
    except SecretMissing as problem:
        return problem
    return None if usable else _no_keyring()


def _asked(call: Callable[[ModuleType], T], limit_s: float, *, writes: bool = False) -> T:
    """Ask the keyring; raise SecretMissing, KeyringSilent, with what to try."""
    try:
        return os_keyring.ask(call, limit_s)
    except os_keyring.SilentError as problem:
        raise KeyringSilent(
            tr("The OS keyring did not answer within {limit:g} s: it may be waiting to be unlocked.",
               limit=problem.limit_s),
            try_=(
                tr("Unlock the keyring on this workstation's desktop, and try again."),
                tr('Write "env:VARIABLE" or "fd:NUMBER" in the inventory instead of "keyring:NAME".'),
            ),
        ) from problem  # fmt: skip
    except os_keyring.BackendError as problem:
        if problem.nothing_there:
            raise _no_keyring() from problem
        text = tr("The OS keyring could not be read ({problem}).", problem=problem.why)
        if writes:
            text = tr("The OS keyring did not accept the secret ({problem}).", problem=problem.why)
        raise SecretMissing(
            text,
            try_=(
                tr("Unlock the keyring, or use an env: or fd: reference."),
                tr("Check which keyring is set here: PYTHON_KEYRING_BACKEND, keyringrc.cfg, and `keyring diagnose`."),
            ),
        ) from problem


def _no_keyring() -> SecretMissing:
    ways = [tr('Write "env:VARIABLE" or "fd:NUMBER" in the inventory instead of "keyring:NAME".')]
    if sys.platform.startswith("linux"):
        ways.insert(
            0, tr("Install gnome-keyring or KWallet, log in to the desktop again, and start Pilothouse from there.")
        )
    return SecretMissing(tr("This workstation has no keyring that can store a password."), try_=tuple(ways))


class Vault(Protocol):
    """Fetches and keeps secrets by reference."""

    def get(self, ref: SecretRef) -> Secret:
        """Return the secret; raise SecretMissing with advice when there is none."""

    def put(self, ref: SecretRef, secret: Secret) -> None:
        """Keep a secret (keyring only); raise BadInput for schemes that can't be written."""


def _told(_own: object, problem: BaseException) -> UserError:
    # Its class alone: what a backend says may quote a secret.
    return SecretMissing(
        tr("A secret could not be read or stored ({problem}).", problem=type(problem).__name__),
        try_=(tr("Use another type of reference: keyring:, env: or fd:."),),
    )


@bounded(_told)
class SystemVault:
    """The OS keyring, the environment and file descriptors; descriptors are read once and remembered."""

    def __init__(self, limit_s: float = READ_S) -> None:
        """Ask nobody yet; `limit_s`: how long the keyring may take to give an entry."""
        self._limit_s = limit_s
        self._from_fd: dict[str, Secret] = {}
        self._reading = threading.Lock()

    def get(self, ref: SecretRef) -> Secret:
        """Return the secret behind `ref`."""
        if ref.scheme == "env":
            value = os.environ.get(ref.name)
            if value is None:
                raise SecretMissing(
                    tr("The environment variable {name} is not set.", name=ref.name),
                    try_=(tr("Set {name} and start again.", name=ref.name),),
                )
            return Secret(value)
        if ref.scheme == "fd":
            with self._reading:  # hosts are asked side by side, and a descriptor gives its line once
                return self._read_fd(ref)
        return self._read_keyring(ref)

    def put(self, ref: SecretRef, secret: Secret) -> None:
        """Write to the OS keyring."""
        if ref.scheme != "keyring":
            raise BadInput(tr("A secret cannot be stored as {ref}.", ref=ref), try_=(tr("Use a keyring: reference."),))
        if (absence := keyring_absence()) is not None:
            raise absence
        text = secret.reveal()
        _asked(lambda keyring: keyring.set_password(KEYRING_SERVICE, ref.name, text), WRITE_S, writes=True)

    def _read_fd(self, ref: SecretRef) -> Secret:
        if ref.name not in self._from_fd:
            try:
                with os.fdopen(int(ref.name), encoding="utf-8") as stream:
                    self._from_fd[ref.name] = Secret(stream.readline().rstrip("\r\n"))
            except (OSError, ValueError) as problem:
                raise SecretMissing(
                    tr("File descriptor {name} cannot be read.", name=ref.name),
                    try_=(tr("Open it at the start, for example: pilothouse ... {name}<secret-file", name=ref.name),),
                ) from problem
        return self._from_fd[ref.name]

    def _read_keyring(self, ref: SecretRef) -> Secret:
        value = _asked(lambda keyring: keyring.get_password(KEYRING_SERVICE, ref.name), self._limit_s)
        if value is None:
            raise SecretMissing(
                tr('The OS keyring has no entry "{name}".', name=ref.name),
                try_=(
                    tr(
                        "Store it with: keyring set {service} {name}",
                        service=KEYRING_SERVICE,
                        name=ref.name,
                    ),
                ),
            )
        return Secret(str(value))


def keyring_in_use() -> tuple[str, bool]:
    """Return what the keyring here is called, and whether secrets can be kept in it; ('', False): not known."""
    try:
        return _asked(_name_and_use, READ_S)
    except SecretMissing:
        return "", False


def _name_and_use(keyring: ModuleType) -> tuple[str, bool]:
    found = keyring.get_keyring()
    try:
        usable = float(found.priority) > 0
    except (RuntimeError, TypeError, ValueError):  # a backend tells by an error that what it needs is missing
        usable = False
    return str(found.name), usable


@bounded(_told)
class MemoryVault:
    """Secrets for one process: what a person typed into a form and did not ask to keep; also for tests."""

    def __init__(self, secrets: dict[str, str] | None = None) -> None:
        self._secrets = {key: Secret(value) for key, value in (secrets or {}).items()}

    def get(self, ref: SecretRef) -> Secret:
        """Return the secret behind `ref`."""
        try:
            return self._secrets[str(ref)]
        except KeyError:
            raise SecretMissing(tr("No secret is known for {ref}.", ref=ref)) from None

    def put(self, ref: SecretRef, secret: Secret) -> None:
        """Remember a secret until the process ends."""
        self._secrets[str(ref)] = secret
