"""How a run ended, what is true now, and the report to save."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.run_model import RunState, RunView
from widgets.common.controls.boxes import button
from widgets.common.look.text import still_on
from widgets.procedures.blocks import put, text_label


class ReportBox(QWidget):
    """`report_wanted("html" | "markdown")`."""

    report_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._view: RunView | None = None
        self._text = text_label("")
        self._true = text_label("", "second")
        self._open = text_label("", "bad")
        self.html = button(tr("Save as &HTML…"), "primary", on=partial(self.report_wanted.emit, "html"))
        self.markdown = button(tr("Save as &Markdown…"), on=partial(self.report_wanted.emit, "markdown"))
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.html)
        foot.addWidget(self.markdown)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self._text, self._true, self._open):
            column.addWidget(part)
        column.addLayout(foot)

    def show_run(self, view: RunView) -> None:
        """Say how the run ended."""
        put(self._text, tr(view.sentence) if view.sentence else tr(view.plan.summary))
        done = view.state is RunState.DONE
        said = self._text.text()
        new = (true for sentence in view.plan.expects if (true := tr(sentence)) not in said) if done else ()
        put(self._true, "\n".join(new))
        still = (still_on(tr(o.obligation.sentence), o.seen, o.seen_off) for o in view.obligations)
        put(self._open, "\n".join(still))
