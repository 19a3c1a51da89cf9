"""The cards of the charts page: which there are, their data in, and what of it has to be fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from services.events import Event
from widgets.charts.board import Board
from widgets.charts.compare.marks import MarkedSpan
from widgets.charts.demand import Ask, Demand
from widgets.charts.model import ChartSpec, SeriesLike
from widgets.common.time_axis.view import View

if TYPE_CHECKING:
    from widgets.charts.card import ChartCard
    from widgets.charts.plots.track import Track


class Cards:
    """Charts by key, in the order of the page."""

    def __init__(self, board: Board, make: Callable[[ChartSpec], ChartCard]) -> None:
        """Stand on a board; `make` gives a card whose signals are connected."""
        self._board = board
        self._make = make
        self._cards: dict[str, ChartCard] = {}
        self._demand = Demand()
        self.events: tuple[Event, ...] = ()

    def __iter__(self) -> Iterator[ChartCard]:
        return iter(self._cards.values())

    def __getitem__(self, key: str) -> ChartCard:
        return self._cards[key]

    def set_specs(self, specs: Sequence[ChartSpec]) -> None:
        """Show these charts, in this order; cards whose specification did not change keep their data."""
        kept = {key: card for key, card in self._cards.items() if card.spec in specs}
        gone = [card for key, card in self._cards.items() if key not in kept]
        self._cards = {spec.key: kept.get(spec.key) or self._make(spec) for spec in specs}
        self._board.place(tuple(self))
        for card in gone:
            card.leave()
        self._demand.forget()

    def set_series(self, chart: str, curve: str, series: SeriesLike) -> bool:
        """Give a curve its data; False for a chart that is gone."""
        card = self._with(chart, curve)
        if card is not None:
            card.plot.set_series(curve, series)
        return card is not None

    def append(self, chart: str, curve: str, series: SeriesLike) -> bool:
        """Add the newest samples of a curve; return whether there was anything new to show."""
        card = self._with(chart, curve)
        return card is not None and card.plot.append(curve, series)

    def _with(self, chart: str, curve: str) -> ChartCard | None:
        card = self._cards.get(chart)
        return card if card is not None and curve in card.plot.state.tracks else None

    def set_silences(self, charts: Mapping[str, str], curves: Mapping[tuple[str, str], str]) -> None:
        """Say why no sample comes: chart -> words in place of an empty plot, (chart, curve) -> why it has no value."""
        for key, card in self._cards.items():
            of_card = {curve: words for (chart, curve), words in curves.items() if chart == key}
            card.show_silence(charts.get(key, ""), of_card)

    def set_events(self, events: Sequence[Event]) -> bool:
        """Mark these moments in every chart; return whether they are others than before."""
        if tuple(events) == self.events:
            return False
        self.events = tuple(events)
        for card in self:
            card.plot.set_events(self.events)
        return True

    def set_marks(self, marks: Sequence[MarkedSpan]) -> None:
        """Shade these stretches in every chart."""
        for card in self:
            card.plot.set_marks(tuple(marks))

    def show_span(self, view: View) -> None:
        """Show this span in every chart."""
        for card in self:
            card.plot.set_view(view.start, view.end)

    def show_cursor(self, at: float | None) -> None:
        """Put the crosshair there in every chart."""
        for card in self:
            card.plot.set_cursor(at)

    def wanted(self, view: View) -> Iterator[tuple[str, str, Ask]]:
        """Yield what a view needs and was not asked for yet: chart, curve, what."""
        for key, card in self._cards.items():
            points = card.plot.points_wanted()
            for curve in card.spec.curves:
                step = card.plot.state.tracks[curve.key].step_s
                asked = self._demand.ask((key, curve.key), view, points, step)
                if asked is not None:
                    yield key, curve.key, asked

    def tracks(self) -> Iterator[Track]:
        """Yield the curves of every chart."""
        for card in self:
            yield from card.plot.state.tracks.values()
