"""The catalogue's little language: what it computes, and that nothing else of Python gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from services.sampling.metrics.formula import FormulaError, Frame, parse


def _evaluate(text: str, terms: dict[str, str] | None = None, **columns: list[float]) -> list[float | None]:
    values = {name.replace("__", "."): np.array(column, np.float64) for name, column in columns.items()}
    n = len(next(iter(values.values())))
    t = np.arange(n, dtype=np.float64)
    found = parse(text, terms).evaluate(Frame(t, t, np.zeros(n), values))
    return [None if np.isnan(v) else float(v) for v in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + 2 * b", [21.0, 42.0, 63.0]),
        ("-(a - b) / 3", [3.0, 6.0, 9.0]),
        ("rate(b)", [None, 10.0, 10.0]),
        ("delta(a) + 1", [None, 2.0, 2.0]),
        ("clamp(b, 15, 25)", [15.0, 20.0, 25.0]),
        ("max(a, 2)", [2.0, 2.0, 3.0]),
        ("min(a, b, 2)", [1.0, 2.0, 2.0]),
        ("avg(b, 2)", [10.0, 15.0, 25.0]),
        ("a / (a - 2)", [-1.0, None, 3.0]),
        ("coalesce(gone, a)", [1.0, 2.0, 3.0]),
        ("coalesce(gone, 7)", [7.0, 7.0, 7.0]),
        ("gone", [None, None, None]),
        ("a + gone", [None, None, None]),
        ("5", [5.0, 5.0, 5.0]),
    ],
)
def test_that_formulas_compute_over_whole_columns(text: str, expected: list[float | None]) -> None:
    assert _evaluate(text, a=[1, 2, 3], b=[10, 20, 30]) == expected


def test_that_a_renamed_variable_is_taken_sample_by_sample() -> None:
    nan = float("nan")
    assert _evaluate("coalesce(old, new)", old=[1, 2, nan, nan], new=[nan, nan, 3, 4]) == [1, 2, 3, 4]


def test_that_patterns_sum_and_pick_over_all_matching_keys() -> None:
    columns: dict[str, Any] = {"d__x__w": [1, 2], "d__y__w": [10, float("nan")], "d__y__r": [100, 100]}
    assert _evaluate('total("d.*.w")', **columns) == [11, 2]
    assert _evaluate('biggest("d.*.w")', **columns) == [10, 2]
    assert _evaluate('smallest("d.*.w")', **columns) == [1, 2]
    assert _evaluate('total("none.*")', **columns) == [None, None]


def test_that_step_counts_a_fall_as_nothing_and_rate_leaves_it_out() -> None:
    assert _evaluate("step(a)", a=[5, 4, 6]) == [None, 0.0, 2.0]
    assert _evaluate("rate(a)", a=[5, 4, 6]) == [None, None, 2.0]


def test_that_terms_stand_for_their_formula() -> None:
    assert _evaluate("100 * part / (whole)", {"whole": "part + rest"}, part=[1, 3], rest=[3, 1]) == [25, 75]


def test_that_a_formula_names_what_it_needs() -> None:
    formula = parse('avg(rate(os.cpu.user + raw("os.net.br-lan.rx")), 300) + total("repl.*.lag")')
    assert formula.keys == ("os.cpu.user", "os.net.br-lan.rx")
    assert formula.patterns == ("repl.*.lag",)
    assert formula.lead_s == 303.0
    known = ("repl.a.lag", "repl.b.lag", "repl.a.state")
    assert formula.needs(known) == ("os.cpu.user", "os.net.br-lan.rx", "repl.a.lag", "repl.b.lag")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "a.b().c", "(lambda: 1)()", "[x for x in a]", "a if b else c", "a ** b",
        "a % b",
        "'text'", "open(a)", "rate()", "rate(a, b)", "rate(x=a)", "avg(a, b)", "total(a)", 'total("a", "b")', "a < b",
        "a and b", "not a", "~a", "a[0]", "f'{a}'", "a := 1", "", "a;b", "1j", "True", "rate(*a)", "a b",
        "getattr(a, 'b')",
    ],
)  # fmt: skip
def test_that_nothing_else_of_python_is_let_through(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text)


def test_that_terms_that_stand_for_themselves_are_refused() -> None:
    with pytest.raises(FormulaError, match="stands for itself"):
        parse("a", {"a": "b + 1", "b": "a"})
