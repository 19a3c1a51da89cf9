"""Letting a stopped server tell its own position: grastate.dat says -1 after a crash, InnoDB knows. Pure.

Source: Galera documentation "Restarting the Cluster" (--wsrep-recover); mysqld_safe and galera_recovery do the same.
"""

from __future__ import annotations

import re

from services.connections.command import Command
from services.procedures.actions import Detached
from services.procedures.catalogue import steps
from services.procedures.catalogue.crash_positions import kept_name
from services.procedures.catalogue.crash_steps import RECOVER_LIMIT_S, RECOVERED
from services.procedures.conditions import Stopped
from services.procedures.facts_model import ZERO_UUID, Facts, HostFacts
from services.procedures.model import Step

_POSITION = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(-?\d+)")


def recovered_position(facts: Facts, host: str) -> tuple[str, int | None] | None:
    """Return (uuid, seqno) that this run had a server recover; ('', None) for none usable; None: it was not asked."""
    told = facts.value(kept_name(host))
    if told is None:
        return None
    found = _POSITION.search(told)
    if found is None or found.group(1) == ZERO_UUID or int(found.group(2)) < 0:
        return "", None
    return found.group(1), int(found.group(2))


def recover(host: HostFacts) -> Step:
    """Let the server read its position out of InnoDB. It runs crash recovery: it is no pure reading."""
    name, unit = host.host, steps.unit_of(host)
    program = "mariadbd" if "mariadb" in unit or "MariaDB" in host.server_program else "mysqld"
    words = (program, "--user=mysql", "--wsrep-recover", "--disable-log-error")
    return Step(
        step_id=f"recover-{name}",
        host=name,
        title=f"Let {program} on {name} recover its position",
        done=f"Position of {name} recovered",
        why="grastate.dat says -1; InnoDB knows. It runs crash recovery, as any start does.",
        action=Detached(Command(words, sudo=True), name=f"recover-{name}", keep=kept_name(name), pattern=RECOVERED),
        before=(Stopped(name, unit),),
        limit_s=RECOVER_LIMIT_S,
        repeatable=True,
        estimate_s=10.0,
    )
