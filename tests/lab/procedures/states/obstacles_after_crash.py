"""What stands in the way of a bootstrap or a return after a crash, made for real on the hosts and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import galera
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.states.obstacles import GRASTATE, Obstacle, assert_alone, grastate, node_down, option_file

_BELOW = "/var/tmp/below"
_UNMOUNT = (
    "mkdir -p /mnt/root && mount --bind / /mnt/root && "
    f"cp -a /mnt/root/var/lib/mysql {_BELOW} && umount /mnt/root && rmdir /mnt/root && "
    f"mount --bind {_BELOW} /var/lib/mysql"
)
_MOUNT = f"umount /var/lib/mysql && rm -rf {_BELOW}"


MEMBERS = ("s1", "s2", "s3")


@contextmanager
def parted(estate: Estate) -> Iterator[None]:
    """Every member runs and reaches no other; s1 was lost first, five write sets before the others lost each other."""
    estate.sql("s1", "CREATE TABLE IF NOT EXISTS sbtest.crash (id BIGINT PRIMARY KEY AUTO_INCREMENT)")
    try:
        estate.partition(["s1"])
        estate.wait_synced(("s2", "s3"), size=2, limit_s=40)
        for _ in range(5):
            estate.sql("s2", "INSERT INTO sbtest.crash VALUES ()")
        _ways(estate, "add")
        while_asserts(lambda: [assert_alone(estate, name) for name in MEMBERS], limit_s=60)
        yield
    finally:
        _ways(estate, "del")
        estate.heal()
        estate.wait_synced(size=3)


def _ways(estate: Estate, verb: str) -> None:
    """Add, or delete, 'unreachable' routes from every member to every other."""
    for name in MEMBERS:
        others = [estate.host(other).address for other in MEMBERS if other != name]
        estate.host(name).sh("; ".join(f"ip route {verb} unreachable {one}/32" for one in others) + "; true")


@contextmanager
def another_history(estate: Estate) -> Iterator[None]:
    """s3 is away, and on its data disk is another cluster's data with a state file of this one put beside it."""
    cluster = estate.sql("s1", "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")[0][1]
    with node_down(estate), data_disk_missing("s3")(estate):
        estate.partition(["s3"])  # so that the cluster it founds meets nobody
        try:
            estate.host("s3").sh("galera_new_cluster", limit_s=120)
            assert estate.sql("s3", "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")[0][1] != cluster
        finally:
            estate.stop("s3")
            estate.heal()
        estate.host("s3").sh(f"cat > {GRASTATE}", stdin=grastate(cluster, -1))
        yield


@contextmanager
def unseen_primary(estate: Estate) -> Iterator[None]:
    """s3 is the Primary Component all by itself, and the console has no way to it."""
    galera.bootstrap(estate.spec, "s3")
    estate.cut(["s3"])
    try:
        yield
    finally:
        estate.heal()
        estate.stop("s3")


def states_replaced(**uuids: str) -> Obstacle:
    """These members' state files name another UUID."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        kept = {name: estate.host(name).sh(f"cat {GRASTATE}").out for name in uuids}
        for name, uuid in uuids.items():
            estate.host(name).sh(f"cat > {GRASTATE}", stdin=grastate(uuid))
        try:
            yield
        finally:
            for name, text in kept.items():
                estate.host(name).sh(f"cat > {GRASTATE}", stdin=text)

    return made


def data_disk_missing(*names: str, state: str = "") -> Obstacle:
    """The data disk is not mounted: what is seen is the package's own data folder below it.

    Args:
        state: a state file that somebody has put there.
    """

    @contextmanager
    def one(estate: Estate, name: str) -> Iterator[None]:
        host = estate.host(name)
        host.sh(_UNMOUNT)
        try:
            if state:
                host.sh(f"cat > {GRASTATE}; chown mysql:mysql {GRASTATE}", stdin=state)
            yield
        finally:
            host.sh(_MOUNT)

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        with ExitStack() as stack:
            for name in names:
                stack.enter_context(one(estate, name))
            yield

    return made


def looks_for_itself(host: str) -> Obstacle:
    """Its wsrep_cluster_address names nobody but itself: whom it is to join it never asks."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        text = f"[mysqld]\nwsrep_cluster_address=gcomm://{estate.host(host).address}\n"
        with option_file(host, text)(estate):
            yield

    return made
