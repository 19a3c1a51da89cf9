"""Which version of this program runs; one that was not installed (a checkout, a bundle without metadata) has none."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

NOT_INSTALLED = "0+not-installed"


def own_version() -> str:
    """Return it as its package has it."""
    try:
        return version("pilothouse")
    except PackageNotFoundError:
        return NOT_INSTALLED
