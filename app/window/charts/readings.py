"""What the samples say of the cluster on screen and its selected node, made ready on a worker: sparks, words, numbers.

The window's thread asks with a frozen Question and puts the frozen Reading in place; it computes none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QRectF

from app.window.charts.ist_numbers import ist_rows
from app.window.charts.node_numbers import Row, machine_rows, read_numbers
from app.window.charts.sparks import SPARK_S, Sparks
from services.discovery.model import FIRST_ANSWERS_S, ClusterSnapshot, NodeView, was_so_before
from services.i18n import tr
from services.types import Health
from widgets.bridge.source import EstateSource
from widgets.common.look.text import format_clock
from widgets.common.spark import Spark
from widgets.topology.inspector.content import RETURN
from widgets.topology.inspector.content import Row as FullRow
from widgets.topology.inspector.prepared import NO_CURVE, Told, prepared_content

Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked at.

    Attributes:
        at: the moment shown; read_at: the moment whose samples are read (of a recording its snapshot's).
        now: whether that is the present of a live estate, whose newest samples are in memory.
        sparked: whether the cards show sparks at this moment. curve_area: where the inspector paints the node's own.
    """

    cluster: ClusterSnapshot
    node: NodeView | None
    at: float
    read_at: float
    now: bool
    sparked: bool
    curve_area: QRectF


@dataclass(frozen=True, slots=True)
class Reading:
    """What is shown of it; `told` is of the node, None without one."""

    cluster: ClusterSnapshot
    node: NodeView | None
    sparks: Mapping[str, Spark] = field(default_factory=dict)
    told: Told | None = None


class Reader:
    """Answers, and remembers what need not be read again (one worker's thread only)."""

    def __init__(self, source: EstateSource) -> None:
        self._source = source
        self._sparks = Sparks(source)
        self._titles: dict[str, str] = {}
        self._newest_of: object = None
        self._newest: Numbers = {}
        self._read: tuple[str, float] = ("", 0.0)
        self._past: Numbers = {}

    def answers(self, question: Question) -> Iterator[Reading]:
        """Yield what there is to show; of a recording first what is known, then what had to be read in its file."""
        cluster, node = question.cluster, question.node
        if question.now:
            sparks = self._sparks.of_now(cluster, question.read_at) if question.sparked else {}
            yield self._reading(question, sparks, self._newest_numbers(node, question.read_at))
            return
        host = node.host if node is not None else ""
        sparks = self._sparks.known(cluster) if question.sparked else {}
        numbers = self._past if host and host == self._read[0] else {}
        yield self._reading(question, sparks, numbers)
        read = self._sparks.read(cluster, question.read_at) if question.sparked else {}
        past = self._past_numbers(host, question.read_at)
        if (read, past) != (sparks, numbers):
            yield self._reading(question, read, past)

    def _newest_numbers(self, node: NodeView | None, at: float) -> Numbers:
        if node is None or not node.host:
            return {}
        if self._newest_of is not node.facts or node.facts is None:  # news of other hosts make new snapshots too
            self._newest_of, self._newest = node.facts, read_numbers(self._source, node.host, at)
        return self._newest

    def _past_numbers(self, host: str, at: float) -> Numbers:
        place = (host, round(at, 1))
        if host and place != self._read:
            self._past = read_numbers(self._source, *place)
            self._read = place
        return self._past if host else {}

    def _reading(self, question: Question, sparks: Mapping[str, Spark], numbers: Numbers) -> Reading:
        cluster, node = question.cluster, question.node
        if node is None:
            return Reading(cluster, None, sparks)
        extra: dict[str, Sequence[Row | FullRow]] = {
            "Machine": machine_rows(numbers, self._source.catalogue()),
            RETURN: ist_rows(numbers, cluster, node),
        }
        shown = node
        if self._was_there_already(node):
            before = tr("before {at}", at=format_clock(node.state_since))
            extra["Replication"] = (("state since", before, Health.UNKNOWN),)
            shown = replace(node, state_since=None)
        spark, caption = NO_CURVE, ""
        if (known := sparks.get(node.node_id)) is not None and known.values:
            spark = known.fitted(question.curve_area)
            caption = tr("{what}, last {span:.0f} s", what=self._title(node.spark_metric), span=SPARK_S)
        return Reading(
            cluster,
            node,
            sparks,
            prepared_content(cluster, shown, question.at, extra, spark, caption, live=question.now),
        )

    def _was_there_already(self, node: NodeView) -> bool:
        if node.state_since is None:
            return False
        return was_so_before(node) or node.state_since <= self._source.span()[0] + FIRST_ANSWERS_S

    def _title(self, metric: str) -> str:
        """Return a metric's title in the catalogue, a raw counter's own name without its underscores."""
        if metric not in self._titles:
            known = {entry.key: entry.title for entry in self._source.catalogue()}
            self._titles[metric] = tr(known[metric]) if metric in known else metric.replace("_", " ")
        return self._titles[metric]
