"""Which charts stand on the page for a cluster and a node: titles, curves, limits, and where each curve's data is.

The forms are those of the metrics reference: CPU as a stack in which iowait is part of what is available (C2), redo age
against its capacity (C3), flow control as a share of each second, lag beside its queue (C4), IST reach per donor (C5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.discovery.model import ClusterSnapshot, NodeView
from services.types import ClusterKind
from widgets.charts.model import ChartSpec, CurveSpec, LimitBand, LimitLine
from widgets.common.nodes import curve_index

Place = tuple[str, str]
"""(server, metric) behind a curve."""


@dataclass(frozen=True, slots=True)
class ChartPlan:
    """The page's charts, and for (chart key, curve key) the place of its data."""

    specs: tuple[ChartSpec, ...]
    places: dict[tuple[str, str], Place]


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whom the page is about."""

    cluster: ClusterSnapshot
    node: NodeView
    redo_capacity: float | None = None


def chart_plan(cluster: ClusterSnapshot, node: NodeView, redo_capacity: float | None) -> ChartPlan:
    """Return the page for `cluster` with `node` in focus; `redo_capacity` in bytes when known."""
    subject = _Subject(cluster, node, redo_capacity)
    specs: list[ChartSpec] = []
    places: dict[tuple[str, str], Place] = {}
    for spec, where in _charts(subject):
        specs.append(spec)
        for curve, place in where.items():
            places[spec.key, curve] = place
    return ChartPlan(tuple(specs), places)


Chart = tuple[ChartSpec, dict[str, Place]]


def _charts(subject: _Subject) -> Iterator[Chart]:
    yield _cpu(subject)
    yield _commit(subject)
    yield _flushing(subject)
    galera = subject.cluster.kind is ClusterKind.GALERA
    if galera:
        yield _all_nodes(
            subject, "flow", "Flow control", "share of each second paused", "galera.paused", "%",
            hint="Each node's own view; the one whose 'sent' rises is the one that slows the others.",
        )  # fmt: skip
        yield _all_nodes(subject, "queue", "Receive queue", "write sets waiting to be applied", "galera.recv_queue", "")
        yield _ist(subject)
    yield _lag(subject)
    yield _load(subject)
    yield _flush_causes(subject)
    yield _log(subject)
    yield _disk(subject)
    if galera:
        yield _all_nodes(subject, "sent", "Who asks for pauses", "flow control messages sent", "galera.fc_sent", "1/s")
        yield _all_nodes(
            subject, "conflicts", "Certification failures", "of local commits", "galera.cert_failures", "%"
        )


def _own(subject: _Subject, key: str, title: str, curves: tuple[tuple[str, CurveSpec], ...], **more: object) -> Chart:
    """A chart of the node in focus; `curves` pairs each curve with its metric."""
    specs = tuple(curve for _, curve in curves)
    spec = ChartSpec(key, f"{title} of {subject.node.name}", specs, **more)  # type: ignore[arg-type]
    return spec, {curve.key: (subject.node.host, metric) for metric, curve in curves}


def _all_nodes(
    subject: _Subject, key: str, title: str, subtitle: str, metric: str, unit: str, hint: str = "", **more: object
) -> Chart:
    """A chart with one curve a node, each in its node's colour."""
    curves, places = [], {}
    for node in subject.cluster.nodes:
        if node.host:
            curves.append(CurveSpec(node.node_id, node.name, curve_index(subject.cluster, node.node_id)))
            places[node.node_id] = (node.host, metric)
    spec = ChartSpec(key, title, tuple(curves), subtitle=subtitle, unit=unit, hint=hint, **more)  # type: ignore[arg-type]
    return spec, places


def _cpu(subject: _Subject) -> Chart:
    return _own(
        subject, "cpu", "CPU",
        (
            ("cpu.user", CurveSpec("user", "user", 0)),
            ("cpu.system", CurveSpec("system", "system", 1)),
            ("cpu.iowait", CurveSpec("iowait", "iowait", tone="iowait")),
            ("cpu.idle", CurveSpec("idle", "idle", tone="idle")),
        ),
        subtitle="available = idle + iowait", unit="%", kind="stack", y_max=100.0,
        hint="iowait is idle time while a disk request waits: a busy neighbour hides it, so it is drawn as available.",
    )  # fmt: skip


def _commit(subject: _Subject) -> Chart:
    return _own(
        subject, "commit", "Commit pressure",
        (
            ("commit.threads", CurveSpec("threads", "threads in COMMIT", 3)),
            ("load.threads_running", CurveSpec("running", "running", 5)),
            ("disk.write_latency", CurveSpec("latency", "disk write", 0, unit="ms", axis="right")),
            ("commit.flush_log", CurveSpec("flush", "flush_log_at_trx_commit", tone="stale", drawing="none", unit="")),
        ),
        subtitle="threads, left · disk write ms, right", right_unit="ms",
        hint="Threads that wait in COMMIT while the CPU looks idle are what iowait does not show.",
    )  # fmt: skip


def _flushing(subject: _Subject) -> Chart:
    capacity = subject.redo_capacity
    bands: tuple[LimitBand, ...] = ()
    if capacity:
        # Asynchronous flushing begins near 75 to 80 % of the capacity, synchronous above (metrics reference, 2).
        bands = (
            LimitBand("", 0.70 * capacity, 0.85 * capacity, "warn"),
            LimitBand("synchronous flush", 0.85 * capacity, None, "bad"),
        )
    return _own(
        subject, "flushing", "InnoDB flushing",
        (
            ("innodb.checkpoint_age", CurveSpec("age", "checkpoint age", 6)),
            ("innodb.dirty_bytes", CurveSpec("dirty", "dirty pages", 4)),
        ),
        subtitle="", unit="B", y_max=capacity, bands=bands,
    )  # fmt: skip


def _ist(subject: _Subject) -> Chart:
    spec, places = _all_nodes(
        subject, "ist", "IST reach", "how long a node may be away and still return by IST", "ist.reach", "h",
        hint="Per possible donor: cached range over the write rate of the last five minutes, with a margin.",
    )  # fmt: skip
    limited = ChartSpec(
        spec.key, spec.title, spec.curves, spec.subtitle, spec.unit, hint=spec.hint,
        limits=(LimitLine("1 h", 1.0, "warn"),),
    )  # fmt: skip
    return limited, places


def _lag(subject: _Subject) -> Chart:
    replicas = {edge.replica_id for edge in subject.cluster.replication}
    chosen = [n for n in subject.cluster.nodes if n.node_id in replicas and n.host]
    curves = tuple(CurveSpec(n.node_id, n.name, curve_index(subject.cluster, n.node_id), band=True) for n in chosen)
    spec = ChartSpec(
        "lag", "Replication lag", curves, subtitle="seconds behind, or heartbeat where there is one", unit="s",
        empty="No asynchronous replica in this cluster.",
        hint="NULL (a stopped thread) is drawn as a gap, never as 0.",
    )  # fmt: skip
    return spec, {n.node_id: (n.host, "repl.lag") for n in chosen}


def _load(subject: _Subject) -> Chart:
    return _own(
        subject, "load", "Load",
        (
            ("load.questions", CurveSpec("questions", "Questions", 0)),
            ("load.queries", CurveSpec("queries", "Queries", 5)),
            ("galera.commits" if subject.cluster.kind is ClusterKind.GALERA else "commit.rate",
             CurveSpec("commits", "commits", 2)),
            ("load.threads_running", CurveSpec("running", "Threads_running", 3, unit="", axis="right")),
        ),
        subtitle="counted when a statement starts: a stall can look flat", unit="1/s",
    )  # fmt: skip


def _flush_causes(subject: _Subject) -> Chart:
    return _own(
        subject, "causes", "Pages flushed",
        (
            ("innodb.flushed_list", CurveSpec("list", "for the checkpoint", 6)),
            ("innodb.flushed_lru", CurveSpec("lru", "to make room", 1)),
            ("innodb.doublewrite_pages", CurveSpec("dblwr", "doublewrite", 4)),
        ),
        subtitle="by cause", unit="1/s",
    )  # fmt: skip


def _log(subject: _Subject) -> Chart:
    return _own(
        subject, "log", "Redo log",
        (
            ("innodb.log_bytes", CurveSpec("bytes", "written", 0, unit="B/s")),
            ("innodb.log_fsyncs", CurveSpec("fsyncs", "fsyncs", 3, unit="1/s", axis="right")),
            ("innodb.log_writes", CurveSpec("writes", "writes", 5, unit="1/s", axis="right")),
        ),
        subtitle="bytes, left · operations, right", unit="B/s", right_unit="1/s",
    )  # fmt: skip


def _disk(subject: _Subject) -> Chart:
    return _own(
        subject, "disk", "Disk",
        (
            ("disk.write_bytes", CurveSpec("written", "written", 0)),
            ("disk.read_bytes", CurveSpec("read", "read", 2)),
            ("disk.write_latency", CurveSpec("wlat", "write latency", 6, unit="ms", axis="right")),
            ("disk.queue", CurveSpec("queue", "in flight", tone="stale", drawing="none", unit="")),
        ),
        subtitle="throughput, left · latency, right", unit="B/s", right_unit="ms",
    )  # fmt: skip
