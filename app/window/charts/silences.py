"""Why a chart has no samples of a host: it does not answer, or nobody wrote down the way in that they take. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.window.charts.chart_plan import ChartPlan
from services.discovery.model import ClusterSnapshot, NodeView
from services.discovery.words import names
from services.errors import BadInput
from services.facts.model import SQL, SSH
from services.i18n import tr, tr_n
from services.inventory.kinds import KINDS
from services.sampling.metrics.absence import read_over
from services.sampling.metrics.catalogue import load_catalogue
from services.types import Reach
from widgets.common.look.text import format_clock, in_past
from widgets.common.nodes import heard_last

_WAYS = {SSH: "SSH", SQL: "SQL"}
_REACHED = {SSH: {Reach.FULL, Reach.SSH_ONLY}, SQL: {Reach.FULL, Reach.SQL_ONLY}}


@dataclass(frozen=True, slots=True)
class Silences:
    """`charts`: chart -> words in place of an empty plot; `curves`: (chart, curve) -> why it has no value now."""

    charts: Mapping[str, str]
    curves: Mapping[tuple[str, str], str]


def silences(plan: ChartPlan, cluster: ClusterSnapshot) -> Silences:
    """Return what the charts of a plan say of hosts that give no samples now."""
    nodes = {node.host: node for node in cluster.nodes if node.host}
    curves: dict[tuple[str, str], str] = {}
    by_chart: dict[str, list[str]] = {}
    for place, (host, metric) in plan.places.items():
        words = why_silent(nodes[host], metric) if host in nodes else ""
        by_chart.setdefault(place[0], []).append(words)
        if words:
            curves[place] = words
    charts = {chart: _together(words) for chart, words in by_chart.items() if all(words)}
    if not_known := _not_known(cluster):
        charts |= {spec.key: not_known for spec in plan.specs if not spec.curves}
    return Silences(charts, curves)


def _not_known(cluster: ClusterSnapshot) -> str:
    """Return why nobody can say that a cluster has none of something: '' where every member answers over SQL."""
    silent = sorted(node.name for node in cluster.nodes if node.reach not in _REACHED[SQL])
    return tr("Not known: no answer over SQL from {names}.", names=names(silent)) if silent else ""


def why_silent(node: NodeView, metric: str) -> str:
    """Return why no sample of a metric comes from a host now, '' where one does."""
    way, facts = _way_of(metric), node.facts
    if facts is not None and facts.on and way == SSH:
        return ""  # the machine's values are its host's, and told there
    if facts is not None and way in facts.no_way and node.reach is not Reach.NOT_TRIED:
        return _no_way(node, way)
    if node.reach is Reach.NONE:
        return _no_answer(node, way)
    if not way or facts is None or node.reach in _REACHED[way] or node.reach is Reach.NOT_TRIED:
        return ""
    since = facts.sql_at if way == SQL else facts.ssh_at
    return _since(
        tr("{name} does not answer over {way}", name=node.name, way=_called(node, way)), since, _why(node, way)
    )


def _called(node: NodeView, way: str) -> str:
    return node.facts.speaks if way == SQL and node.facts is not None else _WAYS[way]


def _section(node: NodeView, way: str) -> str:
    """Return the table of the inventory that gives this way in."""
    speaks = node.facts.speaks if node.facts is not None else ""
    return next((kind.way for kind in KINDS.values() if way == SQL and kind.speaks == speaks), way)


def _no_way(node: NodeView, way: str) -> str:
    """Return by which way in the values would come, and how it is added: not in a recording, where nothing is."""
    told = tr(
        "Reading this needs {way}, and the inventory has no {way} account for {name}.",
        name=node.name,
        way=_called(node, way),
    )
    if in_past():
        return told
    how = tr(
        'To add one: "Edit the connection of {name}…" in the host\'s menu, or [host.{section}] in the inventory.',
        name=node.name,
        section=_section(node, way),
    )
    return f"{told} {how}"


def _no_answer(node: NodeView, way: str) -> str:
    heard = heard_last(node)
    why = _why(node, way) or _why(node, SQL) or _why(node, SSH)
    if heard is None and node.watched_since is not None:
        asked = tr("{name} has never answered; queried since {at}", name=node.name, at=format_clock(node.watched_since))
        return _because(asked, why)
    return _since(tr("{name} does not answer", name=node.name), heard, why)


def _since(sentence: str, at: float | None, why: str) -> str:
    if at is not None:
        sentence = tr("{sentence} since {at}", sentence=sentence, at=format_clock(at))
    return _because(sentence, why)


def _because(sentence: str, why: str) -> str:
    return tr("{sentence}: {why}", sentence=sentence, why=why) if why else tr("{sentence}.", sentence=sentence)


def _why(node: NodeView, way: str) -> str:
    problems = node.facts.problems if node.facts is not None else ()
    return next((p.bare or p.sentence for p in problems if p.part == way), "")


@lru_cache(maxsize=512)
def _way_of(metric: str) -> str:
    """Return the way over which a metric is read; asked for each curve with each picture, and the same for ever."""
    try:
        return read_over(load_catalogue().formula(metric))
    except BadInput:
        return ""


def _together(words: list[str]) -> str:
    """Return the first of several sentences and how many hosts have one of their own."""
    different = list(dict.fromkeys(words))
    if len(different) == 1:
        return different[0]
    more = tr_n("{n} more does not answer.", "{n} more do not answer.", len(different) - 1)
    return tr("{sentence} {more}", sentence=different[0], more=more)
