"""Finding what stands in a folder by itself: every module of a package is read, so that a new file is enough.

Nothing is registered by hand and nothing registers itself: who needs the conditions asks for those of a package
(pkgutil, docs.python.org/3/library/pkgutil.html), and gets them by tag.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeGuard

from services.procedures.plan.condition import Condition
from services.procedures.plan.procedure import Procedure


class BadlyNamed(RuntimeError):  # noqa: N818 - the name says what happened
    """Two files claim one name, or a file lacks one, or claims that of another folder: no program starts with that."""


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Yield every module below a package, in the order of their names."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    for name in sorted(module.name for module in found):
        yield import_module(name)


def conditions_of(*packages: ModuleType) -> Mapping[str, type[Condition]]:
    """Return the conditions that stand in the modules of packages, by tag. Raises BadlyNamed.

    A condition's family is the folder of the package that contains it, in whichever room of that folder.
    """
    found: dict[str, type[Condition]] = {}
    for family, kind in (pair for package in packages for pair in _conditions_in(package)):
        if kind.tag.partition(".")[0] != family:
            raise BadlyNamed(f"{kind.__module__}.{kind.__name__} is tagged '{kind.tag}', and is in '{family}'.")
        if kind.tag in found:
            raise BadlyNamed(f"Two conditions are tagged '{kind.tag}': {found[kind.tag]} and {kind}.")
        found[kind.tag] = kind
    return found


def _conditions_in(package: ModuleType) -> Iterator[tuple[str, type[Condition]]]:
    """Yield the conditions that a package defines, each with its family."""
    for module in modules_of(package):
        family = module.__name__.removeprefix(f"{package.__name__}.").partition(".")[0]
        for kind in vars(module).values():
            if _is_condition(kind) and kind.__module__ == module.__name__:
                yield family, kind


def _is_condition(kind: object) -> TypeGuard[type[Condition]]:
    return isinstance(kind, type) and issubclass(kind, Condition) and not inspect.isabstract(kind)


def procedures_of(*packages: ModuleType) -> tuple[Procedure, ...]:
    """Return the procedures of packages, in the order of the cards. Raises BadlyNamed.

    A procedure is a folder FAMILY/PROCEDURE/ whose file procedure.py gives it as PROCEDURE.
    """
    found: dict[str, Procedure] = {}
    for module in (module for package in packages for module in modules_of(package)):
        if module.__name__.rpartition(".")[2] != "procedure":
            continue
        procedure: Procedure | None = getattr(module, "PROCEDURE", None)
        if procedure is None:
            raise BadlyNamed(f"{module.__name__} gives no PROCEDURE.")
        if procedure.about.name in found:
            raise BadlyNamed(f"Two procedures are called '{procedure.about.name}', one in {module.__name__}.")
        found[procedure.about.name] = procedure
    return tuple(sorted(found.values(), key=lambda one: (one.about.place, one.about.name)))
