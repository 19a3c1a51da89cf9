"""A node's grastate.dat names a state."""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.facts.galera.state_files import parse_grastate
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.state-named", "a state in grastate.dat of {host}")
class StateNamed(OfHost):
    """The node's grastate.dat still names a state: no transfer into its data folder broke off.

    `accepted`: name of a value; where the run kept it a person accepted that an SST replaces the data.
    """

    datadir: str
    accepted: str = ""

    def look(self, asking: Asking) -> Answer:
        """Look whether grastate.dat names a state: the provider takes it out before a transfer, and puts it back then.

        A start that fails early may leave it so too (an unknown option, MariaDB 10.11.18), with its data whole.
        """
        host, path = self.host, posixpath.join(self.datadir, "grastate.dat")
        if self.accepted and self.accepted in asking.past.kept:
            return Answer(holds=True, evidence=f"you accepted that an SST replaces the data of {host}")
        output = asking.run(host, commands.CONTENT.read(path, sudo=True))
        state = parse_grastate(output.text) if output.exit_code == 0 else None
        if state is not None and state.names_state:
            return Answer(holds=True, evidence=f"{path} of {host} names {state.uuid}")
        said = f"{path} of {host} contains no state now: whether an interrupted transfer erased its data is not known"
        return Answer(holds=False, evidence=said, final=True)
