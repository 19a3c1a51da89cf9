"""A family whose kinds are known before it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from services.types import ClusterKind

if TYPE_CHECKING:
    from services.discovery.families.port import Family


class _Late:
    def __init__(self, kinds: tuple[ClusterKind, ...], load: Callable[[], Family]) -> None:
        self.kinds = kinds
        self._load = load

    @cached_property
    def _family(self) -> Family:
        """The family itself. Two threads may both make it: it has no state, and either is as good."""
        return self._load()

    def __getattr__(self, name: str) -> Any:
        """Return what the family has by that name; called for whatever is not here."""
        return getattr(self._family, name)


def late(kinds: tuple[ClusterKind, ...], load: Callable[[], Family]) -> Family:
    """Return a family that is loaded when anything but its kinds is first asked of it.

    Args:
        kinds: those that it declares.
        load: imports and returns it.
    """
    return cast("Family", _Late(kinds, load))
