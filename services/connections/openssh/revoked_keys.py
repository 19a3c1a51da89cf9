"""RevokedHostKeys: lists of public keys, or key revocation lists (OpenSSH, PROTOCOL.krl), that no host may show.

As in ssh (authfile.c, sshkey_check_revoked) a list that can't be read lets no host through. A part of a list that is
not known is not passed over.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from services.errors import HostKeysUnread
from services.i18n import tr
from services.lines import lines_of
from services.workstation.files import read_bounded

_MOST_BYTES = 32 * 2**20
_MAGIC = b"SSHKRL\n\0"
_KEYS, _BY_SHA1, _BY_SHA256, _CERTIFICATES, _SIGNATURE = 2, 3, 5, 1, 4
_SERIALS, _RANGE, _BITMAP, _IDS, _EXTENSION = 0x20, 0x21, 0x22, 0x23, 0x39


@dataclass(frozen=True, slots=True)
class Certified:
    """What a host's certificate says of itself: its authority's key, serial number and id."""

    authority: bytes
    serial: int
    key_id: str


@dataclass(slots=True)
class RevokedKeys:
    """One list: keys by their blobs and hashes; certificates by their authority (b'': any of them)."""

    keys: set[bytes] = field(default_factory=set)
    sha1: set[bytes] = field(default_factory=set)
    sha256: set[bytes] = field(default_factory=set)
    serials: dict[bytes, list[tuple[int, int]]] = field(default_factory=dict)
    bitmaps: dict[bytes, list[tuple[int, int]]] = field(default_factory=dict)
    ids: dict[bytes, set[str]] = field(default_factory=dict)

    def has(self, blob: bytes) -> bool:
        """Return whether a plain key is on the list."""
        sha1 = hashlib.sha1(blob).digest()  # noqa: S324 - the list's own form
        return blob in self.keys or sha1 in self.sha1 or hashlib.sha256(blob).digest() in self.sha256

    def has_certificate(self, about: Certified) -> bool:
        """Return whether a certificate, or the authority that signed it, is on the list."""
        return self.has(about.authority) or any(self._names(key, about) for key in (about.authority, b""))

    def _names(self, authority: bytes, about: Certified) -> bool:
        serial = about.serial
        if about.key_id in self.ids.get(authority, ()):
            return True
        if serial == 0:  # of an authority that numbers none
            return False
        return any(low <= serial <= high for low, high in self.serials.get(authority, ())) or any(
            serial >= offset and bits >> (serial - offset) & 1 for offset, bits in self.bitmaps.get(authority, ())
        )


def read_revoked_keys(file: str) -> RevokedKeys:
    """Read a list. Raises HostKeysUnread where it can't be read, or holds what is not known here."""
    try:
        data = read_bounded(Path(file), _MOST_BYTES)
    except OSError as problem:
        raise HostKeysUnread(
            tr("RevokedHostKeys {file} cannot be read ({problem}).", file=file, problem=problem.strerror or problem),
            safe=tr("No login was attempted: without the list, a host that ssh refuses could be accepted."),
            try_=(tr("Restore the list, or remove RevokedHostKeys from ssh_config."),),
        ) from problem
    try:
        return _krl(data) if data.startswith(_MAGIC) else _plain(data)
    except (ValueError, struct.error) as problem:
        raise HostKeysUnread(
            tr("RevokedHostKeys {file} contains unsupported data ({problem}).", file=file, problem=problem),
            safe=tr("No login was attempted: without the list, a host that ssh refuses could be accepted."),
            try_=(tr("Check it: ssh-keygen -Q -l -f {file}", file=file),),
        ) from problem


def _plain(data: bytes) -> RevokedKeys:
    """Read a key for each line; a line that is neither that nor a remark ends it, as in ssh."""
    found = RevokedKeys()
    for number, line in enumerate(lines_of(data.decode("utf-8", "replace")), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2 or not words[0].startswith(("ssh-", "ecdsa-", "sk-")):
            message = f"line {number}"
            raise ValueError(message)
        found.keys.add(base64.b64decode(words[1], validate=True))
    return found


def _krl(data: bytes) -> RevokedKeys:
    version, *_dates = struct.unpack(">IQQQ", data[8:36])
    if version != 1:
        message = f"version {version}"
        raise ValueError(message)
    _reserved, rest = _text(data[36:])
    _comment, rest = _text(rest)
    found = RevokedKeys()
    while rest:
        kind, rest = rest[0], rest[1:]
        section, rest = _text(rest)
        if kind == _SIGNATURE:
            break  # signatures end it; ssh does not ask for any
        _take(kind, section, found)
    return found


def _take(kind: int, section: bytes, found: RevokedKeys) -> None:
    sets = {_KEYS: found.keys, _BY_SHA1: found.sha1, _BY_SHA256: found.sha256}
    if kind in sets:
        sets[kind].update(_texts(section))
    elif kind == _CERTIFICATES:
        _certificates(section, found)
    elif kind == 0xFF:
        _refuse_critical(section)
    else:
        message = f"section {kind}"
        raise ValueError(message)


def _certificates(section: bytes, found: RevokedKeys) -> None:
    authority, rest = _text(section)
    _reserved, rest = _text(rest)
    ranges, ids = found.serials.setdefault(authority, []), found.ids.setdefault(authority, set())
    while rest:
        kind, rest = rest[0], rest[1:]
        part, rest = _text(rest)
        if kind == _SERIALS:
            ranges += [(one, one) for (one,) in struct.iter_unpack(">Q", part)]
        elif kind == _RANGE:
            low, high = struct.unpack(">QQ", part)
            ranges.append((low, high))
        elif kind == _BITMAP:
            bits = int.from_bytes(_text(part[8:])[0], "big")
            found.bitmaps.setdefault(authority, []).append((struct.unpack(">Q", part[:8])[0], bits))
        elif kind == _IDS:
            ids.update(one.decode("utf-8", "replace") for one in _texts(part))
        elif kind == _EXTENSION:
            _refuse_critical(part)
        else:
            message = f"certificate section {kind}"
            raise ValueError(message)


def _refuse_critical(part: bytes) -> None:
    name, rest = _text(part)
    if rest[:1] != b"\0":
        message = f"extension {name.decode('ascii', 'replace')}"
        raise ValueError(message)


def _texts(data: bytes) -> Iterator[bytes]:
    while data:
        one, data = _text(data)
        yield one


def _text(data: bytes) -> tuple[bytes, bytes]:
    length = struct.unpack(">I", data[:4])[0]
    if len(data) < 4 + length:
        message = "a length beyond its end"
        raise ValueError(message)
    return data[4 : 4 + length], data[4 + length :]
