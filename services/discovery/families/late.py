"""A family of which is known before it is loaded what files and the window ask: its kinds, and who tells of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from services.types import ClusterKind

if TYPE_CHECKING:
    from services.discovery.families.port import Family
    from services.facts.model import NodeFacts


class _Late:
    def __init__(
        self,
        kinds: tuple[ClusterKind, ...],
        load: Callable[[], Family],
        speaks: Callable[[NodeFacts], bool],
    ) -> None:
        self.kinds = kinds
        self.speaks = speaks
        self._load = load

    @cached_property
    def _family(self) -> Family:
        """The family itself. Two threads may both make it: it has no state, and either is as good."""
        return self._load()

    def __getattr__(self, name: str) -> Any:
        """Return what the family has by that name; called for whatever is not here."""
        return getattr(self._family, name)


def late(
    kinds: tuple[ClusterKind, ...],
    load: Callable[[], Family],
    speaks: Callable[[NodeFacts], bool],
) -> Family:
    """Return a family that is loaded when anything else is first asked of it.

    Args:
        kinds, speaks: as the family itself has them (port.py).
        load: imports and returns it.
    """
    return cast("Family", _Late(kinds, load, speaks))
