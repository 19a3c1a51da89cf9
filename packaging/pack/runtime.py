"""Which distributions the program needs to run; everything else in the environment has no place in a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pack.made import NAME

_NO_EXTRA = {"extra": ""}
NOT_NEEDED = ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtle", "turtledemo")
"""Parts of Python itself that no page and no command uses."""
UNDER_GPL = ("readline", "_gdbm")
"""Parts of Python whose libraries are under the GPL 3 without an exception: they would put it on the whole bundle."""


def needed() -> Mapping[str, str]:
    """Return the program's dependencies and theirs on this platform: normalised name -> version."""
    return {name: distribution(name).version for name in sorted(wanted_by()) if name != NAME}


@cache
def wanted_by() -> Mapping[str, tuple[str, ...]]:
    """Return what the program, and each of its dependencies, itself depends on here: normalised names."""
    found: dict[str, tuple[str, ...]] = {}
    waiting = [NAME]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        wanted = [Requirement(line) for line in distribution(name).requires or ()]
        here = {canonicalize_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate(_NO_EXTRA)}
        found[name] = tuple(sorted(one for one in here if _is_there(one)))
        waiting += found[name]
    return found


def _is_there(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False  # wanted on another platform only
    return True


def foreign_modules() -> tuple[str, ...]:
    """Return the top-level modules of distributions that are not needed: tests' and the builder's tools."""
    ours = {*needed(), NAME}
    owners = packages_distributions()
    foreign = {
        module
        for module, names in owners.items()
        if not ours & {canonicalize_name(name) for name in names} and module.isidentifier()
    }
    return tuple(sorted(foreign | {*NOT_NEEDED, *UNDER_GPL}))
