"""Every procedure with what it starts from, for the tests that break it everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.run_model import Question
from tests.faults.scripted import config_servers, mongo
from tests.faults.scripted.cluster import Cluster, balanced, crashed, parted, powered_off, stalled, whole
from tests.faults.scripted.running import Bench


@dataclass(frozen=True, slots=True)
class Case:
    """A procedure, its inputs, and how its cluster stands before."""

    title: str
    name: str
    inputs: tuple[tuple[str, str], ...]
    cluster: Callable[[], Cluster]
    confirmed: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()  # what a person types for an undo: bring back by SST, stop what took rows
    does: Callable[[Cluster, Question], str | None] | None = None  # what a person does when a step asks for it
    marks: bool = False  # taken back it stops a whole cluster: the last to leave is marked safe to bootstrap

    def bench(self) -> Bench:
        """Return a fresh bench."""
        inputs: Inputs = dict(self.inputs)
        return Bench(self.cluster(), self.name, inputs, self.confirmed, does=self.does)

    def bench_begun(self) -> Bench:
        """Return a fresh bench with its run approved."""
        bench = self.bench()
        bench.begin()
        return bench


def _ready_for_rejoin() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    return cluster


def _one_crashed() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _one_away_of_four() -> Cluster:
    cluster = whole("n1", "n2", "n3", "n4")
    cluster.stop(cluster.hosts["n4"])
    return cluster


def _drained() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.hosts["n2"].variables.update({"wsrep_reject_queries": "ALL", "wsrep_sst_donor": "n1,"})
    return cluster


def _spare_behind_haproxy() -> Cluster:
    cluster = balanced("n1", "n2", "n3", pooled=True)
    cluster.hosts["new"] = whole("n1", "n2", "n3", spare="new").hosts["new"]
    return cluster


def _encrypted_in_the_old_way() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    for host in cluster.hosts.values():
        host.files["/etc/mysql/conf.d/sst.cnf"] = "[sst]\nencrypt = 3\ntkey = /etc/mysql/old.pem\n"
    return cluster


CASES = (
    Case("desync", "desync-for-backup", (("node", "n3"),), lambda: whole("n1", "n2", "n3")),
    Case("desync behind haproxy", "desync-for-backup", (("node", "n3"),), lambda: balanced("n1", "n2", "n3")),
    Case(
        "freeze",
        "freeze-gcache",
        (("node", "n3"), ("donor", "n1")),
        lambda: whole("n1", "n2", "n3"),
        accepts=frozenset({"n3"}),
    ),
    Case(
        "rolling",
        "rolling-restart",
        (
            ("pause", "1 s"),
            ("soak", "5 s"),
        ),
        lambda: whole("n1", "n2", "n3"),
    ),
    Case(
        "rolling option",
        "rolling-restart",
        (("pause", "1 s"), ("soak", "5 s"), ("option", "max_connections"), ("value", "321"), ("desync", "yes")),
        lambda: whole("n1", "n2", "n3"),
    ),
    Case(
        "rolling behind haproxy",
        "rolling-restart",
        (
            ("pause", "1 s"),
            ("soak", "5 s"),
        ),
        lambda: balanced("n1", "n2", "n3"),
    ),
    Case(
        "rolling behind haproxy, sessions closed",
        "rolling-restart",
        (("pause", "1 s"), ("soak", "5 s"), ("nodes", "n2"), ("cut", "yes")),
        lambda: balanced("n1", "n2", "n3", pooled=True),
    ),
    Case(
        "rolling option behind haproxy",
        "rolling-restart",
        (("pause", "1 s"), ("soak", "5 s"), ("nodes", "n2"), ("option", "max_connections"), ("value", "321")),
        lambda: balanced("n1", "n2", "n3", pooled=False),
    ),
    Case(
        "rolling, sessions cut by the server",
        "rolling-restart",
        (
            ("pause", "1 s"),
            ("soak", "5 s"),
            ("nodes", "n2"),
            ("cut", "yes"),
            ("option", "max_connections"),
            ("value", "321"),
        ),
        lambda: whole("n1", "n2", "n3"),
    ),
    Case("rolling, drained before", "rolling-restart", (("pause", "1 s"), ("soak", "5 s"), ("nodes", "n2")), _drained),
    Case(
        "freeze behind haproxy",
        "freeze-gcache",
        (("node", "n3"), ("donor", "n1")),
        lambda: balanced("n1", "n2", "n3", pooled=True),
        accepts=frozenset({"n3"}),
    ),
    Case("add", "add-node", (("joiner", "new"),), lambda: whole("n1", "n2", "n3", spare="new")),
    Case("add behind haproxy", "add-node", (("joiner", "new"),), _spare_behind_haproxy),
    Case("rejoin", "add-node", (("joiner", "n3"),), _ready_for_rejoin),
    Case("backups", "rejoin-from-incrementals", (("joiner", "n3"), ("tables", "shop.orders")), _one_crashed),
    Case(
        "snapshot",
        "snapshot-node",
        (
            ("joiner", "n4"),
            ("donor", "n1"),
            ("take", "take"),
            ("offer", "offer"),
            ("bring", "bring"),
            ("remove", "remove"),
            ("settle", "1 s"),
        ),
        _one_away_of_four,
    ),
    Case(
        "snapshot of a new node",
        "snapshot-node",
        (
            ("joiner", "new"),
            ("donor", "n1"),
            ("take", "take"),
            ("bring", "bring"),
            ("remove", "remove"),
            ("settle", "1 s"),
        ),
        lambda: whole("n1", "n2", "n3", spare="new"),
    ),
    Case("rejoin after a crash", "add-node", (("joiner", "n3"),), _one_crashed),
    Case(
        "rejoin of a fork",
        "add-node",
        (("joiner", "n3"), ("loser", "n3")),
        lambda: parted("n1", "n2", "n3"),
        frozenset({"n3"}),
    ),
    Case(
        "bootstrap",
        "bootstrap-after-crash",
        (),
        lambda: crashed("n1", "n2", "n3", ahead=5),
        frozenset({"n3"}),
        accepts=frozenset({"stop n3"}),
    ),
    Case("form again", "bootstrap-after-crash", (), lambda: powered_off("n1", "n2", "n3"), marks=True),
    Case(
        "does not form again",
        "bootstrap-after-crash",
        (),
        lambda: powered_off("n1", "n2", "n3", mute="n1"),
        frozenset({"n3"}),
        accepts=frozenset({"stop n3"}),
    ),
    Case("encrypt", "encrypt-sst", (), lambda: whole("n1", "n2", "n3")),
    Case("encrypt, another mode before", "encrypt-sst", (("days", "400"),), _encrypted_in_the_old_way),
    Case("tune", "sst-tuning", (("donor", "n1"), ("joiner", "n2")), lambda: whole("n1", "n2", "n3")),
    Case(
        "tune, and prove it by a real SST",
        "sst-tuning",
        (("donor", "n2"), ("joiner", "n1"), ("trial", "n1")),
        lambda: whole("n1", "n2", "n3"),
        frozenset({"n1"}),
    ),
    Case(
        "rejoin from binlogs",
        "rejoin-from-binlogs",
        (
            ("joiner", "n3"),
            ("backup", "/srv/backup"),
            ("binlogs", "/srv/binlogs"),
            ("settle", "1 s"),
            ("tables", "shop.orders"),
        ),
        _one_crashed,
    ),
    Case(
        "protocol upgrade",
        "mongo-protocol-upgrade",
        (("clients", "yes"), ("backup", "yes"), ("steady", "5 s")),
        lambda: mongo.replica_set("m1", "m2", "m3"),
    ),
    Case(
        "rolling upgrade",
        "mongo-rolling-upgrade",
        (("version", mongo.NEW), ("clients", "yes"), ("backup", "yes"), ("calm", "5 s")),
        lambda: mongo.sharded("m1", "m2", "m3", router="r1"),
        does=mongo.replaces,
    ),
    Case(
        "config servers",
        "mongo-config-rs",
        (("new", "n1,n2"), ("name", "cfg"), ("backup", "/srv/copy"), ("no_ddl", "yes"), ("no_others", "yes")),
        lambda: config_servers.sharded("n1", "n2"),
        frozenset({"c1"}),
    ),
    Case(
        "config servers, MMAPv1",
        "mongo-config-rs",
        (("new", "n1,n2,n3"), ("name", "cfg"), ("backup", "/srv/copy"), ("no_ddl", "yes"), ("no_others", "yes")),
        lambda: config_servers.sharded("n1", "n2", "n3", engine="mmapv1"),
        frozenset({"c1"}),
    ),
    Case(
        "config servers, in a window",
        "mongo-config-rs",
        (("way", "window"), ("name", "cfg"), ("backup", "/srv/copy"), ("no_ddl", "yes"), ("no_others", "yes")),
        config_servers.sharded,
        frozenset({"r1"}),
    ),
    Case("make primary", "bootstrap-after-crash", (), lambda: stalled("n1", "n2", "n3"), frozenset({"n1"})),
)
