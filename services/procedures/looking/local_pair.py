"""A pair that lies in files of the workstation: read when a step asks for it, and never kept."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from services.errors import BadInput
from services.facts.transfer.certificate_files import MOST_TEXT, certificates_seen, chain_of, loaded
from services.facts.transfer.certificates import FileSeen, PairSeen
from services.i18n import tr
from services.secrets import Secret


def read_local(path: str) -> str:
    """Return a PEM file's text; BadInput where it is missing, is no plain file, or is too long to be one."""
    try:
        # A pipe that nobody writes to would hold the console for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadInput(tr("{path} is not a plain file.", path=path))
            content = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise BadInput(tr("{path} on this workstation: {why}.", path=path, why=error.strerror or error)) from error
    if len(content) > MOST_TEXT:
        raise BadInput(tr("{path} is too long to be a file of certificates or a key.", path=path))
    return content.decode("utf-8", "replace")


def local_pair(ca: str, cert: str, key: str) -> PairSeen:
    """Return what is known of the pair in these files. Raises BadInput for one that can't be read."""
    texts = read_local(ca), read_local(cert), Secret(read_local(key))
    return pair_of(*texts, (ca, cert, key), stat.S_IMODE(Path(key).stat().st_mode))


def pair_of(ca: str, cert: str, key: Secret, paths: tuple[str, str, str], mode: int | None = None) -> PairSeen:
    """Return what is known of a pair by its texts; of the key only a digest of its public half is kept.

    Args:
        mode: of the key's file.
    """
    cas, chain = loaded(ca), loaded(cert)
    roots, why = chain_of(cas, chain)
    there, own = FileSeen("there", readable=True), FileSeen("there", mode=mode, readable=True)
    return PairSeen(
        paths,
        there,
        there,
        own,
        cas=certificates_seen(cas),
        chain=certificates_seen(chain),
        roots=roots,
        why=why,
        public=_public(key),
    )


def _public(key: Secret) -> tuple[str, str]:
    """Return the digest of a key's public half, ('none', '') where it is no key without a password."""
    try:
        private = serialization.load_pem_private_key(key.reveal().encode("utf-8"), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "none", ""
    half = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return "spki", hashlib.sha256(half).hexdigest()
