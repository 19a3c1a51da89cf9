"""What a measurement of two hosts and of the road between them printed: one line of numbers each. Pure parsers.

The programs that print them stand in the catalogue (sst_tuning/programs.py). A host may print anything: what is not a
number of a possible size is 'not known', never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_AMOUNT = re.compile(r"([0-9]{1,15}):([0-9]{1,12})")
_PACKED = re.compile(r"([0-9]{1,15}):([0-9]{1,15}):([0-9]{1,12}):([0-9]{1,12})")
_SPEED = re.compile(r"[0-9]{1,15}")
_WORD = re.compile(r"([a-z][a-z0-9-]{0,30})=(\S{1,80})")
_MOST = 10_000
PACKERS = ("zstd", "lz4", "pigz", "gzip")
CIPHERS = ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305")
_MOST_RATE = 1e12
"""A terabyte a second: no disk, network or core moves more."""
_LEAST_RATIO, _MOST_RATIO = 1e-4, 2.0


@dataclass(frozen=True, slots=True)
class Amount:
    """So many bytes in so many seconds."""

    bytes_: int
    seconds: float

    @property
    def rate(self) -> float:
        """Return bytes/s."""
        return self.bytes_ / self.seconds


@dataclass(frozen=True, slots=True)
class Packed:
    """One compressor on a sample of real data, single-threaded, in seconds of processor time.

    Attributes:
        plain, packed: bytes before and after; pack_s, unpack_s: what one core needed for all of them.
    """

    name: str
    plain: int
    packed: int
    pack_s: float
    unpack_s: float

    @property
    def ratio(self) -> float:
        """Return bytes after by bytes before: 0.4 saves 60 %."""
        return self.packed / self.plain

    @property
    def pack_rate(self) -> float:
        """Return plain bytes/s that one core packs."""
        return self.plain / self.pack_s

    @property
    def unpack_rate(self) -> float:
        """Return plain bytes/s that one core unpacks."""
        return self.plain / self.unpack_s


@dataclass(frozen=True, slots=True)
class HostMeasured:
    """What was measured on one host. None, or a name that is missing: not measured, and so not known.

    Attributes:
        data_bytes: of the files that an SST copies; sample: bytes of the sample that was packed.
        read, read_4: its disk past the page cache, by one reader and by four at once; write: synced to the disk.
        packers: by name; ciphers: bytes/s of one core by name.
    """

    data_bytes: int | None = None
    sample: int | None = None
    read: Amount | None = None
    read_4: Amount | None = None
    write: Amount | None = None
    packers: tuple[Packed, ...] = ()
    ciphers: tuple[tuple[str, float], ...] = ()

    def packer(self, name: str) -> Packed | None:
        """Return one compressor's figures, None where it was not measured."""
        return next((one for one in self.packers if one.name == name), None)

    def cipher(self, name: str) -> float | None:
        """Return one cipher's bytes/s, None where it was not measured."""
        return next((rate for known, rate in self.ciphers if known == name), None)


def parse_host(line: str) -> HostMeasured | None:
    """Return what the program for one host printed: 'data=500 sample=64 read=1:2 read4=- zstd=64:20:300:90 ...'.

    None where it is no such line: without the size of the data nothing can be forecast.
    """
    said = _words(line)
    size = _number(said.get("data", ""))
    if size is None:
        return None
    return HostMeasured(
        data_bytes=size,
        sample=_number(said.get("sample", "")),
        read=_amount(said.get("read", "")),
        read_4=_amount(said.get("read4", "")),
        write=_amount(said.get("write", "")),
        packers=tuple(one for name in PACKERS if (one := _packed(name, said.get(name, ""))) is not None),
        ciphers=tuple((name, rate) for name in CIPHERS if (rate := _speed(said.get(name, ""))) is not None),
    )


def parse_road(line: str) -> Amount | None:
    """Return what the program for the road printed: 'road=536870912:4500000' (bytes, microseconds)."""
    return _amount(_words(line).get("road", ""))


def _words(line: str) -> dict[str, str]:
    return {found[1]: found[2] for word in line[:_MOST].split() if (found := _WORD.fullmatch(word)) is not None}


def _number(text: str) -> int | None:
    return int(text) if _SPEED.fullmatch(text) and int(text) else None


def _amount(text: str) -> Amount | None:
    found = _AMOUNT.fullmatch(text)
    if found is None or not int(found[1]) or not int(found[2]):
        return None
    amount = Amount(int(found[1]), int(found[2]) / 1e6)
    return amount if amount.rate <= _MOST_RATE else None


def _packed(name: str, text: str) -> Packed | None:
    """Return one compressor's figures; none where it measured nothing, or what no compressor does."""
    found = _PACKED.fullmatch(text)
    if found is None or not all(int(part) for part in found.groups()):
        return None
    plain, packed = int(found[1]), int(found[2])
    one = Packed(name, plain, packed, int(found[3]) / 1e6, int(found[4]) / 1e6)
    possible = _LEAST_RATIO <= one.ratio <= _MOST_RATIO and max(one.pack_rate, one.unpack_rate) <= _MOST_RATE
    return one if possible else None


def _speed(text: str) -> float | None:
    speed = _number(text)
    return float(speed) if speed is not None and speed <= _MOST_RATE else None
