"""What of our algorithms ssh_config's lists leave, and in which order (ssh_config(5), Ciphers, MACs, KexAlgorithms)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.connections.ssh.target import SshTarget
from services.errors import BadInput
from services.i18n import tr
from services.ssh_words import fits, fits_list
from services.visible import as_line

_MOST_SAID = 300
_CERT = "-cert-v01@openssh.com"
RSA = ("rsa-sha2-512", "rsa-sha2-256")
KEYS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", *RSA)
"""Kinds of keys, and of their signatures, that are known here; none with SHA-1."""
CIPHERS = ("aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-gcm@openssh.com", "aes256-gcm@openssh.com")
MACS = (
    "hmac-sha2-256", "hmac-sha2-512", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha1",
)  # fmt: skip
KEX = (
    "mlkem768x25519-sha256", "curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384", "ecdh-sha2-nistp521", "diffie-hellman-group16-sha512",
    "diffie-hellman-group-exchange-sha256", "diffie-hellman-group14-sha256",
)  # fmt: skip
"""What is offered without a word of ssh_config: what OpenSSH offers, too."""
_CIPHERS_IF_ASKED = ("aes128-cbc", "aes192-cbc", "aes256-cbc", "3des-cbc")
_MACS_IF_ASKED = ("hmac-sha1-96", "hmac-md5", "hmac-md5-96")


@dataclass(frozen=True, slots=True)
class Offer:
    """The algorithms of one connection in their order; host_keys are added by host_key_check."""

    ciphers: tuple[str, ...] = CIPHERS
    macs: tuple[str, ...] = MACS
    kex: tuple[str, ...] = KEX
    rsa: tuple[str, ...] = RSA


def offer_for(target: SshTarget) -> Offer:
    """Return what is offered to a host. Raises BadInput where a list of ssh_config leaves nothing."""
    kinds = chosen(target.pubkey_algorithms, KEYS, certificates=True)
    return Offer(
        _left("Ciphers", target, target.ciphers, CIPHERS, _CIPHERS_IF_ASKED),
        _left("MACs", target, target.macs, MACS, _MACS_IF_ASKED),
        _left("KexAlgorithms", target, target.kex, KEX),
        tuple(name for name in RSA if name in kinds or name + _CERT in kinds),
    )


def chosen(
    text: str, ours: Sequence[str], if_asked: Sequence[str] = (), *, certificates: bool = False
) -> tuple[str, ...]:
    """Return what a list leaves of our algorithms, in its order; '' leaves them as they are.

    Args:
        text: names and patterns divided by commas; `+` adds to ours, `-` takes away, `^` puts first.
        if_asked: known here, and offered only where the list names them.
        certificates: the same algorithms with certificates are ours, too.
    """
    more = [name + _CERT for name in ours] if certificates else []
    offered = (*ours, *more)
    if not text:
        return offered
    head, names = (text[0], text[1:]) if text[0] in "+-^" else ("", text)
    if head == "-":
        return tuple(name for name in offered if not fits_list(name, names))
    known = (*offered, *if_asked)
    named = tuple(dict.fromkeys(name for one in names.split(",") for name in known if fits(name, one.strip())))
    both = {"": named, "+": (*offered, *named), "^": (*named, *offered)}
    return tuple(dict.fromkeys(both[head]))


def kinds_of(key_type: str) -> tuple[str, ...]:
    """Return the algorithms that a key of a kind (or its certificate) may sign by: an RSA key has several."""
    plain = key_type.removesuffix(_CERT)
    names = RSA if plain == "ssh-rsa" else (plain,)
    return tuple(name + key_type[len(plain) :] for name in names)


def is_taken(key_type: str, text: str) -> bool:
    """Return whether PubkeyAcceptedAlgorithms leaves a key of this kind; of kinds not known here by its name alone."""
    kinds = kinds_of(key_type)
    if text and not text.startswith(("+", "-", "^")):
        return any(fits_list(name, text) for name in kinds)
    return not text.startswith("-") or not all(fits_list(name, text[1:]) for name in kinds)


def _left(
    word: str, target: SshTarget, text: str, ours: Sequence[str], if_asked: Sequence[str] = ()
) -> tuple[str, ...]:
    left = chosen(text, ours, if_asked)
    if not left:
        raise none_left(word, target.alias, text)
    return left


def none_left(word: str, alias: str, text: str) -> BadInput:
    """Return the error for a list that has nothing of ours."""
    return BadInput(
        tr(
            "{word} in ssh_config for {name} contains no algorithm that Pilothouse supports: {text}.",
            word=word,
            name=alias,
            text=as_line(text, _MOST_SAID),
        ),
        safe=tr("No login was attempted."),
    )
