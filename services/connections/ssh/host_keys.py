"""known_hosts as OpenSSH keeps it: what a host's key is worth, and writing down one a person accepted.

Format: man sshd(8), SSH_KNOWN_HOSTS FILE FORMAT (patterns, negation, hashed names, [host]:port, @cert-authority,
@revoked). Read here rather than with paramiko.HostKeys, which drops markers, patterns and key types it can't make.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import hmac
import os
import re
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from services.addresses import is_key_name
from services.errors import BadInput, HostKeysUnread, UserError
from services.i18n import tr
from services.lines import lines_of
from services.workstation.files import narrow, read_bounded

_MOST_BYTES = 32 * 2**20
"""Bytes of a known_hosts: those of large estates are made by programs and have tens of thousands of lines."""


class KeyStatus(Enum):
    """What known_hosts says of a key."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One line: marker ('', '@revoked', '@cert-authority'), its host field, key type, key blob, file and line.

    is_told: no file has it, a program told it: `file` is the setting that names the program.
    """

    marker: str
    hosts: str
    key_type: str
    blob: bytes
    file: str
    line: int
    is_told: bool = False

    def matches(self, name: str) -> bool:
        """Return whether the line speaks of `name`; a negated pattern that matches wins."""
        if self.hosts.startswith("|1|"):
            return _hash_matches(self.hosts, name)
        found = False
        for pattern in self.hosts.split(","):
            negated = pattern.startswith("!")
            if _glob(pattern.removeprefix("!"), name):
                if negated:
                    return False
                found = True
        return found

    @property
    def where(self) -> str:
        """Return file:line."""
        return f"{self.file}:{self.line}"


def fingerprint(blob: bytes) -> str:
    """Return the SHA256 fingerprint as ssh-keygen -l prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode("ascii").rstrip("=")


class KnownHosts:
    """The lines of several known_hosts files, in order; files that don't exist are empty.

    lacking: why a program that tells keys could not be started, '' else; failure: what to raise before a host goes
    through, where it failed.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        told: tuple[KnownKey, ...] = (),
        *,
        lacking: str = "",
        failure: UserError | None = None,
    ) -> None:
        self._keys = (*(key for file in files for key in _read(file)), *told)
        self._files, self._told = files, told
        self.lacking = lacking
        self._failure = failure

    def read_again(self) -> KnownHosts:
        """Return the same with the files as they are now: a ProxyCommand may write them (sss_ssh_knownhostsproxy)."""
        return KnownHosts(self._files, self._told, lacking=self.lacking, failure=self._failure)

    def refuse_failure(self) -> None:
        """Raise where a program that tells keys failed: what it would have said of this key is not known."""
        if self._failure is not None:
            raise self._failure

    def key_types(self, name: str) -> tuple[str, ...]:
        """Return the types of the plain keys known for `name`, so that the host is asked for one of them first."""
        return tuple(dict.fromkeys(key.key_type for key in self._keys if not key.marker and key.matches(name)))

    def authorities(self, name: str) -> tuple[bytes, ...]:
        """Return the blobs of the certificate authorities trusted for `name`."""
        return tuple(key.blob for key in self._keys if key.marker == "@cert-authority" and key.matches(name))

    def is_revoked(self, name: str, blob: bytes) -> bool:
        """Return whether the key (a host's or an authority's) is marked @revoked for `name`."""
        return any(key.marker == "@revoked" and key.blob == blob and key.matches(name) for key in self._keys)

    def judge(self, name: str, key_type: str, blob: bytes) -> tuple[KeyStatus, KnownKey | None]:
        """Return the verdict on a plain key, and the line it rests on.

        As in OpenSSH (hostfile.c, check_hostkeys_by_key_or_type): where any plain key is known for the name, every
        other is a change, also one of another type. Else somebody in the middle would show a type that is not known
        yet. The line is then one of the same type, where there is one.
        """
        if self.is_revoked(name, blob):
            return KeyStatus.REVOKED, None
        plain = [key for key in self._keys if not key.marker and key.matches(name)]
        for key in plain:
            if key.blob == blob:
                return KeyStatus.KNOWN, key
        if not plain:
            return KeyStatus.UNKNOWN, None
        return KeyStatus.CHANGED, next((key for key in plain if key.key_type == key_type), plain[0])

    def speak_of(self, name: str) -> bool:
        """Return whether any line is about `name`: a key of any type, an authority, a revoked key."""
        return any(key.matches(name) for key in self._keys)


def told_keys(lines: tuple[str, ...], name: str, teller: str) -> tuple[KnownKey, ...]:
    """Return what a program told of a name, as the lines of a file; what it says of others is no answer."""
    keys = (_parse(line, teller, number) for number, line in enumerate(lines, 1))
    return tuple(replace(key, is_told=True) for key in keys if key is not None and key.matches(name))


def remember(file: str, name: str, key_type: str, key_base64: str, *, hashed: bool) -> None:
    """Append an accepted key to `file` (0600, its folder 0700 when new); hashed also where the file's names are.

    Raises:
        BadInput: the file can't be written, or the name would speak of more than one host (`*`, `10.0.0.5,other`).
    """
    if not is_key_name(name):
        raise BadInput(tr("'{name}' names more than one host: no key is accepted for it.", name=name))
    path = Path(file)
    hashed = hashed or any(key.hosts.startswith("|1|") for key in _read(file))
    shown = _hash(name) if hashed else name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        old = read_bounded(path, _MOST_BYTES) if path.exists() else b""
        start = b"" if not old or old.endswith(b"\n") else b"\n"
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(start + f"{shown} {key_type} {key_base64}\n".encode("ascii"))
        if path.is_file():
            narrow(path, 0o600)
    except OSError as problem:
        raise BadInput(
            tr(
                "{file} cannot be written ({problem}), so the key was not accepted.",
                file=file,
                problem=problem.strerror,
            ),
            try_=(tr("Make the file writable for you."),),
        ) from problem


def _read(file: str) -> list[KnownKey]:
    try:
        text = read_bounded(Path(file), _MOST_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        # Going on without the file would turn a changed key into an unknown one.
        raise HostKeysUnread(
            tr("{file} cannot be read ({problem}).", file=file, problem=problem.strerror or problem),
            safe=tr("No login was attempted."),
        ) from problem
    return [key for number, line in enumerate(lines_of(text), 1) if (key := _parse(line, file, number)) is not None]


def _parse(line: str, file: str, number: int) -> KnownKey | None:
    """Parse one line; None for blank lines, comments, unknown markers and broken lines (as OpenSSH skips them)."""
    words = re.split("[ \t]+", line.strip(" \t"))  # hostfile.c knows no other blanks
    if not words[0] or words[0].startswith("#"):
        return None
    marker = words.pop(0) if words[0].startswith("@") else ""
    if marker not in {"", "@revoked", "@cert-authority"} or len(words) < 3:
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    return KnownKey(marker, words[0], words[1], blob, file, number)


def _glob(pattern: str, name: str) -> bool:
    """Match * and ? only, without regard to case: a [ in known_hosts is the [ of [host]:port."""
    return fnmatch.fnmatchcase(name.lower(), re.sub(r"\[", "[[]", pattern.lower()))


def _hash(name: str, salt: bytes | None = None) -> str:
    """Return |1|salt|HMAC-SHA1(salt, name), the form of HashKnownHosts."""
    salt = salt or os.urandom(20)
    mac = hmac.new(salt, name.encode("utf-8"), hashlib.sha1).digest()
    return f"|1|{base64.b64encode(salt).decode('ascii')}|{base64.b64encode(mac).decode('ascii')}"


def _hash_matches(field: str, name: str) -> bool:
    try:
        salt = base64.b64decode(field.split("|")[2], validate=True)
    except (IndexError, binascii.Error, ValueError):
        return False
    return bool(salt) and hmac.compare_digest(_hash(name, salt), field)
