"""Facts of invented nodes for the tests of discovery: what a healthy cluster says, to be bent by each test.

They prove the pure functions only; what real servers say is in tests/unit/recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import (
    DiskFacts,
    GaleraFacts,
    GaleraMember,
    MachineFacts,
    NodeFacts,
    Problem,
    ReplicaSeen,
    ReplicationChannel,
    ReplicationFacts,
    ServerFacts,
)
from services.types import Flavour, Reach

AT = 1_795_200_000.0
STATE = "8f21c0de-5b1a-11f0-9c57-6a0f2f4b6a77"


def group_uuid(number: int, incarnation: int = 0) -> str:
    """Return the group uuid of a node's incarnation."""
    return f"{number:08x}-{incarnation:04x}-11f0-b1f4-0b3c1f8d2a11"


def address(number: int) -> str:
    return f"10.20.0.{10 + number}"


def server(number: int, **more: Any) -> ServerFacts:
    known = ServerFacts(
        flavour=Flavour.MARIADB, version="10.11.18", version_text="10.11.18-MariaDB", version_key=(10, 11, 18),
        hostname=f"db{number}", port=3306, server_id=100 + number, uptime_s=5000.0, started_at=AT - 5000.0,
        read_only=False, datadir="/var/lib/mysql/", log_bin=True,
    )  # fmt: skip
    return replace(known, **more)


def machine(number: int, **more: Any) -> MachineFacts:
    disk = DiskFacts("/var/lib/mysql", "/dev/vdb", 100 * 10**9, 60 * 10**9)
    known = MachineFacts(
        os="Debian GNU/Linux 12 (bookworm)", kernel="6.1.0", cores=4, memory=8 * 10**9, hostname=f"db{number}",
        machine_id=f"{number:032x}", disks=(disk,), data_disk=disk, clock_offset_s=0.01, process_state="S",
        process_pid=800 + number, unit_state="active/running", unit="mariadb.service",
    )  # fmt: skip
    return replace(known, **more)


def galera(number: int, size: int = 3, **more: Any) -> GaleraFacts:
    """Return the view of node `number` of a healthy group of `size`."""
    everyone = range(1, size + 1)
    known = GaleraFacts(
        node_name=f"db{number}", node_uuid=group_uuid(number), state_uuid=STATE, local_state_uuid=STATE,
        cluster_name="orders", cluster_status="Primary", cluster_size=size, conf_id=7, local_state=4,
        local_state_comment="Synced", ready=True, connected=True, desync_count=0, recv_queue=0, send_queue=0,
        flow_control_high=28.0, incoming_addresses=tuple(f"{address(n)}:0" for n in everyone),
        cluster_address="gcomm://" + ",".join(address(n) for n in everyone), node_address=address(number),
        members=tuple(GaleraMember(group_uuid(n), f"db{n}", f"{address(n)}:0") for n in everyone),
        segment=0, weight=1, reject_queries="NONE", cluster_weight=size,
    )  # fmt: skip
    return replace(known, **more)


def facts(number: int, *, at: float = AT, host: str = "", view: GaleraFacts | None = None, **more: Any) -> NodeFacts:
    known = NodeFacts(
        host=host or f"db{number}", at=at, reach=Reach.FULL, address=address(number), server=server(number),
        galera=view, machine=machine(number), sql_at=at, ssh_at=at,
    )  # fmt: skip
    return replace(known, **more)


def member(number: int, size: int = 3, *, at: float = AT, host: str = "", **view: Any) -> NodeFacts:
    """Return a Galera node's facts; `view` bends what it says of its group."""
    return facts(number, at=at, host=host, view=galera(number, size, **view))


def side(*numbers: int, at: float = AT, conf_id: int = 8, **view: object) -> tuple[NodeFacts, ...]:
    """Return nodes that count one another and nobody else."""
    names = tuple(f"{address(n)}:0" for n in numbers)
    own = {"members": (), "incoming_addresses": names, "cluster_weight": len(numbers), "cluster_size": len(numbers)}
    return tuple(member(n, 3, at=at, **{**own, "conf_id": conf_id, **view}) for n in numbers)


def unreached(number: int, before: NodeFacts | None = None, *, at: float = AT) -> NodeFacts:
    """Return a host that no road reaches, with what it said before."""
    problems = (Problem("sql", "No route.", "unreachable"), Problem("ssh", "No route.", "unreachable"))
    known = before or NodeFacts(f"db{number}", at, address=address(number))
    return replace(known, at=at, reach=Reach.NONE, problems=problems)


def sql_gone(before: NodeFacts, *, at: float = AT, code: str = "unreachable", **host: Any) -> NodeFacts:
    """Return a host whose SSH answers and whose SQL does not."""
    assert before.machine is not None
    return replace(
        before, at=at, ssh_at=at, reach=Reach.SSH_ONLY, machine=replace(before.machine, **host),
        problems=(Problem("sql", "The server refused the connection.", code),),
    )  # fmt: skip


def channel(source: int, **more: Any) -> ReplicationChannel:
    known = ReplicationChannel(
        source_host=address(source), source_server_id=100 + source, io_running="Yes", sql_running="Yes",
        seconds_behind=0.0, gtid_mode="Slave_Pos", gtid_received="0-1-100", gtid_executed="0-1-100",
        relay_log_space=3000,
    )  # fmt: skip
    return replace(known, **more)


def plain(number: int, *channels: ReplicationChannel, replicas: tuple[ReplicaSeen, ...] = (), **more: Any) -> NodeFacts:
    """Return a server outside Galera with these channels."""
    at = more.get("at", AT)
    replication = ReplicationFacts(
        channels=channels, replicas=replicas, gtid_binlog_pos="0-1-100", at=at, replicas_at=at
    )
    return facts(number, replication=replication, **more)


def estate(
    *everyone: NodeFacts, previous: EstateSnapshot | None = None, at: float = AT + 0.5, **more: Any
) -> EstateSnapshot:
    return updated_estate(previous, {one.host: one for one in everyone}, at, **more)


def only(snapshot: EstateSnapshot) -> ClusterSnapshot:
    """Return the one cluster there is."""
    assert len(snapshot.clusters) == 1, [c.cluster_id for c in snapshot.clusters]
    return snapshot.clusters[0]


def node(snapshot: EstateSnapshot, node_id: str) -> NodeView:
    """Return a node of any cluster."""
    found = [n for c in snapshot.clusters for n in c.nodes if n.node_id == node_id]
    assert len(found) == 1, (node_id, [n.node_id for c in snapshot.clusters for n in c.nodes])
    return found[0]
