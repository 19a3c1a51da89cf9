"""What the palette finds by words alone: charts, metrics, settings, events, and any moment that is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from app.typed_moments import Held, moment
from app.window.charts.chart_plan import chart_plan
from app.window.controller import Controller
from app.window.main_window import MainWindow
from services.errors import BadInput
from services.i18n import tr
from services.sampling.metrics.catalogue import load_catalogue
from widgets.charts.page import ChartsPage
from widgets.common.commands.palette import PaletteEntry
from widgets.common.look.text import format_moment, one_line
from widgets.settings.names import SETTINGS

_CHART, _SETTING, _MOMENT = "chart:", "setting:", "moment:"
_MOST_EVENTS = 2_000
"""The newest: beyond them the journal's own filter finds."""


class SearchPlaces:
    """One per window; `entries`, `typed` and `take` are offered to the palette."""

    def __init__(self, controller: Controller, window: MainWindow, charts: ChartsPage) -> None:
        self._controller, self._window, self._charts = controller, window, charts

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield charts, their metrics, settings and events, in this order."""
        yield from self._chart_entries()
        for name in SETTINGS:
            yield PaletteEntry(f"{_SETTING}{name}", "setting", tr(name), searched=True)
        for event in reversed(self._controller.events[-_MOST_EVENTS:]):
            at = format_moment(event.at)
            yield PaletteEntry(f"{_MOMENT}{event.at}", "event", one_line(event.text), at, searched=True)

    def typed(self, text: str) -> Sequence[PaletteEntry]:
        """Return the moment that a text names, where there are samples of it."""
        begin, end = self._controller.source.span()
        try:
            at = moment(text, Held(begin, end))
        except BadInput:
            return ()
        if not begin <= at <= end:
            return ()
        return (PaletteEntry(f"{_MOMENT}{at}", "moment", text.strip(), format_moment(at)),)

    def take(self, entry_id: str) -> bool:
        """Do what was chosen; return whether it was one of these."""
        ways: dict[str, Callable[[str], object]] = {
            _CHART: self._show_chart,
            _SETTING: self._window.setting_wanted.emit,
            _MOMENT: lambda text: self._controller.look_at(float(text)),
        }
        for prefix, way in ways.items():
            if entry_id.startswith(prefix):
                way(entry_id.removeprefix(prefix))
                return True
        return False

    def _chart_entries(self) -> Iterator[PaletteEntry]:
        """A metric has its help beside it; of a chart with a curve for each node the metric is the chart's."""
        cluster = self._controller.cluster()
        if cluster is None or not cluster.nodes:
            return
        plan = chart_plan(cluster, self._controller.node() or cluster.nodes[0], None)
        metrics = {metric.key: metric for metric in load_catalogue()}
        for spec in plan.specs:
            shown = {plan.places[spec.key, curve.key][1]: curve for curve in spec.curves}
            several = len(shown) > 1
            helped = next((metrics[key].misleading for key in shown if key in metrics and not several), "")
            also = " ".join(shown) if not several else ""
            said = spec.hint or helped or spec.subtitle
            yield PaletteEntry(f"{_CHART}{spec.key}", "chart", spec.title, said, searched=True, also=also)
            for key, curve in shown.items() if several else ():
                known = metrics.get(key)
                said = curve.hint or (known.misleading if known is not None else "")
                title = tr("{curve} ({chart})", curve=curve.label, chart=spec.title)
                yield PaletteEntry(f"{_CHART}{spec.key}", "metric", title, said, searched=True, also=key)

    def _show_chart(self, key: str) -> None:
        self._window.show_page("charts")
        self._charts.bring(key)
