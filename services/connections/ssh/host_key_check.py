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
from dataclasses import replace

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
from services.connections.openssh.algorithms import KEYS, RSA, chosen, is_taken, none_left
from services.connections.openssh.known_hosts_command import NAME, ShownKey
from services.connections.openssh.revoked_keys import Certified, read_revoked_keys
from services.connections.ssh.host_keys import KeyStatus, KnownHosts, KnownKey, fingerprint, remember, told_keys
from services.connections.ssh.target import SshTarget, named_after
from services.errors import BadInput, HostKeyChanged, HostKeyUnknown
from services.i18n import tr

HostKeyPolicy = Callable[[HostKeyUnknown], bool]
"""Asked about an unknown key, in the connecting thread; True accepts it (it is then written to known_hosts)."""

_CERT = "-cert-v01@openssh.com"


_TELL = frozenset({KeyStatus.KNOWN, KeyStatus.REVOKED})
"""What lines about a host without its port say of a key; that another one is known there says nothing of this port."""


def _names(target: SshTarget) -> tuple[str, ...]:
    """Return the names that keys are looked for under: where a port is part of it, the host's own behind it, as in ssh.

    Source: sshconnect.c, "checking without port identifier".
    """
    has_port = target.port != 22 and target.key_name == named_after(target.host, target.port)
    return (target.key_name, target.host.lower()) if has_port else (target.key_name,)


def known_for(target: SshTarget, shown: paramiko.PKey | None = None, *, address: str = "") -> KnownHosts:
    """Return the known_hosts lines that speak for `target`: the person's files, the system's, KnownHostsCommand's.

    Args:
        shown: the key that the host showed; None before that, where only their order is asked for.
        address: the name that keys of the host's address have, to know those (CheckHostIP) and not the host's.

    Raises BadInput where a file can't be read, and before a key is shown where the command fails. After that
    KnownHosts.refuse_failure does, so that a key that the files refuse is told first.
    """
    files = (*target.known_hosts, *target.global_known_hosts)
    command = target.known_hosts_command
    if command is None:
        return KnownHosts(files)
    if shown is None:
        reply = command.ask("ORDER", target.key_name)
        return KnownHosts(files, told_keys(reply.lines, target.key_name, NAME), lacking=reply.problem)
    name = address or target.key_name
    try:
        reply = command.ask("ADDRESS" if address else "HOSTNAME", name, _shown(shown))
    except BadInput as problem:
        return KnownHosts(files, failure=problem)
    return KnownHosts(files, told_keys(reply.lines, name, NAME), lacking=reply.problem)


def _shown(key: paramiko.PKey) -> ShownKey:
    plain, certificate = key.asbytes(), key.public_blob
    if certificate is None:
        return ShownKey(key.get_name(), plain, plain)
    return ShownKey(certificate.key_type, certificate.key_blob, plain)


def key_algorithms(target: SshTarget, known: KnownHosts) -> tuple[str, ...]:
    """Return the host key algorithms to ask for, in order: those we could verify come first.

    Without this a host known by its ECDSA key would show its unknown Ed25519 key, and a person be asked for nothing.
    """
    plain, names_of_it = list(KEYS), _names(target)
    types = next((found for name in names_of_it if (found := known.key_types(name))), ())
    for known_type in reversed(types):
        names = RSA if known_type == "ssh-rsa" else (known_type,)
        plain = [*(name for name in names if name in KEYS), *(name for name in plain if name not in names)]
    certificates = [name + _CERT for name in plain] if any(map(known.authorities, names_of_it)) else []
    left = chosen(target.host_key_algorithms, KEYS, certificates=True)
    wanted = tuple(name for name in (*certificates, *plain) if name in left)
    if not wanted:
        raise none_left("HostKeyAlgorithms", target.alias, target.host_key_algorithms)
    return wanted


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
        BadInput: a list of RevokedHostKeys can't be read, or KnownHostsCommand failed.
        HostKeyUnknown: not known, and `policy` (if any) didn't accept it.
    """
    _refuse_revoked(key, target, host)
    _refuse_short(key, target, host)
    _refuse_known_address(key, target, known, address=address, host=host)
    certificate = key.public_blob
    if certificate is not None and any(
        _certified(certificate.key_type, certificate.key_blob, target=one, known=known, host=host)
        for one in (replace(target, key_name=name) for name in _names(target))
    ):
        known.refuse_failure()
        return
    blob, key_type = key.asbytes(), key.get_name().removesuffix(_CERT)
    verdict, line = known.judge(target.key_name, key_type, blob)
    if verdict is KeyStatus.UNKNOWN and (without := known.judge(_names(target)[-1], key_type, blob)[0]) in _TELL:
        verdict = without
    if verdict is KeyStatus.REVOKED:
        raise _revoked(target, host, fingerprint(blob))
    if verdict is KeyStatus.CHANGED:
        assert line is not None
        raise _changed(target, host, (key_type, fingerprint(blob)), line)
    known.refuse_failure()
    if verdict is KeyStatus.KNOWN:
        return
    question = _question(target, host, key_type, blob, known.lacking)
    takes_new = target.strict == "accept-new" and target.known_hosts and not known.lacking
    if takes_new and _is_new(target, known, address, key_type, blob):
        accept_host_key(question)
        return
    if target.strict != "yes" and policy is not None and policy(question):
        accept_host_key(question)
        return
    raise question


def _changed(target: SshTarget, host: str, found: tuple[str, str], line: KnownKey) -> HostKeyChanged:
    """Return what to say where known_hosts has another key: (type, fingerprint) is the one that was shown."""
    key_type, its = found
    return HostKeyChanged(
        f"The {key_type} host key of {target.key_name} is not the one in {line.where}: it is {its}, "
        f"known is {line.key_type} {fingerprint(line.blob)}. Somebody may be listening, or the host was set up anew.",
        host=host,
        safe=tr("No login was attempted and nothing was sent."),
        try_=(
            tr("Ask the host's owner whether its key was changed, and compare the fingerprint."),
            tr("Only then change it where {word} looks up keys (ssh_config).", word=line.file)
            if line.is_told
            else tr(
                'Only then remove the old line: ssh-keygen -R "{name}" -f {file}', name=target.key_name, file=line.file
            ),
        ),
    )


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
                try_=(tr("Ask the host's owner for its current key."),),
            )


def _refuse_short(key: paramiko.PKey, target: SshTarget, host: str) -> None:
    bits = key.get_bits() if isinstance(key, paramiko.RSAKey) else target.required_rsa_bits
    if bits < target.required_rsa_bits:
        raise HostKeyChanged(
            tr(
                "The RSA host key of {name} has {bits} bits, and ssh_config requires {n} (RequiredRSASize).",
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
    asks = target.known_hosts_command is not None and kept != target.key_name and key.public_blob is None
    if asks:
        known = known_for(target, key, address=kept)
    verdict, line = known.judge(kept, key.get_name().removesuffix(_CERT), key.asbytes())
    if verdict is KeyStatus.CHANGED and line is not None:
        raise HostKeyChanged(
            tr("The host key of {name} differs from the key in {where} for its address {address} (CheckHostIP).",
               name=target.key_name, where=line.where, address=address),
            host=host,
            safe=tr("No login was attempted and nothing was sent."),
        )  # fmt: skip
    if asks:
        known.refuse_failure()


def _words_of(key: paramiko.PKey) -> Certified | None:
    blob = key.public_blob
    assert blob is not None
    certificate = load_ssh_public_identity(f"{blob.key_type} ".encode() + base64.b64encode(blob.key_blob))
    if not isinstance(certificate, SSHCertificate):
        return None
    signer = certificate.signature_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    key_id = certificate.key_id.decode("utf-8", "replace")
    return Certified(base64.b64decode(signer.split()[1]), certificate.serial, key_id)


def _signed_by(certificate: bytes, signer: bytes) -> str:
    """Return the algorithm of its authority's signature, which stands behind its key (OpenSSH, PROTOCOL)."""
    behind = paramiko.Message(certificate[certificate.rindex(signer) + len(signer) :])
    return paramiko.Message(behind.get_binary()).get_text()


def _is_new(target: SshTarget, known: KnownHosts, address: str, key_type: str, blob: bytes) -> bool:
    """Return whether nothing at all was known of the host before, so that accept-new may speak for the person."""
    if known.speak_of(target.key_name):
        return False
    kept = address if target.port == 22 else f"[{address}]:{target.port}"
    if not address or is_this_machine(address) or target.key_name != named_after(target.host, target.port):
        return True  # an address that several hosts have: loopback, or that of a HostKeyAlias
    return not known.speak_of(kept) or known.judge(kept, key_type, blob)[0] is KeyStatus.KNOWN


def accept_host_key(question: HostKeyUnknown) -> None:
    """Write the key a person accepted into the known_hosts file that ssh would use; exactly the key that was shown."""
    if not question.known_hosts:
        raise BadInput(_kept_nowhere(), host=question.host)
    remember(question.known_hosts, question.key_name, question.key_type, question.key_base64, hashed=question.hashed)


def _kept_nowhere() -> str:
    return tr(
        "No file can store it (UserKnownHostsFile none, or /dev/null): name one in the inventory, known_hosts "
        '= "~/.ssh/known_hosts" in the [host.ssh] of this host.'
    )


def _question(target: SshTarget, host: str, key_type: str, blob: bytes, lacking: str) -> HostKeyUnknown:
    shown = fingerprint(blob)
    sentence = tr(
        "The host key of {name} is not known yet: {key_type} {shown}.",
        name=target.key_name,
        key_type=key_type,
        shown=shown,
    )
    if target.strict == "yes":
        sentence += tr(" ssh_config sets StrictHostKeyChecking yes, so add the key to known_hosts manually.")
    elif not target.known_hosts:
        sentence += f" {_kept_nowhere()}"
    if lacking:
        sentence += f" {lacking}"
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
        try_=(tr("Ask the host's owner for its current key."),),
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
        and is_taken(_signed_by(blob, signer), target.ca_algorithms)
        and certificate.valid_after <= time.time() < certificate.valid_before
        and (not principals or any(fnmatch.fnmatchcase(name.lower(), entry) for entry in principals))
        and not certificate.critical_options
    )
