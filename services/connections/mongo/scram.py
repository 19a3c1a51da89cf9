"""SCRAM as MongoDB speaks it: the password is proven and never sent, and the server proves that it knows it too.

Sources: RFC 5802, RFC 7677; MongoDB driver specification "Authentication", SCRAM-SHA-1 (the password is MD5 of
"user:mongo:password") and SCRAM-SHA-256 (the password prepared by SASLprep, RFC 4013). Pure.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final, Literal

from services.i18n import tr

ScramKind = Literal["SCRAM-SHA-1", "SCRAM-SHA-256"]

LEAST_ROUNDS: Final = 4096
"""RFC 7677 names it; servers make 5,000 at least (parameter scramIterationCount). Fewer would help who guesses."""
MOST_ROUNDS: Final = 1_000_000
"""Half a second of this machine's CPU; servers' own defaults are 10,000 and 15,000."""
_MOST_SALT = 128
_MOST_NONCE = 256
_FIELD = re.compile(r"([a-z])=(.*)", re.DOTALL)


class BadProof(Exception):  # noqa: N818 - it says what happened
    """What the server sent is no step of SCRAM, or it does not know the password."""


class Scram:
    """One conversation: `first`, then `answer` to what came, then `check` what came last."""

    def __init__(self, mechanism: ScramKind, user: str, password: str, nonce: str) -> None:
        self._hash = "sha256" if mechanism == "SCRAM-SHA-256" else "sha1"
        self._password = _prepared(user, password) if self._hash == "sha1" else _saslprep(password)
        self._nonce = nonce
        self._bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        self._signature = b""

    @property
    def first(self) -> bytes:
        """Return the client's first message."""
        return f"n,,{self._bare}".encode()

    def answer(self, said: bytes) -> bytes:
        """Return the client's final message to the server's first one. Raises BadProof."""
        fields = _fields(said)
        nonce, salt, rounds = fields.get("r", ""), _unbase(fields.get("s", "")), fields.get("i", "")
        if not nonce.startswith(self._nonce) or not len(self._nonce) < len(nonce) <= _MOST_NONCE or "m" in fields:
            raise BadProof(tr("it does not answer the login"))
        if not salt or len(salt) > _MOST_SALT or not (rounds.isascii() and rounds.isdigit() and len(rounds) <= 9):
            raise BadProof(tr("it gives no salt or no iteration count"))
        if not LEAST_ROUNDS <= int(rounds) <= MOST_ROUNDS:
            raise BadProof(tr("it requests {rounds} iterations", rounds=int(rounds)))
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, int(rounds))
        client = self._hmac(salted, b"Client Key")
        without = f"c=biws,r={nonce}"
        whole = ",".join((self._bare, said.decode("utf-8"), without)).encode()
        signature = self._hmac(hashlib.new(self._hash, client).digest(), whole)
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), whole)
        proof = bytes(a ^ b for a, b in zip(client, signature, strict=True))
        return f"{without},p={base64.b64encode(proof).decode()}".encode()

    def check(self, said: bytes) -> None:
        """Hold the server's own proof against what only somebody who knows the password can make. Raises BadProof."""
        shown = _unbase(_fields(said).get("v", ""))
        if not self._signature or not hmac.compare_digest(shown, self._signature):
            raise BadProof(tr("it does not prove that it knows the password"))

    def _hmac(self, key: bytes, text: bytes) -> bytes:
        return hmac.new(key, text, self._hash).digest()


def _fields(said: bytes) -> dict[str, str]:
    try:
        parts = said.decode("utf-8").split(",", 8)
    except UnicodeDecodeError as problem:
        raise BadProof(tr("it is not text")) from problem
    return {found[1]: found[2] for found in map(_FIELD.fullmatch, parts) if found is not None}


def _unbase(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _prepared(user: str, password: str) -> bytes:
    digest = hashlib.md5(f"{user}:mongo:{password}".encode(), usedforsecurity=False)  # the protocol's own form
    return digest.hexdigest().encode()


def _saslprep(password: str) -> bytes:
    if password.isascii():
        return password.encode()  # control characters are refused by the server that has no such password
    from pymongo.saslprep import saslprep  # late: it loads the whole driver

    try:
        return str(saslprep(password)).encode()
    except ValueError as problem:
        raise BadProof(tr("the password has characters that SASLprep forbids")) from problem
