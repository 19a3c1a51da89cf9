"""The estates as data: which hosts, which release, which addresses and names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.lab.estate.errors import LabError
from tests.lab.estate.paths import PREFIX
from tests.lab.estate.servers.engine import MYSQL_RELEASE, Engine, engine_of


@dataclass(frozen=True, slots=True)
class HostSpec:
    """One host of an estate.

    `role` is one of "galera", "group" (a member of MySQL's Group Replication), "spare" (packages installed, nothing
    configured or running), "source", "replica"; of MongoDB "mongod" (a member of the shard), "arbiter", "mirror" and
    "config" (a config server of either kind), "mongos", "mongo-spare". `number` is the last part of the address and
    the server_id.
    """

    name: str
    number: int
    role: str
    release: str = "bookworm"
    semi_sync: bool = False

    @property
    def engine(self) -> Engine:
        return engine_of(self.release, self.role)


@dataclass(frozen=True, slots=True)
class EstateSpec:
    """One estate: `code` is the single letter in its interface names (Linux allows 15 characters)."""

    name: str
    code: str
    network: str
    hosts: tuple[HostSpec, ...]
    seeds: tuple[str, ...]
    other_provider: bool = False  # loads the library that PILOTHOUSE_LAB_GALERA names
    observer: str = "observer"  # the account that only reads
    binlog_s: int = 1800  # how long the binary logs are kept
    accounts: bool = False  # MongoDB with access control: a keyfile between members, and users
    disk_gib: int = 3  # of each host's data disk; the room is taken on the machine as it is written

    @property
    def bridge(self) -> str:
        return f"{PREFIX}-{self.code}"

    @property
    def gateway(self) -> str:
        """The console's own address on the estate's bridge."""
        return f"{self.network}.1"

    @property
    def table(self) -> str:
        """Name of the estate's nftables table (identifiers there allow no dash)."""
        return f"{PREFIX}_{self.code}"

    def host(self, name: str) -> HostSpec:
        """The host called `name`; LabError naming the known ones if there is none."""
        for host in self.hosts:
            if host.name == name:
                return host
        known = ", ".join(h.name for h in self.hosts)
        raise LabError(f"estate {self.name} has no host {name!r}; it has {known}")

    def address(self, name: str) -> str:
        return f"{self.network}.{self.host(name).number}"

    def link(self, name: str) -> str:
        """Host-side veth of `name`, also the name of its network namespace."""
        return f"{PREFIX}-{self.code}-{self.host(name).name}"

    def machine(self, name: str) -> str:
        """Name of the container of `name`, also of its control groups."""
        return f"{PREFIX}-{self.name}-{self.host(name).name}"


GALERA = EstateSpec(
    name="galera",
    code="g",
    network="10.213.1",
    hosts=(
        HostSpec("n1", 11, "galera"),
        HostSpec("n2", 12, "galera"),
        HostSpec("n3", 13, "galera"),
        HostSpec("spare", 14, "spare"),
    ),
    seeds=("n1",),
)

ASYNC = EstateSpec(
    name="async",
    code="a",
    network="10.213.2",
    hosts=(HostSpec("src", 21, "source"), HostSpec("r1", 22, "replica"), HostSpec("r2", 23, "replica")),
    seeds=("src",),
)

TWO_VERSIONS = EstateSpec(
    name="two-versions",
    code="t",
    network="10.213.3",
    hosts=(HostSpec("old", 31, "source", "bookworm"), HostSpec("new", 32, "replica", "trixie")),
    seeds=("old",),
)

STEER = EstateSpec(
    name="steer",
    code="s",
    network="10.213.4",
    hosts=(
        HostSpec("s1", 41, "galera"),
        HostSpec("s2", 42, "galera"),
        HostSpec("s3", 43, "galera"),
        HostSpec("new", 44, "spare"),
    ),
    seeds=("s1",),
)
"""Procedures change it: an estate of its own, so that what only watches is not disturbed."""

TRIALS = (
    replace(STEER, name="matrix-a", code="m", network="10.213.6"),
    replace(STEER, name="matrix-b", code="k", network="10.213.7"),
    replace(STEER, name="matrix-c", code="c", network="10.213.9"),
    replace(STEER, name="matrix-d", code="d", network="10.213.10"),
    replace(STEER, name="matrix-e", code="e", network="10.213.11"),
    replace(STEER, name="matrix-h", code="h", network="10.213.12"),
)
"""The same again: long matrices and random states run on them side by side, while the tests run on the first."""

REJOIN = replace(STEER, name="rejoin", code="j", network="10.213.14", disk_gib=12, binlog_s=4 * 3600)
"""The same with room for gigabytes (dataset.py), their binary logs and a backup of them: rejoining without an SST."""

FREEZE = EstateSpec(
    name="freeze",
    code="f",
    network="10.213.5",
    hosts=(HostSpec("f1", 51, "galera"), HostSpec("f2", 52, "galera"), HostSpec("f3", 53, "galera")),
    seeds=("f1",),
    other_provider=True,
)
"""Members with another provider library: the only way to freeze a gcache for real."""

MIXED = EstateSpec(
    name="mixed",
    code="x",
    network="10.213.8",
    hosts=(HostSpec("m1", 81, "galera", "trixie"), HostSpec("late", 82, "spare", "bookworm")),
    seeds=("m1",),
)
"""A cluster of the newer release, and a host of the older one that must not join it."""

MYSQL = EstateSpec(
    name="mysql",
    code="q",
    network="10.213.13",
    hosts=(
        *(HostSpec(f"g{n}", 10 + n, "group", MYSQL_RELEASE) for n in (1, 2, 3)),
        HostSpec("a1", 21, "source", MYSQL_RELEASE, semi_sync=True),
        HostSpec("a2", 22, "replica", MYSQL_RELEASE, semi_sync=True),
        HostSpec("a3", 23, "replica", MYSQL_RELEASE),
    ),
    seeds=("g1", "a1"),
    observer="pilothouse",
)
"""Real MySQL: a group of three, and beside it a source with a semi-synchronous and a plain replica."""

_SHARD = tuple(HostSpec(f"d{n}", 10 + n, "mongod") for n in (1, 2, 3))
_ROUTERS = tuple(HostSpec(f"r{n}", 30 + n, "mongos") for n in (1, 2))
_NEW = tuple(HostSpec(f"n{n}", 40 + n, "mongo-spare") for n in (1, 2, 3))

MONGO_RS = EstateSpec(name="mongo-rs", code="r", network="10.213.15", hosts=_SHARD, seeds=("d1",))
MONGO_SCCC = EstateSpec(
    name="mongo-sccc",
    code="o",
    network="10.213.16",
    hosts=(*_SHARD, *(HostSpec(f"c{n}", 20 + n, "mirror") for n in (1, 2, 3)), *_ROUTERS, *_NEW),
    seeds=("r1",),
)
MONGO_SCCC_B = replace(MONGO_SCCC, name="mongo-sccc-b", code="z", network="10.213.20")
"""The same again, for what a person does beside a long matrix."""

MONGO_CSRS = EstateSpec(
    name="mongo-csrs",
    code="u",
    network="10.213.17",
    hosts=(*_SHARD, *(HostSpec(f"c{n}", 20 + n, "config") for n in (1, 2, 3)), *_ROUTERS),
    seeds=("r1",),
)
"""MongoDB 3.2: a replica set; a sharded cluster with mirrored config servers and hosts for new ones; with a set."""

MONGO_AUTH = EstateSpec(
    name="mongo-auth",
    code="v",
    network="10.213.18",
    hosts=(*_SHARD[:2], HostSpec("a1", 14, "arbiter")),
    seeds=("d1",),
    accounts=True,
)
"""A replica set with access control, a keyfile between its members and an arbiter, which holds no users."""

MONGO_KEYS = EstateSpec(
    name="mongo-keys",
    code="w",
    network="10.213.19",
    hosts=(_SHARD[0], *(HostSpec(f"c{n}", 20 + n, "mirror") for n in (1, 2, 3)), *_ROUTERS, *_NEW[:2]),
    seeds=("r1",),
    accounts=True,
)
"""A sharded cluster with mirrored config servers and access control; its shard is a set of one."""

MONGO_ESTATES = (MONGO_RS, MONGO_SCCC, MONGO_SCCC_B, MONGO_CSRS, MONGO_AUTH, MONGO_KEYS)
ESTATES: tuple[EstateSpec, ...] = (
    *(GALERA, ASYNC, TWO_VERSIONS, STEER, *TRIALS, REJOIN, FREEZE, MIXED, MYSQL),
    *MONGO_ESTATES,
)


def estate_spec(name: str) -> EstateSpec:
    """The estate called `name`; LabError naming the known ones if there is none."""
    for spec in ESTATES:
        if spec.name == name:
            return spec
    raise LabError(f"no estate {name!r}; there are {', '.join(s.name for s in ESTATES)}")
