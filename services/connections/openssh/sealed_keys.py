"""OpenSSH's own form of a private key (PROTOCOL.key), opened with every cipher that `ssh-keygen -Z` offers.

The libraries know three of them; what is opened here is handed to them as a key without a passphrase.
"""

from __future__ import annotations

import base64
import re
import struct
from dataclasses import dataclass

import bcrypt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305

_BLOCK = re.compile(rb"-----BEGIN OPENSSH PRIVATE KEY-----(.*?)-----END OPENSSH PRIVATE KEY-----", re.DOTALL)
_MAGIC = b"openssh-key-v1\0"
_CHACHA = "chacha20-poly1305@openssh.com"
_AES = re.compile(r"aes(128|192|256)-(ctr|cbc|gcm@openssh\.com)")
_MOST_ROUNDS = 100_000
"""Of the key derivation; ssh-keygen writes 16 or 24, and more of them would keep a login for hours."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a file holds: cipher ('none' for an open key), salt, rounds, the public key, the private data, the tag."""

    cipher: str
    salt: bytes
    rounds: int
    public: bytes
    private: bytes
    tag: bytes

    @property
    def kind(self) -> str:
        """Return the type of the key, "ssh-ed25519"."""
        return _text(self.public)[0].decode("ascii", "replace")


def sealed_in(data: bytes) -> Sealed:
    """Read the head. Raises ValueError for what is none."""
    block = _BLOCK.search(data)
    raw = base64.b64decode(block[1]) if block else b""
    if not raw.startswith(_MAGIC):
        message = "not OpenSSH's format"
        raise ValueError(message)
    cipher, rest = _text(raw[len(_MAGIC) :])
    _kdf, rest = _text(rest)
    options, rest = _text(rest)
    public, rest = _text(rest[4:])  # one key
    private, tag = _text(rest)
    salt, rounds = _text(options) if options else (b"", b"\0\0\0\0")
    if len(rounds) != 4:
        message = "a broken head"
        raise ValueError(message)
    return Sealed(cipher.decode("ascii", "replace"), salt, struct.unpack(">I", rounds)[0], public, private, tag)


def as_open_text(sealed: Sealed, passphrase: bytes) -> bytes:
    """Return the same key without a passphrase, in memory.

    Raises:
        ValueError, InvalidTag, InvalidSignature: the passphrase does not open it.
        UnsupportedAlgorithm: a cipher that is not known here.
    """
    if not 0 < sealed.rounds <= _MOST_ROUNDS:
        message = "its key derivation has too many rounds"
        raise ValueError(message)
    if not passphrase:
        message = "an empty passphrase"
        raise ValueError(message)
    opened = _opened(sealed, passphrase)
    words = (b"none", b"none", b"")
    raw = _MAGIC + b"".join(_packed(word) for word in words) + struct.pack(">I", 1)
    raw += _packed(sealed.public) + _packed(opened)
    text = base64.b64encode(raw)
    return b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + text + b"\n-----END OPENSSH PRIVATE KEY-----\n"


def _opened(sealed: Sealed, passphrase: bytes) -> bytes:
    def derived(length: int) -> bytes:
        return bcrypt.kdf(passphrase, sealed.salt, length, sealed.rounds, ignore_few_rounds=True)

    if sealed.cipher == _CHACHA:
        return _opened_by_chacha(sealed, derived(64)[:32])
    found = _AES.fullmatch(sealed.cipher)
    if found is None:
        message = f"cipher {sealed.cipher}"
        raise UnsupportedAlgorithm(message)
    length, kind = int(found[1]) // 8, found[2]
    both = derived(length + (12 if kind.startswith("gcm") else 16))
    key, start = algorithms.AES(both[:length]), both[length:]
    if kind.startswith("gcm"):
        unsealing = Cipher(key, modes.GCM(start, sealed.tag)).decryptor()
        return unsealing.update(sealed.private) + unsealing.finalize()
    plain = Cipher(key, modes.CTR(start) if kind == "ctr" else modes.CBC(start)).decryptor()
    return plain.update(sealed.private) + plain.finalize()


def _opened_by_chacha(sealed: Sealed, key: bytes) -> bytes:
    """OpenSSH's own use of it (PROTOCOL.chacha20poly1305): sequence 0; block 0 keys the tag, the data begin at 1."""

    def stream(block: int, data: bytes) -> bytes:
        nonce = struct.pack("<Q", block) + bytes(8)
        return Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor().update(data)

    Poly1305.verify_tag(stream(0, bytes(32)), sealed.private, sealed.tag)
    return stream(1, sealed.private)


def _text(data: bytes) -> tuple[bytes, bytes]:
    """Cut a string with its length before it off."""
    if len(data) < 4 or len(data) < 4 + (length := struct.unpack(">I", data[:4])[0]):
        message = "a broken head"
        raise ValueError(message)
    return data[4 : 4 + length], data[4 + length :]


def _packed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data
