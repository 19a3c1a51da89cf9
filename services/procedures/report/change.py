"""What a run changed in numbers: the windows before and after it, what differs, and all that was compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from services.i18n import tr
from services.procedures.report.blocks import Block, Fold, Grid, Heading, Sentence, moment
from services.sampling.change.model import Comparison, Direction, Window
from services.sampling.change.words import HEADERS, caveat, row, summary


def change_blocks(found: Comparison | str) -> Iterator[Block]:
    """Give the comparison around a run; a text is the reason why there is none."""
    yield Heading(2, tr("Before and after"))
    if isinstance(found, str):
        yield Sentence(tr("Not measured: {why}", why=found), "quiet")
        return
    reasons = {change.said if change.verdict is Direction.UNKNOWN else "" for change in found.changes}
    windows = tr("Compared: {before} with {after}.", before=_window(found.before), after=_window(found.after))
    if len(reasons) == 1 and "" not in reasons:
        yield Sentence(tr("{windows} Not known: {why}", windows=windows, why=reasons.pop()), "quiet")
        return
    yield Sentence(f"{windows} {summary(found)} {caveat(found)}")
    headers = tuple(tr(header) for header in HEADERS)
    differ = tuple(row(c) for c in found.changes if c.verdict in {Direction.HIGHER, Direction.LOWER})
    if differ:
        yield Grid(headers, differ)
    yield Fold(tr("All comparisons"), (Grid(headers, tuple(row(c) for c in found.changes)),))


def _window(window: Window) -> str:
    return tr("{first} to {last}", first=moment(window.start), last=moment(window.end))
