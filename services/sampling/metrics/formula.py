"""The little language of the metric catalogue: arithmetic over raw keys, evaluated over whole arrays at once.

Grammar: Python expressions of + - * / ( ), numbers, metric keys (dotted names), and the functions
    rate(x)             growth per second, NaN across resets, restarts and holes (rates.py)
    delta(x)            growth since the sample before, the same way
    step(x)             as delta, but a small fall counts 0 (man proc_stat(5): iowait may decrease)
    clamp(x, low, high), max(x, ...), min(x, ...)
    avg(x, seconds)     mean of the last seconds, holes left out
    coalesce(x, ...)    the first that the server offers (renamed variables), sample by sample
    positive(x)         x where it is more than 0: a capacity of 0 is none
    total("a.*.b"), biggest("a.*.b"), smallest("a.*.b")   over all keys that match
    carried("a.*.b")    total over network devices whose names say that they carry traffic of their own
    raw("key")          a key that is no name (a dash in it)
Nothing else of Python is let through: no attribute of anything but names, no call of anything but these.
"""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from services.facts.machine.net_devices import carrying
from services.sampling.metrics import rates
from services.series import Array

_BINARY: dict[type[ast.operator], Callable[[Array, Array], Array]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}


def _total(stack: Array) -> Array:
    return np.where(np.isnan(stack).all(axis=0), np.nan, np.nansum(stack, axis=0))


_PATTERNS: dict[str, Callable[[Array], Array]] = {
    "total": _total,
    "carried": _total,
    "biggest": lambda stack: np.fmax.reduce(stack, axis=0),
    "smallest": lambda stack: np.fmin.reduce(stack, axis=0),
}
_ARITY = {"rate": (1, 1), "delta": (1, 1), "step": (1, 1), "clamp": (3, 3), "max": (1, 99), "min": (1, 99),
          "avg": (2, 2), "coalesce": (1, 99), "positive": (1, 1)}  # fmt: skip
LEAD_S = 3.0


class FormulaError(ValueError):
    """The text is not a formula of the catalogue's language; the message says why."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Raw columns of one server to evaluate formulas over; all arrays of shape (n,), ascending in time."""

    t: Array
    mono: Array
    epochs: Array
    values: Mapping[str, Array]

    @cached_property
    def dt(self) -> Array:
        """Seconds since the sample before, NaN after a hole."""
        return rates.intervals(self.t, self.mono)

    @cached_property
    def broken(self) -> rates.Mask:
        """Where a restart lies before a sample."""
        return rates.breaks(self.epochs, self.values.get("uptime"))

    def column(self, key: str) -> Array:
        """Return a raw column, all NaN when there is none."""
        found = self.values.get(key)
        return np.full(len(self.t), np.nan) if found is None else found


@dataclass(frozen=True, slots=True)
class Formula:
    """A checked formula.

    Attributes:
        text: as written; keys: raw keys it names; patterns: patterns it names.
        lead_s: seconds of samples before the first wanted moment that it needs.
    """

    text: str
    keys: tuple[str, ...]
    patterns: tuple[str, ...]
    lead_s: float
    _tree: ast.expr

    def needs(self, known: Sequence[str]) -> tuple[str, ...]:
        """Return the raw keys to read, given the keys that a server has."""
        wanted = dict.fromkeys(self.keys)
        for pattern in self.patterns:
            wanted.update(dict.fromkeys(fnmatch.filter(known, pattern)))
        return tuple(wanted)

    def evaluate(self, frame: Frame) -> Array:
        """Return the metric, shape (n,); division by zero and everything that isn't finite is NaN."""
        with np.errstate(all="ignore"):
            result = np.array(np.broadcast_to(_Evaluation(frame).value(self._tree), frame.t.shape), np.float64)
        result[~np.isfinite(result)] = np.nan
        return result


def parse(text: str, terms: Mapping[str, str] | None = None) -> Formula:
    """Check a formula; `terms` are named parts that stand for their own formula. Raise FormulaError."""
    reader = _Reader(dict(terms or {}))
    tree = reader.expression(text)
    return Formula(text, tuple(reader.keys), tuple(reader.patterns), reader.lead_s, tree)


class _Reader:
    """Checks a syntax tree and replaces terms; collects the keys on the way."""

    def __init__(self, terms: dict[str, str]) -> None:
        self._terms = terms
        self._open: list[str] = []
        self.keys: dict[str, None] = {}
        self.patterns: dict[str, None] = {}
        self.lead_s = LEAD_S

    def expression(self, text: str) -> ast.expr:
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError) as problem:
            message = f"not a formula: {text!r}"
            raise FormulaError(message) from problem
        return self._check(tree)

    def _check(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return ast.BinOp(self._check(node.left), node.op, self._check(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return ast.UnaryOp(node.op, self._check(node.operand))
        if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
            return node
        if isinstance(node, ast.Name | ast.Attribute):
            return self._name(_dotted(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node.func.id, node)
        message = f"not allowed in a formula: {ast.unparse(node)!r}"
        raise FormulaError(message)

    def _name(self, name: str) -> ast.expr:
        if name in self._terms:
            if name in self._open:
                message = f"the term {name!r} stands for itself"
                raise FormulaError(message)
            self._open.append(name)
            tree = self.expression(self._terms[name])
            self._open.pop()
            return tree
        self.keys[name] = None
        return ast.Name(name)

    def _call(self, function: str, node: ast.Call) -> ast.expr:
        if function in _PATTERNS or function == "raw":
            if (
                len(node.args) != 1
                or not isinstance(node.args[0], ast.Constant)
                or not isinstance(node.args[0].value, str)
            ):
                message = f"{function}() takes one text"
                raise FormulaError(message)
            text = node.args[0].value
            if function == "raw":
                self.keys[text] = None
                return ast.Name(text)
            self.patterns[text] = None
            return node
        if function not in _ARITY or not _ARITY[function][0] <= len(node.args) <= _ARITY[function][1]:
            message = f"no such function, or the wrong number of parts: {ast.unparse(node)!r}"
            raise FormulaError(message)
        if function == "avg":
            window = node.args[1]
            if not isinstance(window, ast.Constant) or type(window.value) not in {int, float}:
                raise FormulaError("avg() takes its seconds as a number")
            self.lead_s = max(self.lead_s, float(window.value) + LEAD_S)  # type: ignore[arg-type]
        return ast.Call(node.func, [self._check(a) for a in node.args], [])


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    message = f"not a metric key: {ast.unparse(node)!r}"
    raise FormulaError(message)


class _Evaluation:
    """Walks a checked tree over one frame."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def value(self, node: ast.expr) -> Array:
        if isinstance(node, ast.Constant):
            return np.float64(node.value)  # type: ignore[arg-type, return-value]
        if isinstance(node, ast.Name):
            return self._frame.column(node.id)
        if isinstance(node, ast.UnaryOp):
            return np.negative(self.value(node.operand))
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        return self._call(node.func.id, node.args)

    def _call(self, function: str, args: list[ast.expr]) -> Array:
        if function in _PATTERNS:
            assert isinstance(args[0], ast.Constant)
            pattern = str(args[0].value)
            keys = fnmatch.filter(self._frame.values, pattern)
            if function == "carried":
                before, _, after = pattern.partition("*")
                names = [key.removeprefix(before).removesuffix(after) for key in keys]
                keys = [f"{before}{name}{after}" for name in carrying(names, ())]
            if not keys:
                return np.full(len(self._frame.t), np.nan)
            return _PATTERNS[function](np.stack([self._frame.values[k] for k in keys]))
        values = [self.value(argument) for argument in args]
        return self._apply(function, values)

    def _apply(self, function: str, values: list[Array]) -> Array:
        frame = self._frame
        if function == "clamp":
            return np.clip(values[0], values[1], values[2])
        if function in {"max", "min"}:
            ufunc = np.maximum if function == "max" else np.minimum
            result = values[0]
            for value in values[1:]:
                result = ufunc(result, value)
            return result
        if function == "positive":
            return np.where(values[0] > 0, values[0], np.nan)
        if function == "coalesce":
            result = values[0]
            for value in values[1:]:
                result = np.where(np.isnan(result), value, result)
            return result
        series = np.array(np.broadcast_to(values[0], frame.t.shape), np.float64)
        if function == "avg":
            return _trailing_mean(frame.t, series, float(values[1]))
        if function == "rate":
            return rates.rate(series, frame.dt, frame.broken)
        return rates.deltas(series, frame.dt, frame.broken, may_fall=function == "step")


def _trailing_mean(t: Array, values: Array, seconds: float) -> Array:
    """Return the mean of the values of the last `seconds` up to each moment, NaN values left out."""
    present = ~np.isnan(values)
    sums = np.concatenate(([0.0], np.cumsum(np.where(present, values, 0.0))))
    counts = np.concatenate(([0], np.cumsum(present)))
    first = np.searchsorted(t, t - seconds, side="right")
    last = np.arange(1, len(t) + 1)
    return np.asarray((sums[last] - sums[first]) / (counts[last] - counts[first]), np.float64)
