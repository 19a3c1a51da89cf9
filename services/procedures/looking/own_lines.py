"""Taking a run's own lines out of a file that somebody else changed since, where that is certain. Pure.

A merge of three texts as diff3(1) has it (S. Khanna, K. Kunal, B. Pierce, "A Formal Investigation of Diff3", 2007):
what the run wrote is the ancestor, the original one side, what stands there now the other. Lines of an option file are
independent of each other, so changes that only adjoin are no conflict.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from services.lines import lines_of

_MOST_WORK = 20_000_000
"""Steps of a comparison, some seconds: 4,000 lines that are all alike took 21 s, and longer texts hours."""
_Hunk = tuple[int, int, tuple[str, ...]]
"""Lines of the text as written, from and to, and what stands in their place."""


@dataclass(frozen=True, slots=True)
class Back:
    """What a file becomes without the run's lines; `text` None: it is removed."""

    text: str | None


def without_own(original: str | None, wrote: str, now: str) -> Back | None:
    """Return what the file is to become; None where it is not certain what is the run's and what is not.

    It is not certain either where the texts differ in so much that they would take very long to compare.

    Args:
        original: what it was before the run, None where it was not there.
        wrote: what the run made of it; now: what stands there.
    """
    if now == wrote:
        return Back(original)
    base, present = _lines(wrote), _lines(now)
    theirs = _hunks(base, present)
    if original is None:
        # Of a file of its own the run takes back what counts; a section's header stays for the lines of others.
        ours: list[_Hunk] | None = [(at, at + 1, ()) for at, line in enumerate(base) if _counts(line)]
    else:
        ours = _hunks(base, _lines(original))
    if ours is None or theirs is None or len(ours) * len(theirs) > _MOST_WORK:
        return None
    if any(_against(mine, other) for mine in ours for other in theirs):
        return None
    both = sorted({*ours, *theirs}, key=lambda one: (one[0], one[1]))
    merged = _applied(base, both)
    if original is None and not any(_counts(line) for line in merged):
        return Back(None)
    return Back("".join(merged))


def own_lines(original: str | None, wrote: str, now: str) -> tuple[str, ...]:
    """Return the lines of the run that stand in the file now."""
    before, present = set(lines_of(original or "")), set(lines_of(now))
    return tuple(line for line in lines_of(wrote) if line in present and line not in before and _counts(line))


def _lines(text: str) -> list[str]:
    """Return the lines with their ends: put together again they are the text."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _counts(line: str) -> bool:
    start = line.strip()
    return bool(start) and not start.startswith("[")


def _hunks(base: list[str], other: list[str]) -> list[_Hunk] | None:
    """Return the changes; None where the comparison would take too long."""
    start = _alike(base, other)
    ends = _alike(base[start:][::-1], other[start:][::-1])
    mine, others = base[start : len(base) - ends], other[start : len(other) - ends]
    if _work(mine, others) > _MOST_WORK:
        return None
    codes = SequenceMatcher(None, mine, others, autojunk=False).get_opcodes()
    return [(start + begin, start + end, tuple(others[at:to])) for kind, begin, end, at, to in codes if kind != "equal"]


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (line, there) in pairs if line != there), min(len(one), len(other)))


def _work(one: list[str], other: list[str]) -> int:
    """Return the most steps of difflib: each match, of which there may be one a line, looks at all pairs of lines."""
    mine, others = Counter(one), Counter(other)
    pairs = sum(times * others[line] for line, times in mine.items())
    return min(len(one), len(other)) * (pairs + len(one) + len(other))


def _against(mine: _Hunk, other: _Hunk) -> bool:
    """Return whether two changes speak of the same lines, and not with one voice."""
    if mine == other:
        return False
    begin, end, back = mine
    first, last, new = other
    header = any(line.lstrip().startswith("[") for line in new)
    if begin < last and first < end:
        return bool(back or new)  # lines that both take out are out
    if first == last and begin < first < end:
        return True
    # What is put in at one place has no order; behind another section's header it would be another option.
    return bool(back) and (header or (begin == end and first <= begin <= last))


def _applied(base: list[str], hunks: list[_Hunk]) -> list[str]:
    found, at = list[str](), 0
    for begin, end, lines in hunks:
        found += [*base[at:begin], *lines]
        at = max(at, end)
    return [*found, *base[at:]]
