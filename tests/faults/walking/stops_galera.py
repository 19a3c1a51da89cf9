"""The states in which what only some procedures of Galera ask refuses, and what its advice says to do."""

from __future__ import annotations

from dataclasses import replace

from services.facts.model import DiskFacts, GaleraMember
from services.facts.replication.write_rate import Rates
from services.facts.transfer.sst_options import Place
from services.procedures.plan.host_facts import Facts, Named
from tests.faults.scripted.cluster import CLUSTER, DATADIR, Cluster, crashed, whole
from tests.faults.walking.spoils import both, galera, machine, of_all, on, option, server
from tests.faults.walking.walk import Stop

OTHER = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"
ALL, MEMBERS = ("n1", "n2", "n3"), ("n1", "n2")
CRASH, TUNE, TRIAL = "bootstrap", "tune", "tune, and prove it by a real SST"


def _nobody_recovers() -> Cluster:
    cluster = crashed(*ALL, ahead=5)
    for host in cluster.hosts.values():
        host.broken = True
    return cluster


def _repaired(cluster: Cluster) -> None:
    for host in cluster.hosts.values():
        host.broken = False


def _recovered_another(facts: Facts) -> Facts:
    """What the server of n3 recovers is a position of another cluster."""
    return replace(facts, kept=tuple((name, value.replace(CLUSTER, OTHER)) for name, value in facts.kept))


def _packs_nothing(facts: Facts) -> Facts:
    """What zstd made of the sample is as large as it was."""
    return replace(facts, kept=tuple((name, value.replace(":24000000:", ":59900000:")) for name, value in facts.kept))


def _moved_away(cluster: Cluster) -> None:
    cluster.hosts["n3"].has_data, cluster.hosts["n3"].grastate_uuid = False, ""


def _hangs() -> Cluster:
    cluster = whole(*ALL)
    cluster.hosts["n3"].primary = False
    return cluster


def _stopped(cluster: Cluster) -> None:
    cluster.stop(cluster.hosts["n3"])


def _a_third(cluster: Cluster) -> None:
    cluster.hosts |= {"n3": whole(*ALL).hosts["n3"]}


def _far_behind() -> Cluster:
    cluster = whole(*ALL)
    cluster.stop(cluster.hosts["n3"])
    cluster.write(5_000)
    return cluster


def _ahead() -> Cluster:
    cluster = whole(*ALL)
    cluster.stop(cluster.hosts["n3"])
    cluster.hosts["n3"].seqno += 5
    cluster.hosts["n3"].grastate_seqno += 5
    return cluster


def _unfit_for_keeping(facts: Facts) -> Facts:
    """The data folder is a separate file system, and n3 was away for too long for an IST."""
    return both(machine("n3", data_disk=_MOUNT), of_all(MEMBERS, lambda n: galera(n, cached_downto=5_900)))(facts)


def _unasked(facts: Facts) -> Facts:
    """n3 runs, nobody may log in to it, and the others count it."""
    node = facts.host("n3").node
    assert node is not None
    silent = on("n3", server_up=True, node=replace(node, server=None, galera=None))
    return both(silent, of_all(MEMBERS, lambda name: galera(name, cluster_size=3)))(facts)


def named(facts: Facts) -> Facts:
    """Return facts in which a log names a fourth member, that nobody asked."""
    return replace(facts, named=(Named("n9", ("n9",), ("10.0.0.9",), by=("the log of n1",)),))


def _more_in_its_tables(facts: Facts) -> Facts:
    """The members' own tables name a fourth one as well: the component does not rule it out."""
    rows = tuple(GaleraMember(name=name) for name in (*ALL, "n9"))
    serving = tuple(host.host for host in facts.hosts if host.node is not None and host.node.galera is not None)
    return named(of_all(serving, lambda name: galera(name, members=rows))(facts))


def _twice(facts: Facts) -> Facts:
    places = (Place("/etc/a.cnf", "sst", "encrypt", "4", 1), Place("/etc/b.cnf", "sst", "encrypt", "4", 1))
    return on("n1", sst_options_places=places)(facts)


_MOUNT = DiskFacts(DATADIR, "/dev/vdb", 10**12, 10**11)
# fmt: off
STOPS = (
    # -- every node is down
    Stop("CHOSEN-BEHIND", CRASH, inputs=(("bootstrap", "n1"),), way="answered", later=True, needs="ahead",
         confirmed=frozenset({"n1", "n2"})),
    Stop("CHOSEN-BEHIND", CRASH, inputs=(("bootstrap", "n1"),), way="accepted", later=True, needs="override this check",
         confirmed=frozenset({"n1", "n2", "lose 5 of n3"})),
    Stop("NO-CANDIDATE", CRASH, cluster=_nobody_recovers, mend=_repaired, later=True, needs="yourself",
         confirmed=frozenset({"without n1", "without n2", "without n3"})),
    Stop("JOINS-FIRST", CRASH, on("n1", options_given=(("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.2"),)),
         later=True, needs="to wsrep_cluster_address of n1"),
    Stop("NAMED-MEMBERS", CRASH, named, way="answered", needs="certainly off", confirmed=frozenset({"without n9"})),
    Stop("NAMED-MEMBERS", CRASH, named, needs='retired = ["n9"]'),
    Stop("NAMED-MEMBERS", "rolling", _more_in_its_tables, way="answered", needs="certainly off"),
    Stop("NAMED-MEMBERS", "rejoin", _more_in_its_tables, needs='retired = ["n9"]'),
    # -- a joiner
    Stop("RECOVERED-HISTORY", "rejoin after a crash", _recovered_another, later=True, mend=_moved_away,
         needs="move them away"),
    Stop("JOINER-RUNS", "rejoin", _unasked, cluster=_hangs, mend=_stopped, needs="Give the console a login"),
    Stop("PROVIDER-PROTOCOL", "rejoin", galera("n3", proto_max=8), cluster=_hangs, needs="same provider"),
    Stop("SERVER-UUID", "rejoin", of_all(ALL, lambda name: server(name, server_uuid="u-1")), cluster=_hangs,
         needs="Delete auto.cnf"),
    Stop("SST-SECRETS", "add", option("n1", "encrypt_key", "***", section="sst"), needs="Write encrypt_key"),
    Stop("DONOR-PREFIX", "rolling", on("n2", node_name="n33"), needs="rename one"),
    # -- a rolling restart
    Stop("CLUSTER-SIZE", "rolling", cluster=lambda: whole("n1", "n2"), mend=_a_third, needs="Add a node"),
    Stop("IST-REACH-N1", "rolling", of_all(ALL, lambda name: on(name, rates=Rates(10**9, 10.0, 2.0))),
         needs="Freeze the cache"),
    # -- transfers
    Stop("TLS-PAIR", "encrypt", inputs=(("source", "servers"),), way="other", needs="let Pilothouse create"),
    Stop("ONE-CA", "encrypt", inputs=(("source", "servers"),), way="other", needs="let Pilothouse create"),
    Stop("SST-MODE", "encrypt", of_all(ALL, lambda name: on(name, sst_options_given=(("sst", "encrypt", "9"),))),
         needs="the purpose of this value"),
    Stop("SST-ONE-PLACE", "encrypt", _twice, needs="Keep one of the settings"),
    Stop("COMPRESSOR-MISMATCH", TUNE, on("n2", sst_options_given=(("sst", "compressor", "zstd"),)),
         needs="on all nodes"),
    Stop("COMPRESSED-TWICE", TUNE, of_all(ALL, lambda name: on(name, sst_options_given=(("sst", "compress", "x"),))),
         inputs=(("compressor", "zstd"),), needs="Remove compress"),
    Stop("TUNING-TOOLS", TUNE, on("n2", tools_there=("socat", "mariadb-backup", "mbstream", "mariadbd", "pigz")),
         inputs=(("compressor", "zstd"),), needs="Install them"),
    Stop("USE-MEMORY", TUNE, on("n2", capability_memory_free=2**20), inputs=(("prepare_memory", "4 GiB"),),
         needs="Enter less"),
    Stop("USE-MEMORY", TUNE, inputs=(("prepare_memory", "400 GiB"),), way="other", needs="leave the field empty"),
    Stop("RATIO", TUNE, _packs_nothing, inputs=(("compressor", "zstd"),), later=True, way="other",
         needs="Leave the choice of the compressor"),
    Stop("TRIAL-NODE", TRIAL, on("n1", sessions_clients=7), needs="from the load balancer"),
    Stop("FREEZE-SEQNO", "freeze", inputs=(("mode", "seqno"), ("seqno", "1")), way="other", needs="Choose 'now'"),
    Stop("KEEP-DATA", "rejoin", _unfit_for_keeping, cluster=_far_behind,
         inputs=(("keep_data", "yes"), ("sst_ok", "yes")), way="answered", needs="Copy the files that you need"),
    Stop("KEEP-DATA", "rejoin", machine("n3", data_disk=_MOUNT), cluster=_ahead, way="answered", needs="Discard",
         inputs=(("keep_data", "no"), ("sst_ok", "yes")), confirmed=frozenset({"n3"})),
)
# fmt: on
