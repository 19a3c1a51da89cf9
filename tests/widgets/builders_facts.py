"""Synthetic facts of single nodes, for the snapshots in builders.py. They prove widgets, never what a server does."""

from __future__ import annotations

import zlib
from dataclasses import replace

from services.facts.model import (
    DiskFacts,
    GaleraFacts,
    MachineFacts,
    NodeFacts,
    ReplicationChannel,
    ReplicationFacts,
    ServerFacts,
)
from services.types import Flavour, Reach

AT = 1_795_200_000.0
STATE_UUID = "8f21c0de-5b1a-11f0-9c57-6a0f2f4b6a77"


def server_facts(host: str, version: str = "10.11.14") -> ServerFacts:
    """Return the identity of a MariaDB server."""
    return ServerFacts(
        flavour=Flavour.MARIADB,
        version=version,
        version_text=f"{version}-MariaDB-0+deb12u2-log",
        version_key=tuple(int(part) for part in version.split(".")),
        comment="Debian 12",
        hostname=host,
        server_id=101,
        uptime_s=41 * 86400 + 3 * 3600,
        read_only=False,
        datadir="/var/lib/mysql/",
        socket="/run/mysqld/mysqld.sock",
        log_error="/var/log/mysql/error.log",
        log_bin=True,
        variables=(
            ("innodb_buffer_pool_size", "96636764160"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("sync_binlog", "1"),
            ("wsrep_slave_threads", "4"),
            ("wsrep_sst_method", "mariabackup"),
            (
                "wsrep_provider_options",
                "gcache.size=1610612736;gcs.fc_limit=16;gmcast.segment=0;pc.weight=1;evs.suspect_timeout=PT5S",
            ),
        ),
    )


def galera_facts(name: str, *, queue: int = 0, state: str = "Synced", segment: int = 0) -> GaleraFacts:
    """Return one node's own view of its group."""
    return GaleraFacts(
        node_name=name,
        node_uuid=f"{zlib.crc32(name.encode()):08x}-5b1a-11f0-b1f4-0b3c1f8d2a11",
        state_uuid=STATE_UUID,
        local_state_uuid=STATE_UUID,
        cluster_name="orders",
        cluster_status="Primary",
        cluster_size=3,
        conf_id=214,
        local_state={"Joiner": 1, "Donor/Desynced": 2, "Joined": 3}.get(state, 4),
        local_state_comment=state,
        ready=True,
        connected=True,
        desync_count=0,
        last_committed=48_213_904,
        cached_downto=46_920_118,
        recv_queue=queue,
        send_queue=0,
        flow_control_paused_ns=1_204_114_201,
        flow_control_sent=3,
        flow_control_high=16.0,
        cluster_address="gcomm://10.20.0.11,10.20.0.12,10.20.0.13",
        node_address="10.20.0.11",
        segment=segment,
        weight=1,
        provider_version="26.4.23(r6f0a5a3)",
        provider_vendor="Codership Oy",
        gcache_size=1_610_612_736,
        gcache_freeze_supported=True,
        sst_method="mariabackup",
        applier_threads=4,
        deps_distance=61.3,
        evs_state="OPERATIONAL",
    )


def machine_facts() -> MachineFacts:
    """Return a host as its facts describe it."""
    data = DiskFacts(mount="/var/lib/mysql", device="nvme1n1", size=1_920_000_000_000, free=640_000_000_000)
    return MachineFacts(
        os="Debian GNU/Linux 12 (bookworm)",
        kernel="6.1.0-37-amd64",
        cores=16,
        memory=128_000_000_000,
        hostname="db",
        disks=(data,),
        data_disk=data,
        clock_offset_s=0.0021,
        process_state="S",
        process_pid=812,
        unit_state="active/running",
        unit_status_text="Taking your SQL requests now...",
    )


def facts(host: str, *, age: float = 0.6, state: str = "Synced", queue: int = 0, segment: int = 0) -> NodeFacts:
    """Return everything one poll of a Galera node gave, `age` seconds ago."""
    return NodeFacts(
        host=host,
        at=AT - age,
        reach=Reach.FULL,
        address="10.20.0.12:3306",
        server=server_facts(host),
        galera=galera_facts(host, queue=queue, state=state, segment=segment),
        machine=machine_facts(),
        round_trip_s=0.0042,
        sql_at=AT - age,
        ssh_at=AT - age,
    )


def replica_facts(host: str) -> NodeFacts:
    """Return the facts of an asynchronous replica."""
    return NodeFacts(
        host=host,
        at=AT - 0.6,
        reach=Reach.FULL,
        address="10.20.0.31:3306",
        server=replace(server_facts(host), read_only=True),
        replication=ReplicationFacts(
            at=AT - 0.6,
            channels=(
                ReplicationChannel(
                    source_host="db3",
                    io_running="Yes",
                    sql_running="Yes",
                    seconds_behind=0.4,
                    gtid_mode="Slave_Pos",
                    gtid_received="0-103-48213904",
                    gtid_executed="0-103-48213892",
                    relay_log_space=96_000_000,
                ),
            ),
        ),
        machine=machine_facts(),
        sql_at=AT - 0.6,
        ssh_at=AT - 0.6,
    )
