"""The formulas. Each is a function of numbers alone; `telling` shows them with the numbers put in.

Objects are made file by file (`backup/db/table.ibd.NNN`, Percona: "The xbcloud binary overview"), so a file is at
least one object. Odds are those of independent trials, and of trials of which a failed one is likely to fail again.
"""

from __future__ import annotations

import math

from services.backup_chunks.model import Backup, Network, Objects, Outcome
from services.facts.server.tablespaces import FileClass

BY = 10_000
"""Operations that a price is for."""
GB = 10**9
_MOST_DOUBLED = 60
"""2^60 s are longer than any --max-backoff."""


def objects_of(stored: int, ratio: float, chunk: int, files: tuple[FileClass, ...]) -> Objects:
    """Return how many objects `stored` bytes become: the sum over the files of ceil(size · ratio / chunk).

    Of a class of n files with s bytes in all, that sum lies between max(n, s/chunk) and s/chunk + n; it is n where the
    largest fits into one object, and half an object a file above s/chunk is the middle elsewhere. Without the files
    stored/chunk is the least.
    """
    if not files:
        least = max(1, math.ceil(stored / chunk)) if stored else 0
        return Objects(least, least)
    parts = [_of_class(one, ratio, chunk) for one in files]
    middle, least, most = (sum(part[at] for part in parts) for at in range(3))
    return Objects(middle, least, most, sum(one.files for one in files))


def _of_class(one: FileClass, ratio: float, chunk: int) -> tuple[int, int, int]:
    """Return (middle, least, most)."""
    if one.largest * ratio <= chunk:
        return one.files, one.files, one.files
    whole = one.size * ratio / chunk
    least = max(one.files, math.ceil(whole))
    most = max(least, math.floor(whole) + one.files)
    return min(most, max(least, round(whole + one.files / 2))), least, most


def fails(uploads: int, chance: float) -> float:
    """Return 1 - (1 - chance)^uploads: the odds that one of so many fails for good. Exact for tiny chances too."""
    if chance >= 1.0:
        return 1.0 if uploads else 0.0
    return -math.expm1(uploads * math.log1p(-chance))


def apart(network: Network) -> float:
    """Return error^attempts: an object fails for good where attempts fail independently."""
    return float(network.error**network.attempts)


def together(network: Network) -> float:
    """Return error · again^(attempts - 1): the same where an attempt after a failed one is likely to fail too."""
    return float(network.error * network.again ** (network.attempts - 1))


def memory_bound(chunk: int, parallel: int, encrypt_threads: int, uploads: int) -> int:
    """Return P·C + 2·E·C + K·C bytes: a buffer each thread reads with, two each encrypts with, one each upload.

    An estimate from above, not the vendor's number: with a chunk of 1 GB it explains the 2 GB more that one job asked
    for before the kernel ended it.
    """
    return chunk * (parallel + 2 * encrypt_threads + uploads)


def trying_s(retries: int, longest_s: float = 300.0) -> float:
    """Return how long xbcloud waits between so many retries: 2, 4, 8 ... s, none longer than --max-backoff.

    Percona, "Exponential backoff": up to a second more each, at random; its page says about 17 minutes for 10 retries.
    """
    doubled = min(retries, _MOST_DOUBLED)
    return sum(min(2.0**number, longest_s) for number in range(1, doubled + 1)) + (retries - doubled) * longest_s


def reckon(backup: Backup, chunk: int) -> Outcome:
    """Return what a chunk of so many bytes means for a backup."""
    objects = objects_of(backup.stored, backup.ratio, chunk, backup.files)
    many, prices, network = objects.count, backup.prices, backup.network
    return Outcome(
        chunk=chunk,
        objects=objects,
        store_cost=many / BY * prices.store,
        verify_cost=many / BY * prices.verify,
        move_cost=many / BY * prices.move,
        storage_cost=backup.stored / GB * prices.gb_month,
        fails=fails(many, apart(network)),
        fails_in_outage=fails(many, together(network)),
        sending_s=None if not network.rate else backup.stored / network.rate,
        objects_s=many * network.object_s / backup.uploads,
        memory=memory_bound(chunk, backup.parallel, backup.encrypt_threads, backup.uploads),
    )
