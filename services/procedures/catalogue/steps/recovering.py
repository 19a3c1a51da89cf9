"""Letting a stopped server tell its own position: grastate.dat says -1 after a crash, InnoDB knows. Pure.

Source: Galera documentation "Restarting the Cluster" (--wsrep-recover); mysqld_safe and galera_recovery do the same.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.facts.reads import DEFAULT_DATADIR
from services.facts.state_files import AN_ERROR, RECOVERED, RECOVERED_OR_NOT
from services.procedures.catalogue.checks.starting import LEAST_ROOM
from services.procedures.catalogue.steps import server as steps
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.inputs import bytes_of, number_of
from services.procedures.plan.model import Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.positions import kept_name

RECOVER_LIMIT_S = 1_800.0
REDO_BYTES_S = 50e6
"""Half of what a disk applies of the redo log in crash recovery: 100 MB/s."""


RECOVER_OR_SAY_WHY = r"""export LC_ALL=C
{ "$1" --user=mysql --wsrep-recover --disable-log-error; echo "pilothouse: exit $?"; } 2>&1 | awk -v error="$2" '
  /^pilothouse: exit [0-9]+$/ { code = $3; next }
  { print; fflush() }
  first == "" && index($0, error) { first = ": " substr($0, 1, 300) }
  END { if (code != "0") print "not recovered: exit code " code first }'
"""


def recover_if_it_can(host: HostFacts, prefix: str = "") -> Step:
    """Let the server read its position, or keep why it can't: one broken InnoDB says nothing of the others' data."""
    step = recover(host, prefix)
    assert isinstance(step.action, Detached)
    argv = ("bash", "-c", RECOVER_OR_SAY_WHY, "pilothouse", step.action.command.argv[0], AN_ERROR)
    action = replace(step.action, command=Command(argv, sudo=True), pattern=RECOVERED_OR_NOT)
    return replace(step, action=action, done=f"{host.host} was asked for its position")


def recover(host: HostFacts, prefix: str = "") -> Step:
    """Let the server read its position out of InnoDB. It runs crash recovery: it is no pure reading."""
    name, unit = host.host, steps.unit_of(host)
    program = "mariadbd" if "mariadb" in unit or "MariaDB" in host[Program].text else "mysqld"
    # --log-error=stderr would be a file of that name (MySQL manual, "Default Error Log Destination Configuration").
    words = (program, "--user=mysql", "--wsrep-recover", "--disable-log-error")
    return Step(
        step_id=f"{prefix}recover-{name}",
        host=name,
        title=f"Let {program} on {name} recover its position",
        done=f"The crash recovery of {name} is over: its position is known",
        why="grastate.dat says -1 after a crash, or is stale; InnoDB knows. It runs crash recovery and begins a new "
        "binary log file, as any start does.",
        action=Detached(
            Command(words, sudo=True), name=f"{prefix}recover-{name}", keep=kept_name(name, prefix), pattern=RECOVERED
        ),
        # On a full disk crash recovery begins, changes InnoDB's files and ends in the middle.
        before=(Stopped(name, unit), FreeDisk(name, host[DataFolder].path or DEFAULT_DATADIR, LEAST_ROOM)),
        limit_s=max(RECOVER_LIMIT_S, _redo_bytes(host) / REDO_BYTES_S),
        repeatable=True,
        estimate_s=10.0,
    )


def _redo_bytes(host: HostFacts) -> int:
    """Return how large the redo log may be, by the option files; 0 where they don't say."""
    options = host[Options]
    capacity = bytes_of(options.option("mysqld", "innodb_redo_log_capacity") or "")
    each = bytes_of(options.option("mysqld", "innodb_log_file_size") or "") or 0
    files = number_of(options.option("mysqld", "innodb_log_files_in_group") or "") or 2
    return capacity or each * files
