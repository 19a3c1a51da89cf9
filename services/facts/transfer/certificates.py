"""Certificates of a host's state transfers: what a pair is, and what is wrong with it. Pure; a key is never here.

A pair is three files: the CA's certificates, the certificate (with those between it and the CA behind it), its key. How
they are read is certificate_files.py, which loads a library that a start of the console does without. Sources: RFC 5280
(4.1.2.5 validity); socat(1) and MariaDB's wsrep_sst_mariabackup for what encrypt=4 verifies: the chain to the CA and
the dates, no host's name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

DAY_S = 86_400.0
SOON_S = 30 * DAY_S
"""So long before it ends a certificate is told: weeks, as a renewal wants a quiet hour."""


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
        odd: 'ca', 'cert': the file has a certificate of a kind that is not known here: no word against it.
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
    odd: tuple[str, ...] = ()

    @property
    def ends(self) -> float | None:
        """Return when the first of its certificates expires, None where there is none."""
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
        words = "is not there" if file.state == "absent" else "could not be read"
        return [PairFault("absent" if file.state == "absent" else "unread", f"the {what} {path} {words}")]
    found = []
    if not file.regular:
        found.append(PairFault("no-file", f"{path} is not a plain file"))
    if file.readable is False:
        found.append(PairFault("closed", f"the server's user {pair.user} may not read the {what} {path}"))
    if which == "key" and file.mode is not None and file.mode & 0o077:
        found.append(
            PairFault("open", f"the key {path} has the mode {file.mode:04o}: others than its owner may read it")
        )
    return found


def _own_faults(pair: PairSeen) -> list[PairFault]:
    found = []
    if pair.odd:
        words = " and ".join(pair.paths[("ca", "cert").index(which)] for which in pair.odd)
        return [PairFault("kind-unknown", f"what {words} holds is of a kind that is not known here", blocks=False)]
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
            found.append(PairFault("expired", f"the {what} {one.name} expired {days_of(now - one.ends)} ago"))
        elif one.begins > now:
            found.append(
                PairFault("not-yet", f"the {what} {one.name} is not valid for another {days_of(one.begins - now)}")
            )
        elif one.ends - now < soon_s:
            found.append(PairFault("soon", f"the {what} {one.name} expires in {days_of(one.ends - now)}", blocks=False))
    return found


def days_of(seconds: float) -> str:
    """Return '12 days', or below two days the hours."""
    return f"{int(seconds // DAY_S)} days" if seconds >= 2 * DAY_S else f"{int(seconds // 3600)} h"
