"""The only movements there are: a state's shape fades in 150 ms, a transfer's edge flows while it runs."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from widgets.topology.node_item import NodeItem

_FADE_MS = 150.0
_FRAME_MS = 40


class Motion(QObject):
    """One timer for all movement; it runs only while something moves in sight. `moved(seconds)`: edges go on."""

    moved = Signal(float)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._fading: dict[NodeItem, QElapsedTimer] = {}
        self._visible = False
        self._flowing = False
        self._reduced = False
        self._clock = QElapsedTimer()
        self._ticker = QTimer(self)
        self._ticker.setInterval(_FRAME_MS)
        self._ticker.timeout.connect(self._tick)

    @property
    def running(self) -> bool:
        """Return whether anything moves now."""
        return self._ticker.isActive()

    def set_reduced(self, reduced: bool) -> None:
        """Stop (or allow again) every movement."""
        self._reduced = reduced
        self._follow()

    def run(self, *, visible: bool, flowing: bool) -> None:
        """Say whether the drawing is in sight and whether a transfer runs."""
        self._visible, self._flowing = visible, flowing
        self._follow()

    def fade(self, item: NodeItem) -> None:
        """Begin to fade an item's new state in; at once where nothing may move."""
        if self._reduced or not self._visible:
            item.fade = 1.0
            return
        timer = QElapsedTimer()
        timer.start()
        item.fade = 0.0
        self._fading[item] = timer
        self._follow()

    def forget(self, item: NodeItem) -> None:
        """Drop an item that leaves the drawing."""
        self._fading.pop(item, None)

    def end_fades(self) -> None:
        """Show all new states at once."""
        for item in list(self._fading):
            self._end(item)

    def _end(self, item: NodeItem) -> None:
        self._fading.pop(item, None)
        item.fade = 1.0
        item.update()

    def _follow(self) -> None:
        wanted = self._visible and not self._reduced and (self._flowing or bool(self._fading))
        if not wanted:
            self._ticker.stop()
            self.end_fades()
        elif not self._ticker.isActive():
            self._clock.start()
            self._ticker.start()

    def _tick(self) -> None:
        seconds = self._clock.restart() / 1000.0
        for item, timer in list(self._fading.items()):
            item.fade = min(1.0, timer.elapsed() / _FADE_MS)
            item.update()
            if item.fade >= 1.0:
                self._end(item)
        if self._flowing:
            self.moved.emit(seconds)
        self._follow()
