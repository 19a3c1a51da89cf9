"""What is defined on a restored node is what a member has: tables with engine, columns, indexes, routines, accounts.

Both are read as root over their own sockets: the observing account sees no more than what it was granted. Whoever is
read first may lack what the other got meanwhile, so a difference counts when it was found thrice, the same each time.
"""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import UserError
from services.facts.backup.whole_data import Defined, differences, parse_defined
from services.procedures.conditions.server.files_paired import told
from services.procedures.conditions.server.same_rows import TIMES, committed, reaches
from services.procedures.plan.condition import Answer, Declared, Kept, OfHost, condition, names
from services.procedures.plan.looks import Asking

LIMIT_S = 320.0


def defined_on(asking: Asking, host: str) -> Defined | str:
    """Return all that is defined on a running server, or why it is not known."""
    try:
        output = asking.run(host, commands.ALL_DEFINED, limit_s=LIMIT_S)
    except UserError as error:
        return f"the definitions on {host} are not known: {error.sentence}"
    found = parse_defined(output.text) if output.exit_code == 0 else None
    why = output.error_text[:200] or f"exit code {output.exit_code}"
    return found or f"the definitions on {host} are not known, root on the host could not read them: {why}"


@condition("server.same-defined", "the tables of {host} to be the same as on another member")
class SameDefined(OfHost):
    """All that is defined on `host` and on `beside` is the same, and each table of `host` can be opened.

    Attributes:
        accepted: a list that can't be read holds too: a person chose that. A difference never does.
        others: more members. Where one of them has it as `host` has, the members differ: that came with no backup.
    """

    beside: str
    accepted: bool = False
    others: tuple[str, ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, self.beside, *self.others}), enough_of=frozenset(self.others))

    def look(self, asking: Asking) -> Answer:
        """Read both, the joiner when it has what the member had committed."""
        theirs = defined_on(asking, self.beside)
        if isinstance(theirs, str):
            return self._unknown(theirs)
        if not reaches(asking, self.host, committed(asking, self.beside)):
            return Answer(holds=None, evidence=f"{self.host} did not reach what {self.beside} has committed")
        ours = defined_on(asking, self.host)
        if isinstance(ours, str):
            return self._unknown(ours)
        found, alike = self._unlike_all(asking, ours, theirs)
        if not found:
            said = f"{ours.tables} tables and all other definitions are the same on {self.host} and {self.beside}"
            said += f", except where the members differ as well: {told(alike)}" if alike else ""
            said += _aside(ours.folders ^ theirs.folders)
            return Answer(holds=True, evidence=said, lines=tuple(sorted(ours.broken)))
        key = ("same-defined", self.host, self.beside)
        before = asking.memory.value(key)
        times = before[1] + 1 if isinstance(before, tuple) and before[0] == found else 1
        asking.memory.keep(key, (found, times))
        sure = times >= TIMES
        return Answer(False if sure else None, told(found), final=sure, lines=found[:40])

    def _unlike_all(self, asking: Asking, ours: Defined, theirs: Defined) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what differs from every member, and what does from this one alone."""
        first = found = differences(ours, theirs, self.host, self.beside)
        for other in self.others if found else ():
            known = defined_on(asking, other)
            if isinstance(known, Defined):
                left = set(differences(ours, known, self.host, self.beside))
                found = tuple(one for one in found if one in left)
        return found, tuple(one for one in first if one not in found)

    def _unknown(self, why: str) -> Answer:
        if self.accepted:
            return Answer(holds=True, evidence=f"not compared, as you accepted: {why}")
        return Answer(holds=None, evidence=why)


def _aside(folders: frozenset[str]) -> str:
    """Return what is said of folders that one of both lists as schemas."""
    return f"; folders without a table, no data: {told(sorted(folders))}" if folders else ""


@condition("server.tables-open", "each restored table of {host} to be intact")
class TablesOpen(OfHost):
    """Each table of the restored data can be opened, as a private server told before the node joins.

    Attributes:
        seen: what that server told; beside: a member: what is broken there too is no fault of the restored data.
    """

    beside: str
    seen: Kept

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(names(self.host, self.beside)))

    def look(self, asking: Asking) -> Answer:
        """Hold what the private server told against the member's list, where something is broken."""
        ours = parse_defined(asking.past.kept.get(self.seen.name, ""))
        if ours is None:
            return Answer(
                holds=None, evidence=f"the contents of the restored data of {self.host} were not completely reported"
            )
        if not ours.broken:
            return Answer(holds=True, evidence=f"all tables of the restored data of {self.host} can be opened")
        theirs = defined_on(asking, self.beside)
        if isinstance(theirs, str):
            return Answer(holds=None, evidence=f"{told(sorted(ours.broken))}; {theirs}")
        if left := sorted(ours.broken - theirs.broken):
            said = f"the restored data of {self.host} are incomplete: {told(left)}"
            return Answer(holds=False, evidence=said, final=True, lines=tuple(left[:40]))
        return Answer(
            holds=True, evidence=f"the damaged tables are damaged on {self.beside} as well: {told(sorted(ours.broken))}"
        )
