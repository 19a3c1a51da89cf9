"""The program's files as trees: parsed once in a process, however many tests look through all of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(file: Path) -> ast.Module:
    """Return what a Python file says; nobody changes it."""
    return ast.parse(file.read_text(encoding="utf-8"))
