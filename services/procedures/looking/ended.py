"""Has a server ended that a wait waits for? Only what is certain ends a wait: systemd's own word, and no order pending.

What only looks like an end: a unit that systemd starts again by itself is 'activating (auto-restart)'; between the two
halves of a restart it is 'inactive' for a moment, with a job in the queue; a start that was just asked for was not seen
up yet in this wait (systemd.service(5), Restart= and RestartMode=; org.freedesktop.systemd1(5), Job).
"""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts import reads
from services.facts.machine.machine import parse_process
from services.procedures.plan.looks import Asking
from services.procedures.plan.remembering import most_gap_s

_UP = frozenset({"activating", "active", "reloading"})
_KILLED, _EXITED = frozenset({"2", "3"}), "1"
"""ExecMainCode: CLD_KILLED, CLD_DUMPED; CLD_EXITED (sigaction(2))."""
_LEFT_S = 3.0
"""What else runs in its unit is ended by systemd within a moment, or holds it for the whole of TimeoutStopSec."""


def how_it_ended(shown: Mapping[str, str]) -> str:
    """Return systemd's words for the end of a unit's main process: 'signal 9', 'exit code 1', 'oom-kill, signal 9'."""
    result, code, status = (shown.get(name, "") for name in ("Result", "ExecMainCode", "ExecMainStatus"))
    ended = f"signal {status}" if code in _KILLED else f"exit code {status}" if code == _EXITED else ""
    more = "" if ended and result in {"signal", "exit-code", "success"} else result
    return ", ".join(filter(None, (more, ended)))


def seen_up(asking: Asking, host: str, unit: str) -> None:
    """Note that this wait has seen the server up: it answered, or its unit was starting."""
    asking.memory.keep(("up", host, unit), value=True)


def ended(asking: Asking, host: str, unit: str, shown: Mapping[str, str]) -> str:
    """Return what became of the unit, to go behind its name, where it does not come up any more by itself; '' else.

    Args:
        shown: the unit's properties, just read (UNIT_STARTING).
    """
    active, job = shown.get("ActiveState", ""), shown.get("Job", "")
    holding, order = ("ended", host, unit), ("order", host, unit)
    if active != "deactivating":
        asking.memory.broke(holding)
    if active in _UP:
        seen_up(asking, host, unit)
        asking.memory.keep(order, job)
        return ""
    if job not in {"", "0"} and not (active == "deactivating" and job == asking.memory.value(order)):
        return ""
    if active == "failed":
        return f"has failed ({how_it_ended(shown)})"
    if active == "inactive" and asking.memory.value(("up", host, unit)):
        return f"is stopped ({how_it_ended(shown)}): it ended, or somebody stopped it"
    if active == "deactivating" and _only_left_over(asking, host, shown):
        since = asking.memory.held_s(holding, asking.clock, most_gap_s(_LEFT_S))
        return f"only ends what its server has left behind ({how_it_ended(shown)})" if since >= _LEFT_S else ""
    return ""


def starts_again(shown: Mapping[str, str]) -> str:
    """Return what to say of a server that ended while it is systemd's to start it again; '' for any other."""
    again = shown.get("SubState", "").startswith("auto-restart")
    return f"; its server ended ({how_it_ended(shown)}), and systemd starts it again" if again else ""


def _only_left_over(asking: Asking, host: str, shown: Mapping[str, str]) -> bool:
    """Return whether the server is gone, nothing will start it, and other processes keep the unit from its end.

    Scripts of a transfer outlive a killed server, and the packages' unit does not have them killed (SendSIGKILL=no).
    Of a start that fails so the order stays in the queue meanwhile (systemd 252); a server that was told to stop, for
    a restart as it may be, ends with success.
    """
    if shown.get("MainPID") != "0" or shown.get("Restart") != "no" or shown.get("Result") == "success":
        return False
    try:
        listing = asking.run(host, reads.PROCESS)
    except UserError:
        return False
    read = listing.exit_code in {0, 1} and not listing.stderr.strip()
    return read and parse_process(listing.text)[0] in {"", "Z", "?"}
