"""A certificate authority and one pair for all nodes, made in memory: nothing of it is kept on the workstation.

One CA, one certificate and one key for all nodes is what the products recommend for encrypt=4 (Percona XtraDB Cluster
manual, "Encrypting PXC traffic"): the chain is verified, not the host's name. CA and certificate have different names
(MySQL manual, "Creating SSL Certificates and Keys Using openssl": with the same one they fail). The CA's key is
dropped as soon as it has signed: nobody can sign for these nodes afterwards, and a renewal makes a new CA. RSA, as
every socat that the scripts know takes it; 3072 bits for a validity beyond 2030 (NIST SP 800-57 part 1, table 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from services.secrets import Secret

BITS = 3072
_BEFORE = timedelta(days=1)
"""It is valid since yesterday: the clocks of the nodes may be behind the workstation's."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Three texts in PEM: CA certificate, certificate, and its key, which is a secret."""

    ca: str
    cert: str
    key: Secret


def made_pair(name: str, days: int, now: float) -> Pair:
    """Return a new CA certificate, and a certificate with its key that it has signed.

    Args:
        name: begins both common names; days: how long both are valid from now (UTC epoch seconds) on.
    """
    ca_key, key = (rsa.generate_private_key(public_exponent=65537, key_size=BITS) for _ in range(2))
    began = datetime.fromtimestamp(now, UTC) - _BEFORE
    until = datetime.fromtimestamp(now, UTC) + timedelta(days=days)
    ca_name, own_name = _named(f"{name} CA"), _named(f"{name} server")
    ca = (
        _unsigned(ca_name, ca_name, ca_key.public_key(), began, until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    cert = (
        _unsigned(own_name, ca_name, key.public_key(), began, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(both, critical=False)  # a joiner listens, a donor connects
        .sign(ca_key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Pair(_pem(ca), _pem(cert), Secret(secret.decode("ascii")))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: rsa.RSAPublicKey, began: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(began)
        .not_valid_after(until)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=not signs,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
