"""Certificates for tests: good ones, and each kind of bad one, with what a host would tell of them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = 1_800_000_000.0
DAY = 86_400.0
PATHS = ("/c/ca.pem", "/c/cert.pem", "/c/key.pem")


class Authority:
    """A CA that signs for tests."""

    def __init__(self, name: str = "test CA", ends: float = NOW + 1000 * DAY, begins: float = NOW - DAY) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = name
        self.certificate = _signed(name, name, self.key.public_key(), self.key, begins, ends, ca=True)
        self.pem = _pem(self.certificate)

    def pair(
        self, name: str = "server", begins: float = NOW - DAY, ends: float = NOW + 100 * DAY, *, ca: bool = False
    ) -> tuple[str, str]:
        """Certificate and key in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _signed(name, self.name, key.public_key(), self.key, begins, ends, ca=ca)
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return _pem(made), secret.decode()


def told(ca: str, cert: str, key: str, *, how: str = "spki", mode: str = "600", readable: str = "readable") -> str:
    """What `tls-pair` prints of these texts."""
    private = serialization.load_pem_private_key(key.encode(), None)
    public = private.public_key()
    if how == "spki":
        half = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    else:
        half = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return "\n".join((
        "user|106|mysql|mysql",
        "ca|there|regular file|644|106|700|readable", "begin|ca", ca, "end|ca",
        "cert|there|regular file|644|106|700|readable", "begin|cert", cert, "end|cert",
        f"key|there|regular file|{mode}|106|240|{readable}", f"public|{how}|{hashlib.sha256(half).hexdigest()}", "",
    ))  # fmt: skip


def _signed(
    name: str, issuer: str, key: ec.EllipticCurvePublicKey, by: ec.EllipticCurvePrivateKey, begins: float, ends: float,
    *, ca: bool,
) -> x509.Certificate:  # fmt: skip
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.fromtimestamp(min(begins, ends - 1), UTC))
        .not_valid_after(datetime.fromtimestamp(ends, UTC) + timedelta(0))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .sign(by, hashes.SHA256())
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
