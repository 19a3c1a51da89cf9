"""A MongoDB server is stopped."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.absence import sees_others
from services.facts.machine.system import properties
from services.facts.mongodb.whose import processes_of
from services.procedures.looking.files import text_of
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.stopped", "the MongoDB server of {host} to be stopped")
class MongoStopped(OfHost):
    """No mongod and no mongos runs on the host, and its unit is inactive (or failed).

    Anybody may call a program mongod: one of a user who is neither root nor the unit's, or of a container, is told, and
    is not this server (facts/mongodb/whose.py).

    Attributes:
        but: another unit whose process does not count: a scratch server of the run; '' for none.
    """

    unit: str
    but: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"server {self.host}"}), down=host)

    def look(self, asking: Asking) -> Answer:
        """List the processes, and ask systemd."""
        listing = asking.run(self.host, commands.MONGODB_PROCESS)
        if listing.exit_code not in {0, 1} or (listing.exit_code == 1 and listing.stderr.strip()):
            return Answer(holds=None, evidence=f"the processes of {self.host} could not be read")
        scratch = properties(asking.run(self.host, commands.UNIT_PROCESS.read(self.but)).text) if self.but else {}
        user = properties(asking.run(self.host, commands.UNIT_ACCOUNT.read(self.unit)).text).get("User", "")
        found = processes_of(listing.text, lambda read: text_of(asking, self.host, read), user=user)
        pids = [pid for pid in found.own if str(pid) != scratch.get("MainPID")]
        state = properties(asking.run(self.host, commands.UNIT_STOPPING.read(self.unit)).text).get("ActiveState", "")
        if pids:
            return Answer(holds=False, evidence=f"pid {pids[0]} still runs on {self.host}; {self.unit} is {state}")
        if not sees_others(asking.run(self.host, commands.FIRST_PROCESS)):
            evidence = (
                f"no server is seen on {self.host}, and no process of others: the login may not be allowed to see them"
            )
            return Answer(holds=None, evidence=evidence)
        if not state:
            return Answer(holds=None, evidence=f"systemd reports no state of {self.unit} on {self.host}")
        evidence = f"; {found.told}" if found.others else ""
        return Answer(state in {"inactive", "failed"}, f"no server on {self.host}; {self.unit} is {state}{evidence}")
