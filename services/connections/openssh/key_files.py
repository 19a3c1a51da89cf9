"""Key files in every form that ssh opens (OpenSSH, sshkey.c): its own, whatever the cipher, PEM, PKCS#8.

A form that is not read here is named, with the program that converts it. Nothing is written and no program is run.
"""

from __future__ import annotations

import binascii
import contextlib
import io
import os
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import paramiko
from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

from services.connections.openssh.sealed_keys import Sealed, as_open_text, sealed_in
from services.i18n import tr
from services.lines import marked_encoding
from services.workstation.files import read_bounded

if TYPE_CHECKING:
    from services.secrets import Secret

_PEM = re.compile(rb"-----BEGIN ((?:RSA |EC |DSA |ENCRYPTED )?PRIVATE KEY)-----.*?-----END \1-----", re.DOTALL)
_OWN = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PUBLIC = re.compile(rb"\s*(?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/=]+")
_CURVES = frozenset({"secp256r1", "secp384r1", "secp521r1"})
"""Of RFC 5656, section 10.1, those that OpenSSH has."""
_OTHERS = 0o077
_Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class CannotOpen(Exception):  # noqa: N818 - a sentence's end, not a breakdown
    """Why a key file is not used, a sentence's end; `try_` is what helps."""

    def __init__(self, why: str, *, try_: str = "") -> None:
        super().__init__(why)
        self.try_ = try_


class NeedsPassphrase(CannotOpen):
    """It is sealed, and no passphrase was given."""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file that is there: its name and its bytes."""

    name: str
    data: bytes

    @property
    def sealed(self) -> Sealed | None:
        """Return the head of OpenSSH's own form, None for any other. Raises CannotOpen for a broken one."""
        own, other = self.data.find(_OWN), _PEM.search(self.data)
        if own < 0 or (other is not None and other.start() < own):
            return None  # of several keys in a file ssh takes the first
        try:
            return sealed_in(self.data)
        except (ValueError, struct.error) as problem:
            raise CannotOpen(tr("it is damaged ({problem})", problem=problem)) from problem

    @property
    def is_public(self) -> bool:
        """Return whether it is the public half: its private one may be in the agent."""
        return _PUBLIC.match(self.data) is not None and _OWN not in self.data and _PEM.search(self.data) is None


def read_key_file(name: str) -> KeyFile | None:
    """Return the file, None where there is none. Raises OSError where it can't be read."""
    path = Path(name)
    if not path.exists():
        return None
    return KeyFile(name, read_bounded(path))  # a pipe in its place would be waited for without end


def public_half(name: str) -> bytes | None:
    """Return the public key of a file: its own where it holds one, that of NAME.pub, or of an open private one."""
    with contextlib.suppress(OSError, ValueError, IndexError, CannotOpen, paramiko.SSHException):
        file = read_key_file(name)
        if file is not None and file.is_public:
            return _blob(file.data)
        if file is not None and (sealed := file.sealed) is not None:
            return sealed.public
        beside = read_key_file(f"{name}.pub")
        if beside is not None:
            return _blob(beside.data)
        if file is not None:
            return private_key(file, None).asbytes()
    return None


def _blob(text: bytes) -> bytes:
    return paramiko.pkey.PublicBlob.from_string(text.decode("utf-8", "replace")).key_blob


def refuse_open_to_others(name: str) -> None:
    """Raise CannotOpen for a file of one's own that others may read, as ssh does (authfile.c, sshkey_perm_ok)."""
    if os.name != "posix":
        return  # Windows: the profile's own access list keeps others out
    about = Path(name).stat()
    if about.st_uid == os.getuid() and about.st_mode & _OTHERS:
        raise CannotOpen(
            tr(
                "others may read it (mode {mode}), so ssh does not use it",
                mode=f"{stat.S_IMODE(about.st_mode):04o}",
            ),
            try_=tr("Restrict its permissions: chmod 600 {name}", name=name),
        )


def private_key(file: KeyFile, passphrase: Secret | None) -> paramiko.PKey:
    """Return the private key.

    Raises CannotOpen with what it is and what helps; NeedsPassphrase where that is all that is missing.
    """
    secret = passphrase.reveal().encode("utf-8") if passphrase is not None else None
    _refuse_other_forms(file)
    try:
        loaded = _loaded(file, None)
    except NeedsPassphrase:
        if secret is None:
            raise
        loaded = _loaded(file, secret)
    text = loaded.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode("ascii")
    return _class_of(loaded).from_private_key(io.StringIO(text))


def _loaded(file: KeyFile, secret: bytes | None) -> _Private:
    """Return the key as the library has it. Raises CannotOpen."""
    try:
        found = _by_library(file, secret)
    except NeedsPassphrase:
        raise
    except TypeError as problem:  # the library's word for a passphrase that is missing
        if secret is None:
            raise NeedsPassphrase(tr("it has a passphrase, and none is configured")) from problem
        raise CannotOpen(tr("the passphrase is wrong")) from problem
    except UnsupportedAlgorithm as problem:
        raise CannotOpen(
            tr("its encryption is not supported ({problem})", problem=problem),
            try_=tr("Set a new passphrase, which re-encrypts the key: ssh-keygen -p -f {name}", name=file.name),
        ) from problem
    except (binascii.Error, ValueError, InvalidTag, InvalidSignature):
        # The library's words quote what it read, which may be the private key: they go nowhere, into no traceback.
        if secret is not None:
            raise CannotOpen(tr("the passphrase is wrong")) from None
        raise CannotOpen(
            tr("it is damaged, or of an unsupported type"),
            try_=tr("Check it: ssh-keygen -l -f {name}", name=file.name),
        ) from None
    if not isinstance(found, _Private):
        raise _old_kind(type(found).__name__.removesuffix("PrivateKey"))
    if isinstance(found, ec.EllipticCurvePrivateKey) and found.curve.name not in _CURVES:
        raise _old_kind(found.curve.name)
    return found


def _old_kind(kind: str) -> CannotOpen:
    return CannotOpen(
        tr("its key type ({kind}) is no longer accepted for a login", kind=kind),
        try_=tr("Create a new key: ssh-keygen -t ed25519"),
    )


def _by_library(file: KeyFile, secret: bytes | None) -> object:
    sealed = file.sealed
    if sealed is not None:
        if sealed.cipher == "none":
            return load_ssh_private_key(file.data, None)
        if secret is None:
            raise NeedsPassphrase(tr("it has a passphrase, and none is configured"))
        return load_ssh_private_key(as_open_text(sealed, secret), None)
    block = _PEM.search(file.data)  # "Bag Attributes" and remarks stand before and between
    if block is None:
        raise CannotOpen(
            tr("it is not a supported private key"),
            try_=tr("Check it: ssh-keygen -l -f {name}", name=file.name),
        )
    return load_pem_private_key(block[0] + b"\n", secret)


def _refuse_other_forms(file: KeyFile) -> None:
    name, data = file.name, file.data
    if file.is_public:
        raise CannotOpen(
            tr("it is a public key, and the agent does not hold its private half"),
            try_=tr("Load the private half into the agent: ssh-add"),
        )
    if data.startswith(b"PuTTY-User-Key-File-"):
        raise CannotOpen(
            tr("it is in PuTTY's format (.ppk)"),
            try_=tr("Convert it: puttygen {name} -O private-openssh -o {name}.openssh", name=name),
        )
    if data.startswith(b"SSH PRIVATE KEY FILE FORMAT 1.1"):
        raise CannotOpen(tr("it is a key for SSH protocol 1"), try_=tr("Create a new key: ssh-keygen -t ed25519"))
    if b"---- BEGIN SSH2 " in data:
        raise CannotOpen(
            tr("it is in the format of RFC 4716 (ssh.com)"),
            try_=tr("Convert it: ssh-keygen -i -f {name} > {name}.openssh", name=name),
        )
    if (encoding := marked_encoding(data)).startswith("UTF-16"):
        raise CannotOpen(
            tr("it is encoded in {encoding}, which ssh does not read", encoding=encoding),
            try_=tr("Save it in UTF-8 without a byte order mark."),
        )
    if data.startswith(b"\x30"):
        raise CannotOpen(
            tr("it is binary (DER or PKCS#12)"),
            try_=tr("Convert it: openssl pkey -inform DER -in {name} -out {name}.pem; or openssl pkcs12", name=name),
        )
    sealed = file.sealed
    if sealed is not None and sealed.kind == "ssh-dss":
        raise _old_kind("DSA")
    if sealed is not None and sealed.kind.startswith("sk-"):
        raise CannotOpen(
            tr("it is a security key ({kind}), which can be used only through the agent", kind=sealed.kind),
            try_=tr("Load it into the agent: ssh-add {name}", name=name),
        )


def _class_of(loaded: _Private) -> type[paramiko.PKey]:
    if isinstance(loaded, rsa.RSAPrivateKey):
        return paramiko.RSAKey
    return paramiko.Ed25519Key if isinstance(loaded, ed25519.Ed25519PrivateKey) else paramiko.ECDSAKey
