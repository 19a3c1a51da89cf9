"""A server that is dead, told from one that can't be reached."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

from services.connections.reads import commands
from services.errors import Unreachable, UserError
from services.facts.machine.system import properties
from services.procedures.looking.ended import ended, seen_up
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import Unit

_OfServer = TypeVar("_OfServer", bound=OfHost)


def told_dead(look: Callable[[_OfServer, Asking], Answer]) -> Callable[[_OfServer, Asking], Answer]:
    """Tell a server that is dead from one that can't be reached: no wait for a dead one's word would ever end."""

    @functools.wraps(look)
    def looked(condition: _OfServer, asking: Asking) -> Answer:
        host = condition.host
        unit = (asking.facts.host(host)[Unit].name if asking.facts is not None else "") or "mariadb.service"
        try:
            answer = look(condition, asking)
        except Unreachable:
            dead = _dead(asking, host, unit)
            if not dead:
                raise
            return Answer(holds=False, evidence=dead, final=True, ended=True)
        seen_up(asking, host, unit)
        return answer

    return looked


def _dead(asking: Asking, host: str, unit: str) -> str:
    """Return the sentence for a host whose server has ended; '' for one that starts, runs, or can't be asked."""
    try:
        shown = properties(asking.run(host, commands.UNIT_STARTING.read(unit)).text)
    except UserError:
        return ""
    how = ended(asking, host, unit, shown)
    return f"no server runs on {host}: {unit} {how}" if how else ""
