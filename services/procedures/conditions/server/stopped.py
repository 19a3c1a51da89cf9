"""A server is stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import commands
from services.facts import reads
from services.facts.absence import sees_others
from services.facts.machine import parse_process
from services.facts.system import properties
from services.procedures.plan.condition import Answer, Declared, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import MOST_GAP_S, Memory
from services.procedures.plan.scripted import World

_HELD = {
    "T": ", held by a signal: it can end only when it goes on (kill -CONT {pid})",
    "t": ", held by a debugger",
    "D": ", in an uninterruptible wait, as a rule for its disk",
}
"""ps(1), PROCESS STATE CODES: why a server that was told to stop does not."""
_DEAF_S = 60.0


@dataclass(frozen=True, slots=True)
class Stopped(OfHost):
    """No server process runs and the unit is inactive (or failed)."""

    tag: ClassVar[str] = "server.stopped"
    words: ClassVar[str] = "the server of {host} to be stopped"

    unit: str

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stops=host, stands=frozenset({f"server {self.host}"}), down=host)

    def look(self, asking: Asking, past: Past) -> Answer:
        """No server process and no unit that runs, starts or stops."""
        del past
        listing = asking.run(self.host, reads.PROCESS)
        if listing.exit_code not in {0, 1} or (listing.exit_code == 1 and listing.stderr.strip()):
            return Answer(holds=None, evidence=f"the processes of {self.host} could not be read")
        state, pid = parse_process(listing.text)
        shown = properties(asking.run(self.host, commands.UNIT_STOPPING.read(self.unit)).text)
        active = shown.get("ActiveState", "")
        if state not in {"", "Z", "?"}:  # "?": only others' processes, a container's
            held = _HELD.get(state, "").format(pid=pid)
            told = f"the server still runs on {self.host} (pid {pid}){held}{_stopping(self.unit, shown)}"
            return Answer(holds=False, evidence=told + _deaf(self, asking, stopping=active == "deactivating"))
        if state == "" and not sees_others(asking.run(self.host, commands.FIRST_PROCESS)):
            told = f"no server process is seen on {self.host}, nor any other's: the login may not see them"
            return Answer(holds=None, evidence=told)
        if not active:
            return Answer(holds=None, evidence=f"systemd gives no state of {self.unit} on {self.host}")
        evidence = f"no server process on {self.host}; {self.unit} is {active}"
        return Answer(active in {"inactive", "failed"}, evidence)

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(not world.hosts[self.host].running)


def _deaf(condition: Stopped, asking: Asking, *, stopping: bool) -> str:
    """Return what a person may do about a server that has not heeded SIGTERM for a minute.

    Seen on the lab (MariaDB 10.11.18): one that opened its group by gvwstate.dat and waits for a Primary Component
    serves nobody yet, waits without end, and does not heed SIGTERM meanwhile.
    """
    key = ("deaf", condition.host, condition.unit)
    if not stopping:
        asking.memory.broke(key)
        return ""
    if asking.memory.held_s(key, asking.clock, MOST_GAP_S) < _DEAF_S:
        return ""
    return (
        f"; it has not heeded SIGTERM for a minute: where it only waits for its cluster, "
        f"'systemctl kill --signal=KILL {condition.unit}' on {condition.host} ends it, and its next start recovers"
    )


def _stopping(unit: str, shown: dict[str, str]) -> str:
    """Return what systemd does about it; '' while nobody has told it to stop."""
    if shown.get("ActiveState") != "deactivating":
        return ""
    limit = shown.get("TimeoutStopUSec", "")
    return f"; {unit} is stopping ({shown.get('SubState', '')}){f', systemd gives it {limit}' if limit else ''}"
