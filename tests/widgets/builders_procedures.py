"""Made-up procedures, checklists, plans and runs: they prove how widgets show them, never what a server does."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from services.connections.command import Command
from services.connections.sql.statement import Keyword, Statement, Value
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Ask, Run, Sql, WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Field
from services.procedures.plan.model import Chart, Obligation, Plan, Risk, Step, Undo
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import OpenObligation, Question, RunState, RunView, StepState, StepView

NOW = 1_763_688_000.0
UUID = "8f21c0de-0000-11ee-9999-0242ac120002"
SET = "SET GLOBAL wsrep_provider_options = 'gcache.freeze_purge_at_seqno=now'"

OF_MEMBERS = frozenset({"freeze-gcache", "rolling-restart", "desync-for-backup", "encrypt-sst", "sst-tuning"})
OF_LOST = frozenset({"add-node", "rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node"})
"""What is offered to the members of a whole cluster."""
ABOUTS = (
    About(
        "freeze-gcache",
        "Take a node down without SST",
        "A node must go down",
        "A donor keeps its gcache while the node is away; the node returns by IST; then the cache is released.",
        "Your maintenance, and the time of one IST.",
        "The donor's disk fills while the cache is frozen: the cache is released before, and an SST follows.",
        "node",
    ),
    About(
        "rolling-restart",
        "Restart all nodes one after another",
        "A node must go down",
        "Each node is drained, restarted and proven before the next one; the writer comes last.",
        "About 3 min a node.",
        "While a node is away one more failure may cost the quorum.",
    ),
    About(
        "desync-for-backup",
        "Take a node out of flow control for a backup",
        "A node must go down",
        "The node stays in the cluster, lags as long as the backup needs, then catches up.",
        "Your backup, and the time to catch up.",
        "Reads on the node are old meanwhile.",
    ),
    About(
        "bootstrap-after-crash",
        "Bring back a cluster that is down",
        "All nodes are down",
        "All positions are compared; the most advanced node is bootstrapped, the others join one at a time.",
        "5 to 30 min, more where an SST is needed.",
        "Transactions that only a node left out had are lost: they are named before you approve.",
    ),
    About(
        "add-node",
        "Add a node",
        "The cluster grows",
        "A spare host with the server package joins; its configuration is derived from a member.",
        "The time of one SST.",
        "The donor is busy during the SST.",
    ),
)

FIELDS = (
    Field("node", "Node that goes down", "host", "db2", (("db1", "Synced, writer"), ("db2", "Synced"), ("db3", ""))),
    Field("away", "How long it will be away", "duration", "30 min"),
    Field("donor", "Donor that keeps its cache", "host", "db1", (("db1", "can freeze, 96.1 GB free"), ("db3", ""))),
    Field("drain", "Drain the node first", "flag", "yes", help="By wsrep_reject_queries on the node."),
    Field("others", "Nodes to watch", "hosts", "db1, db3", (("db1", ""), ("db3", "")), required=False),
    Field("floor", "Release the cache below this much free disk", "bytes", "20 GB", advanced=True),
)

CHECKS = (
    Check("HEALTH", "All members are Primary and Synced", Verdict.PASS, "db1, db2, db3, db4: Primary, Synced"),
    Check("NO-DDL", "No transfer and no schema change runs", Verdict.PASS, "wsrep_desync_count is 0 on all"),
    Check("CAPABLE", "The provider can freeze", Verdict.PASS, "the option exists: -1", host="db1"),
    Check(
        "IST-REACH",
        "Another donor could serve an IST",
        Verdict.WARN,
        "db3 has 31 min of IST reach, so db1 is the only donor",
        "If db1 fails meanwhile, db2 returns by SST.",
        ("Make gcache.size on db3 larger at its next restart.",),
        "db3",
    ),
)
BLOCK = Check(
    "DISK-FREE",
    "The donor has room for the cache that grows",
    Verdict.BLOCK,
    "db1: 18.2 GB free in /var/lib/mysql, 31 GB needed in 30 min at 11.2 MB/s, floor 20 GB",
    "A full disk takes the donor down, and with it the quorum's reserve.",
    ("Free space on db1.", "Plan a shorter absence."),
    "db1",
)
ABSOLUTE = Check(
    "PRIMARY-EXISTS",
    "No Primary Component exists",
    Verdict.BLOCK,
    "db3 is Primary with 2 of 3 votes",
    "A second bootstrap would split the data for good.",
    ("Join the nodes that are down instead.",),
    absolute=True,
)


def sql(text: str) -> Sql:
    del text  # what it says is shown from the wording
    return Sql(Statement((Keyword("SELECT"), Value(1))))


def command(*words: str) -> Run:
    return Run(Command(words))


FREEZE = Obligation(
    "freeze:db1", "db1", "gcache frozen on db1", sql(SET), (VariableIs("db1", "x", "-1"),), "the disk of db1 fills"
)


def _steps() -> tuple[Step, ...]:
    return (*_steps_down(), *_steps_back())


def _steps_down() -> tuple[Step, ...]:
    read, act, start = sql("SELECT 1"), sql(SET), command("systemctl", "start", "mariadb")
    stopped = (Stopped("db2", "mariadb"),)
    wait = WaitFor(stopped, "no client connection")
    undo = Undo("Start db2 again", start)
    return (
        Step(
            "able",
            "db1",
            "Prove the capability of the provider",
            read,
            "Capability of the provider proven",
            risk=Risk.READS,
        ),
        Step(
            "freeze",
            "db1",
            "Freeze the gcache",
            act,
            "gcache frozen at 46 920 118",
            takes=FREEZE,
            undo=Undo("Release", act),
        ),
        Step("drain", "db2", "Drain the clients", wait, "Drained: no client connection for 10 s", estimate_s=48),
        Step(
            "stop",
            "db2",
            "Stop cleanly",
            command("systemctl", "stop", "mariadb"),
            "Stopped cleanly at 48 101 377",
            risk=Risk.NODE_DOWN,
            moves="db2",
            undo=undo,
            estimate_s=20,
        ),
    )


def _steps_back() -> tuple[Step, ...]:
    read, act, start = sql("SELECT 1"), sql(SET), command("systemctl", "start", "mariadb")
    stopped = (Stopped("db2", "mariadb"),)
    wait = WaitFor(stopped, "no client connection")
    ask = Ask("Is the maintenance on db2 done, and can it start again?", unattended="done")
    return (
        Step("ask", "", "Do the maintenance on db2", ask, "You confirmed: maintenance on db2 is done", risk=Risk.YOU),
        Step(
            "donor",
            "db2",
            "Set the preferred donor for this start only",
            act,
            "Preferred donor set for this start only",
        ),
        Step(
            "start", "db2", "Start", start, "Started", moves="db2", settles=("db2",), estimate_s=105, cancellable=False
        ),
        Step("proof", "db2", "Proof: the joiner's log says IST, from 48 101 378", read, risk=Risk.READS),
        Step("release", "db1", "Release the gcache", act, discharges=("freeze:db1",), estimate_s=1),
        Step("back", "db2", "Let clients back in", wait, estimate_s=2),
        Step("whole", "", "Proof: 4 members, one state UUID, every queue empty", read, risk=Risk.READS, estimate_s=5),
    )


def plan(**changes: object) -> Plan:
    """Return the plan of the pictures."""
    made = Plan(
        "freeze-gcache",
        "Take db2 down without SST",
        "db1 keeps its gcache while db2 is away; db2 returns by IST; then the cache is released.",
        UUID,
        "orders",
        ("db1", "db2"),
        (("db1", "db2", "db3", "db4"),),
        (("node", "db2"), ("donor", "db1"), ("mode", "now"), ("floor", "20 GB")),
        _steps(),
        charts=(
            Chart("disk.free", "db1", "Free disk on db1", 20e9, "below 20 GB the run releases and stops"),
            Chart("wsrep_local_recv_queue", "db2", "Receive queue of db2"),
        ),
        expects=("db2 is Synced.", "The gcache of db1 is released."),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


WORDING = {
    "able": ("SELECT @@wsrep_provider_options REGEXP 'gcache.freeze_purge_at_seqno';",),
    "freeze": (f"{SET};",),
    "stop": ("sudo systemctl stop mariadb",),
    "donor": (
        "write /etc/mysql/mariadb.conf.d/zz-pilothouse.cnf (root:root 0644)",
        "+ [mysqld]",
        "+ wsrep_sst_donor = db1,",
        *(f"+ # line {n}" for n in range(8)),
    ),
    "start": ("sudo systemctl start mariadb",),
    "release": ("SET GLOBAL wsrep_provider_options = 'gcache.freeze_purge_at_seqno=-1';",),
}


def confirming_plan() -> Plan:
    """Return the plan of the pictures with a stop that a person confirms by typing the host's name."""
    made = plan()
    stop = replace(made.steps[3], confirm="db2", risk=Risk.IRREVERSIBLE)
    return replace(made, steps=(*made.steps[:3], stop, *made.steps[4:]))


def long_plan(count: int = 60) -> Plan:
    """Return a plan of many steps over many hosts."""
    base = _steps()
    steps = tuple(
        replace(
            base[i % len(base)],
            step_id=f"s{i}",
            host=f"galera-{i % 12}",
            takes=None,
            moves="",
            settles=(),
            discharges=(),
        )
        for i in range(count)
    )
    return plan(steps=steps, hosts=tuple(f"galera-{i}" for i in range(12)), charts=())


def run(at: int = 6, state: RunState = RunState.RUNNING, of: Plan | None = None, **changes: object) -> RunView:
    """Return a run whose steps before `at` are done and whose step `at` moves."""
    steps, began = [], NOW - 1380.0
    for number, step in enumerate((of or plan()).steps):
        took = {2: 48.0, 3: 19.0, 4: 1260.0}.get(number, 0.2)
        if number < at:
            steps.append(StepView(step, StepState.DONE, began, began + took))
            began += took
        else:
            steps.append(StepView(step))
    if at < len(steps) and state is RunState.RUNNING:
        steps[at] = moving(steps[at].step)
    made = RunView(
        "47",
        of or plan(),
        state,
        tuple(steps),
        checks=CHECKS,
        started=NOW - 1380.0,
        obligations=(OpenObligation("47", FREEZE, NOW - 1379.0),),
        armed=("db1", "db2"),
        journal_at=NOW - 0.3,
        live=True,
        approved=NOW - 1400,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def moving(step: Step, done: float = 69_840.0) -> StepView:
    """Return a step that waits with progress."""
    return StepView(
        step,
        StepState.PROVING,
        NOW - 72,
        said="Joiner, receiving IST from db1",
        waits_for="Synced",
        until=NOW + 420,
        done_of=done,
        total=112_527,
        unit="write sets",
        left_s=33.0,
        evidence=(
            "02:36:29 WSREP: Prepared IST receiver for 48101378-48213904",
            "02:36:30 WSREP: Member 1.0 (db2) requested state transfer",
            "02:36:30 WSREP: IST receiver: cert preload 46920118",
        ),
    )


def failed() -> RunView:
    """Return a run that failed and whose console died."""
    made = run(6, RunState.FAILED, live=False, armed=())
    error = "mariadb.service failed: the joiner could not connect to db1 on port 4568."
    steps = (
        *made.steps[:6],
        replace(made.steps[6], state=StepState.FAILED, started=NOW - 99, ended=NOW - 50, error=error),
        *made.steps[7:],
    )
    sentence = "Step 7 failed: db2 is down, the other three are Synced and serve. The gcache of db1 is still frozen."
    return replace(made, steps=steps, sentence=sentence)


def question(topic: str = "step", ask: Ask | None = None, step_id: str = "ask") -> Question:
    """Return something that a run asks."""
    asked = ask or Ask("Is the maintenance on db2 done, and can it start again?", unattended="done")
    return Question(asked, step_id, topic, NOW - 600)


def curve(kind: str, points: int = 300) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return times and values: 'disk' falls slowly, 'queue' jumps late."""
    rng = random.Random(4)
    times = tuple(NOW - 1500 + i * 5 for i in range(points))
    if kind == "disk":
        return times, tuple(96e9 - max(0, i - 30) * 8e7 for i in range(points))
    queue = (
        abs(rng.gauss(2, 1)) if i < 280 else 90 * math.exp(-(i - 280) / 12) + rng.uniform(0, 6) for i in range(points)
    )
    return times, tuple(queue)
