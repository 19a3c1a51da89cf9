"""Good plans: one small by hand, and any number of larger ones by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from services.connections.command import Command
from services.connections.sql.statement import set_provider_option
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import (
    Ask,
    Checkpoint,
    CopiedSecret,
    Detached,
    EditOptions,
    RestoreFile,
    Run,
    Sql,
    WaitFor,
)
from services.procedures.plan.condition import Kept
from services.procedures.plan.model import Breach, Obligation, Plan, Risk, Step, Undo, WatchRule

UUID = "6c1f0c1e-93a2-11ef-8d3c-0242ac110002"
HOSTS = ("n1", "n2", "n3")
UNIT = "mariadb.service"
_UNFREEZE = Sql(set_provider_option("gcache.freeze_purge_at_seqno", -1))
_UNFROZEN = (ProviderOption("n1", "gcache.freeze_purge_at_seqno", "=", "-1"),)
FREEZE = Obligation("freeze:n1", "n1", "gcache frozen on n1", _UNFREEZE, _UNFROZEN, "the disk of n1 fills")


def freeze(host: str = "n1") -> Step:
    proof = ProviderOption(host, "gcache.freeze_purge_at_seqno", "!=", "-1", keep=f"frozen-{host}")
    unfrozen = (ProviderOption(host, "gcache.freeze_purge_at_seqno", "=", "-1"),)
    taken = Obligation(f"freeze:{host}", host, f"gcache frozen on {host}", _UNFREEZE, unfrozen, f"{host}'s disk fills")
    return Step(
        f"freeze-{host}",
        host,
        f"Freeze the gcache of {host}",
        Sql(set_provider_option("gcache.freeze_purge_at_seqno", "now")),
        done=f"The gcache of {host} is frozen",
        proof=(proof,),
        undo=Undo(f"Unfreeze the gcache of {host}", _UNFREEZE, unfrozen),
        takes=taken,
        estimate_s=1.0,
    )


def unfreeze(host: str = "n1") -> Step:
    return Step(
        f"unfreeze-{host}",
        host,
        f"Unfreeze the gcache of {host}",
        _UNFREEZE,
        why="It ends what the plan began; there is nothing to take back.",
        proof=(ProviderOption(host, "gcache.freeze_purge_at_seqno", "=", "-1"),),
        repeatable=True,
        discharges=(f"freeze:{host}",),
    )


def one_past(host: str) -> SameHistory:
    others = tuple(name for name in HOSTS if name != host)
    return SameHistory(host, others, UUID, UNIT, "/var/lib/mysql", Kept(f"position-{host}"))


def stop(host: str = "n2") -> Step:
    return Step(
        f"stop-{host}",
        host,
        f"Stop the server on {host}",
        Run(Command(("systemctl", "stop", UNIT), sudo=True)),
        risk=Risk.NODE_DOWN,
        before=(ClusterWhole(HOSTS, 3, UUID),),
        proof=(Stopped(host, UNIT), CleanPosition(host, "/var/lib/mysql", UUID, keep=f"position-{host}")),
        limit_s=900.0,
        undo=Undo(
            f"Start the server on {host}",
            Run(Command(("systemctl", "start", UNIT), sudo=True)),
            before=(one_past(host),),
        ),
        moves=host,
    )


def start(host: str = "n2") -> Step:
    return Step(
        f"start-{host}",
        host,
        f"Start the server on {host}",
        Detached(Command(("systemctl", "start", UNIT), sudo=True), f"start-{host}"),
        why="A member that runs again needs no undo.",
        before=(CleanPosition(host, "/var/lib/mysql", UUID, Kept(f"position-{host}")), one_past(host)),
        proof=(
            Joined(host, UUID, UNIT),
            TransferWas(host, "IST", "", f"start-{host}"),
            Position(host, Kept(f"position-{host}")),
        ),
        limit_s=600.0,
        settles=(host,),
    )


def edit(host: str) -> Step:
    return Step(
        f"edit-{host}",
        host,
        f"Name {host}'s donor",
        EditOptions("/etc/my.cnf", "mysqld", (("wsrep_sst_donor", "n1,"), ("wsrep_sst_auth", CopiedSecret("n1", "a")))),
        undo=Undo("Put the option file back", RestoreFile("/etc/my.cnf")),
        repeatable=True,
    )


def wipe(host: str) -> Step:
    return Step(
        f"wipe-{host}",
        host,
        f"Delete the data of {host}",
        Run(Command(("rm", "-r", "/var/lib/mysql/x"), sudo=True)),
        risk=Risk.IRREVERSIBLE,
        confirm=host,
    )


def ask(name: str) -> Step:
    return Step(f"ask-{name}", "", "Say that it is done", Ask("Is it done?", unattended="yes"), risk=Risk.YOU)


def rest(name: str) -> Step:
    return Step(f"rest-{name}", "", "Rest", Checkpoint("Nothing is half done."), risk=Risk.READS)


def wait(name: str) -> Step:
    whole = WaitFor((ClusterWhole(HOSTS, 3, UUID),), "every member to be Synced")
    return Step(f"wait-{name}", "", "Wait for all", whole, risk=Risk.READS)


def plan_of(*steps: Step, watches: tuple[WatchRule, ...] = (), hosts: tuple[str, ...] = HOSTS) -> Plan:
    return Plan(
        "freeze-gcache",
        "Take n2 down without SST",
        "n1 keeps its gcache while n2 is away.",
        UUID,
        "prod-eu",
        hosts,
        (HOSTS,),
        (("node", "n2"),),
        steps,
        watches,
        expects=("n2 is Synced.",),
    )


DISK = WatchRule(
    "disk",
    FreeDisk("n1", "/var/lib/mysql", 10**9),
    "The disk of n1 fills; its gcache was released.",
    Breach.RELEASE,
    "freeze-n1",
    "unfreeze-n1",
    "freeze:n1",
)
GOOD = plan_of(freeze(), stop(), ask("work"), start(), unfreeze(), wait("all"), watches=(DISK,))


@st.composite
def good_plans(draw: st.DrawFn) -> Plan:
    """Return plans of several nodes taken down one after the other, with other steps in between."""
    order = draw(st.permutations(HOSTS))
    steps: list[Step] = []
    frozen = draw(st.booleans())
    steps += [freeze("n1")] if frozen else []
    for host in order[: draw(st.integers(0, 3))]:
        between = draw(st.lists(st.sampled_from((ask, rest, wait, edit, wipe)), unique=True, max_size=4))
        middle = [make(host) for make in between]
        cut = draw(st.integers(0, len(middle)))
        steps += [stop(host), *middle[:cut], start(host), *middle[cut:]]
    steps += [unfreeze("n1")] if frozen else []
    watched = (DISK,) if frozen and draw(st.booleans()) else ()
    values = (WatchRule("desync", VariableIs("n2", "wsrep_desync", "OFF"), "n2 is desynced."),)
    return plan_of(*steps, watches=watched + draw(st.sampled_from(((), values))))
