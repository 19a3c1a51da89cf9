"""A file belongs to the account that it should."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.reading import count
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.owned-by", "a file of {host} to belong to its server")
class OwnedBy(OfHost):
    """The file belongs to this user's number; to any but root where that is not known (`uid` None)."""

    path: str
    uid: int | None

    def look(self, asking: Asking) -> Answer:
        """Ask stat for the owner."""
        output = asking.run(self.host, commands.OWNER.read(self.path, sudo=True))
        owner = count(output.text.strip()) if output.exit_code == 0 else None
        if owner is None:
            return Answer(holds=None, evidence=output.error_text or f"the owner of {self.path} could not be read")
        evidence = f"{self.path} on {self.host} belongs to user {owner}"
        return Answer(owner == self.uid if self.uid is not None else owner != 0, evidence)
