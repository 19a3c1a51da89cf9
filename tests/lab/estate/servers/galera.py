"""Forming and watching the Galera cluster of an estate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.lab.estate.errors import LabError, LabTimeoutError
from tests.lab.estate.host import container, rootfs
from tests.lab.estate.servers import accounts, database
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until


def members(spec: EstateSpec) -> tuple[str, ...]:
    """Hosts that belong to the cluster, in order; the first one forms it."""
    return tuple(h.name for h in spec.hosts if h.role == "galera")


def form(spec: EstateSpec, *, limit_s: float = 180.0) -> None:
    """Form the cluster on the first member, give the others a cold copy of its data, start all; until all are Synced.

    A copied data folder carries the cluster's position, so the others join by IST: three full transfers would take
    several times as long, and `break empty` is there for those who want to see one.
    """
    first, *others = members(spec)
    database.begin_start(spec, first, first=True)
    wait_synced(spec, [first], limit_s=limit_s)
    accounts.create(spec, first)
    if not database.stop(spec, first, limit_s=60):
        raise LabError(f"the first start of {first} could not be stopped cleanly: {database.journal(spec, first)}")
    for name in others:
        _cold_copy(spec, first, name)
    database.begin_start(spec, first, first=True)
    for name in others:
        database.begin_start(spec, name)
    wait_synced(spec, members(spec), limit_s=limit_s, size=len(members(spec)))


def _cold_copy(spec: EstateSpec, source: str, name: str) -> None:
    """Copy the stopped server's data folder, without its write-set cache, to the still empty disk of `name`."""
    target = rootfs.data(spec, name)
    run(["cp", "-a", "--sparse=always", f"{rootfs.data(spec, source)}/.", str(target)])
    (target / "galera.cache").unlink()
    state = target / "grastate.dat"
    state.write_text(state.read_text(encoding="utf-8").replace("bootstrap: 1", "bootstrap: 0"), encoding="utf-8")


def wait_synced(
    spec: EstateSpec, names: Sequence[str], *, limit_s: float = 120.0, size: int | None = None, every_s: float = 0.2
) -> float:
    """Wait until every one of `names` is Synced in a Primary component (of `size` members if given); seconds taken."""
    return wait_until(
        f"{', '.join(names)} to be Synced",
        lambda: next((r for r in (_not_synced(spec, n, size) for n in names) if r), None),
        limit_s=limit_s,
        every_s=every_s,
    )


def _not_synced(spec: EstateSpec, name: str, size: int | None) -> str | None:
    try:
        rows = database.sql(spec, name, "SHOW GLOBAL STATUS LIKE 'wsrep%'", limit_s=10)
    except LabError as exc:
        return str(exc)[:300]
    said = {row[0]: row[1] for row in rows if len(row) == 2}
    state, component = said.get("wsrep_local_state_comment", ""), said.get("wsrep_cluster_status", "")
    found = said.get("wsrep_cluster_size", "")
    if state != "Synced" or component != "Primary":
        return f"{name} is {state or 'without wsrep'} in a {component or 'unknown'} component of {found}"
    return f"{name} sees {found} members, not {size}" if size is not None and found != str(size) else None


def position(spec: EstateSpec, name: str) -> int:
    """Last seqno of a stopped member: from grastate.dat, by --wsrep-recover when that says -1; -1 if it has none."""
    script = "awk '/^seqno:/{print $2}' /var/lib/mysql/grastate.dat 2>/dev/null"
    said = container.sh(spec, name, script, limit_s=15).out.strip()
    if said.lstrip("-").isdigit() and int(said) >= 0:
        return int(said)
    out = container.sh(spec, name, "galera_recovery", limit_s=60).out
    found = re.search(r"wsrep_start_position=[0-9a-f-]+:(-?\d+)", out)
    return int(found.group(1)) if found else -1


def bootstrap(spec: EstateSpec, name: str, *, limit_s: float = 120.0) -> None:
    """Form the cluster anew from this stopped member, whatever its grastate.dat says about it."""
    edit = "sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' /var/lib/mysql/grastate.dat"
    container.sh(spec, name, edit, limit_s=15)
    database.begin_start(spec, name, first=True)
    wait_synced(spec, [name], limit_s=limit_s)


def recover(spec: EstateSpec, *, limit_s: float = 180.0) -> None:
    """All members Synced in one component again: starts the stopped ones; if nobody is primary, from the most advanced.

    Members that run outside a primary component are given a moment to find each other before they are killed.
    One starts after the other: with two at once the first to join became donor of the second and sent one write set
    too few ("Receiving IST failed, node restart required", Galera 26.4.23), which then never became Synced.
    """
    names = members(spec)
    running = [n for n in names if database.pid(spec, n) is not None]
    try:
        wait_synced(spec, running, limit_s=25)
    except LabTimeoutError:
        running = [n for n in running if _not_synced(spec, n, None) is None]
    for name in names:
        if name not in running:
            database.kill(spec, name)
    if not running:
        best = max(names, key=lambda n: position(spec, n))
        bootstrap(spec, best, limit_s=limit_s)
        running = [best]
    for name in names:
        if name not in running:
            database.begin_start(spec, name)
            wait_synced(spec, [name], limit_s=limit_s)
    wait_synced(spec, names, limit_s=limit_s, size=len(names))
