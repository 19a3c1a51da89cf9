"""The verdict on one state: what became of every acknowledged row, held against what was said and typed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.lab.random_states.asking import Asked
from tests.lab.random_states.branches import forked_pairs

FAIL = "FAIL"
_NOTHING: frozenset[int] = frozenset()
_NOTHING_BEGUN = frozenset({"refused", "bad input"})


@dataclass(frozen=True, slots=True)
class Before:
    """What stood before the console was asked.

    Attributes:
        acknowledged: every row a server ever acknowledged; held: rows by node, read from its own tables.
        apart: Synced nodes already differ: two Primary Components, or forks that an IST by hand has hidden.
        sound: one past for all, backups whole, no filter: nothing is there that may rightly take a return back.
        kept: by node how many folders with older data are there that an earlier run kept.
    """

    acknowledged: frozenset[int]
    held: Mapping[str, frozenset[int]]
    apart: bool
    sound: bool = True
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class After:
    """What stood afterwards: rows by node, the nodes that are Synced in a Primary Component, what is kept as before."""

    held: Mapping[str, frozenset[int]]
    synced: tuple[str, ...]
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Counts are acknowledged rows.

    Attributes:
        word: 'ok', 'typed', 'refused', 'taken back', 'waits', 'FAIL'.
        gone: stood on no node before the console was asked; kept: on every Synced node; aside: only on nodes that are
            not Synced, which nobody has touched; lost: on no node any more; forked: on some Synced nodes only.
        forked_before: pairs of nodes whose tables were forked when the console was asked.
    """

    word: str
    why: str
    gone: int
    kept: int
    aside: int
    lost: int
    forked: int
    forked_before: int


def judge(before: Before, after: After, asked: Sequence[Asked]) -> Verdict:
    """Return the verdict; FAIL names the first reason."""
    alive = before.acknowledged & _NOTHING.union(*before.held.values())
    synced = [after.held[name] for name in after.synced]
    everywhere = frozenset.intersection(*synced) if synced else _NOTHING
    anywhere = _NOTHING.union(*synced)
    rest = _NOTHING.union(*after.held.values())
    forked = anywhere - everywhere
    lost, aside = alive - rest, (alive & rest) - anywhere
    word, why = _word(before, asked, lost=lost, aside=len(aside) if synced else 0, forked=len(forked))
    erased = [name for name, count in before.kept.items() if after.kept.get(name, 0) < count]
    if word != FAIL and erased:
        word, why = FAIL, f"what an earlier run kept on {', '.join(erased)} is gone"
    return Verdict(
        word=word,
        why=why,
        gone=len(before.acknowledged) - len(alive),
        kept=len(alive & everywhere),
        aside=len(aside),
        lost=len(lost),
        forked=len(forked),
        forked_before=len(forked_pairs(dict(before.held))),
    )


def _word(before: Before, asked: Sequence[Asked], *, lost: frozenset[int], aside: int, forked: int) -> tuple[str, str]:
    broke = next((a for a in asked if a.end in {"hang", "broke"}), None)
    if broke is not None:
        return FAIL, f"{broke.procedure}: {broke.end}"
    typed = [a for a in asked if a.typed]
    told, counted = _told(typed), _counted(before, typed, lost)
    done = [a for a in asked if a.end == "done"]
    if len(counted) > told:
        return FAIL, f"{len(counted)} rows are lost, {told} were typed for"
    touched = any(a.end not in _NOTHING_BEGUN for a in asked)  # else servers that were coming back did it themselves
    if forked and (done or (touched and not before.apart)):
        hidden = "so before the console was asked; " if before.apart else ""
        return FAIL, f"{forked} rows are on some Synced nodes only: {hidden}{_names(done) or 'nothing'} said done"
    bootstrapped = [a for a in done if a.procedure == "bootstrap-after-crash"]
    if aside and bootstrapped and not typed:
        return FAIL, f"bootstrapped without {aside} rows that a stopped node has, and nobody typed that"
    undone = next((a for a in asked if a.finished and (before.sound or "not known" in a.finished)), None)
    if undone is not None:
        return FAIL, f"{undone.procedure} took a finished return back: {undone.finished[:120]}"
    return _good(asked, typed, done)


def _told(typed: Sequence[Asked]) -> int:
    """Return how many rows were typed for: a node's loss once, however many questions and procedures named it."""
    names = {name for asked in typed for name in asked.losses}
    return sum(max(asked.losses.get(name, 0) for asked in typed) for name in names)


def _counted(before: Before, typed: Sequence[Asked], lost: frozenset[int]) -> frozenset[int]:
    """Return the lost rows for which a count was due: not those that only nodes had of which 'not known' was typed."""
    unknown = frozenset[str]().union(*(asked.unknown_of for asked in typed))
    due = _NOTHING.union(*(rows for name, rows in before.held.items() if name not in unknown))
    return lost & due


def _good(asked: Sequence[Asked], typed: Sequence[Asked], done: Sequence[Asked]) -> tuple[str, str]:
    if typed and done:
        return "typed", "a person typed what may be lost"
    if any(a.end == "waits" for a in asked):
        return "waits", "it waited at the limit and ended when asked to"
    refused = [a for a in asked if a.end in _NOTHING_BEGUN]
    others = [a for a in asked if a.end not in {*_NOTHING_BEGUN, "done", "nothing to do"}]
    if others:
        return "taken back", f"{_names(others)} did not go through"
    if refused and not done:
        return "refused", ", ".join(dict.fromkeys(a.said for a in refused))
    return "ok", f"{_names(done) or 'nothing to do'}"


def _names(asked: Sequence[Asked]) -> str:
    return ", ".join(dict.fromkeys(a.procedure for a in asked))
