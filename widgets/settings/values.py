"""What the page of settings shows and gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limit:
    """A question of procedures whose first answer can be set: its name there, marked words, the answer it has now."""

    name: str
    title: str
    usual: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything on the page.

    Attributes:
        theme, text_percent, language, interval_s, keep_days, most_gib, limits: as they are set.
        languages: tags there are; sizes: text sizes in percent; intervals: in seconds; days, gib: least and most.
        questions: which limits there are. estate: the open inventory's path, '' for none.
        usual_estate: whether the next start opens it without being told to.
        kept: the file that keeps all this, '' where nothing is kept. about: (name, value) of the program.
    """

    theme: str = "system"
    text_percent: int = 100
    language: str = ""
    languages: Sequence[str] = ("en",)
    sizes: Sequence[int] = (100,)
    interval_s: int = 1
    intervals: Sequence[int] = (1,)
    keep_days: int = 14
    days: tuple[int, int] = (1, 365)
    most_gib: int = 2
    gib: tuple[int, int] = (1, 100)
    limits: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[Limit, ...] = ()
    estate: str = ""
    usual_estate: bool = True
    kept: str = ""
    about: tuple[tuple[str, str], ...] = ()
