"""What an estate is like at this moment, as values and as a table for people."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from tests.lab.estate.breaking import breaks
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import proc
from tests.lab.estate.servers import database, group, load, mongodb, replication
from tests.lab.estate.spec import EstateSpec


@dataclass(frozen=True, slots=True)
class HostStatus:
    """One host: `host` is "up", "frozen" or "down", `server` the state of its database in one phrase."""

    name: str
    address: str
    role: str
    release: str
    host: str
    version: str
    server: str
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EstateStatus:
    estate: str
    up: bool
    client_dir: str
    load: str
    hosts: tuple[HostStatus, ...]

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def estate_status(estate: Estate) -> EstateStatus:
    """Ask every host (in parallel, each within some seconds)."""
    spec = estate.spec
    with ThreadPoolExecutor(max_workers=len(spec.hosts)) as pool:
        hosts = tuple(pool.map(lambda h: host_status(spec, h.name), spec.hosts))
    running = load.running(spec)
    return EstateStatus(
        estate=spec.name,
        up=estate.is_up(),
        client_dir=str(estate.client_dir),
        load="" if running is None else f"sysbench, pid {running}: {load.last_report(spec)}",
        hosts=hosts,
    )


def host_status(spec: EstateSpec, name: str) -> HostStatus:
    host = spec.host(name)
    is_up = proc.leader_pid(spec.machine(name)) is not None
    state, version, server = "down", "", "unknown"
    if is_up and breaks.frozen(spec, name):
        state = "frozen"
    elif is_up:
        state, version, server = "up", database.version(spec, name), _server(spec, name)
    faults = breaks.active(spec, name) if is_up else ()
    return HostStatus(name, spec.address(name), host.role, host.release, state, version, server, faults)


def _server(spec: EstateSpec, name: str) -> str:
    if database.pid(spec, name) is None:
        return "stopped"
    if database.paused(spec, name):
        return "paused"
    try:
        if spec.host(name).role == "galera":
            rows = dict(
                r for r in database.sql(spec, name, "SHOW GLOBAL STATUS LIKE 'wsrep%'", limit_s=5) if len(r) == 2
            )
            state = rows.get("wsrep_local_state_comment", "")
            return f"{state}, {rows.get('wsrep_cluster_status', '')} of {rows.get('wsrep_cluster_size', '')}"
        if spec.host(name).role == "group":
            seen = group.view(spec, name)
            reached = sum(m.state == "ONLINE" for m in seen.values())
            return f"{seen[name].state}, {seen[name].role or 'no role'}, {reached} of {len(seen)} ONLINE"
        if spec.host(name) in mongodb.hosts(spec):
            return mongodb.server_words(spec, name)
        said = replication.replica_status(spec, name)
    except LabError as exc:
        return f"no answer ({str(exc).splitlines()[0][:80]})"
    if not said:
        return "running"
    threads = f"IO {said.get('Slave_IO_Running')}, SQL {said.get('Slave_SQL_Running')}"
    return f"replica, {threads}, {said.get('Seconds_Behind_Master')} s behind, delay {said.get('SQL_Delay')} s"


def as_text(status: EstateStatus) -> str:
    """A table for the terminal."""
    head = ("HOST", "ADDRESS", "RELEASE", "MACHINE", "VERSION", "SERVER", "FAULTS")
    rows = [(h.name, h.address, h.release, h.host, h.version, h.server, "; ".join(h.faults)) for h in status.hosts]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    said = [f"estate {status.estate}: {'up' if status.up else 'not up'}", *lines]
    said += [f"client folder: {status.client_dir}"] if status.up else []
    said += [f"load: {status.load}"] if status.load else []
    return "\n".join(said)
