"""No read lock stops a node: its provider goes on."""

from __future__ import annotations

import posixpath

from services.facts.galera.state_files import parse_grastate
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.no-read-lock", "the read lock on {host} to be released")
class NoReadLock(OfHost):
    """Nothing works in `scope` any more, and grastate.dat in `datadir` says -1, or no server runs.

    FLUSH TABLES WITH READ LOCK pauses the provider, which then writes its exact seqno there, and -1 when it goes on
    (tried, MariaDB 10.11 with Galera 26.4). Any session's lock is seen by that, whoever took it.

    Attributes:
        unit: the server's unit; scope: the run's unit that holds the lock.
    """

    datadir: str
    unit: str
    scope: str

    def look(self, asking: Asking) -> Answer:
        """Look at the scope, then into grastate.dat."""
        ended = UnitSetting(self.host, self.scope, "ActiveState", "inactive").look(asking)
        if not ended.holds:
            return ended
        path = posixpath.join(self.datadir, "grastate.dat")
        content, why = read_file(asking, self.host, path)
        state = parse_grastate(content) if content is not None else None
        if state is not None and state.seqno is not None and state.seqno < 0:
            return Answer(holds=True, evidence=f"{path} of {self.host} says -1: no read lock is held")
        if Stopped(self.host, self.unit).look(asking).holds:
            return Answer(holds=True, evidence=f"no server runs on {self.host}: no read lock is held")
        if state is None or state.seqno is None:
            return Answer(holds=None, evidence=why or f"{path} of {self.host} contains no state")
        evidence = f"{path} of {self.host} says {state.seqno}: a read lock is held"
        return Answer(holds=False, evidence=evidence)
