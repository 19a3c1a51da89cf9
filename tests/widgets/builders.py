"""Synthetic snapshots for the window's tests and pictures: what discovery would say of situations a lab shows slowly.

They prove drawing and behaviour of widgets only, never what a server does.
"""

from __future__ import annotations

import random
from dataclasses import replace

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.replication.kind import ASYNC
from services.discovery.families.single.kind import SINGLE
from services.discovery.judgement.states import BY_WORD
from services.discovery.model import (
    NO_PRIMARY,
    TWO_PRIMARIES,
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    ObserverView,
    ReplicationEdge,
    TransferEdge,
)
from services.facts.model import (
    NodeFacts,
    Problem,
)
from services.types import Flavour, Health, Reach, worst
from tests.widgets.builders_facts import (
    AT,
    STATE_UUID,
    facts,
    replica_facts,
)
from widgets.common.spark import Spark
from widgets.topology.node_item import SPARK_AREA

Numbers = tuple[tuple[str, str, Health], ...]

GOOD, TRANSFER, WARN, BAD, UNKNOWN = Health.GOOD, Health.TRANSFER, Health.WARN, Health.BAD, Health.UNKNOWN


def spark(seed: int, kind: str = "flat", points: int = 60) -> tuple[float, ...]:
    """Return a minute of made-up samples: 'flat' noise, 'ramp' or 'step'."""
    rng = random.Random(seed)
    out = []
    value = 10.0
    for i in range(points):
        value += rng.uniform(-1, 1) - (value - 10.0) * 0.08
        rise = {"flat": 0.0, "ramp": max(0.0, i - points / 2) * 1.2, "step": 18.0 if i > points / 3 else 0.0}[kind]
        out.append(max(0.0, value + rise))
    return tuple(out)


def sparks(cluster: ClusterSnapshot) -> dict[str, Spark]:
    """Return a spark for every node that answers."""
    return {
        node.node_id: Spark(spark(i, "ramp" if node.health is TRANSFER else "flat"), SPARK_AREA)
        for i, node in enumerate(cluster.nodes)
        if node.reach is Reach.FULL
    }


def node(
    name: str,
    state: str = "Synced",
    health: Health = GOOD,
    *,
    role: str = "",
    segment: int | None = 0,
    component: str = "pc",
    numbers: Numbers | None = None,
    queue: int = 0,
) -> NodeView:
    """Return a Galera node that answers."""
    shown = (
        (
            ("receive queue", f"{queue:,}".replace(",", "\u202f"), GOOD),
            ("flow control", "0.0 %", GOOD),
            ("IST reach", "9 h 20 min", GOOD),
        )
        if numbers is None
        else numbers
    )
    return NodeView(
        node_id=name,
        name=name,
        host=name,
        address="10.20.0.12:3306",
        state=state,
        code=BY_WORD.get(state, ""),
        health=health,
        role=role,
        state_since=AT - 372,
        component=component,
        segment=segment,
        reach=Reach.FULL,
        numbers=shown,
        seen_by=("db1", "db2", "db3"),
        spark_metric="wsrep_local_recv_queue",
        facts=facts(name, state=state, queue=queue, segment=segment or 0),
    )


def lost(name: str, state: str, health: Health, reason: str, *, age: float = 14.0, segment: int | None = 0) -> NodeView:
    """Return a node that does not answer; its last facts are `age` seconds old."""
    return NodeView(
        node_id=name,
        name=name,
        host=name,
        address="10.20.0.13:3306",
        state=state,
        code=BY_WORD.get(state, ""),
        health=health,
        reason=reason,
        state_since=AT - age,
        segment=segment,
        reach=Reach.NONE,
        numbers=(("receive queue", "3", GOOD), ("flow control", "0.2 %", GOOD), ("IST reach", "31 min", WARN)),
        facts=facts(name, age=age),
    )


def galera(
    nodes: tuple[NodeView, ...], components: tuple[Component, ...] | None = None, name: str = "orders"
) -> ClusterSnapshot:
    """Return a Galera cluster; without `components` all nodes are one primary component."""
    members = tuple(n.node_id for n in nodes if n.component == "pc")
    if components is None:
        components = (
            Component(
                "pc",
                True,
                members,
                observers=members,
                votes=len(members),
                votes_known=len(members) + sum(n.reach is Reach.NONE for n in nodes),
                may_lose=(len(members) - 1) // 2,
                view_id="214",
                segments=tuple(sorted({n.segment or 0 for n in nodes})),
            ),
        )
    seen = ", ".join(members[:3])
    return ClusterSnapshot(
        cluster_id=STATE_UUID if name == "orders" else name,
        kind=GALERA,
        name=name,
        at=AT - 0.6,
        flavour=Flavour.MARIADB,
        version="10.11.14",
        nodes=nodes,
        components=components,
        agreement=f"Seen from {seen} (they agree)",
        health=worst(tuple(n.health for n in nodes)),
    )


def healthy() -> ClusterSnapshot:
    """Return three nodes, one component, nothing wrong."""
    return galera((node("db1", role="writer"), node("db2"), node("db3")))


def sst_running() -> ClusterSnapshot:
    """Return the situation of the design's picture: SST from db2 to db4, a replica behind db3, an arbitrator lost."""
    donor = node(
        "db2",
        "Donor/Desynced",
        TRANSFER,
        queue=1284,
        numbers=(
            ("receive queue", "1\u202f284", GOOD),
            ("flow control", "none: desynced", GOOD),
            ("IST reach", "7 h 05 min", GOOD),
        ),
    )
    joiner = node(
        "db4",
        "Joiner: receiving SST",
        TRANSFER,
        numbers=(
            ("received", "42 of 118 GB", GOOD),
            ("rate", "186 MB/s", GOOD),
            ("then catch up", "about 9 min", GOOD),
        ),
    )
    third = node(
        "db3",
        segment=1,
        numbers=(("receive queue", "3", GOOD), ("flow control", "0.2 %", GOOD), ("IST reach", "31 min", WARN)),
    )
    garb = replace(
        lost("garb1", "not seen by any node", UNKNOWN, "4 votes left of 5", age=394.0),
        facts=None,
        numbers=(),
        segment=None,
    )
    report = replace(
        node(
            "report1",
            "replica of db3",
            role="read only",
            component="",
            segment=None,
            numbers=(("lag", "0.4 s", GOOD), ("GTID gap", "12 transactions", GOOD), ("relay log", "96 MB", GOOD)),
        ),
        facts=replica_facts("report1"),
    )
    cluster = galera((node("db1", role="writer"), donor, third, joiner, garb, report))
    return replace(
        cluster,
        replication=(ReplicationEdge("db3", "report1", "", GOOD, "Yes", "Yes", lag_s=0.4, gtid_gap=12),),
        transfers=(
            TransferEdge(
                "db2",
                "db4",
                "SST",
                "mariabackup",
                since=AT - 300,
                bytes_done=42_000_000_000,
                bytes_total=118_000_000_000,
                rate=186e6,
                eta_s=410.0,
            ),
        ),
    )


def partitioned() -> ClusterSnapshot:
    """Return db3 cut off: it answers the console but sees only itself; the observers disagree."""
    island = node("db3", "non-Primary", BAD, component="island", numbers=(("receive queue", "0", GOOD),))
    island = replace(island, reason="db3 sees only itself since 02:31:07; it refuses queries", seen_by=("db3",))
    nodes = (node("db1", role="writer"), node("db2"), island)
    components = (
        Component("pc", True, ("db1", "db2"), ("db1", "db2"), 2, 3, 0, "215", (0,)),
        Component("island", False, ("db3",), ("db3",), 1, 3, None, "215", (0,)),
    )
    return replace(
        galera(nodes, components),
        observers_agree=False,
        agreement="db1 and db2 see each other; db3 sees only itself",
        views=(
            ObserverView(("db1", "db2"), ("db1", "db2"), True, "db1 and db2 see db1 and db2: Primary, 2 of 3 votes"),
            ObserverView(("db3",), ("db3",), False, "db3 sees only itself: non-Primary, 1 of 3 votes"),
        ),
        health=BAD,
    )


def split() -> ClusterSnapshot:
    """Return db1 and db2 beside db3, both sides Primary: each takes writes that the other does not have."""
    apart = "another primary component accepts writes separately from this one: {0}"
    nodes = (
        replace(node("db1", health=BAD), reason=apart.format("db3")),
        replace(node("db2", health=BAD), reason=apart.format("db3")),
        replace(node("db3", health=BAD, component="pc-2"), reason=apart.format("db1, db2")),
    )
    components = (
        Component("pc", True, ("db1", "db2"), ("db1", "db2"), 2, 3, 0, "215", (0,)),
        Component("pc-2", True, ("db3",), ("db3",), 1, 3, 0, "215", (0,)),
    )
    problem = Problem("galera", "Two primary components with the same state UUID: db1, db2; db3.", TWO_PRIMARIES)
    return replace(galera(nodes, components), problems=(problem,), observers_agree=False, health=BAD)


def no_primary() -> ClusterSnapshot:
    """Return four nodes split two and two: nobody has the majority."""
    nodes = tuple(
        node(f"db{i}", "non-Primary", BAD, component="left" if i < 3 else "right", numbers=()) for i in range(1, 5)
    )
    components = (
        Component("left", False, ("db1", "db2"), ("db1", "db2"), 2, 4, None, "9", (0,)),
        Component("right", False, ("db3", "db4"), ("db3", "db4"), 2, 4, None, "9", (0,)),
    )
    problem = Problem("galera", "No primary component: 2 groups of nodes, none with a majority.", NO_PRIMARY)
    return replace(
        galera(nodes, components), problems=(problem,), observers_agree=False,
        agreement="Two halves, no majority", health=BAD,
    )  # fmt: skip


def killed() -> ClusterSnapshot:
    """Return db2 killed: SSH answers, the process is gone."""
    gone = lost("db2", "no answer", BAD, "mariadbd is not running since 02:31:07 (signal 9)")
    return replace(galera((node("db1", role="writer"), replace(gone, reach=Reach.SSH_ONLY), node("db3"))), health=BAD)


def two_segments(count: int = 12) -> ClusterSnapshot:
    """Return `count` nodes in two data centres."""
    return galera(tuple(node(f"db{i + 1}", segment=i * 2 // count) for i in range(count)))


def replica(name: str, source: str, *, broken: str = "") -> NodeView:
    """Return an asynchronous replica, running or with the reason it does not."""
    lag: Numbers = (("lag", "0.4 s", GOOD), ("GTID gap", "12 transactions", GOOD), ("relay log", "96 MB", GOOD))
    stopped: Numbers = (
        ("lag", "not known", BAD),
        ("GTID gap", "41\u202f200 transactions", BAD),
        ("relay log", "2.1 GB", WARN),
    )
    view = replace(
        node(name, f"replica of {source}", role="read only", component="", segment=None, numbers=lag),
        facts=replica_facts(name),
    )
    if not broken:
        return view
    return replace(view, state="SQL thread stopped", health=BAD, reason=broken, numbers=stopped)


def asynchronous(
    nodes: tuple[NodeView, ...], edges: tuple[ReplicationEdge, ...], name: str = "billing"
) -> ClusterSnapshot:
    """Return an asynchronous cluster."""
    return ClusterSnapshot(
        cluster_id=name,
        kind=ASYNC,
        name=name,
        at=AT - 0.6,
        flavour=Flavour.MARIADB,
        version="10.11.14",
        nodes=nodes,
        replication=edges,
        agreement=f"Seen from {', '.join(n.name for n in nodes[:3])} (they agree)",
        health=worst(tuple(n.health for n in nodes)),
    )


def running(source: str, name: str, channel: str = "", lag: float = 0.4) -> ReplicationEdge:
    """Return a channel that runs."""
    return ReplicationEdge(source, name, channel, GOOD, "Yes", "Yes", lag, "heartbeat", 12)


def source_node(name: str) -> NodeView:
    """Return a source that takes writes."""
    numbers: Numbers = (("queries", "1\u202f840 /s", GOOD), ("binlog", "3.2 MB/s", GOOD), ("replicas", "2", GOOD))
    return node(name, "source", role="writer", component="", segment=None, numbers=numbers)


def tree_with_broken() -> ClusterSnapshot:
    """Return a source, an intermediate, leaves, one of them stopped by an error, one delayed on purpose."""
    broken = "Error 1062: duplicate entry '4711' for key PRIMARY on billing.invoice, since 02:12"
    nodes = (
        source_node("bill1"),
        replica("bill2", "bill1"),
        replica("bill3", "bill1", broken=broken),
        replica("bill4", "bill2"),
        replica("bill5", "bill2"),
    )
    edges = (
        running("bill1", "bill2"),
        ReplicationEdge("bill1", "bill3", "", BAD, "Yes", "No", None, "", 41_200, reason=broken),
        running("bill2", "bill4"),
        replace(running("bill2", "bill5", lag=3600.4), delay_s=3600),
    )
    return asynchronous(nodes, edges)


def ring(count: int = 3) -> ClusterSnapshot:
    """Return a ring of servers that replicate in a circle."""
    names = [f"ring{i + 1}" for i in range(count)]
    nodes = tuple(replace(source_node(n), state=f"replica of {names[i - 1]}") for i, n in enumerate(names))
    return asynchronous(nodes, tuple(running(names[i - 1], n) for i, n in enumerate(names)), "ring")


def multi_source() -> ClusterSnapshot:
    """Return one replica that gathers three sources over named channels."""
    nodes = (source_node("eu"), source_node("us"), source_node("ap"), replica("gather", "3 sources"))
    return asynchronous(
        nodes,
        (running("eu", "gather", "eu"), running("us", "gather", "us", 2.2), running("ap", "gather", "ap")),
        "gather",
    )


def single() -> ClusterSnapshot:
    """Return one server on its own."""
    return replace(asynchronous((source_node("alone"),), (), "alone"), kind=SINGLE, agreement="Seen from alone")


def silent() -> ClusterSnapshot:
    """Return a cluster of which nothing answered yet."""
    return ClusterSnapshot(
        cluster_id="host:n1",
        kind=SINGLE,
        name="n1",
        at=AT - 3.0,
        nodes=(NodeView("n1", "n1", "n1", reach=Reach.NOT_TRIED, state="no answer yet", state_since=AT - 3.0),),
    )


def refused() -> ClusterSnapshot:
    """Return a cluster whose only host refuses the password."""
    view = NodeView(
        "n1",
        "n1",
        "n1",
        state="no answer",
        health=BAD,
        reason="The server refused the password of monitor@n1.",
        reach=Reach.SSH_ONLY,
        facts=NodeFacts("n1", AT - 2, Reach.SSH_ONLY, problems=(Problem("sql", "The server refused the password."),)),
    )
    return ClusterSnapshot("host:n1", SINGLE, "n1", AT, nodes=(view,), health=BAD)


def many(count: int = 500, tick: int = 0) -> ClusterSnapshot:
    """Return `count` nodes in five segments; every text and state differs from one `tick` to the next."""
    states = (("Synced", GOOD), ("Donor/Desynced", TRANSFER), ("Synced", WARN), ("Joined", TRANSFER), ("Synced", GOOD))
    nodes = []
    for i in range(count):
        word, health = states[(i + tick) % 5]
        value = (i * 7 + tick) % 997
        numbers = (
            ("receive queue", str(value), GOOD),
            ("flow control", f"{value % 100:.1f} %", GOOD),
            ("IST reach", f"{value % 24} h", GOOD),
        )
        nodes.append(replace(node(f"db{i + 1}", word, health, segment=i * 5 // count, numbers=numbers), facts=None))
    return galera(tuple(nodes))


def estate(*clusters: ClusterSnapshot) -> EstateSnapshot:
    """Return an estate of these clusters."""
    hosts = [n for c in clusters for n in c.nodes]
    answering = sum(n.reach in {Reach.FULL, Reach.SSH_ONLY, Reach.SQL_ONLY} for n in hosts)
    return EstateSnapshot(at=AT, clusters=clusters, hosts_total=len(hosts), hosts_answering=answering)
