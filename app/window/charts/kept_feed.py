"""Joins the row of kept marks on the charts page with where they are kept; every call is made on a worker."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.mark_shelf import MarkShelf
from services.discovery.words import moment
from services.errors import UserError
from services.history.marked_change import ChangeMark, Stretch
from services.i18n import tr
from widgets.bridge.ops import Ops
from widgets.charts.compare.kept import KeptMark
from widgets.charts.page import ChartsPage

_KEY = "kept-marks"


class KeptFeed(QObject):
    """One per charts page; it goes with it."""

    def __init__(self, page: ChartsPage, shelf: MarkShelf, ops: Ops) -> None:
        super().__init__(page)
        self._row = page.compare.kept
        self._shelf = shelf
        self._ops = ops
        self._begun = self._shown = 0
        page.compare.opened.connect(lambda: self._do(lambda: None, ""))
        self._row.keep_wanted.connect(self._keep)
        self._row.remove_wanted.connect(self._remove)

    def _keep(self, name: str, before: Stretch, after: Stretch) -> None:
        shelf = self._shelf
        lasting = tr("Kept. You find it here and with pilothouse compare --marks.")
        told = lasting if shelf.lasts else tr("Kept until you close this window; a demo stores nothing.")
        self._do(lambda: shelf.keep(name, before, after), told)

    def _remove(self, mark: KeptMark) -> None:
        shelf, number = self._shelf, mark.number
        self._do(lambda: shelf.remove(number), tr("{name} was removed. Keep restores it.", name=mark.name))

    def _do(self, act: Callable[[], object], told: str) -> None:
        """Do something and show what is kept then.

        Each has a key of its own: of calls with one key the older is dropped, and what was to be kept would be lost.
        """
        shelf, row = self._shelf, self._row
        self._begun += 1
        number = self._begun

        def work() -> tuple[KeptMark, ...]:
            act()
            return tuple(_shown(mark) for mark in shelf.all())

        def done(marks: tuple[KeptMark, ...]) -> None:
            if number > self._shown:  # an answer that was overtaken knows less
                self._shown = number
                row.offer(marks)
                row.say(told)

        def failed(problem: UserError) -> None:
            row.say(" ".join((problem.sentence, *problem.try_)))

        self._ops.run(f"{_KEY}-{number}", work, done, failed)


def _shown(mark: ChangeMark) -> KeptMark:
    at = moment(mark.made_at)
    if not mark.number:
        told = tr("Marked {at}; part of the recording.", at=at)
    elif mark.made_by:
        told = tr("Marked {at} by {who}.", at=at, who=mark.made_by)
    else:
        told = tr("Marked {at}.", at=at)
    return KeptMark(mark.number, mark.name, mark.before, mark.after, told)
