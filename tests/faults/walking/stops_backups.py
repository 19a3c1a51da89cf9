"""The states in which the three ways back without an SST refuse, and what their advice says to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from services.facts.galera.state_files import Grastate
from services.facts.server.read_rights import ReadRights
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.backups import Backups
from services.types import Flavour
from tests.faults.scripted.cluster import CLUSTER, Cluster, parted, whole
from tests.faults.scripted.rejoining import SURVEYED
from tests.faults.walking.spoils import backups, both, galera, noted, of_all, on, option, server, variable
from tests.faults.walking.walk import Spoil, Stop

OTHER = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"
FULL = 10 * 2**20
ALL, MEMBERS = ("n1", "n2", "n3"), ("n1", "n2")
LOGS, CHAIN, SHOT = "rejoin from binlogs", "backups", "snapshot"
_SST = "by SST with add-node"
_BACKUP = "backup uuid={} stands=50 version={} "


def surveyed(*pairs: tuple[str, str]) -> Callable[[], Cluster]:
    """Return what makes a cluster on which a run finds this instead in the backup and the binary logs."""

    def made() -> Cluster:
        cluster = whole(*ALL)
        cluster.kill(cluster.hosts["n3"])
        text = SURVEYED
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new, 1)
        cluster.hosts["n3"].surveyed = text
        return cluster

    return made


def _other_files(cluster: Cluster) -> None:
    """Let a person lay the right backup, or the right binary logs, in their place."""
    cluster.hosts["n3"].surveyed = ""


def judged(code: str, *pairs: tuple[str, str], needs: str) -> tuple[Stop, ...]:
    """Return the two ways out of what was found in the files: others in their place, or an SST by add-node."""
    made = surveyed(*pairs)
    way = Stop(code, LOGS, cluster=made, mend=_other_files, needs=needs, later=True)
    return (way, replace(way, way="elsewhere", needs=_SST))


def by_add_node(code: str, case: str, spoil: Spoil, needs: str = _SST) -> Stop:
    """Return a state out of which add-node leads, with everything as it is."""
    return Stop(code, case, spoil, way="elsewhere", needs=needs)


def later(**known: Any) -> Spoil:
    """Return what has the incremental be this instead."""
    return backups(later=known)


def _denied(facts: Facts) -> Facts:
    return of_all(ALL, lambda name: on(name, reader_rights=ReadRights("'watcher'@'%'")))(facts)


def _desynced(facts: Facts) -> Facts:
    return of_all(MEMBERS, lambda name: galera(name, local_state=2, local_state_comment="Donor/Desynced"))(facts)


def _third_of_another_time(facts: Facts) -> Facts:
    """Two incrementals, and the one that was made later is named first."""
    for host in facts.hosts:
        found = host[Backups].found or ()
        extra = replace(found[1], path="/backup/inc0", real="/backup/inc0", uuid="b-0.5", last_lsn=1)
        facts = on(host.host, backups_found=(*found, extra))(facts)
    return facts


NAMED = (("full", "/backup/full"), ("incrementals", "/backup/inc1"))
_PXC = both(
    of_all(MEMBERS, lambda name: server(name, flavour=Flavour.PXC, version="8.0.35-27", version_key=(8, 0, 35))),
    of_all(MEMBERS, lambda name: galera(name, provider_vendor="Percona")),
    of_all(ALL, lambda name: on(name, program_text="Percona XtraDB 8.0", program_version=(8, 0, 35))),
)
_OLD = both(
    of_all(MEMBERS, lambda name: server(name, version="10.3.39-MariaDB", version_key=(10, 3, 39))),
    of_all(ALL, lambda name: on(name, program_version=(10, 3, 39))),
)
_NONE_CACHES = of_all(MEMBERS, lambda name: galera(name, cached_downto=999))
# fmt: off
STOPS = (
    # -- a backup and binary logs: what nobody has looked into yet
    by_add_node("PXC-POSITION", LOGS, _PXC),
    by_add_node("GALERA-THREE", LOGS, _OLD),
    Stop("WAY", LOGS, on("n3", program_version=()), needs="Make sure that it can be read"),
    by_add_node("OWN-REACH", LOGS, on("n3", grastate=Grastate(CLUSTER, 1_000, safe_to_bootstrap=False)), "add-node"),
    by_add_node("OWN-LOG", LOGS, option("n3", "log_bin", "/logs/mysql-bin")),
    by_add_node("GTID-MODE", LOGS, option("n3", "wsrep_gtid_mode", "ON")),
    by_add_node("STREAMING", LOGS, variable("n1", "wsrep_trx_fragment_size", "10000")),
    Stop("BACKUP-TOOL", LOGS, on("n3", tools_there=("socat", "mbstream", "rsync", "mariadbd")), needs="Install"),
    Stop("PRIVATE-LOGIN", LOGS, of_all(MEMBERS, lambda n: on(n, socket_login_works=False, socket_login_who="root")),
         needs="unix_socket"),
    by_add_node("PRIVATE-LOGIN", LOGS, of_all(MEMBERS, lambda n: on(n, socket_login_works=False))),
    by_add_node("FILTERS", LOGS, option("n1", "binlog_ignore_db", "shop")),
    # -- what was found in them
    *judged("BACKUP-KIND", ("kind=full-backuped", "kind=packed"), needs="Decompress a copy"),
    *judged("BACKUP-USED", ("kind=full-backuped", "kind=full-prepared"), needs="the original backup again"),
    *judged("OTHER-UUID", (CLUSTER, OTHER), needs=_SST),
    *judged("SERVER-VERSION-JOINER", ("stands=50 version=10.11.18", "stands=50 version=10.11.17"),
            ("size=900000 version=10.11.18", "size=900000 version=10.11.17"), needs=_SST),
    *judged("DONE-BY", ("users=0 userat=-", "users=2 userat=700"), needs="override this check"),
    Stop("DONE-BY", LOGS, cluster=surveyed(("users=0 userat=-", "users=2 userat=700")), later=True, way="accepted",
         needs="override this check if they are harmless"),
    Stop("HOLES", LOGS, cluster=surveyed(("missing=0", "missing=90")), mend=_other_files, later=True,
         needs="another node, or a newer backup"),
    Stop("WRITER", LOGS, cluster=surveyed((" by=1 ", " by=9 ")), mend=_other_files, later=True,
         needs="binary logs of a member"),
    Stop("FILTERS-THEN", LOGS, on("n1", log_filters_since=1_900_000_000), later=True, needs="has run since before"),
    Stop("FILTERS-THEN", LOGS, on("n1", log_filters_since=1_900_000_000), later=True, way="accepted",
         needs="know that no filter was set"),
    Stop("FILTERED", LOGS, on("n1", log_filters_said=(("binlog_ignore_db", "shop"),)), later=True, way="elsewhere",
         needs=_SST),
    *judged("AHEAD", ("last=990", "last=5000"), (",990~261122", ",5000~261122"), needs=_SST),
    Stop("IST-REACHES", LOGS, of_all(MEMBERS, lambda n: galera(n, cached_downto=2)), later=True, way="elsewhere",
         then="rejoin-from-incrementals", needs="rejoin-from-incrementals"),
    Stop("RACE", LOGS, of_all(MEMBERS, lambda n: galera(n, cached_downto=999)), later=True, way="elsewhere",
         needs=_SST),
    Stop("DISK-ROOM", LOGS, on("n3", data_folder_disk_free=FULL), later=True, needs="Free disk space"),
    # -- a chain of backups
    Stop("BACKUP-OPTIONS", CHAIN, later(options="plugin_load=x"), needs="by SST with add-node"),
    by_add_node("BACKUP-OPTIONS", CHAIN, later(options="plugin_load=x"), "add-node"),
    Stop("BACKUP-USED", CHAIN, later(spent=1), inputs=NAMED, needs="the original backup again"),
    Stop("CHAIN-FULL", CHAIN, inputs=(("full", "/backup/inc1"), ("incrementals", "/backup/full")), way="other",
         needs="the full backup first"),
    Stop("CHAIN-ORDER", CHAIN, _third_of_another_time, way="other", needs="from the oldest",
         inputs=(("full", "/backup/full"), ("incrementals", "/backup/inc1,/backup/inc0"))),
    Stop("CHAIN-MISSING", CHAIN, later(from_lsn=5_001), inputs=NAMED, needs="begins where the previous one"),
    Stop("CHAIN-LSN", CHAIN, later(from_lsn=4_999), inputs=NAMED, needs="based on this"),
    Stop("CHAIN-NODE", CHAIN, later(by=1), inputs=NAMED, needs="started after the node's last SST"),
    Stop("CHAIN-NODE", CHAIN, later(own="absent"), inputs=NAMED, way="accepted", needs="shows no SST between them"),
    Stop("DISK-ROOM", CHAIN, on("n3", data_folder_disk_free=FULL, volumes_disks=()), needs="Free disk space"),
    Stop("DONOR-SYNCED", CHAIN, _desynced, needs="Wait until a member is Synced"),
    Stop("IST-REACH", CHAIN, _NONE_CACHES, needs="Take another incremental"),
    by_add_node("IST-REACH", CHAIN, _NONE_CACHES, "by SST with add-node"),
    Stop("SETTINGS", CHAIN, both(option("n3", "lower_case_table_names", "1"),
                                 variable("n1", "lower_case_table_names", "0")), needs="to the members'"),
    Stop("COMPARE", CHAIN, _denied, needs="GRANT SELECT"),
    Stop("OLD-DATA", CHAIN, cluster=lambda: parted(*ALL), way="elsewhere", then="add-node, which settles it",
         needs="Use add-node first", confirmed=frozenset({"n3"})),
    Stop("ASIDE", CHAIN, noted("n3", "kept-aside"), needs="Remove or rename"),
    Stop("ONE-FOLDER", CHAIN, option("n3", "innodb_undo_directory", "/undo"), needs="by SST"),
    by_add_node("ONE-FOLDER", CHAIN, option("n3", "innodb_undo_directory", "/undo"), "by SST with add-node"),
    Stop("OLD-LINKED", CHAIN, on("n3", elsewhere_found=("shop/orders.isl",)), needs="with its target"),
    by_add_node("OLD-LINKED", CHAIN, on("n3", elsewhere_found=("shop/orders.isl",))),
    Stop("OWN-PLACE", CHAIN, on("n3", own_place_others="/srv is group-writable"), needs="chown root:root"),
    by_add_node("OWN-PLACE", CHAIN, on("n3", own_place_others="/srv is group-writable")),
    # -- a snapshot
    Stop("ONE-VOLUME", SHOT, variable("n1", "innodb_undo_directory", "/undo"), needs="to the data folder"),
    Stop("OWN-FILES", SHOT, option("n4", "ssl_cert", "/var/lib/mysql/cert.pem"), needs="Move the certificates"),
    Stop("ROOT-LOGIN", SHOT, on("n1", root_login_works=False), needs="unix_socket"),
    Stop("DONOR-WRITER", SHOT, both(on("n1", sessions_clients=9), on("n2", sessions_clients=0)),
         needs="another donor"),
    Stop("IST-REACH", SHOT, of_all(ALL, lambda n: galera(n, gcache_size=2**20)), needs="quieter time"),
    Stop("JOINER-CONFIGURED", SHOT, on("n4", options_given=()), needs="in its option files"),
)
# fmt: on
