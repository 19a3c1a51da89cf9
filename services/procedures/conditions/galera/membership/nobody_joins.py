"""No node is on its way into the cluster: no server starts, no script of a state transfer runs."""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import UserError
from services.facts.absence import lists_others
from services.facts.machine import system
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking

_MOVING = frozenset({"activating", "reloading"})


@condition("galera.nobody-joins", "no node to be joining, and no state transfer")
class NobodyJoins(OfHosts):
    """No unit of these hosts is being started, and no script or stream of a state transfer runs on any.

    A node that waits behind a hold of this run has not begun: its server does not run yet.

    Attributes:
        units: the unit of each host, in their order.
        hold: stands in the words of a start that waits behind the hold of this run (`steps/sst_section.py`): a unit
            in 'activating' of which that is not seen may have begun before the hold was there.
    """

    units: tuple[str, ...]
    hold: str = ""

    def look(self, asking: Asking) -> Answer:
        """Ask systemd and ps(1) of all hosts at once."""
        unit = dict(zip(self.hosts, self.units, strict=True))
        found = asking.each(self.hosts, lambda host: self._of(asking, host, unit[host]))
        blind = [f"{host}: {error}" for host, error in found.items() if isinstance(error, UserError)]
        busy = [one for told in found.values() if not isinstance(told, UserError) for one in told]
        if busy:
            return Answer(holds=False, evidence="; ".join(busy[:4]), lines=tuple(busy))
        if blind:
            return Answer(holds=None, evidence=f"not known whether a node is joining: {'; '.join(blind)}")
        return Answer(holds=True, evidence=f"no node is joining and no transfer runs on {', '.join(self.hosts)}")

    def _of(self, asking: Asking, host: str, unit: str) -> tuple[str, ...]:
        shown = asking.run(host, commands.UNIT_PROCESS.read(unit))
        state = system.properties(shown.text)
        if shown.exit_code or "ActiveState" not in state:
            raise UserError(shown.error_text or f"systemd reports no state of {unit}", host=host)
        table = asking.run(host, commands.PROCESSES)
        if table.exit_code:
            raise UserError(table.error_text or f"ps ended with exit code {table.exit_code}", host=host)
        if not lists_others(table.text):
            raise UserError("the login does not see the processes of others", host=host)
        sentences = [f"{host}: pid {pid} of a state transfer: {line}" for pid, _, line in system.orphans(table.text)]
        waits = bool(self.hold) and self.hold in table.text and state.get("MainPID", "0") == "0"
        if state["ActiveState"] in _MOVING and not waits:
            sentences.append(f"{host}: {unit} is being started")
        return tuple(sentences)
