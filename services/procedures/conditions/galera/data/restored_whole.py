"""The data folder of a node holds whole data: its old ones, or restored ones whose position is proven."""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.facts.galera.state_files import parse_grastate
from services.facts.machine.file_answers import is_absent
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.plan.condition import Answer, Kept, Number, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.restored-whole", "complete data in the data folder of {host}")
class RestoredWhole(OfHost):
    """No replay is noted, and either the old data lie in place or grastate.dat names the cluster.

    Where the run names the cluster there only when the position of what it restored is proven, that is enough. Else the
    position that its server recovered is held against the one that its data should have. Whose the folder is tells
    nothing of that: a private server writes into it while it replays, and an operator's command may give it away.

    Attributes:
        aside: where the run keeps the old data; mark: the file that notes a replay from before its first change on, ''
            where nothing is replayed.
        recovered: the name under which the recovered position is kept, None where grastate.dat is proof of it; seqno:
            the one that the data should have.
    """

    datadir: str
    aside: str
    mark: str
    state_uuid: str
    recovered: Kept | None = None
    seqno: Number = 0

    def look(self, asking: Asking) -> Answer:
        """Look for the mark, for what is kept aside, and into grastate.dat."""
        host = self.host
        noted = self._there(asking, self.mark) if self.mark else False
        if noted:
            evidence = f"the data of {host} are from a replay that is not verified as complete ({self.mark} is there)"
            return Answer(holds=False, evidence=f"{evidence}; the old data are in {self.aside}")
        kept = self._there(asking, self.aside)
        if noted is None or kept is None:
            which = self.mark if noted is None else self.aside
            return Answer(holds=None, evidence=f"whether {which} is there on {host} could not be read")
        if not kept:
            return Answer(holds=True, evidence=f"{host} has its own data in its data folder")
        path = posixpath.join(self.datadir, "grastate.dat")
        output = asking.run(host, commands.CONTENT.read(path, sudo=True))
        state = parse_grastate(output.text) if output.exit_code == 0 else None
        if state is None and output.exit_code and not is_absent(output):
            return Answer(holds=None, evidence=output.error_text or f"{path} of {host} could not be read")
        if state is None or state.uuid != self.state_uuid.lower():
            evidence = (
                f"the restored data of {host} are not verified to be at their position: {path} contains no state yet"
            )
            return Answer(holds=False, evidence=evidence)
        if self.recovered is not None:
            return RecoveredIs(host, self.state_uuid, self.seqno, self.recovered).look(asking)
        return Answer(
            holds=True, evidence=f"{path} of {host} contains the cluster's UUID: the position was verified before"
        )

    def _there(self, asking: Asking, path: str) -> bool | None:
        output = asking.run(self.host, commands.FILE_KIND.read(path, sudo=True))
        return True if output.exit_code == 0 else False if is_absent(output) else None
