"""The real program while it watches, controlled by its input: `python -m tests.bench.support.watch_probe ARGUMENTS`.

It prints the moment (time.monotonic(), one clock for all processes) at which the topology first showed a server that
answered. A line on its input is the key of a page to show; the input's end closes the window.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal


class _Hand(QObject):
    """What a person would do to the window: lines of the input, brought to the GUI thread."""

    told = Signal(str)

    def __init__(self, window: Any) -> None:
        super().__init__()
        self._window = window
        self.told.connect(self._do)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self.told.emit(line.strip())
        self.told.emit("")

    def _do(self, page: str) -> None:
        if page:
            self._window.show_page(page)
        else:
            self._window.close()


def _say_when_shown() -> None:
    """Let the topology tell the first time it shows a server that answered, when that is painted."""
    from app.window.window_run import WindowStart

    begin = WindowStart._begin
    kept: list[_Hand] = []

    def imported(self: WindowStart) -> None:
        from widgets.topology.view import TopologyView

        show = TopologyView.show_snapshot

        def shown(view: TopologyView, cluster: Any, *more: Any) -> None:
            show(view, cluster, *more)
            facts = (node.facts for node in cluster.nodes) if cluster is not None and not kept else ()
            if any(found is not None and found.server is not None for found in facts):
                kept.append(_Hand(view.window()))
                QTimer.singleShot(0, lambda: QTimer.singleShot(0, _say))

        TopologyView.show_snapshot = shown  # type: ignore[method-assign]
        begin(self)

    WindowStart._begin = imported  # type: ignore[method-assign]


def _say() -> None:
    sys.stdout.write(f"{time.monotonic()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _say_when_shown()
    from app.__main__ import main

    sys.exit(main(sys.argv[1:]))
