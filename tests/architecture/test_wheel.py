"""The wheel over a form scrolls it: every field that Qt would change by it is one of the two of widgets/common."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
BARE = {"QComboBox", "QFontComboBox", "QSpinBox", "QDoubleSpinBox", "QAbstractSpinBox", "QDateTimeEdit", "QDateEdit",
        "QTimeEdit", "QSlider", "QDial"}  # fmt: skip
HOMES = {"widgets/common/controls/combo.py": "QComboBox", "widgets/common/controls/spin.py": "QSpinBox"}


def made(tree: ast.AST) -> Iterator[str]:
    """Yield the name of each field of Qt that is made, or derived from, in a file."""
    for node in walked(tree):
        used = [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
        for part in used:
            name = part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
            if name in BARE:
                yield name


def test_that_no_field_that_the_wheel_changes_is_made_outside_its_home() -> None:
    sources = [path for folder in ("app", "widgets") for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {(path.relative_to(ROOT).as_posix(), name) for path in sources for name in made(tree_of(path))}
    assert found == set(HOMES.items())


@pytest.mark.parametrize("source", ["box = QComboBox()", "box = w.QSpinBox()", "class Mine(QDoubleSpinBox): pass"])
def test_that_a_bare_field_is_found(source: str) -> None:
    assert list(made(ast.parse(source)))


def test_that_naming_an_enum_of_a_field_makes_none() -> None:
    assert not list(made(ast.parse("box.setPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)")))
