"""Errors a person can act on: what happened, on which host, what is safe now, what to try."""

from __future__ import annotations

from services.i18n import tr
from services.visible import as_line, visible

_MOST = 8000
"""Characters of a sentence: an inventory's faults are many lines, a server's words are not without end."""
_MOST_ADVICE = 1000


class PilothouseError(Exception):
    """Root of everything this program raises on purpose."""


class UserError(PilothouseError):
    """The environment's fault (a host, a file, an account), told as sentences.

    Attributes:
        sentence: what happened, one sentence, without a trailing cause chain.
        bare: the same without what changes while one waits (when the next attempt is due).
        host: the host it happened on, '' when none is concerned.
        safe: what is true and safe right now ('Nothing was changed.', where the raiser says nothing else).
        nothing_changed: whether `safe` says just that: what is compared, never the sentence.
        try_: what to try next, each an imperative sentence.
        code: stable short name for machines (`--json`) and tests.
    """

    code = "error"

    def __init__(self, sentence: str, *, host: str = "", safe: str | None = None, try_: tuple[str, ...] = ()) -> None:
        sentence = _told(sentence)  # a server's own words may be in it
        super().__init__(sentence)
        self.sentence = self.bare = sentence
        self.host = host
        self._safe = tr("Nothing was changed.") if safe is None else tr(safe)
        self.nothing_changed = safe is None
        self.try_ = tuple(as_line(advice, _MOST_ADVICE) for advice in try_)

    @property
    def safe(self) -> str:
        """What is true and safe right now."""
        return self._safe

    @safe.setter
    def safe(self, told: str) -> None:
        self._safe, self.nothing_changed = told, False

    def __str__(self) -> str:
        named = not self.host or self.sentence.startswith((f"{self.host} ", f"{self.host}: "))
        return self.sentence if named else f"{self.host}: {self.sentence}"

    def as_text(self) -> str:
        """Return the whole message for a terminal: sentence, what is safe, what to try."""
        lines = [str(self), self.safe, *(tr("Try: {advice}", advice=advice) for advice in self.try_)]
        return "\n".join(line for line in lines if line)


def _told(sentence: str) -> str:
    """Return it with every later line set in: a line of a server's words can't stand as one of ours ('Try: …')."""
    cut = sentence if len(sentence) <= _MOST else f"{sentence[:_MOST]}…"
    first, *more = visible(cut).split("\n")
    words = "\n".join([first, *(line if line[:1] in {"", " "} else f"  {line}" for line in more)])
    return sentence if words == sentence else words  # a translated sentence knows its English


class BadInput(UserError):
    """A file, an argument or a field the person gave can't be used (exit code 2)."""

    code = "bad-input"


class HostKeysUnread(BadInput):
    """A file or a program that knows host keys can't be asked: no host is judged by what is left."""


class Unforeseen(UserError):
    """Something foreign (a driver, a library, a file) failed in a way nobody foresaw: no word of a server."""

    code = "unforeseen"


class NoAnswer(UserError):
    """Every host that was asked stayed silent or refused: nothing was read of any."""

    code = "no-answer"


class Unreachable(UserError):
    """No connection: refused, no route, name not found, timed out before a session stood."""

    code = "unreachable"


class Dropped(Unreachable):
    """The other side ended a session that stood: whether it answers a new one is not known yet."""


class NameUnknown(Unreachable):
    """Nobody here knows the address's name; `name` is the one that was looked up."""

    code = "name-unknown"

    def __init__(self, sentence: str, *, name: str, host: str = "", try_: tuple[str, ...] = ()) -> None:
        super().__init__(sentence, host=host, try_=try_)
        self.name = name


class ResolverSilent(Unreachable):
    """Nobody could be asked for the address's name, or the answer was no answer; `name` is the one that was asked for.

    Whether the name exists is not known: a mistake in it is only one of what it may be.
    """

    code = "resolver-silent"

    def __init__(self, sentence: str, *, name: str, host: str = "", try_: tuple[str, ...] = ()) -> None:
        super().__init__(sentence, host=host, try_=try_)
        self.name = name


class NoRoute(Unreachable):
    """The network here has no way to the address."""

    code = "no-route"


class TimedOut(Unreachable):
    """A limit ran out; the text says which and how long."""

    code = "timed-out"


class NothingListens(Unreachable):
    """The host refused the connection: it is there, and what was asked for is not."""

    code = "connection-refused"


class OtherProtocol(Unreachable):
    """Somebody listens there who does not speak what was asked for: another service has the port."""

    code = "other-protocol"


class NotThatServer(Unreachable):
    """Another server of the same host answers there than the one that was asked for."""

    code = "not-that-server"


class OfflineMode(Unreachable):
    """The server is in offline mode: it lets nobody in but who may administer connections."""

    code = "offline-mode"


UNHEARD = frozenset(
    kind.code for kind in (Unreachable, NameUnknown, ResolverSilent, NoRoute, TimedOut, OtherProtocol, NotThatServer)
)
"""Codes of a connection at whose other end nobody was heard who was asked for: a host that refuses one was."""
UNREACHED = UNHEARD | {NothingListens.code}
"""Codes of a connection that did not come about: nobody was asked for a login yet."""


class AuthFailed(UserError):
    """The host or server refused the login."""

    code = "auth-failed"


class HostKeyUnknown(UserError):
    """The host's key is not in known_hosts; a person must compare its fingerprint.

    Attributes:
        key_type, fingerprint, key_base64: the key as offered.
        key_name: the name it would be kept under; known_hosts: the file; hashed: whether its names are hashed.
    """

    code = "host-key-unknown"

    def __init__(
        self,
        sentence: str,
        *,
        host: str,
        key_type: str,
        fingerprint: str,
        key_base64: str,
        key_name: str = "",
        known_hosts: str = "",
        hashed: bool = False,
    ) -> None:
        super().__init__(
            sentence,
            host=host,
            safe=tr("No login was attempted."),
            try_=(tr("Compare the fingerprint with the one the host's owner gives, then accept it."),),
        )
        self.key_type = key_type
        self.fingerprint = fingerprint
        self.key_base64 = key_base64
        self.key_name = key_name
        self.known_hosts = known_hosts
        self.hashed = hashed


class HostKeyChanged(UserError):
    """The host answered with another key than known_hosts has: refused, always."""

    code = "host-key-changed"


class TlsFailed(UserError):
    """The server's certificate could not be verified, or TLS was asked for and not offered."""

    code = "tls-failed"


class TlsMissing(TlsFailed):
    """The server offers no TLS: nothing would be encrypted, and nobody can say which server it is."""

    code = "tls-missing"


class CertificateUnknown(TlsFailed):
    """No authority vouches for the server's certificate and nobody accepted it yet; a person must compare it.

    Attributes:
        fingerprint: SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
        name: 'address:port' it would be kept under; subject: whom it is made out to, as it says itself.
        why: what is wrong with it.
    """

    code = "certificate-unknown"

    def __init__(
        self, sentence: str, *, host: str, fingerprint: str, name: str, subject: str, why: str, try_: tuple[str, ...]
    ) -> None:
        super().__init__(sentence, host=host, safe=tr("No login was attempted."), try_=try_)
        self.fingerprint = fingerprint
        self.name = name
        self.subject = visible(subject)
        self.why = visible(why)


class CertificateChanged(TlsFailed):
    """The server answered with another certificate than the one that was accepted: refused, always."""

    code = "certificate-changed"


class NoCommands(UserError):
    """The login is let in, and no command is run for it: a shell for nobody, or one command whatever is asked."""

    code = "no-commands"


class SudoFailed(UserError):
    """sudo refused, or asks for a password we don't have."""

    code = "sudo-failed"


class Refused(UserError):
    """The Observer road refused a statement or command that is not on the read allow-list."""

    code = "refused-by-observer"


class QueryFailed(UserError):
    """The server answered with an error number; `errno` is the server's."""

    code = "query-failed"

    def __init__(self, sentence: str, *, host: str = "", errno: int = 0) -> None:
        super().__init__(sentence, host=host)
        self.errno = errno


class SecretMissing(UserError):
    """A secret reference points at nothing (no such keyring entry, variable or descriptor)."""

    code = "secret-missing"


class KeyringSilent(SecretMissing):
    """The keyring was asked and did not answer in time: whether it has the entry is not known."""


class StoreError(UserError):
    """The local store can't be read or written (disk full, locked, a newer version's file)."""

    code = "store-error"


class JournalDamaged(StoreError):
    """The lines of one run can't be read or followed: it needs a person. The store itself and other runs are whole."""

    code = "journal-damaged"
