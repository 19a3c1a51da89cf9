"""The program's files as trees: parsed and walked once in a process, however many tests look through all of them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(file: Path) -> ast.Module:
    """Return what a Python file says; nobody changes it.

    It stays until the process ends. The collector is kept from looking through it: with it on, all files take three
    times as long.
    """
    gc.disable()
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


@cache
def walked(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return what `ast.walk` yields: walking all files takes longer than whatever a test asks of their nodes."""
    return tuple(ast.walk(tree))
