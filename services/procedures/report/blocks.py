"""What a report is made of, before it is HTML or Markdown: headings, sentences, tables, raw lines, pictures, folds."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from services.moments import duration, utc_time
from services.visible import visible


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the report's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One paragraph. `tone`: '' or 'good', 'warn', 'bad' (never the only sign of what it says), 'quiet' for what may be
    passed over.
    """

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; without headers the first column names what the second says."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Raw lines: commands as they ran, log lines, output."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing (an svg element) and the same in a table, for readers without pictures and for Markdown.

    A table without rows: the same stands in the report's text already.
    """

    title: str
    svg: Element
    words: Grid


@dataclass(frozen=True, slots=True)
class Fold:
    """What is there for who asks: folded under its title; in Markdown it follows a heading of `level`."""

    title: str
    blocks: tuple[Block, ...]
    level: int = 2
    open: bool = False


Block = Heading | Sentence | Grid | Lines | Picture | Fold


def clean(text: str) -> str:
    """Return text without characters that no document may hold, or that would show other than what is there."""
    return visible(text.replace("\r\n", "\n"))


def moment(at: float | None) -> str:
    """Return "2026-11-21 12:41:04 UTC", '' for None: a report is read in other time zones."""
    return "" if at is None else utc_time(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def hour(at: float | None) -> str:
    """Return "12:41:04" in UTC, '' for None."""
    return "" if at is None else utc_time(at).strftime("%H:%M:%S")


def took(begun: float | None, ended: float | None) -> str:
    """Return how long something took, '' when that is not known (or the clock was set back)."""
    return "" if begun is None or ended is None or ended < begun else duration(ended - begun)
