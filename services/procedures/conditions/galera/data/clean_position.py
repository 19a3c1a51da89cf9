"""A stopped node left its position in grastate.dat."""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.facts.galera.state_files import parse_grastate
from services.facts.machine.system import properties
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.looking.asked import number_of
from services.procedures.looking.ended import how_it_ended
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition, names
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.remembering import most_gap_s

SETTLED_S = 5.0
"""The state file of a server that has been stopped for so long does not change any more."""


@condition("galera.clean-position", "the seqno in grastate.dat of {host}")
class CleanPosition(OfHost):
    """grastate.dat in `datadir` holds this UUID and a seqno other than -1, at least `at_least`. Kept under `keep`."""

    datadir: str
    state_uuid: str
    at_least: Number = 0
    keep: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), keeps=names(self.keep))

    def look(self, asking: Asking) -> Answer:
        """Look into grastate.dat: a clean stop leaves UUID and seqno."""
        path = posixpath.join(self.datadir, "grastate.dat")
        content, why = read_file(asking, self.host, path)
        if content is None:
            return Answer(holds=None if why else False, evidence=why or f"{path} does not exist on {self.host}")
        state = parse_grastate(content)
        if state is None:
            return Answer(holds=False, evidence=f"{path} of {self.host} is damaged: its state is incomplete")
        least = number_of(self.at_least, asking.past)
        if least is None:
            return Answer(holds=None, evidence="this run did not store the position to compare with")
        evidence = f"grastate.dat of {self.host}: {state.uuid}:{state.seqno}"
        if state.uuid != self.state_uuid.lower():
            return Answer(holds=False, evidence=f"{evidence}, not {self.state_uuid}")
        if state.seqno is None or state.seqno < 0:
            return _no_position(self, asking, evidence)
        kept = ((self.keep, str(state.seqno)),) if self.keep else ()
        return Answer(state.seqno >= least, f"{evidence}, at least {least} is required", kept=kept)


def _no_position(condition: CleanPosition, asking: Asking, evidence: str) -> Answer:
    """Judge a seqno of -1: only a server that is still at its stop can change it.

    A clean stop writes the position at its end (galera, saved_state.cpp): with no process, and the unit inactive for a
    while, nobody will any more.
    """
    host, told = condition.host, Answer(holds=False, evidence=f"{evidence}: the position is not known")
    unit = (asking.facts.host(host)[Unit].name if asking.facts is not None else "") or "mariadb.service"
    if not Stopped(host, unit).look(asking).holds:
        asking.memory.broke(condition)
        return told
    if asking.memory.held_s(condition, asking.clock, most_gap_s(SETTLED_S)) < SETTLED_S:
        return told
    shown = properties(asking.run(host, commands.UNIT_STARTING.read(unit)).text)
    why = "although the server stopped (was the file replaced?)"
    if shown.get("ActiveState") == "failed":
        why = f"and {unit} has failed ({how_it_ended(shown)}): it was not a clean shutdown"
    then = "Restore its own file and try again, or roll back the run: its history is read before it starts"
    return Answer(holds=False, evidence=f"grastate.dat of {host} says -1 {why}. {then}", final=True)
