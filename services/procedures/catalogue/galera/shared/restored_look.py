"""Restored data are looked at by a private server before they join: each table is opened, each file is held against
what InnoDB knows. What was half copied is found while nobody reads it."""

from __future__ import annotations

from services.connections.command import Command
from services.connections.programs.whole_programs import DICTIONARY, LOST
from services.procedures.catalogue.galera.shared import private_programs as private
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.restored import restoring
from services.procedures.catalogue.steps.restored.left_alone import used
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.server.same_defined import TablesOpen
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, Run, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Risk, Step

LOOK_LIMIT_S = 3_600.0
_ASK = r"""[ -e "$data/ibdata1" ] || failed 'no restored data lie there'
begin_server --wsrep-on=OFF --wsrep-provider=none --innodb-read-only --skip-grant-tables --skip-log-bin
tell() { as_root --batch --skip-column-names || failed 'the private server did not tell its tables'; }
tables=$(tell <<'SQL'
SELECT 'table', HEX(TABLE_SCHEMA), HEX(TABLE_NAME), REPLACE(TABLE_TYPE, ' ', '_'), IFNULL(ENGINE, '-'),
  IFNULL(DATA_LENGTH, 0) FROM information_schema.TABLES
  WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'sys');
SQL
) || { say "$tables"; exit 9; }
known=$(tell <<'SQL'
"""
_TELL = r"""SQL
) || { say "$known"; exit 9; }
stop_server
many=$(printf '%s\n' "$tables" | grep -c '^table')
printf '%s\n' "$tables" | awk -F '\t' '$5 == "-" && $4 !~ /VIEW/' | head -n 200
printf '%s\n' "$known" | lost "$data" files | head -n 200
say "end"
say "looked: $many tables"
"""
LOOK = "data=$1 unit=$2\n" + private.COMMON + LOST + _ASK + DICTIONARY + _TELL
"""`bash -c LOOK pilothouse DATA UNIT`: lines of what is broken as whole_data.py reads them, 'end', 'looked: N tables'.

InnoDB reads only, so its position stays; where it has something to recover it does not start, and recovering goes
before. Nobody is asked for a password: the socket's folder is root's and the account's that owns the data.
"""
LOOKED = r"(?ms)\A(.*^end)$"


def looked(host: HostFacts, donor: str) -> tuple[Step, ...]:
    """Return the steps: a private server tells of the restored data, and what is broken is held against the donor."""
    name, folder = host.host, restoring.folder_of(host)
    kept = f"looked-{name}"
    server = _private(host)
    words = ("bash", "-c", LOOK, "pilothouse", folder, steps.unit_of(host))
    look = Step(
        step_id=f"look-{name}",
        host=name,
        title=f"Open each restored table of {name} with a private server, without network and wsrep",
        done=f"Each restored table of {name} was opened",
        why="An incomplete copy of a backup is prepared and joins like a complete one, but tables are missing or "
        "damaged.",
        action=Detached(Command(words, sudo=True), name=kept, keep=kept, pattern=LOOKED),
        before=(Stopped(name, steps.unit_of(host)),),
        limit_s=LOOK_LIMIT_S,
        repeatable=True,
        estimate_s=10.0,
    )
    judged = Step(
        step_id=f"tables-open-{name}",
        host=name,
        title=f"Verify that each restored table of {name} is intact",
        done=f"Each restored table of {name} is intact",
        why="Damage that a member also has does not count against the restored data; any other damage does.",
        action=WaitFor((TablesOpen(name, donor, Kept(kept)),), f"damage in the restored data of {name}"),
        risk=Risk.READS,
        limit_s=300.0,
        repeatable=True,
        estimate_s=1.0,
    )
    off = server.off(f"no-look-{name}", f"Make sure that no private server runs on {name}",
                     f"No private server runs on {name}", 1.0)  # fmt: skip
    look = used(host, look, f"recover-{name}")  # recovered last: what is looked at is what has that position
    return (server.on(look, f"End the private server of {name}", limit_s=900.0), off, judged)


def _private(host: HostFacts) -> Temporary:
    """Return the private server, which ends with its work; a way out in the middle ends both."""
    name = host.host
    return Temporary(
        key=f"look:{name}",
        host=name,
        sentence=f"a private server may be running on the restored data of {name}",
        danger=f"it uses the data folder of {name}",
        release=Run(Command(("bash", "-c", private.END_PRIVATE, "pilothouse"), sudo=True)),
        released=(Stopped(name, steps.unit_of(host)), FileAbsent(name, private.PRIVATE)),
    )
