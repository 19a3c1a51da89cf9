"""The second part of bootstrap-after-crash: one node becomes the Primary Component, the others join it one at a time.

Sources: Galera documentation "Restarting the Cluster" (safe_to_bootstrap); MariaDB's galera_new_cluster and Percona's
mysql@bootstrap.service start a server with --wsrep-new-cluster for this one start only (PXC manual, "Bootstrap the
first node": it goes back to mysql.service when others have joined).
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.procedures.catalogue.checks.parts import state_file
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.bootstrap_after_crash.unmoved import unmoved
from services.procedures.catalogue.steps import forked
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.restored import data_folders
from services.procedures.catalogue.steps.restored.state_kept import keep_state
from services.procedures.conditions.galera.data.at_rest import Unmoved
from services.procedures.conditions.galera.data.nothing_written import NothingWritten
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.files import FileSays
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Ask, Detached, PutFile, RemoveFile, RestoreFile, Run, Several
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Consent, Risk, Step, Undo
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.starting import BOOTSTRAP_UNIT
from services.procedures.plan.pasts.positions import recovered_position

JOIN_LIMIT_S = 4 * 3_600.0
_CLEARED = (
    Run(Command(("systemctl", "unset-environment", "_WSREP_NEW_CLUSTER"), sudo=True)),
    RemoveFile("/run/mysqld/wsrep-new-cluster"),
)
"""Both places by which versions of MariaDB's galera_new_cluster tell the unit to found a cluster."""


def bootstrap_and_join(
    party: Party,
    chosen: str,
    position: int,
    others: tuple[str, ...],
    apart: tuple[str, ...] = (),
    *,
    prefix: str = "",
) -> tuple[Step, ...]:
    """Return the second part: one node becomes the Primary Component, the others join it one at a time.

    Args:
        apart: nodes that stay stopped with their data, because they have more than the chosen one, or another past (a
            person has accepted that).
        prefix: of the recovery that was made last ('again-' after Galera's own was tried).
    """
    facts, host = party.facts, party.host(chosen)
    everyone = (chosen, *others)
    found = [
        _safe(host, facts.cluster_id),
        _bootstrap(party, host, position, prefix),
        _nothing_left(host),
        Step(
            step_id="check-data",
            host="",
            title=f"Check the data on {chosen} before any other node joins",
            done=f"You accepted the data of {chosen}",
            why="Until another node has joined, you can still choose another node; clients' writes on "
            f"{chosen} would then be lost.",
            action=Ask(f"Is the data on {chosen} correct? The other nodes receive it from here.", unattended="yes"),
            risk=Risk.YOU,
            limit_s=86_400.0,
            repeatable=True,
        ),
    ]
    up: tuple[str, ...] = (chosen,)
    for name in others:
        left = tuple(other for other in party.looked if other not in up)
        found += _join(facts, facts.host(name), up, unmoved(party, left, prefix=prefix, beside=up))
        up = (*up, name)
    if not _is_maria(host) and others:
        found += _back_to_normal(facts, host, others)
    found += closing(facts, everyone, apart)
    return tuple(found)


def closing(facts: Facts, everyone: tuple[str, ...], apart: tuple[str, ...] = (), limit_s: float = 120.0) -> list[Step]:
    """Return the end of every way: automatic restarts back, everybody Synced in one view."""
    found = [steps.restart_on(facts.host(name)) for name in (*everyone, *apart)]
    return [*found, steps.whole_again(facts, everyone, limit_s=limit_s)]


def _is_maria(host: HostFacts) -> bool:
    return "mariadb" in steps.unit_of(host) or "MariaDB" in host[Program].text


def _safe(host: HostFacts, uuid: str) -> Step:
    path = posixpath.join(host[DataFolder].path or "/var/lib/mysql", "grastate.dat")
    name = host.host

    def edit(old: str, new: str) -> Run:
        return data_folders.edited(host, "grastate.dat", f"s/^safe_to_bootstrap: {old}$/safe_to_bootstrap: {new}/")

    if not host[DataFolder].names_state:
        return _new_state(host, path, uuid, first=True)
    return Step(
        step_id="safe",
        host=name,
        title=f"Mark {name} as safe to bootstrap in grastate.dat",
        done=f"{name} can be bootstrapped",
        why="The server refuses to bootstrap a node that did not leave last; only this line is changed.",
        action=edit("0", "1"),
        already=(FileSays(name, path, "^safe_to_bootstrap: 1$"),),
        proof=(FileSays(name, path, "^safe_to_bootstrap: 1$"),),
        undo=Undo(f"Reset the mark on {name}", edit("1", "0"), (FileSays(name, path, "^safe_to_bootstrap: 0$"),)),
        repeatable=True,
        estimate_s=0.5,
    )


def _new_state(host: HostFacts, path: str, uuid: str, *, first: bool) -> Step:
    """Write a state file in place of a damaged or lost one; seqno -1 has the start ask InnoDB, as after any crash.

    Args:
        first: it is the node that is bootstrapped.
    """
    name, mark = host.host, f"^safe_to_bootstrap: {int(first)}$"
    text = f"# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   -1\nsafe_to_bootstrap: {int(first)}\n"
    proof = (FileSays(name, path, f"^uuid: +{uuid}$"), FileSays(name, path, mark))
    without = (
        "the server would create a new cluster" if first else "an SST would replace data for which IST is sufficient"
    )
    return Step(
        step_id="safe" if first else f"state-{name}",
        host=name,
        title=f"Write a state file for {name}: its own is {state_file(host)}",
        done=f"{name} can be bootstrapped" if first else f"{name} has a complete state file",
        why=f"InnoDB reported a position of this cluster. Without the file {without}.",
        action=PutFile(path, (text,), "0660", "mysql:mysql"),
        already=proof,
        proof=proof,
        undo=Undo(f"Restore the state file of {name}", RestoreFile(path, whole=True)),
        repeatable=True,
        estimate_s=0.5,
    )


def _bootstrap(party: Party, host: HostFacts, position: int, prefix: str) -> Step:
    name, unit, maria = host.host, steps.unit_of(host), _is_maria(host)
    start = (
        Command(("galera_new_cluster",), sudo=True)
        if maria
        else Command(("systemctl", "start", BOOTSTRAP_UNIT), sudo=True)
    )
    running = unit if maria else BOOTSTRAP_UNIT
    primary = (
        Joined(name, party.facts.cluster_id, running),
        ClusterWhole((name,), 1, party.facts.cluster_id),  # who joins it by itself meanwhile is named
        Position(name, position),
        # Looked at in the files before. What everybody takes over is not what InnoDB read past damage, nor unwritable.
        VariableIs(name, "innodb_force_recovery", "0", if_there=True, fixed=True),
        VariableIs(name, "innodb_read_only", "OFF", if_there=True, fixed=True),
    )
    others = [party.host(other) for other in party.known if other != name]
    stopped = tuple(Stopped(other.host, steps.unit_of(other)) for other in others)
    standing = unmoved(party, party.looked, prefix=prefix, safe=name)
    left = replace(steps.founds_nothing(host), left=True)
    return Step(
        step_id="bootstrap",
        host=name,
        title=f"Bootstrap {name} at seqno {position}: its data becomes the cluster's",
        done=f"{name} is the Primary Component",
        why="Every other node receives this data. Before any write, you can still stop it and choose another node.",
        action=Detached(start, name=f"bootstrap-{name}"),
        risk=Risk.IRREVERSIBLE,
        before=(party.none_is_primary(), *standing, Stopped(name, running), *stopped),
        already=primary,
        proof=primary,
        limit_s=900.0,
        undo=Undo(
            f"Stop {name} again",
            Several((*_CLEARED, steps.stop_unit(running))),
            (Stopped(name, running), left),
            limit_s=900.0,
            consent=Consent((NothingWritten(name, position),), _off_line(name), f"stop {name}"),
        ),
        cancellable=False,
        moves=name,
        settles=(name,),
        estimate_s=15.0,
        confirm=name,
        serves=True,
    )


def _nothing_left(host: HostFacts) -> Step:
    """Take the order to found a cluster away, which a galera_new_cluster that is broken off leaves: once is enough."""
    name = host.host
    return Step(
        step_id="founding-over",
        host=name,
        title=f"Make sure that {name} does not bootstrap at its next start",
        done=f"{name} joins the others at its next start",
        why="galera_new_cluster passes the option through systemd; if it stays there, the next start creates a second "
        "cluster.",
        action=Several(_CLEARED),
        proof=(replace(steps.founds_nothing(host), left=True),),
        repeatable=True,
        estimate_s=0.5,
    )


def _off_line(name: str) -> str:
    return (
        f"Stopping {name} makes them unavailable: they exist only on its disk, and are lost if another node is "
        f"bootstrapped then. Type 'stop {name}' to accept."
    )


def _join(facts: Facts, host: HostFacts, up: tuple[str, ...], standing: tuple[Unmoved, ...]) -> list[Step]:
    whole, removed = _readable_state(facts, host)
    start = steps.start_node(facts, host, steps.same_history(facts, host, up, removed=removed), limit_s=JOIN_LIMIT_S)
    start = replace(
        start,
        before=(*standing, *start.before, StillPrimary(up, len(up), facts.cluster_id)),
        why="It receives the missed write sets from a member: by IST if the cache reaches, otherwise by SST.",
    )
    return [
        *whole,
        *(() if whole else _asked(facts, host)),
        *(() if removed else keep_state(host)),
        start,
        steps.prove_transfer(host, "any", "", start.step_id),
        steps.whole_again(facts, (*up, host.host), f"{host.host}:"),
    ]


def _readable_state(facts: Facts, host: HostFacts) -> tuple[tuple[Step, ...], bool]:
    """Return what makes a damaged state file whole before a join, and whether it is removed instead.

    A seqno beside a zero UUID is damage too: the provider ends its start over it ('Non-negative state seqno requires
    non-nil history UUID', Galera 26.4.23 on the lab). A damaged file may still name the cluster to the provider, and
    nobody can prove what it would start from. Where InnoDB told a position of this cluster a whole one is written; else
    nothing but an SST may come, as a person accepted.
    """
    folder = host[DataFolder]
    state, damaged = folder.grastate, folder.grastate_damaged
    if not (damaged or (state is not None and not state.names_state and state.seqno != -1)):
        return (), False
    uuid, seqno = recovered_position(facts, host.host) or ("", None)
    if uuid == facts.cluster_id and seqno is not None:
        path = posixpath.join(folder.path or "/var/lib/mysql", "grastate.dat")
        return (_new_state(host, path, uuid, first=False),), False
    return (forked.only_sst(facts, host, given_up=False),), True


def _asked(facts: Facts, host: HostFacts) -> tuple[Step, ...]:
    """Have the name typed of a node whose state file is lost and whose data InnoDB places in this cluster.

    Only an SST can come to it, and erases rows too that were never replicated. Of a node without a position the loss
    is typed before; one that a transfer had begun to erase has nothing of its own.
    """
    name, (uuid, seqno) = host.host, recovered_position(facts, host.host) or ("", None)
    folder = host[DataFolder]
    none = folder.grastate_absent or (folder.grastate is not None and not folder.names_state)
    if not none or folder.erased_by_transfer or uuid != facts.cluster_id or seqno is None:
        return ()
    return (
        Step(
            step_id=f"sst-{name}",
            host="",
            title=f"Accept that {name} comes back by SST: its state file is {state_file(host)}",
            done=f"You accepted that {name} comes back by SST",
            why=f"InnoDB of {name} is at {seqno}. An SST replaces all of its data, including rows that only {name} "
            "has.",
            action=Ask(steps.by_sst(name), "typed", expect=name),
            already=(StateNamed(name, folder.path or "/var/lib/mysql"),),
            risk=Risk.YOU,
            limit_s=86_400.0,
            repeatable=True,
        ),
    )


def _back_to_normal(facts: Facts, host: HostFacts, others: tuple[str, ...]) -> list[Step]:
    """PXC: a node that stays under mysql@bootstrap would found a second cluster when that unit is started again."""
    everyone = (host.host, *others)
    under = host.with_part(replace(host[Unit], name=BOOTSTRAP_UNIT))
    left = f"normal-{host.host}"
    stop = steps.stop_node(facts, under, others=others, whole=everyone, prefix="normal:", keep=left)
    stop = replace(
        stop,
        undo=None,
        why=f"{host.host} continues under mysql.service. After a rollback it stays stopped: its data is unchanged.",
    )
    one_past = steps.same_history(facts, under, others, left)
    start = steps.start_node(facts, under, one_past, limit_s=JOIN_LIMIT_S, prefix="normal:")
    return [stop, steps.with_its_state(start, under), steps.whole_again(facts, everyone, "normal:")]
