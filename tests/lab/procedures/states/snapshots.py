"""What the tests of snapshot-node share: the commands of a plain copy, a joiner that is away, nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console, Ran

JOINER, DONOR, WRITTEN = "s3", "s2", "s1"
ACCEPTED = ("--override", "OTHERS-STAY=three nodes are all that this estate has")
COMMANDS: dict[str, object] = {
    "take": "cp -a {datadir} /srv/{snapshot}",
    "offer": "sh -c 'socat TCP-LISTEN:4777,reuseaddr,fork "
    '"EXEC:tar -C /srv/{snapshot} -c ." >/dev/null 2>&1 & sleep 0.5\'',
    "bring": "sh -c 'socat -u TCP:{donor_address}:4777 - | tar -x -C {datadir}'",
    "remove": "rm -rf /srv/{snapshot}",
}
INPUTS: dict[str, object] = {
    **COMMANDS,
    "joiner": JOINER,
    "donor": DONOR,
    "settle": "1 s",
    "wait": "5 s",
    "tables": "snapped.items",
}
LISTING = "cd /var/lib/mysql && find . -name lost+found -prune -o -type f -printf '%P %s %u\\n' | sort"


@contextmanager
def joiner_away(steer: Estate) -> Iterator[str]:
    """The joiner is down; a table of our own, which the observing account may read, was written before and since."""
    steer.sql(WRITTEN, "CREATE DATABASE IF NOT EXISTS snapped")
    steer.sql(WRITTEN, "CREATE TABLE IF NOT EXISTS snapped.items (id INT AUTO_INCREMENT PRIMARY KEY, t TEXT)")
    steer.sql(WRITTEN, "GRANT SELECT ON snapped.* TO observer@'%'")
    steer.sql(WRITTEN, "INSERT INTO snapped.items (t) SELECT REPEAT('x', 200) FROM snapped.seq_1_to_2000")
    steer.wait_synced(size=3)
    steer.stop(JOINER)
    steer.sql(WRITTEN, "INSERT INTO snapped.items (t) SELECT REPEAT('y', 200) FROM snapped.seq_1_to_2000")
    old = steer.host(JOINER).sh(LISTING).out
    yield old
    steer.host(DONOR).sh("rm -rf /srv/pilothouse_*", check=False)
    steer.sql(DONOR, "SET GLOBAL wsrep_desync = OFF, GLOBAL innodb_max_dirty_pages_pct = 90")
    aside = "/var/lib/mysql/#sql-pilothouse-before.sst"
    left = steer.host(JOINER).sh(f"test -e {aside}", check=False).ok
    if left:
        steer.host(JOINER).sh(f"rm -rf {aside}")
    if steer.host(JOINER).sh("systemctl is-active mariadb", check=False).out.strip() != "active":
        steer.start(JOINER)
    steer.wait_synced(size=3)
    steer.sql(WRITTEN, "REVOKE SELECT ON snapped.* FROM observer@'%'")
    steer.sql(WRITTEN, "DROP DATABASE snapped")


def assert_held(steer: Estate) -> None:
    """Assert that the operator's command copies now."""
    assert steer.host(DONOR).sh("ls -d /srv/pilothouse_*", check=False).ok


def assert_brings(steer: Estate) -> None:
    """Assert that the operator's command works in the joiner's data folder."""
    assert steer.host(JOINER).sh("test -e /var/lib/mysql/part-1", check=False).ok


def assert_writes(steer: Estate, host: str = DONOR) -> None:
    """Assert that a write goes through there."""
    wrote = steer.host(host).sh("timeout 5 mariadb -e \"INSERT INTO snapped.items (t) VALUES ('z')\"", check=False)
    assert wrote.ok, wrote


def assert_free(steer: Estate, host: str = DONOR) -> None:
    """Assert that nobody holds a lock there, and that flow control counts it again."""
    assert_writes(steer, host)
    assert steer.sql(host, "SELECT @@GLOBAL.wsrep_desync, @@GLOBAL.innodb_max_dirty_pages_pct") == [["0", "90.000000"]]
    assert steer.host(host).sh("ss -ltnH sport = :4777").out == ""  # nothing offers it any more
    assert steer.host(host).sh("ls /srv /var/lib/pilothouse 2>/dev/null | grep pilothouse_", check=False).out == ""


def run_with(console: Console, *more: str, **inputs: object) -> Ran:
    """Run the procedure with the commands of a plain copy, but for these inputs."""
    return console.run("snapshot-node", *ACCEPTED, *more, **{**INPUTS, **inputs})
