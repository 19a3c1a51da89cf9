"""Reading the certificates of a host's state transfers: texts become what a pair is (certificates.py). Pure.

A host tells of them by connections/programs/tls_programs.py. Sources: RFC 5280 (chains, 4.2.1.9 basic
constraints), RFC 7468 (PEM).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from services.facts.reading import count
from services.facts.transfer.certificates import CertificateSeen, FileSeen, PairSeen
from services.lines import lines_of
from services.visible import visible

MOST_TEXT = 256 * 1024
"""Bytes of a file of certificates or a key, and characters of what a host tells of one: no more is looked at."""
_MOST_CERTIFICATES, _MOST_CHAIN = 20, 8
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,65536}?-----END CERTIFICATE-----")
_BEGINS = "-----BEGIN CERTIFICATE-----"
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_SUM = re.compile(r"[0-9a-f]{64}")
_BROKEN = (ValueError, TypeError, UnsupportedAlgorithm, InvalidSignature)
_SOCAT = re.compile(r"socat version (\d{1,3}(?:\.\d{1,5}){1,4})")


def parse_pair(text: str, paths: tuple[str, str, str]) -> PairSeen | None:
    """Return the pair that `tls-pair` tells of; None where the text is none of it."""
    files: dict[str, FileSeen] = {}
    blocks: dict[str, list[str]] = {"ca": [], "cert": []}
    user, uid, group, public, inside, now = "", None, "", ("", ""), "", None
    for line in lines_of(text[:MOST_TEXT]):
        kind, _, rest = line.partition("|")
        parts = rest.split("|")
        if kind in {"begin", "end"}:
            inside = rest if kind == "begin" and rest in blocks else ""
        elif inside:
            blocks[inside].append(line)
        elif kind == "user" and len(parts) == 3:
            uid, (user, group) = count(parts[0]), (name if _NAME.fullmatch(name) else "" for name in parts[1:])
        elif kind == "now":
            now = count(rest)
        elif kind == "public":
            public = _public(parts)
        elif kind in {"ca", "cert", "key"}:
            files[kind] = _file(parts)
    if not files:
        return None
    ca, cert, key = (files.get(kind, FileSeen()) for kind in ("ca", "cert", "key"))
    cas, chain = loaded("\n".join(blocks["ca"])), loaded("\n".join(blocks["cert"]))
    roots, why = chain_of(cas, chain)
    odd = tuple(
        kind
        for kind, read in (("ca", cas), ("cert", chain))
        if "\n".join(blocks[kind]).count(_BEGINS) > len(read) and len(read) != _MOST_CERTIFICATES
    )
    return PairSeen(
        paths,
        ca,
        cert,
        key,
        user,
        uid,
        group,
        certificates_seen(cas),
        certificates_seen(chain),
        roots,
        why,
        public,
        now,
        odd,
    )


def _public(parts: list[str]) -> tuple[str, str]:
    """Return what is told of the key's public half; ('', '') where nothing on the host could tell it."""
    if len(parts) == 2 and parts[0] in {"spki", "ssh"} and _SUM.fullmatch(parts[1]):
        return parts[0], parts[1]
    return ("none", "") if parts == ["none"] else ("", "")


def _file(parts: list[str]) -> FileSeen:
    if parts[0] != "there" or len(parts) != 6:
        return FileSeen("absent" if parts[0] == "absent" else "unread")
    mode = int(parts[2], 8) if re.fullmatch(r"[0-7]{1,5}", parts[2]) else None
    readable = {"readable": True, "closed": False}.get(parts[5])
    return FileSeen("there", parts[1].startswith("regular"), mode, count(parts[3]), readable)


def socat_version(text: str) -> str:
    """Return the version in what `socat -V` prints, '' for none."""
    found = _SOCAT.search(text[:MOST_TEXT])
    return found.group(1) if found is not None else ""


def loaded(text: str) -> tuple[x509.Certificate, ...]:
    """Return the certificates of a PEM text, at most twenty; none where one of them can't be read.

    With one left out, another one would be taken for the first, which is the pair's own.
    """
    try:
        blocks = _PEM.findall(text[:MOST_TEXT])[:_MOST_CERTIFICATES]
        return tuple(x509.load_pem_x509_certificate(block.encode("ascii")) for block in blocks)
    except _BROKEN:
        return ()


def only_certificates(text: str) -> str:
    """Return the certificates of a PEM text and nothing else: a bundle may have its key beside them."""
    return "".join(f"{block}\n" for block in _PEM.findall(text[:MOST_TEXT])[:_MOST_CERTIFICATES])


def certificates_seen(certificates: Sequence[x509.Certificate]) -> tuple[CertificateSeen, ...]:
    """Return what these certificates say; nothing where one of them can't be read."""
    try:
        return tuple(_seen(one) for one in certificates)
    except _BROKEN:
        return ()


def _seen(one: x509.Certificate) -> CertificateSeen:
    key = one.public_key()
    spki = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    try:
        ssh = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    except _BROKEN:
        ssh = b""
    return CertificateSeen(
        _common_name(one.subject),
        _common_name(one.issuer),
        one.not_valid_before_utc.timestamp(),
        one.not_valid_after_utc.timestamp(),
        one.fingerprint(hashes.SHA256()).hex(),
        hashlib.sha256(spki).hexdigest(),
        hashlib.sha256(ssh).hexdigest() if ssh else "",
    )


def _common_name(name: x509.Name) -> str:
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return visible(str(found[0].value))[:64] if found else ""


# -- chains ------------------------------------------------------------------------------------------------------------


def chain_of(cas: Sequence[x509.Certificate], chain: Sequence[x509.Certificate]) -> tuple[tuple[str, ...], str]:
    """Return the digest of the CA that the first of `chain` leads to, or () and why it leads to none."""
    if not chain or not cas:
        return (), "there is no certificate in the file of the " + ("CA" if chain else "certificate")
    one = chain[0]
    for _ in range(_MOST_CHAIN):
        signer = next((ca for ca in cas if _signed(one, ca)), None)
        if signer is not None and _signed(signer, signer):  # OpenSSL wants a chain that ends at a CA of its own
            return (signer.fingerprint(hashes.SHA256()).hex(),), ""
        between = signer or next((other for other in chain[1:] if other is not one and _signed(one, other)), None)
        if between is None:
            break
        one = between
    return (), "it leads to no self-signed CA of that file"


def _signed(one: x509.Certificate, by: x509.Certificate) -> bool:
    """Return whether a certificate was signed by another one that may sign (a CA of X.509 version 1 says nothing)."""
    try:
        constraints = by.extensions.get_extension_for_class(x509.BasicConstraints).value
        if not constraints.ca:
            return False
    except x509.ExtensionNotFound:
        if by.version is not x509.Version.v1:
            return False
    except _BROKEN:
        return False
    try:
        one.verify_directly_issued_by(by)
    except _BROKEN:
        return False
    return True
