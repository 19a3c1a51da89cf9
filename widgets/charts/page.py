"""The charts page: cards in columns on one linked time axis. Frozen values in, signals out; it never fetches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from services.errors import BadInput
from services.events import Event
from services.i18n import mark, tr
from services.types import Health
from services.workstation.files import plain_name
from widgets.charts.board import Board
from widgets.charts.cards import Cards
from widgets.charts.compare.panel import ComparePanel
from widgets.charts.header import Header
from widgets.charts.legend_key import EventLegend
from widgets.charts.model import ChartSpec, SeriesLike
from widgets.charts.navigation import Navigation
from widgets.common.commands.shortcuts import CHARTS, act_of, bind
from widgets.common.empty import EmptyState
from widgets.common.look.styling import wear
from widgets.common.look.theme import current_theme
from widgets.common.messages import MessageBar
from widgets.common.time_axis.view import View
from widgets.common.turns import Turns

if TYPE_CHECKING:
    from widgets.charts.card import ChartCard

_FINE_STEPS, _COARSE_STEP = 200, 0.1
_ASK_MS = 60


class ChartsPage(QFrame):
    """Charts of one cluster. The owner feeds data and follows the signals; nothing here waits.

    The cards load numpy: call `set_specs` once it was imported (by the thread after the first paint).

    Signals:
        range_changed(float, float, bool): the person chose another span; True: its end follows the present.
        cursor_moved(object): the person put the window's cursor at a moment (float), or took it away (None).
        data_wanted(str, str, float, float, int): chart key, curve key, start, end, about how many points.
        frame_moved(): the time axis has other `edges` than before.
    """

    range_changed = Signal(float, float, bool)
    cursor_moved = Signal(object)
    data_wanted = Signal(str, str, float, float, int)
    frame_moved = Signal()

    def __init__(self, parent: QWidget | None = None, turns: Turns | None = None) -> None:
        super().__init__(parent)
        self._axis = Navigation()
        self._board = Board()
        self._cards = Cards(self._board, self._new_card)
        self._cursor: float | None = None
        self._hover: float | None = None
        self._scope = self._awaited = ""
        self._turns = turns or Turns(self)
        self._ask_timer = self._later(_ASK_MS, self._ask)
        self._ask_soon = self._later(0, self._ask)
        self._read_timer = self._later(0, self._read)
        self.setProperty("kind", "canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Charts"))
        self.setAccessibleDescription(
            tr(
                "Left and Right move the cursor, with Shift the view; plus and minus zoom; 0 restores the "
                "previous span; Escape hides the cursor; Press End to return to the present."
            )
        )
        self._build()

    def _later(self, ms: int, then: Callable[[], None]) -> QTimer:
        made = QTimer(self)
        made.setSingleShot(True)
        made.setInterval(ms)
        made.timeout.connect(then)
        return made

    def _build(self) -> None:
        self._header = Header(self)
        self._header.span_wanted.connect(lambda span: self._go(self._axis.last(span)))
        self._header.live_wanted.connect(self.go_live)
        self._header.export_wanted.connect(self._ask_and_export)
        self._events_legend = EventLegend(20)
        self._bar = MessageBar()
        self.compare = ComparePanel()
        self.compare.marked.connect(lambda: self._cards.set_marks(self.compare.marks))
        self.compare.chosen.connect(self._bring)
        self._header.compare_wanted.connect(self.compare.toggle)
        self._empty = EmptyState()
        self._empty.say(
            tr("No charts"),
            tr("Choose a cluster or a node in the tree to see its charts. What is not read yet has no charts."),
        )
        self._board.setVisible(False)
        self._board.frame_moved.connect(self.frame_moved)
        self._header.side_by_side_wanted.connect(self.set_side_by_side)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self._events_legend)
        column.addWidget(self._bar)
        column.addLayout(_inside_the_frame(self.compare))
        column.addWidget(self._empty, 1)
        column.addWidget(self._board, 1)
        bind(self, CHARTS, "export", self._header.show_menu)
        wear(self)

    # -- what is shown -----------------------------------------------------------------------------------------------
    def say_faults(self, sentences: Sequence[str]) -> None:
        """Say which charts are left out, and why."""
        self._bar.say(Health.WARN, sentences)

    def set_title(self, name: str, scope: str = mark("all nodes")) -> None:
        """Show the cluster's name and what the charts cover ("all nodes", "db2")."""
        self._header.set_name(name)
        self._scope = tr(scope)
        self._describe()

    def set_specs(self, specs: Sequence[ChartSpec]) -> None:
        """Show these charts, in this order; cards whose specification did not change keep their data."""
        self._cards.set_specs(specs)
        self._board.setVisible(bool(specs))
        self._empty.setVisible(not specs)
        self._show()
        if self._awaited:
            self.bring(self._awaited)
        if self.isVisible():
            self._ask_soon.start()

    def _new_card(self, spec: ChartSpec) -> ChartCard:
        from widgets.charts.card import ChartCard

        card = ChartCard(spec, self._turns, self._board.body)
        self._board.adopt(card)
        plot = card.plot
        plot.hovered.connect(self._set_hover)
        plot.clicked.connect(self._choose)
        plot.panned.connect(self._pan)
        plot.zoomed.connect(self._zoom)
        plot.span_chosen.connect(self._zoom_to)
        plot.reset_wanted.connect(self.reset_view)
        plot.resized.connect(self._ask_timer.start)
        plot.set_events(self._cards.events)
        plot.set_marks(self.compare.marks)
        card.show()
        return card

    def bring(self, key: str) -> None:
        """Bring a chart into sight; one that is still to be made, as soon as it is there."""
        self._awaited = key
        if any(spec.key == key for spec in self.specs()):
            self._awaited = ""
            self._board.bring(self.card(key))

    def specs(self) -> tuple[ChartSpec, ...]:
        """Return what is shown."""
        return tuple(card.spec for card in self._cards)

    def card(self, key: str) -> ChartCard:
        """Return a card by its chart's key."""
        return self._cards[key]

    def set_series(self, chart: str, curve: str, series: SeriesLike) -> None:
        """Give a curve its data (the answer to `data_wanted`); an answer for a chart that is gone is dropped."""
        if self._cards.set_series(chart, curve, series):
            self._read_timer.start()

    def append(self, chart: str, curve: str, series: SeriesLike) -> None:
        """Add the newest samples of a curve."""
        if self._cards.append(chart, curve, series):
            self._read_timer.start()

    def set_silences(self, charts: Mapping[str, str], curves: Mapping[tuple[str, str], str]) -> None:
        """Say why no sample comes: chart -> words in place of an empty plot, (chart, curve) -> why it has no value."""
        self._cards.set_silences(charts, curves)

    def set_events(self, events: Sequence[Event]) -> None:
        """Mark these moments in every chart."""
        if self._cards.set_events(events):
            self._read_timer.start()

    # -- the time axis -----------------------------------------------------------------------------------------------
    def set_range(self, start: float, end: float, live: bool, now: float | None = None) -> None:
        """Show this span (epoch seconds) without a signal; `now` is the newest moment there is (live: `end`)."""
        self._axis.take(start, end, live=live, now=now)
        self._show()

    def view(self) -> View:
        """Return the span in sight."""
        return self._axis.view

    def set_cursor(self, at: float | None) -> None:
        """Put the window's cursor at a moment of the past, None: live. No signal."""
        self._cursor = at
        self._cross()

    def crosshair(self) -> float | None:
        """Return where the crosshair stands: under the pointer, else the window's cursor."""
        return self._cursor if self._hover is None else self._hover

    def set_recording(self, start: float, end: float) -> None:
        """Show a recording from now on: it has no present, so the way back is the whole of it."""
        self._axis.play(start, end)
        self._header.set_recording(end - start)

    def go_live(self) -> None:
        """Return to the present: cursor away, the newest span (End). Of a recording: show all of it."""
        if self._axis.whole is None and self._cursor is not None:
            self.set_cursor(None)
            self.cursor_moved.emit(None)
        self._go(self._axis.latest())

    def reset_view(self) -> None:
        """Go back to the span before zooming and panning began (double click, 0)."""
        self._go(self._axis.back())

    def _pan(self, seconds: float) -> None:
        self._go(self._axis.pan(seconds))

    def _zoom(self, around: float, factor: float) -> None:
        self._go(self._axis.zoom(around, factor))

    def _zoom_to(self, first: float, last: float) -> None:
        """Show a span that was dragged out; while a change is measured it is one of the two that are compared."""
        if not self.compare.take(first, last):
            self._go(self._axis.zoom_to(first, last))

    def _bring(self, first: float, last: float) -> None:
        """Bring stretches into sight that were chosen by name."""
        view = self._axis.bring(first, last)
        if view is not None:
            self._go(view)

    def _go(self, view: View) -> None:
        self._show()
        self.range_changed.emit(view.start, view.end, view.live)

    def _show(self) -> None:
        self._cards.show_span(self.view())
        self._read_timer.start()
        if not self._ask_timer.isActive():
            self._ask_timer.start()

    def _ask(self) -> None:
        for chart, curve, wanted in self._cards.wanted(self.view()):
            self.data_wanted.emit(chart, curve, wanted.start, wanted.end, wanted.points)

    # -- crosshair and legends ---------------------------------------------------------------------------------------
    def _set_hover(self, at: object) -> None:
        self._hover = at if isinstance(at, float) else None
        self._cross()

    def _choose(self, at: float) -> None:
        self.set_cursor(at)
        self.cursor_moved.emit(at)

    def _cross(self) -> None:
        self._cards.show_cursor(self.crosshair())
        self._read_timer.start()

    def _read(self) -> None:
        at, view = self.crosshair(), self.view()
        if at is None and not view.live:
            at = view.end
        for card in self._cards:
            card.show_values(at, view.now)
        self._describe()

    def _describe(self) -> None:
        tracks = tuple(self._cards.tracks())
        step = max((track.step_s for track in tracks if len(track)), default=1.0)
        self._header.describe(self.view(), step, self._scope)
        restarts = (at for track in tracks for at in track.restarts)
        self._events_legend.explain(self._cards.events, restarts, self.view())

    def header_texts(self) -> tuple[str, str]:
        """Return the name and the description as shown."""
        return self._header.texts()

    # -- layout and keys ---------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Show at the edge that the page has the keys."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QPen(current_theme().accent, 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
            painter.end()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what is missing at once: nobody is zooming or panning yet, whose requests the timer gathers."""
        super().showEvent(event)
        self._ask_soon.start()

    def set_side_by_side(self, chosen: bool) -> None:
        """Show as many charts beside one another as fit, or (at first) one below the other on the strip's axis."""
        self._header.set_side_by_side(chosen)
        self._board.set_side_by_side(chosen)

    def edges(self) -> tuple[float, float] | None:
        """Return left and right of the plots' time axis in pixels of the page; None while there is no plot."""
        return self._board.edges()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do by keyboard what the pointer does."""
        act = act_of(CHARTS, event)
        if act in {"view-left", "view-right"}:
            self._pan((1 if act == "view-right" else -1) * _COARSE_STEP * self.view().span)
        elif act in {"left", "right"}:
            self._step_cursor(1 if act == "right" else -1)
        elif act in {"zoom-in", "zoom-out"}:
            middle = (self.view().start + self.view().end) / 2
            around = middle if self._cursor is None else self._cursor
            self._zoom(around, 1.25 if act == "zoom-out" else 0.8)
        elif act == "reset":
            self.reset_view()
        elif act == "leave" and self._cursor is not None:
            self.set_cursor(None)
            self.cursor_moved.emit(None)
        elif act == "live":
            self.go_live()
        elif act == "compare":
            self.compare.toggle()
        elif act in {"mark-before", "mark-after"}:
            at = self.view().end if self._cursor is None else self._cursor
            self.compare.mark("before" if act == "mark-before" else "after", at)
        else:
            super().keyPressEvent(event)

    def _step_cursor(self, side: int) -> None:
        view = self.view()
        step = max(1.0, view.span / _FINE_STEPS)
        at = (view.end if self._cursor is None else self._cursor) + side * step
        self._choose(min(view.end, max(view.start, at)))

    def changeEvent(self, event: QEvent) -> None:
        """Repaint plots when the font or the palette changed."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._board.fit_text()
        if event.type() in {QEvent.Type.FontChange, QEvent.Type.PaletteChange}:
            for card in self._cards:
                card.plot.refresh()

    @property
    def painting(self) -> bool:
        """Return whether anything on the page still waits for its turn to be painted."""
        return self._turns.waiting or self._read_timer.isActive()

    def paint_now(self) -> None:
        """Bring all that is in sight up to date before this returns: for a picture."""
        self._read_timer.stop()
        self._read()
        self._turns.finish()

    # -- export ------------------------------------------------------------------------------------------------------
    def export(self, path: Path) -> None:
        """Write all charts to `path`, the kind by its suffix (.png or .svg); raise BadInput when it can't be."""
        from widgets.charts.export import export_charts

        self.paint_now()
        name, subtitle = self._header.texts()
        export_charts(path, tuple(self._cards), self._board.body.size(), name, subtitle)

    def _ask_and_export(self, kind: str) -> None:
        name = f"{plain_name(self._header.texts()[0], 'all')}-charts.{kind}"
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Export the charts"), name, f"*.{kind}")
        if not chosen:
            return
        path = Path(chosen)
        try:
            self.export(path if path.suffix else path.with_suffix(f".{kind}"))
        except BadInput as problem:
            self._bar.say(Health.BAD, (str(problem), *problem.try_))


def _inside_the_frame(panel: QWidget) -> QHBoxLayout:
    """Return a row for a panel with a ground of its own, which would hide the frame that shows who has the keys."""
    row = QHBoxLayout()
    row.setContentsMargins(2, 0, 2, 0)
    row.addWidget(panel)
    return row
