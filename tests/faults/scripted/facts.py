"""Facts of the scripted cluster, as gathering would give them."""

from __future__ import annotations

from dataclasses import replace

from services.facts.backup.backups import Backup
from services.facts.binlog.marks import Mark
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import Grastate
from services.facts.haproxy import Haproxy, HaproxyServer
from services.facts.machine.tcp_ways import GROUP_PORT, PORTS
from services.facts.model import DiskFacts, GaleraFacts, NodeFacts, ServerFacts
from services.facts.replication.write_rate import Rates
from services.facts.server.start_line import StartLine, StartWord
from services.facts.transfer.sst_options import places
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.parts.galera.links import Link
from services.procedures.plan.parts.galera.traces import Trace
from services.types import Flavour, Reach
from tests.faults.scripted import config_servers, mongo
from tests.faults.scripted.cluster import (
    BACKUPS,
    CLUSTER,
    DATADIR,
    DIRTY,
    LATER,
    OPTION,
    RESTORED,
    ZERO,
    Cluster,
    Host,
)
from tests.unit.procedures.host_of import host_of

LEFT_BEHIND = (StartWord("wsrep_new_cluster", "", "manager", "_WSREP_NEW_CLUSTER"),)
STATS_SOCKET = "/run/haproxy/admin.sock"


def facts_of(cluster: Cluster, kept: tuple[tuple[str, str], ...] = ()) -> Facts:
    """Return what a gathering finds now."""
    if config_servers.is_one(cluster):
        return config_servers.facts_of(cluster, kept)
    if cluster.replica_set:
        return mongo.facts_of(cluster, kept)
    names = tuple(cluster.hosts)
    members = tuple(n for n in names if cluster.hosts[n].member)
    return Facts(
        at=1_700_000_000.0,
        cluster_id=CLUSTER,
        cluster_name="orders",
        members=members,
        candidates=tuple(n for n in names if n not in members),
        hosts=tuple(_host(cluster, cluster.hosts[n], i) for i, n in enumerate(names)),
        kept=kept,
    )


def _host(cluster: Cluster, host: Host, number: int) -> HostFacts:
    size = len(cluster.primaries())
    galera = GaleraFacts(
        node_name=host.name, state_uuid=CLUSTER, local_state_uuid=CLUSTER, cluster_name="orders",
        cluster_status="Primary" if host.primary else "non-Primary", cluster_size=size, conf_id=7,
        local_state=4, local_state_comment="Synced", ready=True, connected=True, desync_count=0,
        last_committed=host.seqno, cached_downto=max(0, host.seqno - 900), segment=0, weight=1,
        provider_vendor="Codership Oy <info@codership.com>", proto_max=11, gcache_size=128 * 2**20,
        node_address=f"10.0.0.{number + 1}", sst_method="mariabackup",
        reject_queries=host.variables.get("wsrep_reject_queries", "NONE"),
        sst_donor=host.variables.get("wsrep_sst_donor", ""),
    )  # fmt: skip
    server = ServerFacts(
        flavour=Flavour.MARIADB, version="10.11.18", version_key=(10, 11, 18), hostname=host.name, server_id=number + 1,
        uptime_s=86_400.0, started_at=1.0, datadir=DATADIR,
    )  # fmt: skip
    running = host.running and host.reachable
    return host_of(
        host=host.name,
        address=f"10.0.0.{number + 1}",
        node=NodeFacts(
            host=host.name,
            at=1_700_000_000.0,
            reach=Reach.NONE if not host.reachable else Reach.FULL if running else Reach.SSH_ONLY,
            server=server if running else None,
            galera=galera if running else None,
        ),
        node_name=host.name,
        is_root=True,
        may_change=True,
        root_login_works=True,
        server_up=running,
        unit_name="mariadb.service",
        unit_active_state="active" if running else "inactive",
        program_text="mariadbd Ver 10.11.18-MariaDB",
        program_version=(10, 11, 18),
        data_folder_path=DATADIR,
        data_folder_entries=30 if host.has_data else 0,
        data_size_in_bytes=5 * 10**8,
        data_folder_disk_free=host.free,
        temporary=(("/tmp", 10**9),),
        starting_line=StartLine("mariadb.service", words=LEFT_BEHIND if host.founds else ()),
        data_folder_disk_size=10**12,
        gcache_folder=DATADIR,
        gcache_disk_free=host.free,
        gcache_disk_size=10**12,
        gcache_page_size=128 * 2**20,
        gcache_pages=(),
        processes_hidden=False,
        balancers_hidden=False,
        links_tried=_links(cluster, host),
        grastate=Grastate(host.grastate_uuid or ZERO, host.grastate_seqno, bool(host.safe_to_bootstrap))
        if host.member
        else None,
        grastate_absent=not host.member,
        gvwstate=("view:3", host.view) if host.view else None,
        sst_in_progress=False,
        remembered=(Remembered(CLUSTER, host.seqno, 1.0),) if host.member else (),
        options_given=(
            ("mysqld", "server_id", str(number + 1)),
            ("mysqld", "log_slave_updates", "ON"),
            *_options(host),
        ),
        options_files=tuple(sorted(host.files.items())),
        drop_ins_files=(),
        sst_options_known=True,
        sst_options_given=tuple(one for one in _options(host) if one[0] == "sst"),
        sst_options_places=places(sorted(host.files.items())),
        transfer_pairs_socat="1.7.4.4",
        transfer_pairs_speaks_tls=True,
        transfer_pairs_any_name=True,
        transfer_pairs_folder=False,
        tools_there=("socat", "mariadb-backup", "mbstream", "rsync", "mariadbd", "zstd", "pigz"),
        capability_cores=4,
        capability_aes=True,
        capability_memory=16 * 2**30,
        capability_memory_free=8 * 2**30,
        capability_memory_server=2**30,
        capability_load=0.2,
        data_folder_owner=106,
        unit_restart="on-abnormal",
        timeout_stop_s=900.0,
        provider_options=((OPTION, host.frozen_at),) if running and host.frozen_at is not None else (),
        sessions_clients=number,
        longest_transaction_s=0.0,
        sessions_replicas=0,
        program_checked=True,
        sst_account_state="ok",
        balancers_found=("haproxy",) if host.orders else (),
        haproxies=_haproxies(cluster, host),
        rates=Rates(10_000.0, 10.0, 2.0),
        variables_values=(DIRTY, ("log_slave_updates", "ON")) if running else (),
        log_filters_said=() if running else None,
        log_filters_started=() if running else None,
        socket_login_works=True if running else None,
        log_filters_since=1 if running else None,
        trace=_trace(cluster, host),
        backups_found=_backups(),
        elsewhere_found=(),
        own_place_others="",
        volumes_disks=(DiskFacts("/", "/dev/sda1", 10**12, host.free),),
    )


def _links(cluster: Cluster, host: Host) -> tuple[Link, ...]:
    """Every way between the hosts was tried; nobody listens on the ports of a transfer."""
    others = ((name, f"10.0.0.{n}") for n, name in enumerate(cluster.hosts, 1) if name != host.name)
    return tuple(
        Link(name, address, port, "open" if port == GROUP_PORT and cluster.hosts[name].running else "refused")
        for name, address in others
        for port in PORTS
    )


def _backups() -> tuple[Backup, ...]:
    """A full backup and an incremental after it, as they say of themselves."""
    full = Backup(
        f"{BACKUPS}full", f"{BACKUPS}full", size=10**8, links=0, hard=0, packed=0, metas=0, spent=0, writers="",
        options="", mount="/", free=10**11, kind="full-backuped", from_lsn=0, to_lsn=5_000, last_lsn=5_100, uuid="b-0",
        server=(10, 11, 18), is_mariadb=True, tool=(10, 11, 18), began="2026-11-20 01:00:00",
        ended="2026-11-20 01:01:00", state_uuid=CLUSTER, seqno=RESTORED - LATER, gtid="0-1-980", partial=False,
        since="261120 1:01:00", by=3, log="mysql-bin.000005", own="longer", compressed=False,
    )  # fmt: skip
    later = replace(
        full, path=f"{BACKUPS}inc1", real=f"{BACKUPS}inc1", size=10**7, metas=9, kind="incremental", from_lsn=5_000,
        to_lsn=6_000, last_lsn=6_100, uuid="b-1", began="2026-11-20 02:00:00", ended="2026-11-20 02:01:00",
        seqno=RESTORED, gtid="0-1-990", since="261120 2:01:00", log="mysql-bin.000006", base=f"{BACKUPS}full",
    )  # fmt: skip
    return (full, later)


def _trace(cluster: Cluster, host: Host) -> Trace:
    """All have been in one Primary Component; one that parted made itself one of its own since, by hand."""
    everyone = tuple((name, name) for name in sorted(cluster.hosts))
    rest = tuple(member for member in everyone if not cluster.hosts[member[0]].parted)
    views = [PrimaryView(CLUSTER, 1, everyone)]
    if host.parted:
        views.append(PrimaryView(CLUSTER, host.seqno, ((host.name, host.name),), by_hand=True))
    elif len(rest) < len(everyone):
        views.append(PrimaryView(CLUSTER, max(h.seqno for h in cluster.hosts.values() if h.parted), rest))
    # Its last transaction is the seqno that a clean stop writes into grastate.dat: the file's claim is accounted for.
    marks = () if host.running or host.parted else (Mark(f"0-1-{host.seqno}", 1, "261122 6:00:00", host.seqno),)
    return Trace(tuple(views), marks, index=f"{DATADIR}/mysql-bin.index", log_told=True)


def _haproxies(cluster: Cluster, host: Host) -> tuple[Haproxy, ...]:
    addresses = {name: f"10.0.0.{number}" for number, name in enumerate(cluster.hosts, 1)}
    servers = tuple(
        HaproxyServer(
            "galera", name, addresses[name], 3306, "UP" if cluster.hosts[name].primary else "DOWN",
            {"ready": 0, "drain": 8, "maint": 1}[order], 1, host.sessions[name],
        )
        for name, order in host.orders.items()
    )  # fmt: skip
    return (Haproxy(STATS_SOCKET, "admin", "2.6.12", 7, servers),) if servers else ()


def _options(host: Host) -> tuple[tuple[str, str, str], ...]:
    found = []
    for _, text in sorted(host.files.items()):
        section = "mysqld"
        for line in text.splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif "=" in line:
                name, _, value = line.partition("=")
                found.append((section, name.strip().replace("-", "_"), value.strip()))
    return tuple(found)
