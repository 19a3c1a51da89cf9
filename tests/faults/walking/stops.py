"""The states in which the checks of the catalogue refuse, and what their advice says to do."""

from __future__ import annotations

from services.facts.galera.state_files import Grastate
from services.procedures.plan.host_facts import LockSeen
from services.procedures.plan.parts.galera.drop_ins import HOLD
from services.procedures.plan.parts.galera.links import Link
from services.types import Flavour
from tests.faults.scripted.cluster import CLUSTER, OPTION, ZERO, Cluster, crashed, whole
from tests.faults.walking.spoils import (
    alone_behind_haproxy,
    backups,
    both,
    galera,
    haproxy,
    machine,
    noted,
    on,
    server,
)
from tests.faults.walking.walk import Stop


def _one_outside() -> Cluster:
    cluster = whole("n1", "n2", "n3", "n4")
    cluster.stop(cluster.hosts["n3"])
    cluster.hosts["n4"].primary = False
    return cluster


def _stop_outside(cluster: Cluster) -> None:
    cluster.stop(cluster.hosts["n4"])


def _far_behind() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    cluster.write(5_000)
    return cluster


def _one_serves() -> Cluster:
    cluster = crashed("n1", "n2", "n3", ahead=5)
    cluster.hosts["n3"].safe_to_bootstrap = 1
    cluster.start(cluster.hosts["n3"], new_cluster=True)
    return cluster


def _stop_serving(cluster: Cluster) -> None:
    cluster.stop(cluster.hosts["n3"])


def _one_dark() -> Cluster:
    cluster = crashed("n1", "n2", "n3", ahead=5)
    cluster.hosts["n1"].reachable = False
    return cluster


def _all_gave_up() -> Cluster:
    cluster = crashed("n1", "n2", "n3")
    for host in cluster.hosts.values():
        host.grastate_uuid = ZERO
    return cluster


OURS = ("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1")
FULL = 10 * 2**20
OTHER = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"
# fmt: off
STOPS = (
    # -- may the console act, and does nobody else
    Stop("OPERATOR-RIGHTS", "rolling", on("n2", is_root=False), needs="sudo"),
    Stop("CONFIG-VALID", "rolling", on("n2", program_fault="unknown variable 'x'"), needs="Correct the option"),
    Stop("HEALTH-GATE", "rolling", galera("n2", desync_count=1), needs="Bring the members back"),
    Stop("NO-TRANSFER-OR-DDL", "rolling", on("n2", sessions_ddl=("ALTER TABLE t",)), needs="Wait until it has ended"),
    Stop("SST-ORPHANS", "rolling", on("n2", sst_orphans=((7, 9.0, "wsrep_sst_mariabackup"),)), needs="End process 7"),
    Stop("DONOR-NAMES", "rolling", galera("n2", sst_donor="10.0.0.1"), needs="List member names"),
    Stop("FOREIGN-PROVIDER", "rolling", galera("n2", provider_vendor="Percona"), needs="Install the provider"),
    Stop("PRODUCT", "rolling", server("n2", flavour=Flavour.CODERSHIP), needs="manual instead"),
    Stop("TEMP-SPACE", "rolling", on("n2", temporary=(("/tmp", 0),)), needs="Free at least"),
    Stop("DISK-FREE", "rolling", on("n2", data_folder_disk_free=FULL), needs="Free disk space"),
    Stop(
        "FORCED-RECOVERY",
        "rolling",
        on("n2", options_given=(("mysqld", "innodb_force_recovery", "1"),)),
        needs="Remove it from the option files",
    ),
    Stop(
        "JOINS-OTHERS",
        "rolling",
        on("n2", options_given=(("mysqld", "wsrep_new_cluster", "ON"),)),
        needs="remove wsrep_new_cluster",
    ),
    Stop("NAMES", "rolling", on("n2", names=(("n2.example", False),)), needs="Repair DNS"),
    # -- a joiner
    Stop("VERSIONS", "rejoin", on("n3", program_version=(10, 5, 9)), needs="Install the members' version"),
    Stop(
        "PROVIDER-FILE",
        "rejoin",
        on(
            "n3",
            traffic_files_sizes=(("/usr/lib/galera/lib.so", None),),
            options_given=(("mysqld", "wsrep_provider", "/usr/lib/galera/lib.so"),),
        ),
        needs="Install the Galera package",
    ),
    Stop("SST-TOOLS", "rejoin", on("n3", tools_there=("rsync",)), needs="Install"),
    Stop("SST-ACCOUNT", "rejoin", on("n1", sst_account_state="refused"), needs="correct its password"),
    Stop("CRASH-CAUSE", "bootstrap", on("n3", data_folder_disk_free=FULL), needs="Free disk space"),
    Stop("DISK-FREE", "add", on("new", data_folder_disk_free=FULL), needs="Free disk space"),
    Stop("RUNS-OUTSIDE", "rejoin", cluster=_one_outside, mend=_stop_outside, needs="or stop its server"),
    Stop("LOCK-FREE", "rolling", on("n2", lock=LockSeen("a", "7", None, "rolling-restart", CLUSTER)), needs="Wait"),
    Stop("CLOCKS", "rejoin", machine("n2", clock_offset_s=90.0), needs="chrony"),
    Stop("DATADIR-FOREIGN", "rejoin", on("n3", grastate=Grastate(OTHER, 5, safe_to_bootstrap=False)), needs=""),
    Stop("PORTS", "rejoin", on("n3", links_tried=(Link("n1", "10.0.0.1", 4567, "filtered"),)), needs="these ports"),
    Stop("TRAFFIC-TLS", "rejoin", on("n1", provider_options=(("socket.ssl", "yes"),)), needs="socket.ssl"),
    Stop(
        "TRAFFIC-FILES",
        "rejoin",
        on(
            "n3",
            options_given=(("sst", "tca", "/etc/mysql/ca.pem"), OURS),
            traffic_files_sizes=(("/etc/mysql/ca.pem", None),),
        ),
        needs="Copy the files",
    ),
    Stop("NODE-NAME", "add", inputs=(("node_name", "n1"),), way="other", needs=""),
    Stop("ASIDE-FREE", "add", noted("new", "kept-aside"), needs=""),
    Stop(
        "CLUSTER-NAME",
        "rejoin",
        on(
            "n3",
            options_given=(
                ("mysqld", "wsrep_cluster_name", "other"),
                ("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1"),
            ),
        ),
        needs="Correct the option files",
    ),
    Stop("HISTORY", "rejoin of a fork", inputs=(("loser", ""),), way="answered", needs="Discard the transactions"),
    Stop("TRANSFER", "rejoin after a crash", cluster=_far_behind, inputs=(("sst_ok", "no"),), way="answered"),
    # -- every node is down
    Stop("PRIMARY-EXISTS", "bootstrap", cluster=_one_serves, mend=_stop_serving, needs="Or discard n3"),
    Stop(
        "UNREACHABLE-MEMBERS",
        "bootstrap",
        cluster=_one_dark,
        way="answered",
        needs="certainly off",
        confirmed=frozenset({"without n1"}),
    ),
    Stop(
        "NULL-UUID",
        "bootstrap",
        both(*(on(name, tablespace=True) for name in ("n1", "n2", "n3"))),
        cluster=_all_gave_up,
        way="answered",
        needs="on your confirmation",
        confirmed=frozenset({"trust n1", "n1", "n2", "n3"}),
    ),
    Stop("EMPTY-NODE", "bootstrap", on("n3", data_folder_entries=0), inputs=(("bootstrap", "n3"),), needs="Choose"),
    Stop("UUID-MISMATCH", "bootstrap", on("n1", grastate=Grastate(OTHER, 5, safe_to_bootstrap=False))),
    Stop(
        "NETWORK-FIRST",
        "make primary",
        on("n1", links_tried=(Link("n2", "10.0.0.2", 4567, "filtered"),)),
        needs="Repair the network",
    ),
    Stop("PORTS", "bootstrap", on("n1", links_tried=(Link("n2", "10.0.0.2", 4567, "filtered"),)), needs="Repair"),
    # -- transfers
    Stop("SST-METHOD", "encrypt", galera("n2", sst_method="rsync"), needs="mariabackup"),
    Stop("TLS-PROGRAMS", "encrypt", on("n2", transfer_pairs_speaks_tls=False), needs="Install a socat"),
    Stop("SST-ALIKE", "encrypt", on("n2", sst_options_given=(("sst", "encrypt", "3"),)), needs="equal"),
    Stop("JOINS-HELD", "encrypt", on("n2", drop_ins_files=(HOLD,)), needs="Resume or undo"),
    Stop("NO-SST", "encrypt", on("n2", sst_orphans=((7, 9.0, "wsrep_sst_mariabackup"),)), needs="Wait"),
    Stop("OTHERS-STAY", "desync", cluster=lambda: whole("n2", "n3"), way="accepted", needs="override this check"),
    # -- a donor's cache
    Stop("FREEZE-CAPABILITY", "freeze", on("n1", provider_options=()), needs=""),
    Stop("FREEZE-SEEN", "freeze", on("n1", provider_options=((OPTION, "77"),)), needs="Find out who froze it"),
    Stop("FREEZE-DISK", "freeze", on("n1", gcache_disk_free=FULL), needs="free disk space"),
    Stop("DONOR-STAYS", "freeze", inputs=(("donor_stays", "no"),), way="other", needs="Answer yes"),
    # -- a balancer
    Stop("HAPROXY-LEVEL", "rolling behind haproxy", haproxy(level="user"), needs="level admin"),
    Stop(
        "HAPROXY-NODES",
        "rolling behind haproxy",
        on("lb", haproxies=()),
        inputs=(("drain", "haproxy"),),
        needs="backend",
    ),
    Stop(
        "OPTION",
        "rolling option",
        inputs=(("option", "innodb_force_recovery"), ("value", "1")),
        way="other",
        needs="Set it manually",
    ),
    # -- ways back from backups
    Stop("BACKUP-FOUND", "backups", on("n3", backups_found=())),
    Stop("BACKUP-CLUSTER", "backups", backups(full={"state_uuid": OTHER}, later={"state_uuid": OTHER})),
    Stop("BACKUP-SERVER", "backups", backups(full={"server": (10, 5, 1)}, later={"server": (10, 5, 1)})),
    Stop("BACKUP-PACKED", "backups", backups(full={"packed": 5}, later={"packed": 5})),
    Stop("BACKUP-LINKED", "backups", backups(full={"links": 5})),
    Stop("BACKUP-POSITION", "backups", backups(full={"seqno": None}, later={"seqno": None})),
    Stop("JOINER-STOPPED", "backups", on("n3", server_up=True)),
    Stop("STOPPED", "rejoin from binlogs", on("n3", server_up=True)),
    # -- others
    Stop("SST-SECTION", "rejoin", on("n3", options_given=(OURS, ("sst", "encrypt", "4")))),
    Stop("HAPROXY-OTHERS", "rolling behind haproxy", alone_behind_haproxy),
    Stop("GUARD-LOGIN", "freeze", on("n1", root_login_works=False), way="answered"),
    Stop("TRIAL-DISK", "tune, and prove it by a real SST", on("n1", data_folder_disk_free=FULL)),
    Stop("SAME-SERVER", "snapshot", on("n4", program_version=(10, 5, 9))),
    Stop("NO-DDL", "config servers", inputs=(("no_ddl", "no"),), way="other"),
)
# fmt: on
