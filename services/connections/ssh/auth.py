"""SSH login: only the ways the person chose, in OpenSSH's order, and a sentence for every one that failed.

Agent keys that belong to configured files come first, then the agent's others, then files the agent does not hold
(man ssh(1), AUTHENTICATION; ssh_config(5), IdentitiesOnly). A password is tried only where one is configured.
"""

from __future__ import annotations

import base64
import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import paramiko
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    load_ssh_public_identity,
)

from services.connections.budget import reached
from services.connections.openssh.agent import Agent
from services.connections.openssh.algorithms import is_taken
from services.connections.openssh.key_files import (
    CannotOpen,
    KeyFile,
    NeedsPassphrase,
    private_key,
    public_half,
    read_key_file,
    refuse_open_to_others,
)
from services.connections.ssh.questions import OtherQuestion, PasswordExpired, PasswordQuestion
from services.connections.ssh.target import SshTarget
from services.errors import AuthFailed, SecretMissing, TimedOut, Unreachable, UserError
from services.i18n import tr
from services.visible import as_line
from services.workstation.files import read_bounded

if TYPE_CHECKING:
    from services.inventory.model import SshAccess
    from services.secrets import Vault

_MOST_SAID = 200
"""Characters of what the host says within a sentence."""
MOST_KEYS = 100
"""As in ssh the host's MaxAuthTries ends it (6 unless its sshd_config says more); no host takes so many."""
_CERT = "-cert-v01@openssh.com"


@dataclass(frozen=True, slots=True)
class _Key:
    """A key to offer, and how to name it in a sentence."""

    key: paramiko.PKey
    name: str


class Login:
    """One login over one transport."""

    def __init__(self, transport: paramiko.Transport, target: SshTarget, host: str, limit_s: float) -> None:
        """Prepare a login of `limit_s` seconds, all ways together, from the first thing that is offered."""
        self._limit_s = limit_s
        self._deadline: float | None = None
        self._transport = transport
        self._target = target
        self._host = host
        self._tried: list[str] = []
        self._advice: list[str] = []
        self._agent: Agent | None = None
        self._left = 0
        self._from_agent = 0
        self._wanted: list[str] = []  # what the host takes after it took one way and wants another, too

    def run(self, access: SshAccess, vault: Vault) -> str:
        """Log in; return how ("key ~/.ssh/id_ed25519"). Raises AuthFailed that lists what was tried, and why not."""
        try:
            if self._is_let_in():
                return tr("nothing: the host requested no key and no password")
            keys = self._keys(access, vault)[:MOST_KEYS]
            for number, key in enumerate(keys, 1):
                self._left = len(keys) - number
                if self._offer(key):
                    return key.name
                if self._wanted and "publickey" not in self._wanted:
                    break
            if access.password is not None and self._password(vault.get(access.password).reveal()):
                return "password"
        finally:
            if self._agent is not None:
                self._agent.close()
        raise self._failed(has_password=access.password is not None)

    def _is_let_in(self) -> bool:
        """Return whether the host lets this login in as it is, which ssh asks first too (RFC 4252, 5.2: "none").

        Who one is may be known from the way (Tailscale SSH); such a host takes nothing else. sshd does not count it.
        """
        before = len(self._tried)
        if self._attempt("none", lambda: self._transport.auth_none(self._target.user)):
            return True
        del self._tried[before:]  # that it wants something is no news
        return False

    def _keys(self, access: SshAccess, vault: Vault) -> list[_Key]:
        target = self._target
        if not target.offers_keys and not target.explicit_key:
            self._tried.append(tr("keys: ssh_config disables them (PubkeyAuthentication)"))
            return []
        held = self._agent_keys() if target.use_agent else []
        wanted = {blob: name for name in target.identity_files if (blob := public_half(name))}
        order = list(wanted)
        first = sorted((k for k in held if k.key.asbytes() in wanted), key=lambda k: order.index(k.key.asbytes()))
        others = [] if target.identities_only or target.explicit_key else [key for key in held if key not in first]
        held_names = {wanted[key.key.asbytes()] for key in first}
        files = [name for name in target.identity_files if name not in held_names]
        loaded = [key for name in files if (key := self._load(name, access, vault)) is not None]
        keys = [*first, *others, *loaded]
        self._from_agent = len(first) + len(others)
        if target.pkcs11_provider:
            self._tell_of_token(target.pkcs11_provider)
        return [key for key in (*self._certified(keys), *keys) if self._is_taken(key)]

    def _tell_of_token(self, provider: str) -> None:
        self._tried.append(tr("PKCS11Provider {name}: its keys can be used only through the agent", name=provider))
        self._advice.append(tr("Add them to the agent: ssh-add -s {name}", name=provider))

    def _is_taken(self, key: _Key) -> bool:
        blob = key.key.public_blob
        kind = key.key.get_name() if blob is None else blob.key_type
        if is_taken(kind, self._target.pubkey_algorithms):
            return True
        self._tried.append(
            tr("{name}: ssh_config excludes keys of this type (PubkeyAcceptedAlgorithms)", name=key.name)
        )
        return False

    def _agent_keys(self) -> list[_Key]:
        try:
            self._agent = Agent(self._target.agent_socket, self._limit_s)
        except (paramiko.SSHException, OSError, EOFError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or str(problem) or tr("it closed the connection")
            self._tried.append(tr("the agent: it cannot be reached ({problem})", problem=why))
            self._advice.append(tr("Start the agent, or set IdentityAgent none in ssh_config."))
            return []
        found = []
        for key in self._agent.get_keys():
            inner = getattr(key, "inner_key", None)
            if inner is not None and inner.public_blob is not None:
                key.public_blob = inner.public_blob  # a certificate in the agent: paramiko keeps it one level down
            found.append(_Key(key, tr("agent key {key}", key=key.comment or key.fingerprint)))
        return found

    def _load(self, name: str, access: SshAccess, vault: Vault) -> _Key | None:
        """Load a private key file; a missing one is only worth a word when the person named it."""
        try:
            file = read_key_file(name)
            if file is None:
                if self._target.explicit_key:
                    self._tried.append(tr("key file {name}: there is no such file", name=name))
                return None
            key = _opened(file, access, vault)
            self._put_certificate(key, name)
        except NeedsPassphrase as problem:
            self._tried.append(f"key {name}: {problem}")
            self._advice.append(tr("Load it into the agent (ssh-add {name}), or enter its passphrase.", name=name))
        except SecretMissing as missing:
            self._tried.append(f"key {name}: {missing.sentence}")
        except OSError as problem:
            self._tried.append(
                tr("key {name}: it cannot be read ({problem})", name=name, problem=problem.strerror or problem)
            )
        except CannotOpen as problem:
            self._tried.append(f"key {name}: {problem}")
            self._advice += [problem.try_] if problem.try_ else []
        else:
            return _Key(key, f"key {name}")
        return None

    def _put_certificate(self, key: paramiko.PKey, name: str) -> None:
        """Take KEY-cert.pub, which lies beside it, as ssh does where no CertificateFile is named."""
        beside = Path(f"{name}-cert.pub")
        if self._target.certificates or not beside.exists():
            return
        try:
            key.load_certificate(str(beside))
        except (OSError, ValueError, IndexError, paramiko.SSHException, UnsupportedAlgorithm) as problem:
            self._tried.append(tr("certificate {name}: it cannot be used ({problem})", name=beside, problem=problem))

    def _certified(self, keys: list[_Key]) -> list[_Key]:
        """Return each key again with every certificate file that is about it; certificates are offered first."""
        found = []
        for key in keys:
            beside = key.key.public_blob  # KEY-cert.pub, where there is one
            if not isinstance(key.key, paramiko.AgentKey) and beside is not None:
                found.append(_Key(_with_certificate(key.key, beside), tr("{key} with its certificate", key=key.name)))
                key.key.public_blob = None
        for name in self._target.certificates:
            try:
                blob = paramiko.pkey.PublicBlob.from_file(name)
                public = _certified_key(Path(name))
            except (OSError, ValueError, IndexError, UnsupportedAlgorithm) as problem:
                self._tried.append(tr("certificate {name}: it cannot be used ({problem})", name=name, problem=problem))
                continue
            owner = next((key for key in keys if key.key.asbytes() == public), None)
            if owner is None:
                self._tried.append(
                    tr("certificate {name}: its private key is neither in a file nor in the agent", name=name)
                )
            else:
                found.append(_Key(_with_certificate(owner.key, blob), f"certificate {name}"))
        return found

    def _offer(self, key: _Key) -> bool:
        return self._attempt(key.name, lambda: self._transport.auth_publickey(self._target.user, key.key))

    def _password(self, password: str) -> bool:
        """Try "password", then "keyboard-interactive" where its one question is for the password (PAM's usual one)."""
        user = self._target.user
        if self._attempt("password", lambda: self._transport.auth_password(user, password, fallback=False)):
            return True
        answer = PasswordQuestion(password)
        try:
            return self._attempt("keyboard-interactive", lambda: self._transport.auth_interactive(user, answer))
        except UserError as ended:  # an unanswered question ends the connection: there is no other way to leave it
            if answer.refused is None:
                raise
            raise self._asks_else(answer.refused) from ended

    def _asks_else(self, question: OtherQuestion) -> AuthFailed:
        self._tried.append(
            tr(
                "keyboard-interactive: the host asks for something other than a password (one-time code?): "
                "{asked}; nothing was answered",
                asked=question.asked,
            )
        )
        self._advice.append(
            tr("Pilothouse cannot answer such questions: let the host accept a key or a password for this login.")
        )
        return self._failed(has_password=True)

    def _attempt(self, name: str, attempt: Callable[[], list[str]]) -> bool:
        deadline, left = self._time_left()
        self._transport.auth_timeout = left
        try:
            still_wanted = attempt()
        except paramiko.BadAuthenticationType as problem:
            self._tried.append(
                tr(
                    "{name}: the host does not accept this type (it accepts {types})",
                    name=name,
                    types=as_line(", ".join(problem.allowed_types), _MOST_SAID),
                )
            )
            return False
        except paramiko.AuthenticationException as problem:
            if not self._transport.is_active():
                self._tried.append(tr("{name}: not accepted", name=name))
                raise self._failed(has_password=True, ended=True) from problem
            if time.monotonic() >= deadline:
                raise self._no_answer() from problem
            self._tried.append(tr("{name}: not accepted", name=name))
            return False
        except (paramiko.SSHException, EOFError, OSError) as problem:
            if not self._transport.is_active():
                raise self._ended(problem) from problem
            self._tried.append(f"{name}: {as_line(str(problem), _MOST_SAID)}")
            return False
        if still_wanted:
            self._wanted = still_wanted
            self._tried.append(
                tr(
                    "{name}: accepted, but the host also requires {wanted}",
                    name=name,
                    wanted=as_line(" or ".join(still_wanted), _MOST_SAID),
                )
            )
            return False
        return True

    def _time_left(self) -> tuple[float, float]:
        """Return when the login must be through, and how long that is. Raises TimedOut when nothing is left."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self._limit_s
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._no_answer()
        return self._deadline, left

    def _ended(self, problem: Exception) -> UserError:
        if isinstance(problem, PasswordExpired):
            return self._expired()
        if reached(problem) == "size":
            return Unreachable(tr("The host sent more data during the login than allowed."), host=self._host)
        return Unreachable(
            tr(
                "The host ended the connection during the login ({problem}).", problem=as_line(str(problem), _MOST_SAID)
            ),
            host=self._host,
        )

    def _expired(self) -> AuthFailed:
        where = self._target.where
        return AuthFailed(
            tr("The password of {where} has expired: the host refuses logins until it is changed.", where=where),
            host=self._host,
            safe=tr("No new password was set."),
            try_=(tr("Change it in a terminal first (ssh {where}), then enter the new one here.", where=where),),
        )

    def _no_answer(self) -> TimedOut:
        return TimedOut(
            tr("The login as {where} did not end within {limit:g} s.", where=self._target.where, limit=self._limit_s),
            host=self._host,
        )

    def _of_too_many(self) -> tuple[str, ...]:
        if self._from_agent < 2:
            return ()
        return (
            tr(
                "The agent offered {n} keys: name the key for this host in ssh_config (IdentityFile, and "
                "IdentitiesOnly yes), or raise MaxAuthTries in its sshd_config.",
                n=self._from_agent,
            ),
        )

    def _failed(self, *, has_password: bool, ended: bool = False) -> AuthFailed:
        tried = "; ".join(self._tried) or tr("there was nothing to try (no agent, no key file, no password configured)")
        end = tr(" The host then closed the connection (MaxAuthTries).") if ended else ""
        if ended and self._left:
            end += tr(" {n} more keys were not offered.", n=self._left)
        advice = [
            *(self._of_too_many() if ended else ()),
            *self._advice,
            tr("Check that the host's authorized_keys has your key for {user}.", user=self._target.user),
        ]
        if not has_password:
            advice.append(tr("Choose a key file, load the agent, or configure a password for this host."))
        return AuthFailed(
            tr("The SSH login as {where} failed: {tried}.{end}", where=self._target.where, tried=tried, end=end),
            host=self._host,
            try_=tuple(advice),
        )


def _opened(file: KeyFile, access: SshAccess, vault: Vault) -> paramiko.PKey:
    """Return the private key, the passphrase asked for only where it needs one. Raises CannotOpen, SecretMissing."""
    if not file.is_public:
        refuse_open_to_others(file.name)
    try:
        return private_key(file, None)
    except NeedsPassphrase:
        if access.passphrase is None:
            raise
        return private_key(file, vault.get(access.passphrase))


def _certified_key(file: Path) -> bytes:
    """Return the plain public key that a certificate file is about."""
    identity = load_ssh_public_identity(read_bounded(file).strip())
    if not isinstance(identity, SSHCertificate):
        message = tr("it is a key, not a certificate")
        raise ValueError(message)  # noqa: TRY004 - the content is wrong, not a type in this program
    text = identity.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return base64.b64decode(text.split()[1])


def _with_certificate(key: paramiko.PKey, blob: paramiko.pkey.PublicBlob) -> paramiko.PKey:
    """Return a copy of `key` that is offered with the certificate; the plain key stays as it is."""
    if isinstance(key, paramiko.AgentKey):
        twin: paramiko.PKey = paramiko.AgentKey(key.agent, key.blob, key.comment)
    else:
        twin = copy.copy(key)
    twin.public_blob = blob
    return twin
