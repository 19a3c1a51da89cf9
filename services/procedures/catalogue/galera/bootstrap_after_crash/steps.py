"""The first part of bootstrap-after-crash: every node down and kept down, its state saved, its position recovered.

And case B, servers that are up without a Primary Component. Sources: Galera documentation "Restarting the Cluster"
(--wsrep-recover) and "Resetting the Quorum" (pc.bootstrap); mysqld_safe and galera_recovery let the server recover its
position with the same words.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.connections.sql.statement import set_provider_option
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.bootstrap_after_crash.unmoved import recovered, stood
from services.procedures.catalogue.galera.shared.positions import NodePosition
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.binlog_tail import binlog_tail
from services.procedures.catalogue.steps.restored.data_folders import account_of
from services.procedures.catalogue.steps.restored.state_kept import SAVE_STATE
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.actions import Ask, Run, Sql
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder

BACKUP = "/var/lib/pilothouse/before-bootstrap"
_LEFT = (
    "It was left out and is not started: only its position is read, to show possible losses. This runs crash recovery "
    "and starts a new binary log file."
)


def find_positions(party: Party, *, wait_for_copies: bool = False, ask_left: bool = True) -> tuple[Step, ...]:
    """Return the first part: keep every node down, save its state files, recover its position; then plan on.

    No data file changes before every server is stopped for good: a node that starts by itself in the middle could meet
    a wrong Primary Component, or none of the copies would fit together.

    Args:
        ask_left: stopped servers of members that were left out are let recover their positions too; nothing else is
            done to them.
    """
    nodes = [party.host(name) for name in party.hosts]
    left = [party.host(name) for name in party.left_stopped()] if ask_left else []
    found = [steps.restart_off(host) for host in nodes]
    found += [stopped(host, party) for host in nodes]
    found += [_save(host) for host in (*nodes, *left)]
    if wait_for_copies:
        found.append(_copies((*party.hosts, *(host.host for host in left))))
    for host in nodes:
        found += [*binlog_tail(host), recovered(host)]
    for host in left:
        found += [*binlog_tail(host), replace(recovered(host), why=_LEFT)]
    found.append(
        steps.plan_the_rest(
            "choose",
            "Choose the most advanced node from the recovered positions",
            "which node is the most advanced is known only now",
        )
    )
    return tuple(found)


def stopped(host: HostFacts, party: Party, prefix: str = "") -> Step:
    """Stop a server that hangs in 'activating' or stands non-Primary: its files are read when it is off."""
    name = host.host
    stop = steps.make_stopped(
        host,
        "It serves no clients now: there is no Primary Component. It is started again later in the run.",
        None if prefix else steps.came_by_itself(party.facts, host, party.hosts),
    )
    down = (*stop.proof, stood(host, prefix)) if prefix else stop.proof
    return replace(
        stop,
        step_id=f"{prefix}down-{name}",
        risk=Risk.NODE_DOWN,
        before=(party.none_is_primary(),),
        already=down,
        proof=down,
    )


def _save(host: HostFacts) -> Step:
    """Keep what tells the position: small files, every copy numbered."""
    name, datadir = host.host, host[DataFolder].path or "/var/lib/mysql"
    words = (account_of(host), datadir, BACKUP, "grastate.dat", "gvwstate.dat")
    return Step(
        step_id=f"save-{name}",
        host=name,
        title=f"Copy the state files of {name} to {BACKUP}",
        done=f"Copies of the state files of {name} are in {BACKUP}",
        why="The copies are kept; they need a few kilobytes.",
        action=Run(Command(("bash", "-c", SAVE_STATE, "pilothouse", *words), sudo=True)),
        before=(stood(host),),
        repeatable=True,
        estimate_s=0.5,
    )


def _copies(hosts: tuple[str, ...]) -> Step:
    named = ", ".join(hosts)
    question = f"Are the data folders of {named} copied, or their volumes snapshotted? Every server is stopped now."
    return Step(
        step_id="copies",
        host="",
        title=f"Copy or snapshot the data of {named}, then confirm",
        done="You confirmed that the data is copied",
        why="The next steps change data files: first crash recovery, then possibly an SST that replaces a data folder.",
        action=Ask(question),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
    )


def make_primary(party: Party, chosen: str, position: int, found: tuple[NodePosition, ...]) -> tuple[Step, ...]:
    """Return case B, every server up and none Primary: one statement on the most advanced node; the rest follow it.

    Args:
        found: where each of them stood when the choice was made; one that stands elsewhere was Primary meanwhile.
    """
    primary = (
        StatusIs(chosen, "wsrep_cluster_status", "=", "Primary"),
        StatusIs(chosen, "wsrep_ready", "=", "ON"),
        Position(chosen, position),
    )
    # It takes along every node that is connected: each is held against the chosen one once more, right before.
    others = tuple(party.host(name) for name in party.hosts if name != chosen)
    one_past = tuple(
        replace(steps.same_history(party.facts, host, (chosen,)), by_sst=False, up=True) for host in others
    )
    unmoved = tuple(StatusIs(one.host, "wsrep_last_committed", "=", str(one.seqno)) for one in found)
    return (
        Step(
            step_id="make-primary",
            host=chosen,
            title=f"Make {chosen} and the nodes that see it the Primary Component",
            done=f"{chosen} is Primary",
            why="The only way back is to stop the nodes: from here on they accept writes.",
            action=Sql(set_provider_option("pc.bootstrap", "YES")),
            risk=Risk.IRREVERSIBLE,
            before=(party.none_is_primary(), *unmoved, *one_past),
            already=primary,
            proof=primary,
            limit_s=60.0,
            repeatable=True,  # `before` keeps it from being done where a Primary Component has come up
            cancellable=False,
            estimate_s=5.0,
            confirm=chosen,
            serves=True,
        ),
        steps.whole_again(party.facts, party.hosts),
    )
