"""A server is stopped."""

from __future__ import annotations

from collections.abc import Mapping

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.facts.absence import sees_others
from services.facts.machine.machine import find_process, parse_process
from services.facts.machine.process_owner import HAND
from services.facts.machine.system import properties
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import KILLS, at_the_limit
from services.procedures.plan.remembering import MOST_GAP_S

_HELD = {
    "T": ", stopped by a signal: it can end only after kill -CONT {pid}",
    "t": ", held by a debugger",
    "D": ", in an uninterruptible wait, usually for its disk",
}
"""ps(1), PROCESS STATE CODES: why a server that was told to stop does not."""
_DEAF_S = 60.0


@condition("server.stopped", "the server of {host} to be stopped")
class Stopped(OfHost):
    """No server process runs and the unit is inactive (or failed)."""

    unit: str

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stops=host, stands=frozenset({f"server {self.host}"}), down=host)

    def look(self, asking: Asking) -> Answer:
        """No server process and no unit that runs, starts or stops."""
        listing = asking.run(self.host, reads.PROCESS)
        if listing.exit_code not in {0, 1} or (listing.exit_code == 1 and listing.stderr.strip()):
            return Answer(holds=None, evidence=f"the processes of {self.host} could not be read")
        state, pid = parse_process(listing.text)
        shown = properties(asking.run(self.host, commands.UNIT_STOPPING.read(self.unit)).text)
        active = shown.get("ActiveState", "")
        if state not in {"", "Z", "?"}:  # "?": only others' processes, a container's
            held = _HELD.get(state, "").format(pid=pid)
            sentence = f"a server runs on {self.host} (pid {pid}){held}"
            owner = find_process(listing.text).owner
            return Answer(holds=False, evidence=f"{sentence}; {_by_systemd(self, asking, shown, owner)}")
        if state == "" and not sees_others(asking.run(self.host, commands.FIRST_PROCESS)):
            sentence = (
                f"no server process is seen on {self.host}, and none of others: the login may "
                "not be allowed to see them"
            )
            return Answer(holds=None, evidence=sentence)
        if not active:
            return Answer(holds=None, evidence=f"systemd reports no state of {self.unit} on {self.host}")
        evidence = f"no server process on {self.host}; {self.unit} is {active}"
        return Answer(active in {"inactive", "failed"}, evidence)


def ends_it(unit: str, host: str) -> str:
    """Return what a person may do about a server that heeds no stop. It ends one whose unit has failed, too [lab]."""
    return f"'systemctl kill --signal=KILL {unit}' on {host} ends it, and its next start recovers"


def _by_systemd(condition: Stopped, asking: Asking, shown: Mapping[str, str], owner: str) -> str:
    """Return what systemd says and does about a server that runs."""
    unit, active = condition.unit, shown.get("ActiveState", "")
    key = ("deaf", condition.host, unit)
    if active == "deactivating":
        deaf = asking.memory.held_s(key, asking.clock, MOST_GAP_S) >= _DEAF_S
        return f"{unit} is stopping ({_state(shown)}){_limit(shown)}" + (_deaf(condition) if deaf else "")
    asking.memory.broke(key)
    if active in {"inactive", "failed"} and owner == HAND:
        return f"{unit} is {active}: it was started by hand"
    if active == "failed" and shown.get("Result") == "timeout":
        return f"systemd no longer waits, {unit} is failed ({_state(shown)}): {ends_it(unit, condition.host)}"
    serves = _serves(condition, asking) if active == "active" else ""
    return f"{unit} is {active or 'of unknown state'} ({_state(shown)}){serves}"


def _state(shown: Mapping[str, str]) -> str:
    """Return systemd's word, and when that began: 'stop-sigterm since Sun 2026-11-29 18:44:43 UTC'."""
    since = shown.get("StateChangeTimestamp", "")
    return " since ".join(filter(None, (shown.get("SubState") or "?", since)))


def _limit(shown: Mapping[str, str]) -> str:
    """Return what systemd's patience is."""
    limit, kills = shown.get("TimeoutStopUSec", ""), KILLS.get(shown.get("SendSIGKILL", ""))
    return f", systemd gives it {limit}{at_the_limit(kills)}" if limit else ""


def _deaf(condition: Stopped) -> str:
    """Return what a person may do about a server that has not heeded SIGTERM for a minute.

    Seen on the lab (MariaDB 10.11.18): one that opened its group by gvwstate.dat and waits for a Primary Component
    serves nobody yet, waits without end, and does not heed SIGTERM meanwhile.
    """
    evidence = "; it has ignored SIGTERM for a minute: if it only waits for its cluster, "
    return evidence + ends_it(condition.unit, condition.host)


def _serves(condition: Stopped, asking: Asking) -> str:
    """Return that it is a member of a Primary Component: a colleague's bootstrap is no server that failed to end."""
    try:
        primary = asking.status(condition.host).get("wsrep_cluster_status") == "Primary"
    except UserError:
        return ""
    return ", and is a member of a Primary Component" if primary else ""
