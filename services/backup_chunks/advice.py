"""Which chunk size to take, from experience of large clusters, the count of objects and the memory there is.

Seen on a cluster of many terabytes: from 10 to 200 MB an upload went from 18 000 to 13 000 s. Seen below 1 TB: it went
from 1 000 to 1 300 s. So a small backup keeps its 10 MB, however many objects it makes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from services.backup_chunks.arithmetic import memory_bound, reckon
from services.backup_chunks.model import DEFAULT_CHUNK, MIB, Backup, Outcome
from services.i18n import tr

MB, TB = 10**6, 10**12
FEW_OBJECTS = 50_000
"""Fewer than this are no trouble: no operator has to change a job for them."""
SHARE_OF_MEMORY = 0.25
"""How much of the free memory the buffers may take."""
FAST = 10**9
"""Bytes a second: about what 10 Gbit/s carry."""
TOO_LARGE = 10**9
"""From here on memory is the danger, and nothing is gained."""

LEAVE, TEST, LARGER, MEMORY, FILES = "leave", "test", "larger", "memory", "files"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do.

    Attributes:
        code: LEAVE the default, TEST a larger one, take a LARGER one, MEMORY is too small for it, FILES set the count.
        chunk: bytes, a multiple of 1 MiB; the default where nothing is to be changed.
        low, high: the range that fits the size, bytes.
        sentence: the advice; reasons: why, and what to see to.
        now, then: what the chunk of today and the advised one mean.
    """

    code: str
    chunk: int
    low: int
    high: int
    sentence: str
    reasons: tuple[str, ...]
    now: Outcome
    then: Outcome

    @property
    def changes(self) -> bool:
        """Return whether the job is to be changed."""
        return self.code in {TEST, LARGER}


def advise(backup: Backup, chunk: int = DEFAULT_CHUNK) -> Advice:
    """Return the advice for a backup whose chunks are `chunk` bytes today."""
    low, high = range_for(backup.stored)
    now = reckon(backup, chunk)
    code, wanted = _choice(backup, low, high)
    then = reckon(backup, wanted)
    return Advice(code, wanted, low, high, _sentence(code, wanted, low), _reasons(backup, code, now), now, then)


def range_for(stored: int) -> tuple[int, int]:
    """Return the least and the most bytes of a chunk for so many stored bytes."""
    if stored < TB:
        return DEFAULT_CHUNK, DEFAULT_CHUNK
    if stored <= 2 * TB:
        return 10 * MB, 50 * MB
    return (100 * MB, 200 * MB) if stored <= 10 * TB else (200 * MB, 500 * MB)


def most_for(free_memory: int, parallel: int, encrypt_threads: int, uploads: int) -> int:
    """Return the largest chunk, a multiple of 1 MiB, whose buffers stay within a quarter of the free memory."""
    return int(free_memory * SHARE_OF_MEMORY / memory_bound(1, parallel, encrypt_threads, uploads)) // MIB * MIB


def _choice(backup: Backup, low: int, high: int) -> tuple[str, int]:
    """Return the code and the chunk: the smallest of the range that makes few objects, as far as memory goes."""
    least = reckon(backup, DEFAULT_CHUNK).objects
    if backup.stored < TB or least.count <= FEW_OBJECTS:
        return LEAVE, DEFAULT_CHUNK
    if least.files is not None and 2 * least.files >= least.count:
        return FILES, DEFAULT_CHUNK
    wanted = math.ceil(min(high, max(low, backup.stored / FEW_OBJECTS)) / MIB) * MIB
    if backup.free_memory is not None:
        wanted = min(wanted, most_for(backup.free_memory, backup.parallel, backup.encrypt_threads, backup.uploads))
        if wanted < low // MIB * MIB:
            return MEMORY, DEFAULT_CHUNK
    return (TEST if backup.stored <= 2 * TB else LARGER), wanted


def _sentence(code: str, chunk: int, low: int) -> str:
    if code == TEST:
        return tr("Try {mib} MiB on one host, and keep the setting only if the upload is not slower.", mib=chunk // MIB)
    if code == LARGER:
        return tr("Use {mib} MiB in every job.", mib=chunk // MIB)
    if code == MEMORY:
        return tr(
            "Keep 10 MB: the free memory is too small for {mb} MB with this many threads. Use fewer threads.",
            mb=low // MB,
        )
    if code == FILES:
        return tr("Keep 10 MB: small files determine the number of objects, and larger chunks do not reduce it.")
    return tr("Keep 10 MB.")


def _reasons(backup: Backup, code: str, now: Outcome) -> tuple[str, ...]:
    said = []
    if backup.stored < TB:
        said.append(tr("Below 1 TB, larger chunks were slower in a test: 1 300 s instead of 1 000 s."))
    elif code == LEAVE:
        said.append(tr("{count} objects are few enough.", count=now.objects.count))
    if code == LARGER:
        said.append(tr("On a cluster of many terabytes, 200 MB instead of 10 MB reduced 18 000 s to 13 000 s."))
        if (backup.network.rate or 0) >= FAST:
            said.append(tr("With a network this fast, --fifo-streams gains more (XtraBackup 8.0.33 and newer)."))
    if code in {TEST, LARGER}:
        said += [
            tr("The restore host needs this memory too, and the same version of xtrabackup, xbstream and xbcloud."),
            tr("Restore one backup on another host before you change every job."),
            tr("Keep the last good backup until then, and write the new one under a new name."),
            tr("An interrupted upload leaves objects: delete them by name (xbcloud delete NAME)."),
            tr("Keep 10 MB for incremental backups: they are mostly small files."),
        ]
        if backup.free_memory is None:
            said.append(tr("The free memory is not known: compare the limit with a quarter of it yourself."))
    if not backup.files:
        said.append(
            tr("The number of files is not known: each file adds a last, smaller object, so there are more objects.")
        )
    return tuple(said)
