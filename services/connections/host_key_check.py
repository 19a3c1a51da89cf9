"""The question every SSH connection starts with: is this the host it says it is?

OpenSSH's answers (man ssh_config(5), StrictHostKeyChecking; sshconnect.c check_host_key, hostfile.c
check_hostkeys_by_key_or_type): a known key goes through; a revoked one never does, nor any other key than those known,
of whatever type; where no key is known a person is asked. Host certificates are judged by their authority.

accept-new takes a key unasked where no file has a line about the name. Stricter than OpenSSH, a line about its address
that does not know this key counts too (OpenSSH: only with CheckHostIP), and so does an authority or a revoked key: a
host that was ever known is no new one.
"""

from __future__ import annotations

import base64
import fnmatch
import time
from collections.abc import Callable

import paramiko
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    SSHCertificateType,
    load_ssh_public_identity,
)

from services.addresses import is_this_machine
from services.connections.host_keys import KnownHosts, Verdict, fingerprint, remember
from services.connections.openssh.revoked_keys import Certified, read_revoked_keys
from services.connections.ssh_target import SshTarget, named_after
from services.errors import BadInput, HostKeyChanged, HostKeyUnknown
from services.i18n import tr
from services.ssh_words import fits_list
from services.visible import as_line

HostKeyPolicy = Callable[[HostKeyUnknown], bool]
"""Asked about an unknown key, in the connecting thread; True accepts it (it is then written to known_hosts)."""

_MOST_SAID = 300
_CERT = "-cert-v01@openssh.com"
_RSA = ("rsa-sha2-512", "rsa-sha2-256")
_PREFERRED = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", *_RSA)


def known_for(target: SshTarget) -> KnownHosts:
    """Return the known_hosts lines that speak for `target`, the person's files first."""
    return KnownHosts((*target.known_hosts, *target.global_known_hosts))


def key_algorithms(target: SshTarget, known: KnownHosts) -> tuple[str, ...]:
    """Return the host key algorithms to ask for, in order: those we could verify come first.

    Without this a host known by its ECDSA key would show its unknown Ed25519 key, and a person be asked for nothing.
    """
    plain = list(_PREFERRED)
    for known_type in reversed(known.key_types(target.key_name)):
        names = _RSA if known_type == "ssh-rsa" else (known_type,)
        plain = [*(name for name in names if name in _PREFERRED), *(name for name in plain if name not in names)]
    certificates = [name + _CERT for name in plain] if known.authorities(target.key_name) else []
    wanted = tuple(name for name in (*certificates, *plain) if _is_allowed(name, target.host_key_algorithms))
    if not wanted:
        raise BadInput(
            tr(
                "ssh_config's HostKeyAlgorithms for {name} has none that Pilothouse knows: {text}.",
                name=target.alias,
                text=as_line(target.host_key_algorithms, _MOST_SAID),
            ),
            safe=tr("No login was attempted."),
        )
    return wanted


def _is_allowed(name: str, wanted: str) -> bool:
    """Return whether HostKeyAlgorithms takes a kind of key: a list, or a change of ssh's own (+, ^: more; -: less)."""
    if not wanted or wanted[0] in "+^":
        return True
    return not fits_list(name, wanted[1:]) if wanted[0] == "-" else fits_list(name, wanted)


def check_host_key(
    key: paramiko.PKey,
    *,
    target: SshTarget,
    known: KnownHosts,
    host: str,
    policy: HostKeyPolicy | None,
    address: str = "",
) -> None:
    """Return when `key` (whose signature the transport has verified) is the host's.

    Args:
        address: the IP address it came from, '' where that is another machine's (through a hop or a ProxyCommand).

    Raises:
        HostKeyChanged: known_hosts has other keys for it, or the key is revoked. Never asked about.
        BadInput: a list of RevokedHostKeys can't be read.
        HostKeyUnknown: not known, and `policy` (if any) didn't accept it.
    """
    _refuse_revoked(key, target, host)
    _refuse_short(key, target, host)
    _refuse_known_address(key, target, known, address=address, host=host)
    certificate = key.public_blob
    if certificate is not None and _certified(
        certificate.key_type, certificate.key_blob, target=target, known=known, host=host
    ):
        return
    blob, key_type = key.asbytes(), key.get_name().removesuffix(_CERT)
    verdict, line = known.judge(target.key_name, key_type, blob)
    if verdict is Verdict.KNOWN:
        return
    if verdict is Verdict.REVOKED:
        raise _revoked(target, host, fingerprint(blob))
    if verdict is Verdict.CHANGED:
        assert line is not None
        raise HostKeyChanged(
            f"The {key_type} host key of {target.key_name} is not the one in {line.where}: it is {fingerprint(blob)}, "
            f"known is {line.key_type} {fingerprint(line.blob)}. Somebody may be listening, or the host was set up "
            "anew.",
            host=host,
            safe=tr("No login was attempted and nothing was sent."),
            try_=(
                tr("Ask the host's owner whether its key was changed, and compare the fingerprint."),
                tr(
                    'Only then remove the old line: ssh-keygen -R "{name}" -f {file}',
                    name=target.key_name,
                    file=line.file,
                ),
            ),
        )
    question = _question(target, host, key_type, blob)
    if target.strict == "accept-new" and _is_new(target, known, address, key_type, blob):
        accept_host_key(question)
        return
    if target.strict != "yes" and policy is not None and policy(question):
        accept_host_key(question)
        return
    raise question


def _refuse_revoked(key: paramiko.PKey, target: SshTarget, host: str) -> None:
    """Raise HostKeyChanged for a key, a certificate or its authority that RevokedHostKeys of ssh_config has."""
    about = _words_of(key) if target.revoked_keys and key.public_blob is not None else None
    for file in target.revoked_keys:
        listed = read_revoked_keys(file)
        if listed.has(key.asbytes()) or (about is not None and listed.has_certificate(about)):
            raise HostKeyChanged(
                tr(
                    "The host key of {name} ({shown}) is revoked by {file} (RevokedHostKeys).",
                    name=target.key_name,
                    shown=fingerprint(key.asbytes()),
                    file=file,
                ),
                host=host,
                safe=tr("No login was attempted and nothing was sent."),
                try_=(tr("Ask the host's owner for its present key."),),
            )


def _refuse_short(key: paramiko.PKey, target: SshTarget, host: str) -> None:
    bits = key.get_bits() if isinstance(key, paramiko.RSAKey) else target.required_rsa_bits
    if bits < target.required_rsa_bits:
        raise HostKeyChanged(
            tr(
                "The RSA host key of {name} has {bits} bits, and ssh_config asks for {n} (RequiredRSASize).",
                name=target.key_name,
                bits=bits,
                n=target.required_rsa_bits,
            ),
            host=host,
            safe=tr("No login was attempted and nothing was sent."),
        )


def _refuse_known_address(key: paramiko.PKey, target: SshTarget, known: KnownHosts, *, address: str, host: str) -> None:
    """CheckHostIP: a key that known_hosts has for the address, and that is another, ends it."""
    if not target.check_ip or not address or is_this_machine(address):
        return
    kept = named_after(address, target.port)
    verdict, line = known.judge(kept, key.get_name().removesuffix(_CERT), key.asbytes())
    if verdict is Verdict.CHANGED and line is not None:
        raise HostKeyChanged(
            tr("The host key of {name} is not the one that {where} has for its address {address} (CheckHostIP).",
               name=target.key_name, where=line.where, address=address),
            host=host,
            safe=tr("No login was attempted and nothing was sent."),
        )  # fmt: skip


def _words_of(key: paramiko.PKey) -> Certified | None:
    blob = key.public_blob
    assert blob is not None
    certificate = load_ssh_public_identity(f"{blob.key_type} ".encode() + base64.b64encode(blob.key_blob))
    if not isinstance(certificate, SSHCertificate):
        return None
    signer = certificate.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    key_id = certificate.key_id.decode("utf-8", "replace")
    return Certified(base64.b64decode(signer.split()[1]), certificate.serial, key_id)


def _is_new(target: SshTarget, known: KnownHosts, address: str, key_type: str, blob: bytes) -> bool:
    """Return whether nothing at all was known of the host before, so that accept-new may speak for the person."""
    if known.speak_of(target.key_name):
        return False
    kept = address if target.port == 22 else f"[{address}]:{target.port}"
    if not address or is_this_machine(address) or target.key_name != named_after(target.host, target.port):
        return True  # an address that several hosts have: loopback, or that of a HostKeyAlias
    return not known.speak_of(kept) or known.judge(kept, key_type, blob)[0] is Verdict.KNOWN


def accept_host_key(question: HostKeyUnknown) -> None:
    """Write the key a person accepted into the known_hosts file that ssh would use; exactly the key that was shown."""
    if not question.known_hosts:
        raise BadInput(tr("No known_hosts file is configured (UserKnownHostsFile none)."), host=question.host)
    remember(question.known_hosts, question.key_name, question.key_type, question.key_base64, hashed=question.hashed)


def _question(target: SshTarget, host: str, key_type: str, blob: bytes) -> HostKeyUnknown:
    shown = fingerprint(blob)
    sentence = tr(
        "The host key of {name} is not known yet: {key_type} {shown}.",
        name=target.key_name,
        key_type=key_type,
        shown=shown,
    )
    if target.strict == "yes":
        sentence += tr(" ssh_config says StrictHostKeyChecking yes, so it must be added to known_hosts by hand.")
    return HostKeyUnknown(
        sentence,
        host=host,
        key_type=key_type,
        fingerprint=shown,
        key_base64=base64.b64encode(blob).decode("ascii"),
        key_name=target.key_name,
        known_hosts=target.known_hosts[0] if target.known_hosts else "",
        hashed=target.hash_known_hosts,
    )


def _revoked(target: SshTarget, host: str, shown: str) -> HostKeyChanged:
    return HostKeyChanged(
        tr("The host key of {name} ({shown}) is marked @revoked in known_hosts.", name=target.key_name, shown=shown),
        host=host,
        safe=tr("No login was attempted and nothing was sent."),
        try_=(tr("Ask the host's owner for its present key."),),
    )


def _certified(key_type: str, blob: bytes, *, target: SshTarget, known: KnownHosts, host: str) -> bool:
    """Return whether a host certificate vouches for the host; without a trusted authority its plain key is judged.

    The checks are sshkey_cert_check_host's (OpenSSH sshkey.c): type, signature by a trusted authority, validity in
    time, principals (none = any host), no critical option we don't know.
    """
    authorities = known.authorities(target.key_name)
    try:
        certificate = load_ssh_public_identity(f"{key_type} ".encode() + base64.b64encode(blob))
        if not isinstance(certificate, SSHCertificate):
            return False
        signer_text = certificate.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        signer = base64.b64decode(signer_text.split()[1])
        certificate.verify_cert_signature()
    except (ValueError, InvalidSignature):
        return False
    if known.is_revoked(target.key_name, signer):
        raise _revoked(target, host, fingerprint(signer))
    name = target.key_name if not target.key_name.startswith("[") else target.host.lower()
    principals = [entry.decode("utf-8", "replace").lower() for entry in certificate.valid_principals]
    return (
        signer in authorities
        and certificate.type is SSHCertificateType.HOST
        and certificate.valid_after <= time.time() < certificate.valid_before
        and (not principals or any(fnmatch.fnmatchcase(name.lower(), entry) for entry in principals))
        and not certificate.critical_options
    )
