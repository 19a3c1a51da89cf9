"""Where an act is done: one host of a run, how long it may take, and the secrets that its output must not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.procedures.execute.acting_files import Files

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ports import OperatorSession
    from services.procedures.engine.ports import Hosts
    from services.procedures.execute.acting_output import Masks


@dataclass(frozen=True, slots=True)
class Site:
    """One host of a run, whose hosts are armed.

    Attributes:
        masks: the secrets that this run has handled; limit_s: for the whole act.
    """

    hosts: Hosts
    run_id: str
    clock: Clock
    masks: Masks
    host: str
    limit_s: float

    @property
    def session(self) -> OperatorSession:
        """Return the host's changing session."""
        return self.hosts.operator(self.host)

    @property
    def files(self) -> Files:
        """Return the acts on the host's files."""
        return Files(self.session, self.run_id)
