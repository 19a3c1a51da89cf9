"""The name that a client certificate logs in with."""

from __future__ import annotations

from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from services.errors import BadInput
from services.i18n import tr

_AS_OPENSSL = {NameOID.EMAIL_ADDRESS: "emailAddress"}


def subject_of(file: str) -> str:
    """Return the subject of the first certificate in a PEM file as RFC 2253 writes it: 'CN=monitor,O=Example'.

    That is how accounts of $external are called (MongoDB manual, "x.509"); servers before 3.4 want to be told it.
    Raises BadInput where the file holds none.
    """
    try:
        first, *_ = x509.load_pem_x509_certificates(Path(file).read_bytes())
    except (OSError, ValueError) as problem:
        raise BadInput(
            tr("The TLS files cannot be used ({problem}): {files}.", problem=problem, files=file)
        ) from problem
    return first.subject.rfc4514_string(_AS_OPENSSL)
