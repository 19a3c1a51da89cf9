"""Letting a stopped server tell its own position: grastate.dat says -1 after a crash, InnoDB knows. Pure.

Source: Galera documentation "Restarting the Cluster" (--wsrep-recover); mysqld_safe and galera_recovery do the same.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.connections.operator.as_server import AS_UNIT
from services.facts.galera.state_files import AN_ERROR, RECOVERED, RECOVERED_OR_NOT
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.catalogue.checks.starting import LEAST_ROOM
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.restored.data_folders import account_of
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached
from services.procedures.plan.forms.inputs import bytes_of, number_of
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.pasts.positions import kept_name

RECOVER_LIMIT_S = 1_800.0
REDO_BYTES_S = 50e6
"""Half of what a disk applies of the redo log in crash recovery: 100 MB/s."""


RECOVER = (
    AS_UNIT
    + r"""as_unit "$1" "$2"; shift 2
exec_as "$@"
"""
)
"""$1 the account whose the data folder is, $2 the server's unit, then its program with its words."""
RECOVER_OR_SAY_WHY = (
    AS_UNIT
    + r"""export LC_ALL=C
account=$1 unit=$2 error=$3; shift 3
{ (as_unit "$account" "$unit"; exec_as "$@"); echo "pilothouse: exit $?"; } 2>&1 | awk -v error="$error" '
  /^pilothouse: exit [0-9]+$/ { code = $3; next }
  { print; fflush(); last = substr($0, 1, 300) }
  first == "" && index($0, error) { first = ": " substr($0, 1, 300) }
  END { if (code != "0") print "not recovered: exit code " code (code == "73" ? ": " last : first) }'
"""
)
"""The same, behind the unit the word for an error; it ends well, and says why there is no position."""


def recover_if_it_can(host: HostFacts, prefix: str = "") -> Step:
    """Let the server read its position, or keep why it can't: one broken InnoDB says nothing of the others' data."""
    step = recover(host, prefix)
    assert isinstance(step.action, Detached)
    argv = ("bash", "-c", RECOVER_OR_SAY_WHY, "pilothouse", *_as(host), AN_ERROR, *_server_words(host))
    action = replace(step.action, command=Command(argv, sudo=True), pattern=RECOVERED_OR_NOT)
    return replace(step, action=action, done=f"{host.host} was asked to recover its position")


def recover(host: HostFacts, prefix: str = "") -> Step:
    """Let the server read its position out of InnoDB. It runs crash recovery: it is no pure reading."""
    name, unit = host.host, steps.unit_of(host)
    words = ("bash", "-c", RECOVER, "pilothouse", *_as(host), *_server_words(host))
    return Step(
        step_id=f"{prefix}recover-{name}",
        host=name,
        title=f"Let {_program(host)} on {name} recover its position",
        done=f"Crash recovery of {name} has ended: its position is known",
        why="After a crash grastate.dat contains -1 or is stale; InnoDB has the position. It runs crash recovery and "
        "starts a new binary log file, as any start does.",
        action=Detached(
            Command(words, sudo=True), name=f"{prefix}recover-{name}", keep=kept_name(name, prefix), pattern=RECOVERED
        ),
        # On a full disk crash recovery begins, changes InnoDB's files and ends in the middle.
        before=(Stopped(name, unit), FreeDisk(name, host[DataFolder].path or DEFAULT_DATADIR, LEAST_ROOM)),
        limit_s=max(RECOVER_LIMIT_S, _redo_bytes(host) / REDO_BYTES_S),
        repeatable=True,
        estimate_s=10.0,
    )


def _program(host: HostFacts) -> str:
    return "mariadbd" if "mariadb" in steps.unit_of(host) or "MariaDB" in host[Program].text else "mysqld"


def _as(host: HostFacts) -> tuple[str, str]:
    return account_of(host), steps.unit_of(host)


def _server_words(host: HostFacts) -> tuple[str, ...]:
    # --log-error=stderr would be a file of that name (MySQL manual, "Default Error Log Destination Configuration").
    return _program(host), "--wsrep-recover", "--disable-log-error"


def _redo_bytes(host: HostFacts) -> int:
    """Return how large the redo log may be, by the option files; 0 where they don't say.

    MySQL 8.0.30 and later: innodb_redo_log_capacity, else file size by number of files (MySQL manual, "Redo Log").
    """
    options = host[Options]
    capacity = bytes_of(options.option("mysqld", "innodb_redo_log_capacity") or "")
    each = bytes_of(options.option("mysqld", "innodb_log_file_size") or "") or 0
    return capacity or each * _log_files(host)


def _log_files(host: HostFacts) -> int:
    """Return the number of redo log files: one since MariaDB 10.5, which ignores the option; elsewhere 2 by default.

    Sources: MariaDB documentation and MySQL manual, innodb_log_files_in_group.
    """
    program = host[Program]
    if "MariaDB" in program.text and program.version >= (10, 5):
        return 1
    return number_of(host[Options].option("mysqld", "innodb_log_files_in_group") or "") or 2
