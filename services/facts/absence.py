"""Whether a server that was not seen is not there: an empty answer of ps(1) alone is no word of it.

ps ends with 1 and says nothing where no process fits, and just so where the login may not see others' processes
(proc(5), hidepid; a security module), or where it sees another machine's (a container). So two things are asked for
besides: process 1, which is root's and nobody's own, must be seen, and systemd must say that its units for such a
server run none (org.freedesktop.systemd1(5); a unit that it does not have is 'inactive' to it).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.machine.system import units_shown
from services.lines import lines_of

HIDDEN, NO_SYSTEMD, UNIT_RUNS, SEVERAL = "hidden", "no-systemd", "unit-runs", "several"
"""Why it is not known: others' processes are hidden from the login; systemd does not answer; a unit says it runs;
several are called so, and which one is this server's nothing tells."""
_FIRST = re.compile(r"\s*1\s+0(\s|$)")
_ENDED = frozenset({"inactive", "failed"})
_WITHOUT_PROCESS = frozenset({
    "auto-restart", "auto-restart-queued", "dead-before-auto-restart", "failed-before-auto-restart", "condition",
    "start-pre", "stop-post",
})  # fmt: skip
"""SubState of a unit on its way that has no main process now (systemd: service.c, ServiceState)."""


def doubt_of_absence(run: Callable[[CommandRead], Output], units: CommandRead) -> str:
    """Return why it is not known that no server runs, where ps showed none; '' where it is shown.

    Args:
        run: runs a command of the registry as the login; units: shows the units of such a server.

    Raises what `run` raises.
    """
    if not sees_others(run(commands.FIRST_PROCESS)):
        return HIDDEN
    answer = run(units)
    return doubt_of_units(answer.text) if answer.exit_code == 0 else NO_SYSTEMD


def sees_others(answer: Output) -> bool:
    """Return whether process 1 was seen and is root's, in the answer to FIRST_PROCESS."""
    return answer.exit_code == 0 and any(_FIRST.match(line) for line in lines_of(answer.text)[:10])


def lists_others(table: str) -> bool:
    """Return whether process 1 is in `ps -e -o pid= ...`: without it the table is not everybody's."""
    return any(line.split(None, 1)[:1] == ["1"] for line in lines_of(table)[:100])


def doubt_of_units(text: str) -> str:
    """Return what stands against 'no unit runs a server' in `systemctl show` of them; '' for nothing."""
    shown = [unit for unit in units_shown(text) if unit.get("ActiveState")]
    if not shown:
        return NO_SYSTEMD
    quiet = (u["ActiveState"] in _ENDED or u.get("SubState", "") in _WITHOUT_PROCESS for u in shown)
    return "" if all(quiet) else UNIT_RUNS
