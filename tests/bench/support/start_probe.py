"""A start of a window, timed inside: `python -m tests.bench.support.start_probe empty | program ... | walk ...`.

Prints one JSON line of moments (seconds of time.monotonic(), one clock for all processes) and of the event loop's
lateness. The program is the real one, `app.__main__`, with its own arguments; only three of its classes are told to say
when they were painted or ready.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

TICK_S = 0.016
_STEP_MS = 400
_told: dict[str, float] = {}


def _painted(kind: type[Any], moment: str, then: Callable[[Any], None], *, when: Callable[[Any], bool]) -> None:
    """Let a widget class note the end of the event in which it was first painted."""
    from PySide6.QtCore import QTimer

    paint = kind.paintEvent

    def noted(self: Any, event: object) -> None:
        if moment not in _told and when(self):
            _told[moment] = 0.0
            # The children are painted in the same event: a timer fires when all of it is on the screen.
            QTimer.singleShot(0, lambda: (_told.__setitem__(moment, time.monotonic()), then(self)))
        paint(self, event)

    kind.paintEvent = noted


class _Ticks:
    """A 16 ms timer: how late it came, by phase."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.worst: dict[str, float] = {}
        self.phase = "importing"
        self._last = time.monotonic()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(int(TICK_S * 1000))

    def _beat(self) -> None:
        self.close_phase(self.phase)

    def close_phase(self, next_phase: str) -> None:
        """Count the time up to now for the phase that ends, and begin the next."""
        now = time.monotonic()
        late = (now - self._last - TICK_S) * 1000.0
        self._last = now
        self.worst[self.phase] = max(self.worst.get(self.phase, 0.0), late)
        self.phase = next_phase


def _say(**more: object) -> None:
    sys.stdout.write(json.dumps({**_told, **more}) + "\n")
    sys.stdout.flush()
    os._exit(0)  # what comes after the last moment is not measured


def empty() -> None:
    """The limit: a main window with a label, as large as the program's."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

    class Window(QMainWindow):
        def paintEvent(self, event: object) -> None:
            del event
            QTimer.singleShot(0, done)

    def done() -> None:
        _told["painted"] = time.monotonic()
        _say()

    application = QApplication([])
    window = Window()
    window.setCentralWidget(QLabel("empty"))
    window.resize(1440, 900)
    window.show()
    application.exec()


def program(arguments: list[str], *, until: str) -> None:
    """The real program up to its first paint, or up to the first paint of a chart that has data."""
    main = _main()
    from widgets.frame import first_frame

    kept: list[_Ticks] = []
    if until == "painted":
        _painted(first_frame.FirstFrame, "painted", lambda _: _say(), when=lambda _: True)
    else:
        _painted(first_frame.FirstFrame, "painted", lambda _: kept.append(_Ticks()), when=lambda _: True)
        _to_first_chart(kept, furnished_only=until == "furnished")
    main(arguments)


def _main() -> Callable[[list[str]], int]:
    """Import in the program's own order: what needs no Qt, then Qt, then the window; return what runs it."""
    from app.__main__ import main
    from app.plain_imports import import_qt

    import_qt()
    return main


def _to_first_chart(kept: list[_Ticks], *, furnished_only: bool) -> None:
    """Show the charts page as soon as it stands; end when its first chart with data is painted."""
    from app.window.window_run import WindowStart

    begin = WindowStart._begin

    def imported(self: WindowStart) -> None:
        _told["imported"] = time.monotonic()
        kept[0].close_phase("furnishing")
        from app.window.session import WindowSession

        _hook_session(WindowSession, kept, furnished_only=furnished_only)
        begin(self)

    WindowStart._begin = imported  # type: ignore[method-assign]


def _hook_session(session: type[Any], kept: list[_Ticks], *, furnished_only: bool) -> None:
    from PySide6.QtCore import QTimer

    loaded, load = session._loaded, session.load

    def loading(self: Any) -> None:
        _told["furnished"] = time.monotonic()
        # Laying out and painting what was furnished comes with the next events, and belongs to it.
        QTimer.singleShot(20, lambda: kept[0].close_phase("opening"))
        if furnished_only:
            _say(late=kept[0].worst)
        load(self)

    def noted(self: Any, source: object) -> None:
        _told["loaded"] = time.monotonic()
        kept[0].close_phase("building")
        loaded(self, source)
        from widgets.charts.plots.plot import Plot

        _told["built"] = time.monotonic()
        _painted(
            Plot,
            "chart",
            lambda _: (kept[0].close_phase("end"), _say(late=kept[0].worst)),
            when=lambda plot: plot.fresh and any(len(track) for track in plot.state.tracks.values()),
        )
        # At the first moment a person could: when all pages stand.
        self.ready.connect(lambda: self.window.show_page("charts"))

    session._loaded, session.load = noted, loading


def walk(arguments: list[str]) -> None:
    """The real program from its first paint through all pages, the palette and two changes of theme.

    Told as `late`: the program's own stall meter's longest stall of each part, ms.
    """
    main = _main()
    from app.window.session import WindowSession
    from app.window.window_run import WindowStart
    from widgets.bridge.stalls import StallMeter
    from widgets.frame import first_frame

    kept: list[StallMeter] = []
    worst: dict[str, float] = {}

    def measure(_: object) -> None:
        kept.append(StallMeter())
        kept[0].start()

    def next_step(steps: Iterator[str], part: str) -> None:
        from PySide6.QtCore import QTimer

        worst[part] = max(worst.get(part, 0.0), kept[0].take())
        following = next(steps, "")
        if following:
            QTimer.singleShot(_STEP_MS, lambda: next_step(steps, following))
            return
        kept[0].stop()
        _say(late=worst)

    _painted(first_frame.FirstFrame, "painted", measure, when=lambda _: True)
    begin = WindowStart._begin

    def imported(self: WindowStart) -> None:
        load = WindowSession.load

        def loading(self: WindowSession) -> None:
            self.ready.connect(lambda: _after(_STEP_MS, lambda: next_step(_walk(self), "start")))
            load(self)

        WindowSession.load = loading  # type: ignore[method-assign]
        begin(self)

    WindowStart._begin = imported  # type: ignore[method-assign]
    main(arguments)


def _after(ms: int, then: Callable[[], None]) -> None:
    from PySide6.QtCore import QTimer

    QTimer.singleShot(ms, then)


def _walk(session: Any) -> Iterator[str]:
    """Do one thing a step; give the name of the part it belongs to."""
    from PySide6.QtWidgets import QApplication

    from widgets.common.look.theme import apply_theme

    application, window = QApplication.instance(), session.window
    assert isinstance(application, QApplication)
    for page in ("charts", "journal", "topology", "charts"):
        window.show_page(page)
        yield "pages"
    window.palette_wanted.emit()
    yield "finder"
    for name in ("dark", "light"):
        apply_theme(application, "dark" if name == "dark" else "light")
        yield "theme"


if __name__ == "__main__":
    if sys.argv[1] == "empty":
        empty()
    elif sys.argv[1] == "walk":
        walk(sys.argv[2:])
    else:
        program(sys.argv[3:], until=sys.argv[2])
