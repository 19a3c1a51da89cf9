"""Lines that a hostile server could write for a pattern: made from the pattern's own parts, so that it nearly fits."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from services.connections.ports import MOST_LINE

_SAMPLE = {c.CATEGORY_DIGIT: "1", c.CATEGORY_SPACE: " ", c.CATEGORY_WORD: "a", c.CATEGORY_NOT_SPACE: "x",
           c.CATEGORY_NOT_DIGIT: "x", c.CATEGORY_NOT_WORD: "-"}  # fmt: skip


@dataclass(frozen=True)
class Used:
    """A pattern, and the ways in which it is laid on a text: 'search', 'match', 'fullmatch'."""

    pattern: re.Pattern[str]
    ways: frozenset[str]


_WAYS = {"match": "match", "fullmatch": "fullmatch"}  # all others look at every place of the text


def patterns_of(*packages: str) -> dict[str, Used]:
    """Return every pattern that the modules of these packages hold or write out, by module and name."""
    found: dict[str, Used] = {}
    for package in packages:
        root = importlib.import_module(package)
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            module = importlib.import_module(info.name)
            source = Path(str(module.__file__)).read_text(encoding="utf-8")
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    found[f"{info.name}.{name}"] = Used(value, _ways(name, source))
                elif isinstance(value, tuple | list):
                    fits = [one for one in value if isinstance(one, re.Pattern)]
                    ways = frozenset(_WAYS.get(way, "search") for way in _ways_of_all(name, source)) or _ALL
                    found |= {f"{info.name}.{name}[{i}]": Used(one, ways) for i, one in enumerate(fits)}
            for line, text, way in _written_out(source):
                found[f"{info.name}:{line}"] = Used(re.compile(text), frozenset({way}))
    return found


_ALL = frozenset({"search"})


def _ways(name: str, source: str) -> frozenset[str]:
    """Return how a module lays a pattern of its own, or of a neighbour, on texts; by search where it does not say."""
    said = {_WAYS.get(way, "search") for way in re.findall(rf"\b{name}\.(\w+)\b", source)}
    handed_on = re.search(rf"[(,=] ?{name}[,)]", source) is not None
    return frozenset(said) if said and not handed_on else _ALL


def _ways_of_all(name: str, source: str) -> list[str]:
    """Return how a module lays the patterns of a tuple on texts: `any(one.fullmatch(text) for one in NAME)`."""
    lines = [line for line in source.splitlines() if re.search(rf"\b{name}\b", line) and " for " in line]
    return [way for line in lines for way in re.findall(r"\.(\w*(?:match|search|sub|split|find\w*))\(", line)]


def _written_out(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, pattern, way) of `re.search("...", text)` and its kin."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            first = node.args[0]
            if of_re and node.func.attr != "compile" and isinstance(first, ast.Constant):
                yield node.lineno, str(first.value), _WAYS.get(node.func.attr, "search")


def lines_for(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """Yield long lines that nearly fit: each repeat of the pattern pumped, behind what stands before it."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    seen = set()
    for before, unit in _pumps(tree, ""):
        for pumped in (unit, before + unit):
            if not pumped:
                continue
            for text in (before + pumped * (size // len(pumped) + 1), pumped * (size // len(pumped) + 1)):
                line = text[:size] + "\x01"
                if line not in seen:
                    seen.add(line)
                    yield line


def _example(tree: Any) -> str:
    """Return a text that the parsed pattern matches, roughly."""
    out = ""
    for kind, value in tree:
        if kind is c.LITERAL:
            out += chr(value)
        elif kind is c.NOT_LITERAL:
            out += "x" if value != ord("x") else "y"
        elif kind is c.ANY:
            out += "x"
        elif kind is c.IN:
            out += _of_set(value)
        elif kind in {c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT}:
            out += _example(value[2]) * max(1, value[0])
        elif kind is c.SUBPATTERN:
            out += _example(value[3])
        elif kind is c.ATOMIC_GROUP:
            out += _example(value)
        elif kind is c.BRANCH:
            out += _example(value[1][0])
    return out


def _of_set(items: Any) -> str:
    if items and items[0][0] is c.NEGATE:
        return "x"
    kind, value = items[0]
    if kind is c.RANGE:
        return chr(value[0])
    return chr(value) if kind is c.LITERAL else _SAMPLE.get(value, "x")


def _pumps(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield (what stands before, what is repeated) for each repeat in the pattern, and for the pattern as a whole."""
    for kind, value in tree:
        if kind in {c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT}:
            yield before, _example(value[2])
            yield from _pumps(value[2], before)
        elif kind is c.SUBPATTERN:
            yield from _pumps(value[3], before)
        elif kind is c.BRANCH:
            for branch in value[1]:
                yield from _pumps(branch, before)
        before += _example([(kind, value)])
    yield "", before


def slowest(used: Used, size: int) -> tuple[float, str]:
    """Return (seconds, the line) of the line of `size` characters that takes the pattern longest."""
    worst = (0.0, "")
    for line in lines_for(used.pattern, size):
        for way in used.ways:
            began = time.thread_time()
            getattr(used.pattern, way)(line)
            worst = max(worst, (time.thread_time() - began, line))
    return worst


QUICK_S = 0.03
"""No line takes longer: there is nothing to compare."""


def no_more_than_its_length_says(used: Used) -> None:
    """Fail where a line of twice the length takes a pattern much more than twice the time."""
    size, before = 250, 0.0
    while size < MOST_LINE:  # from small to large: a pattern that doubles with each letter would never come back
        size *= 2
        took, line = slowest(used, size)
        if took <= QUICK_S:
            before = took
            continue
        took = min(took, slowest(used, size)[0])  # a shared machine: twice means it
        if took > QUICK_S and before > QUICK_S / 4:
            assert took < 3.0 * before, f"{size} letters: {took:.3f} s, half of them: {before:.3f} s: {line[:60]!r}"
        assert took < 0.3, f"{size} letters took {took:.3f} s: {line[:60]!r}"
        before = took
