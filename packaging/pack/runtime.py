"""Which distributions the program needs to run; everything else in the environment has no place in a bundle."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pack.made import NAME

NOT_NEEDED = ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtle", "turtledemo")
"""Parts of Python itself that no page and no command uses."""


def needed() -> Mapping[str, str]:
    """Return the program's dependencies and theirs on this platform: normalised name -> version."""
    found: dict[str, str] = {}
    waiting = [NAME]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # wanted on another platform only
        found[name] = one.version
        for line in one.requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
    return {name: version for name, version in sorted(found.items()) if name != NAME}


def foreign_modules() -> tuple[str, ...]:
    """Return the top-level modules of distributions that are not needed: tests' and the builder's tools."""
    ours = {*needed(), NAME}
    owners = packages_distributions()
    foreign = {
        module
        for module, names in owners.items()
        if not ours & {canonicalize_name(name) for name in names} and module.isidentifier()
    }
    return tuple(sorted(foreign | set(NOT_NEEDED)))
