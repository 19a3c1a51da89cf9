"""What is asked about a backup, and what comes out. Sizes are bytes, times seconds, prices those of one currency."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.facts.server.tablespaces import FileClass

MIB = 2**20
DEFAULT_CHUNK = 10_000_000
"""What documents call the 10 MB of xtrabackup; the program's own default is 10 MiB (`OWN_DEFAULT`)."""
OWN_DEFAULT = 10 * MIB
"""--read-buffer-size where nothing else is said (xtrabackup.cc: 10 * 1024 * 1024, scaled to 64 KiB)."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a bucket costs: operations by 10 000, storage by GB (10^9 bytes) and month.

    The defaults are list prices of 2022 (store into standard, read, move to nearline): an operator puts their own.
    """

    store: float = 0.05
    verify: float = 0.004
    move: float = 0.10
    gb_month: float = 0.01


@dataclass(frozen=True, slots=True)
class Network:
    """What an upload meets.

    Attributes:
        error: probability that one upload of one object fails.
        again: probability that the next attempt fails too, once one has failed: outages last.
        attempts: how often one object is tried in all.
        object_s: fixed time of each object (TLS, round trips), seconds.
        rate: bytes a second of the whole stream; None = not known.
    """

    error: float = 0.001
    again: float = 0.1
    attempts: int = 10
    object_s: float = 0.080
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Backup:
    """One full backup.

    Attributes:
        size: bytes of the data files; ratio: how much of it is left after compression (1 = not compressed).
        parallel: threads of xtrabackup; encrypt_threads: 0 where xtrabackup does not encrypt; uploads: xbcloud's.
        free_memory: bytes that the backup host has to spare; None = not known.
        files: sizes of the data files; () = not known.
    """

    size: int
    ratio: float = 1.0
    parallel: int = 1
    encrypt_threads: int = 0
    uploads: int = 1
    free_memory: int | None = None
    files: tuple[FileClass, ...] = ()
    network: Network = field(default_factory=Network)
    prices: Prices = field(default_factory=Prices)

    @property
    def stored(self) -> int:
        """Bytes that go into the bucket."""
        return round(self.size * self.ratio)

    @property
    def encrypted(self) -> bool:
        """Whether xtrabackup encrypts."""
        return self.encrypt_threads > 0


@dataclass(frozen=True, slots=True)
class Objects:
    """How many objects a backup becomes.

    Attributes:
        count: what is reckoned with; least, most: what it lies between; most is None where the files are not known.
        files: how many files there are, so the least whatever the chunk; None = not known.
    """

    count: int
    least: int
    most: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one chunk size means.

    Attributes:
        chunk: bytes.
        store_cost, verify_cost, move_cost: operations of one backup; storage_cost: of one month.
        fails, fails_in_outage: probability that the backup fails, with errors apart and with errors that last.
        sending_s: None where the network's rate is not known; objects_s: the fixed times of all objects.
        memory: bytes, an upper bound.
    """

    chunk: int
    objects: Objects
    store_cost: float
    verify_cost: float
    move_cost: float
    storage_cost: float
    fails: float
    fails_in_outage: float
    sending_s: float | None
    objects_s: float
    memory: int

    @property
    def operations_cost(self) -> float:
        """Operations of one backup: stored, read once, moved once."""
        return self.store_cost + self.verify_cost + self.move_cost

    @property
    def operations_share(self) -> float:
        """Share of the operations in operations and one month's storage, 0 to 1."""
        whole = self.operations_cost + self.storage_cost
        return self.operations_cost / whole if whole else 0.0

    @property
    def seconds(self) -> float | None:
        """Time of the upload; None where the network's rate is not known."""
        return None if self.sending_s is None else self.sending_s + self.objects_s
