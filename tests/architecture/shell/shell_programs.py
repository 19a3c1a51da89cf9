"""Every program text that the console gives to a shell: found where it is given, resolved to the text itself."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).parents[3]
SHELLS = frozenset({"bash", "sh"})
JUDGE = ROOT / "services" / "connections" / "observer" / "commands.py"
"""It looks at what others send, and sends nothing."""


@dataclass(frozen=True, slots=True)
class Program:
    """A text, the shell that gets it, and its name where it stands."""

    name: str
    shell: str
    text: str


@dataclass(frozen=True, slots=True)
class _Site:
    shell: str
    said: ast.expr
    within: tuple[ast.FunctionDef, ...]


@cache
def programs() -> tuple[Program, ...]:
    """Return each of them once. Raises TypeError for a text that nobody can look at before it is sent."""
    found: dict[Program, None] = {}
    for path in sorted({*(ROOT / "services").rglob("*.py")} - {JUDGE}):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        tree = tree_of(path)
        for site in _sites(tree, ()):
            for said in _given(tree, site):
                name = ast.unparse(said)
                found.setdefault(Program(name, site.shell, _text(module, said)))
    return tuple(found)


def _sites(node: ast.AST, within: tuple[ast.FunctionDef, ...]) -> Iterator[_Site]:
    within = (*within, node) if isinstance(node, ast.FunctionDef) else within
    items: list[ast.expr] = []
    if isinstance(node, ast.Tuple | ast.List):
        items = node.elts
    elif isinstance(node, ast.Call):
        items = node.args
    for shell, flag, said in zip(items, items[1:], items[2:], strict=False):
        if _is(flag, frozenset({"-c"})) and isinstance(shell, ast.Constant) and _is(shell, SHELLS):
            yield _Site(str(shell.value), said, within)
    for child in ast.iter_child_nodes(node):
        yield from _sites(child, within)


def _is(node: ast.expr, words: frozenset[str]) -> bool:
    return isinstance(node, ast.Constant) and node.value in words


def _given(tree: ast.Module, site: _Site) -> list[ast.expr]:
    """Return what stands there; where that is a function's own argument, what its callers in the module give."""
    for function in reversed(site.within):
        names = [one.arg for one in function.args.args if one.arg != "self"]
        if isinstance(site.said, ast.Name) and site.said.id in names:
            at = names.index(site.said.id)
            return [
                call.args[at] for call in walked(tree)
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == function.name
            ]  # fmt: skip
    return [site.said]


def _text(module: str, said: ast.expr) -> str:
    if isinstance(said, ast.Constant):
        return str(said.value)
    text = attrgetter(ast.unparse(said))(importlib.import_module(module))
    if not isinstance(text, str):
        raise TypeError(module, ast.unparse(said))
    return text
