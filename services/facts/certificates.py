"""Certificates of a host's state transfers: what a pair is, and what is wrong with it. Pure; a key is never here.

A pair is three files: the CA's certificates, the certificate (with those between it and the CA behind it), its key.
What of them a host tells is connections/tls_programs.py. Sources: RFC 5280 (chains, 4.1.2.5 validity, 4.2.1.9 basic
constraints), RFC 7468 (PEM); socat(1) and MariaDB's wsrep_sst_mariabackup for what encrypt=4 verifies: the chain to the
CA and the dates, no host's name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from services.facts.reading import count
from services.lines import lines_of
from services.visible import visible

DAY_S = 86_400.0
SOON_S = 30 * DAY_S
"""So long before it ends a certificate is told: weeks, as a renewal wants a quiet hour."""
MOST_TEXT = 256 * 1024
"""Bytes of a file of certificates or a key, and characters of what a host tells of one: no more is looked at."""
_MOST_CERTIFICATES, _MOST_CHAIN = 20, 8
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,65536}?-----END CERTIFICATE-----")
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_SUM = re.compile(r"[0-9a-f]{64}")
_BROKEN = (ValueError, TypeError, UnsupportedAlgorithm, InvalidSignature)
_SOCAT = re.compile(r"socat version (\d{1,3}(?:\.\d{1,5}){1,4})")


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file of a pair: is it there, its mode and owner, and may the server's user read it; None: not known."""

    state: Literal["there", "absent", "unread", ""] = ""
    regular: bool = True
    mode: int | None = None
    uid: int | None = None
    readable: bool | None = None


@dataclass(frozen=True, slots=True)
class CertificateSeen:
    """What a certificate says of itself.

    Attributes:
        name, issuer: common names, at most 64 visible characters; begins, ends: UTC epoch seconds.
        digest: SHA-256 of the certificate in hex; spki, ssh: of its public key, in DER and as SSH writes it.
    """

    name: str
    issuer: str
    begins: float
    ends: float
    digest: str
    spki: str = ""
    ssh: str = ""


@dataclass(frozen=True, slots=True)
class PairSeen:
    """A pair on a host, or on the workstation.

    Attributes:
        paths: of CA, certificate and key; ca, cert, key: the files.
        user, uid, group: whose server it is; '' and None: not known.
        cas, chain: the certificates of the CA's file, and of the certificate's, the pair's own first.
        roots: digests of those of the CA's that the chain ends at; why: why it ends at none, '' where it does.
        public: what is known of the key: 'spki' or 'ssh' and the digest of its public half, 'none': it is no key
            that can be read without a password; '' not known.
        now: the host's own time (UTC epoch seconds), by which its scripts judge dates; None: not told.
    """

    paths: tuple[str, str, str] = ("", "", "")
    ca: FileSeen = FileSeen()
    cert: FileSeen = FileSeen()
    key: FileSeen = FileSeen()
    user: str = ""
    uid: int | None = None
    group: str = ""
    cas: tuple[CertificateSeen, ...] = ()
    chain: tuple[CertificateSeen, ...] = ()
    roots: tuple[str, ...] = ()
    why: str = ""
    public: tuple[str, str] = ("", "")
    now: float | None = None

    @property
    def ends(self) -> float | None:
        """Return when the first of its certificates runs out, None where there is none."""
        used = [one for one in self.cas if one.digest in self.roots] or list(self.cas)
        return min((one.ends for one in (*self.chain, *used)), default=None)

    @property
    def digest(self) -> str:
        """Return what tells this pair from any other: digests of CA, certificate and public key; '' not known."""
        if not self.chain or not self.cas:
            return ""
        own = self.chain[0]
        return hashlib.sha256(" ".join((*sorted(self.roots), own.digest, own.spki)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PairFault:
    """What is wrong with a pair: a stable code and a sentence without the host's name.

    Attributes:
        blocks: no transfer would go through, or the key is open to others; else it is told.
    """

    code: str
    sentence: str
    blocks: bool = True


# -- reading -----------------------------------------------------------------------------------------------------------


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
            known = len(parts) == 2 and parts[0] in {"spki", "ssh"} and _SUM.fullmatch(parts[1])
            public = (parts[0], parts[1]) if known else ("none", "")
        elif kind in {"ca", "cert", "key"}:
            files[kind] = _file(parts)
    if not files:
        return None
    ca, cert, key = (files.get(kind, FileSeen()) for kind in ("ca", "cert", "key"))
    cas, chain = loaded("\n".join(blocks["ca"])), loaded("\n".join(blocks["cert"]))
    roots, why = chain_of(cas, chain)
    return PairSeen(paths, ca, cert, key, user, uid, group, seen(cas), seen(chain), roots, why, public, now)


def _file(parts: list[str]) -> FileSeen:
    if parts[0] != "there" or len(parts) != 6:
        return FileSeen("absent" if parts[0] == "absent" else "unread")
    mode = int(parts[2], 8) if re.fullmatch(r"[0-7]{1,5}", parts[2]) else None
    return FileSeen("there", parts[1].startswith("regular"), mode, count(parts[3]), parts[5] == "readable")


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


def seen(certificates: Sequence[x509.Certificate]) -> tuple[CertificateSeen, ...]:
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


# -- judging -----------------------------------------------------------------------------------------------------------


def faults_of(pair: PairSeen, now: float, soon_s: float = SOON_S) -> tuple[PairFault, ...]:
    """Return what is wrong with a pair at this time (UTC epoch seconds), what blocks first; () for a good one."""
    found = [fault for which in ("ca", "cert", "key") for fault in _file_faults(pair, which)]
    if not any(fault.blocks for fault in found if fault.code in {"absent", "unread"}):
        found += [*_own_faults(pair), *_date_faults(pair, now, soon_s)]
    return tuple(sorted(found, key=lambda fault: not fault.blocks))


def _file_faults(pair: PairSeen, which: str) -> list[PairFault]:
    file: FileSeen = getattr(pair, which)
    path = pair.paths[("ca", "cert", "key").index(which)]
    what = {"ca": "CA certificate", "cert": "certificate", "key": "key"}[which]
    if file.state != "there":
        told = "is not there" if file.state == "absent" else "could not be read"
        return [PairFault("absent" if file.state == "absent" else "unread", f"the {what} {path} {told}")]
    found = []
    if not file.regular:
        found.append(PairFault("no-file", f"{path} is no plain file"))
    if file.readable is False:
        found.append(PairFault("closed", f"the server's user {pair.user} may not read the {what} {path}"))
    if which == "key" and file.mode is not None and file.mode & 0o077:
        found.append(
            PairFault("open", f"the key {path} has the mode {file.mode:04o}: others than its owner may read it")
        )
    return found


def _own_faults(pair: PairSeen) -> list[PairFault]:
    found = []
    if not pair.chain or not pair.cas:
        empty = pair.paths[1] if not pair.chain else pair.paths[0]
        return [PairFault("no-certificate", f"there is no certificate in {empty}")]
    own = pair.chain[0]
    if not pair.roots:
        found.append(
            PairFault("chain", f"the certificate {pair.paths[1]} is not of the CA {pair.paths[0]}: {pair.why}")
        )
    how, digest = pair.public
    if how == "none":
        found.append(PairFault("no-key", f"{pair.paths[2]} is no private key, or it wants a password"))
    elif how and digest != (own.spki if how == "spki" else own.ssh):
        found.append(
            PairFault("mismatch", f"the key {pair.paths[2]} does not belong to the certificate {pair.paths[1]}")
        )
    elif not how:
        found.append(
            PairFault("key-unknown", f"whether the key {pair.paths[2]} belongs to it is not known", blocks=False)
        )
    if any(ca.name == own.name for ca in pair.cas if ca.digest != own.digest):
        found.append(PairFault("same-name", f"CA and certificate have the same name {own.name}: OpenSSL refuses them"))
    return found


def _date_faults(pair: PairSeen, now: float, soon_s: float) -> list[PairFault]:
    used = [one for one in pair.cas if one.digest in pair.roots]
    found = []
    for what, one in (*(("CA certificate", ca) for ca in used), *(("certificate", own) for own in pair.chain)):
        if one.ends <= now:
            found.append(PairFault("expired", f"the {what} {one.name} ran out {days_of(now - one.ends)} ago"))
        elif one.begins > now:
            found.append(
                PairFault("not-yet", f"the {what} {one.name} is not valid for another {days_of(one.begins - now)}")
            )
        elif one.ends - now < soon_s:
            found.append(
                PairFault("soon", f"the {what} {one.name} runs out in {days_of(one.ends - now)}", blocks=False)
            )
    return found


def days_of(seconds: float) -> str:
    """Return '12 days', or below two days the hours."""
    return f"{int(seconds // DAY_S)} days" if seconds >= 2 * DAY_S else f"{int(seconds // 3600)} h"
