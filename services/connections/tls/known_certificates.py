"""Server certificates that a person accepted: what known_hosts is for SSH, kept in the console's data folder.

One line a server: `address:port sha256 FINGERPRINT`, the name as the person wrote it in the inventory. The fingerprint
is that of the whole certificate, as `openssl x509 -noout -fingerprint -sha256` and MariaDB's --tls-fp have it.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.errors import BadInput, CertificateChanged, CertificateUnknown
from services.i18n import tr
from services.lines import lines_of
from services.workstation.data_place import folder
from services.workstation.files import not_ones_own, private_file, private_folder, read_bounded

if TYPE_CHECKING:
    from services.inventory.model import HostEntry

FILE = "known_certificates"
_MOST_BYTES = 2**20
_PRINT = re.compile(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}")
_NAME = re.compile(r"[a-z0-9._-]+:[0-9]{1,5}|\[[0-9a-f:.]+\]:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Pin:
    """An accepted certificate's fingerprint, and where it stands (file:line)."""

    fingerprint: str
    where: str


def fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 fingerprint of a DER certificate, in pairs divided by colons."""
    return ":".join(f"{byte:02X}" for byte in hashlib.sha256(certificate).digest())


def place() -> Path:
    """Return the file; it may not exist yet."""
    return folder() / FILE


def name_of(entry: HostEntry) -> str:
    """Return the name a server's certificate is kept under: address:port, as the inventory has them."""
    assert entry.sql is not None
    address = entry.address.lower()
    return f"[{address}]:{entry.sql.port}" if ":" in address else f"{address}:{entry.sql.port}"


def pins_of(name: str) -> tuple[Pin, ...]:
    """Return the fingerprints accepted for a server (one, unless a person wrote more). Raises BadInput: unreadable."""
    file = place()
    _refuse_foreign(file)
    try:
        text = read_bounded(file, _MOST_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as problem:
        # Going on without the file would turn a changed certificate into an unknown one.
        raise _unreadable(file, problem.strerror or str(problem)) from problem
    found: list[Pin] = []
    for number, line in enumerate(lines_of(text), 1):
        words = line.split()
        if len(words) >= 3 and words[0].lower() == name and words[1] == "sha256" and _PRINT.fullmatch(words[2].upper()):
            found.append(Pin(words[2].upper(), f"{file}:{number}"))
    return tuple(found)


def accept_certificate(question: CertificateUnknown) -> None:
    """Write down the certificate a person accepted, exactly the one that was shown (0600; a new folder is 0700)."""
    file = place()
    if not _NAME.fullmatch(question.name) or not _PRINT.fullmatch(question.fingerprint):
        raise BadInput(tr("'{name}' does not name a server: no certificate is accepted for it.", name=question.name))
    _refuse_foreign(file)
    try:
        private_folder(file.parent)
        private_file(file)
        old = read_bounded(file, _MOST_BYTES)
        start = "" if not old or old.endswith(b"\n") else "\n"
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND), "w", encoding="ascii") as stream:
            stream.write(f"{start}{question.name} sha256 {question.fingerprint}\n")
    except OSError as problem:
        raise BadInput(
            tr(
                "{file} cannot be written ({problem}), so the certificate was not accepted.",
                file=file,
                problem=problem.strerror,
            ),
            try_=(tr("Make the file writable for you."),),
        ) from problem


def unknown(entry: HostEntry, where: str, certificate: bytes, why: str) -> CertificateUnknown:
    """Return the question about a certificate (DER) that nobody vouches for; why: OpenSSL's reason."""
    shown = fingerprint(certificate)
    return CertificateUnknown(
        tr(
            "The certificate of {where} cannot be verified ({why}): SHA-256 {shown}.", where=where, why=why, shown=shown
        ),
        host=entry.name,
        fingerprint=shown,
        name=name_of(entry),
        subject=_subject(certificate),
        why=why,
        try_=(
            tr(
                "Compare the fingerprint with the one from the server's owner, then accept it in the "
                "connection test, or with: pilothouse inventory check --accept-certificate {shown}",
                shown=shown,
            ),
            _otherwise(entry),
        ),
    )


def _otherwise(entry: HostEntry) -> str:
    if entry.sql is not None and entry.sql.via == "tunnel":
        return tr('Or name the authority that signed it ("ca", tls = "verify-ca"), or use the socket (via = "socket").')
    return tr('Or name the authority that signed it ("ca"), or go through SSH (via = "tunnel").')


def changed(entry: HostEntry, where: str, shown: str, known: tuple[Pin, ...]) -> CertificateChanged:
    """Return the refusal of a certificate that is not the accepted one."""
    return CertificateChanged(
        tr(
            "The certificate of {where} is not the accepted one ({place}): its SHA-256 is {shown}, the "
            "accepted one is {known}. Somebody may be intercepting the connection, or the server has a new "
            "certificate.",
            where=where,
            place=known[0].where,
            shown=shown,
            known=known[0].fingerprint,
        ),
        host=entry.name,
        safe=tr("No login was attempted and nothing was sent."),
        try_=(
            tr("Ask the server's owner whether its certificate was changed, and compare the fingerprint."),
            tr("Only then remove the old line ({place}), and accept the new one.", place=known[0].where),
            tr(
                "MariaDB 11.4 and newer create a new certificate at every start unless ssl_cert is set: set "
                'it, name its authority as "ca", or go through SSH (via = "tunnel").'
            ),
        ),
    )


def _subject(certificate: bytes) -> str:
    """Return whom the certificate is made out to, one short line, '' where that can't be read."""
    from cryptography import x509  # late: only for a question

    try:
        subject = x509.load_der_x509_certificate(certificate).subject.rfc4514_string()
    except ValueError:
        return ""
    return " ".join(subject.split())[:120]


def _refuse_foreign(file: Path) -> None:
    """Refuse what others could have written: a certificate that somebody else accepted would get the password."""
    for path in (file.parent, file):
        try:
            why = not_ones_own(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as problem:
            raise _unreadable(path, problem.strerror or str(problem)) from problem
        if why:
            raise BadInput(
                tr("{path} is not used: {why}.", path=path, why=why),
                safe=tr("No login was attempted."),
                try_=(tr("Check its contents, then make yourself its owner and only writer: chown and chmod go-w."),),
            )


def _unreadable(file: Path, why: str) -> BadInput:
    return BadInput(
        tr("{file} cannot be read ({problem}).", file=file, problem=why), safe=tr("No login was attempted.")
    )
