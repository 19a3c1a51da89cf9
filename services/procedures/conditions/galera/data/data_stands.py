"""A transfer that was begun has not erased what lay in a node's data folder."""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.facts.galera.state_files import parse_grastate, parse_listing
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.data-stands", "the data folder of {host} to be as it was before the transfer")
class DataStands(OfHost):
    """What lay in the data folder before the run lies there still.

    Only an SST removes ibdata1 (its script cleans the folder before it receives), and of two databases in one folder
    grastate.dat tells which it is (seen on the lab, MariaDB 10.11.18).

    Attributes:
        had: what was there before the run, as a person is told; uuid: the state that it named, '' for none.
        held: a database may have been in it.
    """

    datadir: str
    had: str
    uuid: str = ""
    held: bool = True

    def look(self, asking: Asking) -> Answer:
        """List the folder and read its state file."""
        host, of = self.host, f"the data folder of {self.host} ({self.datadir})"
        listed = asking.run(host, commands.LISTED_AT.read(self.datadir, sudo=True))
        if listed.exit_code:
            return Answer(
                holds=None, evidence=f"The current contents of {of} are not known. Before the run: {self.had}"
            )
        found = parse_listing(listed.text)
        if not self.held and not found.entries:
            return Answer(holds=True, evidence=f"{of} is empty")
        if not found.tablespace and not self.held:
            return self._gone(f"{of} contains only the remains of an interrupted SST, no database")
        if not found.tablespace:
            return self._gone(f"{of} was erased by an interrupted SST and contains no database now")
        output = asking.run(host, commands.CONTENT.read(posixpath.join(self.datadir, "grastate.dat"), sudo=True))
        state = parse_grastate(output.text) if output.exit_code == 0 else None
        if state is not None and state.names_state and state.uuid != self.uuid:
            return self._gone(f"{of} was replaced by an SST and contains a copy of the cluster's data now")
        if found.sst_in_progress and (state is None or not state.names_state):
            evidence = f"Not known: whether the interrupted SST had erased {of}. Before the run: {self.had}"
            return Answer(holds=None, evidence=evidence, final=True)
        return Answer(holds=True, evidence=f"{of} is as it was before the run")

    def _gone(self, what: str) -> Answer:
        told = f"Not rolled back: {what}" if self.held else what
        return Answer(holds=False, evidence=f"{told}. Before the run: {self.had}", final=True)
