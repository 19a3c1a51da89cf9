"""Nothing in the window can show markup that a server wrote: an AST walk finds every way in which Qt renders any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
_TIPS = {"setToolTip", "setWhatsThis", "setStatusTip", "showText"}
_RICH = {"setHtml", "setMarkdown", "insertHtml", "appendHtml", "setTextFormat", "setInformativeText", "setDetailedText"}
_TYPES = {"QLabel", "QMessageBox", "QErrorMessage", "QTextBrowser", "QTextEdit", "QTextDocument", "QGraphicsTextItem",
          "QStaticText", "QWhatsThis", "QSplashScreen", "QProgressDialog", "QToolTip", "TextItem", "LabelItem",
          "QWebEngineView", "QSimpleHtml"}  # fmt: skip
ALLOWED = {
    ("widgets/common/controls/plain.py", "setToolTip"),
    ("widgets/common/controls/plain.py", "showText"),
    ("widgets/common/controls/plain.py", "QToolTip"),
    ("widgets/common/controls/labels.py", "QLabel"),
    ("widgets/common/controls/labels.py", "setTextFormat"),
    (
        "widgets/frame/first_frame.py",
        "QLabel",
    ),  # one word of ours; the enum PlainText costs 15 ms before the first paint
}


def ways(tree: ast.AST) -> Iterator[str]:
    """Yield the name of each attribute, call or base class by which rich text could come to a screen."""
    for node in walked(tree):
        if isinstance(node, ast.Attribute) and node.attr in _TIPS | _RICH:
            yield node.attr
        elif isinstance(node, ast.FunctionDef) and node.name in _TIPS | _RICH:
            yield node.name
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in _TYPES:
            yield node.value.id  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and (name := _name(node.func)) in _TYPES:
            yield name
        elif isinstance(node, ast.ClassDef):
            yield from (name for base in node.bases if (name := _name(base)) in _TYPES)
        elif isinstance(node, ast.keyword) and node.arg in {"html", "toolTip", "whatsThis", "statusTip"}:
            yield node.arg


def tips_of_models(tree: ast.AST) -> Iterator[str]:
    """Yield what a model returns for ToolTipRole, where it is anything but `plain(...)`."""
    for node in walked(tree):
        if isinstance(node, ast.If) and "ToolTipRole" in ast.unparse(node.test):
            returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
            yield from (
                ast.unparse(value)
                for value in returned
                if value and _name(getattr(value, "func", value)) != "plain_text"
            )


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("app", "widgets"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), tree_of(file)


def test_that_only_two_modules_can_show_what_qt_may_take_for_markup() -> None:
    found = {(file, way) for file, tree in _trees() for way in ways(tree)}
    assert found - ALLOWED == set()
    assert ALLOWED - found == set(), "an allowance nobody needs any more"
    assert {file: told for file, tree in _trees() if (told := list(tips_of_models(tree)))} == {}


@pytest.mark.parametrize(
    "text",
    ["w.setToolTip(x)", "box.changed.connect(self.setToolTip)", "QLabel(x)", "class A(QLabel): pass",
     "QMessageBox.warning(a)", "QToolTip.showText(p, x)", "pg.TextItem(html=x)", "view.setHtml(x)",
     "from PySide6 import QtWidgets as q\nq.QTextBrowser()"],
)  # fmt: skip
def test_that_the_walk_finds_each_way(text: str) -> None:
    assert list(ways(ast.parse(text)))
    assert not list(ways(ast.parse("set_tip(w, x); label(x); w.setText(x)")))


def test_that_the_walk_finds_a_model_whose_tooltip_is_as_it_came() -> None:
    model = "def data(self, role):\n    if role == Qt.ItemDataRole.ToolTipRole:\n        return {}\n"
    assert list(tips_of_models(ast.parse(model.format("entry.hint")))) == ["entry.hint"]
    assert not list(tips_of_models(ast.parse(model.format("plain_text(entry.hint)"))))
