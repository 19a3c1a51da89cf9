"""IST reach in the inspector's words: this donor's promise, the cluster's, and the gcache that an absence needs."""

from __future__ import annotations

from collections.abc import Mapping

from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.galera.ist import MARGIN
from services.facts.model import GaleraFacts
from services.i18n import tr
from services.sampling.ist_reach import HOUR_S, WINDOWS, Rate, gcache_needed, over_words
from services.types import Health
from widgets.common.look.text import format_bytes, format_duration, format_percent, format_rate
from widgets.topology.inspector.content import Row
from widgets.topology.wording import WEEK_S, reach_words

REACH, KEPT, KEPT_WHOLE = "console.ist_reach_s", "console.ist_history_s", "console.ist_history_whole"
RATE, WINDOW = "console.ist_rate", "console.ist_rate_window_s"
IST_METRICS = (REACH, KEPT, KEPT_WHOLE, RATE, WINDOW)
"""Sampled by the console itself (services/sampling/metrics/derived_now.py): seconds, bytes/s; `whole` is 0 or 1."""

ABSENCES_S = (HOUR_S, 8 * HOUR_S, 24 * HOUR_S)
"""A restart with its trouble, a night, a day."""
WARN_S = 4 * HOUR_S
"""However short a reach is, it only warns: nothing fails before a node goes away."""

SPANS = {window for _, window in WINDOWS} | {WEEK_S}

Values = Mapping[str, float]


def ist_rows(values: Values, cluster: ClusterSnapshot, node: NodeView) -> tuple[Row, ...]:
    """Return the rows of one node of a Galera cluster; nothing for a node that tells nothing of a group."""
    galera = node.facts.galera if node.facts is not None else None
    if galera is None:
        return ()
    rows = (_donor(values, galera), _kept(values), *_cluster(cluster), _written(values), *_needed(values, galera))
    return tuple(row for row in rows if row is not None)


def _donor(values: Values, galera: GaleraFacts) -> Row:
    safe = values.get(REACH)
    if safe is None:
        if not galera.cached_downto:
            return Row(tr("this donor"), tr("none"), tr("keeps no write sets"))
        return Row(tr("this donor"), tr("not known yet"), tr("takes a minute"))
    note = "" if safe >= WEEK_S else tr("minus {share} margin", share=format_percent(100.0 * (1.0 - MARGIN)))
    return Row(tr("this donor"), reach_words(safe), note, _health(safe))


def _health(safe: float) -> Health:
    return Health.WARN if safe < WARN_S else Health.UNKNOWN


def _kept(values: Values) -> Row | None:
    kept = values.get(KEPT)
    if kept is None:
        return None
    words = format_duration(kept)
    if values.get(KEPT_WHOLE) == 0.0:
        return Row(tr("kept now"), tr("at least {time}", time=words))
    return Row(tr("kept now"), tr("the last {time}", time=words))


def _cluster(cluster: ClusterSnapshot) -> tuple[Row, ...]:
    reach = cluster.ist_reach
    if reach is None:
        return ()
    if reach.seconds is None:
        why = (Row("", reach.reason, wraps=True),) if reach.donors else ()  # without any the rows above say it
        return Row(tr("cluster"), tr("not known yet")), *why
    donor = cluster.node(reach.donor)
    name = donor.name if donor is not None else reach.donor
    note = tr("{donor}, 2nd of {count}", donor=name, count=reach.donors)
    return (Row(tr("cluster"), reach_words(reach.seconds), note, _health(reach.seconds)),)


def _written(values: Values) -> Row | None:
    rate = values.get(RATE)
    if rate is None:
        return None
    window = values.get(WINDOW, 0.0)
    span = over_words(window) if window in SPANS else format_duration(window)  # not yet a whole one
    return Row(tr("written"), format_rate(rate), tr("over {span}", span=span))


def _needed(values: Values, galera: GaleraFacts) -> tuple[Row, ...]:
    """Return what gcache.size each absence needs at the worst rate known, its margin included."""
    written = values.get(RATE)
    if not galera.gcache_size:
        return ()
    rows = [Row("gcache.size", format_bytes(galera.gcache_size))]
    for absence in ABSENCES_S if written else ():
        needed = gcache_needed(absence, Rate(written or 0.0, 0.0, ""))
        short = needed > galera.gcache_size
        rows.append(
            Row(
                tr("{count} h away", count=round(absence / HOUR_S)),
                tr("needs {size}", size=format_bytes(needed)),
                tr("it has less") if short else "",
                Health.WARN if short else Health.UNKNOWN,
            )
        )
    return tuple(rows)
