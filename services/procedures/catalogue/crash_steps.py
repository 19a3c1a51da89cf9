"""The steps of bootstrap-after-crash: find every position first, then bootstrap one node, then join the others.

Sources: Galera documentation "Restarting the Cluster" (safe_to_bootstrap, --wsrep-recover) and "Resetting the Quorum"
(pc.bootstrap); MariaDB's galera_new_cluster and Percona's mysql@bootstrap.service start a server with
--wsrep-new-cluster for this one start only.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.connections.statement import set_provider_option
from services.procedures.actions import Ask, Continue, Detached, Run, Several, Sql
from services.procedures.catalogue import steps
from services.procedures.catalogue.crash_positions import kept_name
from services.procedures.conditions import FileSays, Joined, NoPrimary, Position, StatusIs, StillPrimary, Stopped
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.model import Risk, Step, Undo

RECOVERED = r"Recovered position:?\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:-?\d+)"
RECOVER_LIMIT_S = 1_800.0
JOIN_LIMIT_S = 4 * 3_600.0
BACKUP = "/var/lib/pilothouse/before-bootstrap"


def find_positions(facts: Facts, hosts: tuple[str, ...], gone: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the first part: keep every node down, save its state files, recover its position; then plan on."""
    found: list[Step] = []
    for name in hosts:
        host = facts.host(name)
        found += [steps.restart_off(host), _stop(host, hosts, gone), _save(host), _recover(host)]
    found.append(
        Step(
            step_id="choose",
            host="",
            title="Choose the most advanced node from the recovered positions, and show the rest of the plan",
            done="The rest of the plan was made and approved",
            action=Continue("which node is the most advanced is known only now"),
            risk=Risk.READS,
            limit_s=86_400.0,
            repeatable=True,
        )
    )
    return tuple(found)


def _stop(host: HostFacts, hosts: tuple[str, ...], gone: tuple[str, ...]) -> Step:
    """A server that hangs in 'activating' or stands non-Primary must be off before its files are read."""
    unit, name = steps.unit_of(host), host.host
    return Step(
        step_id=f"down-{name}",
        host=name,
        title=f"Make sure that {unit} is stopped on {name}",
        done=f"{unit} is stopped on {name}",
        why="It serves nobody now: there is no Primary Component. It is started again in its turn.",
        action=steps.systemctl("stop", unit),
        risk=Risk.NODE_DOWN,
        before=(NoPrimary(hosts, gone),),
        already=(Stopped(name, unit),),
        proof=(Stopped(name, unit),),
        limit_s=900.0,
        repeatable=True,
        cancellable=False,
        estimate_s=5.0,
    )


def _save(host: HostFacts) -> Step:
    """Keep what tells the position: small files, every copy numbered."""
    name, datadir = host.host, host.datadir or "/var/lib/mysql"
    files = [posixpath.join(datadir, "grastate.dat")] if not host.grastate_absent else []
    if host.gvwstate is not None:
        files.append(posixpath.join(datadir, "gvwstate.dat"))
    acts: tuple[Run, ...] = (Run(Command(("install", "-d", "-m", "0700", BACKUP), sudo=True)),)
    if files:
        acts += (Run(Command(("cp", "-p", "--backup=numbered", *files, BACKUP), sudo=True)),)
    return Step(
        step_id=f"save-{name}",
        host=name,
        title=f"Copy the state files of {name} to {BACKUP}",
        done=f"The state files of {name} are saved" if files else f"{name} has no state files",
        why="The copies stay there; they take a few kilobytes.",
        action=Several(acts),
        repeatable=True,
        estimate_s=0.5,
    )


def _recover(host: HostFacts) -> Step:
    """Let the server read its position out of InnoDB. It runs crash recovery: it is no pure reading."""
    name, unit = host.host, steps.unit_of(host)
    program = "mariadbd" if "mariadb" in unit or "MariaDB" in host.server_program else "mysqld"
    return Step(
        step_id=f"recover-{name}",
        host=name,
        title=f"Let {program} on {name} recover its position",
        done=f"Position of {name} recovered",
        why="grastate.dat says -1 after a crash, or is stale; InnoDB knows. It runs crash recovery, as any start does.",
        action=Detached(
            Command((program, "--user=mysql", "--wsrep-recover", "--log-error=stderr"), sudo=True)
            if program == "mysqld"
            else Command((program, "--user=mysql", "--wsrep-recover", "--disable-log-error"), sudo=True),
            name=f"recover-{name}",
            keep=kept_name(name),
            pattern=RECOVERED,
        ),
        before=(Stopped(name, unit),),
        limit_s=RECOVER_LIMIT_S,
        repeatable=True,
        estimate_s=10.0,
    )


def bootstrap_and_join(
    facts: Facts, chosen: str, position: int, others: tuple[str, ...], gone: tuple[str, ...]
) -> tuple[Step, ...]:
    """Return the second part: one node becomes the Primary Component, the others join it one at a time."""
    host = facts.host(chosen)
    everyone = (chosen, *others)
    found = [
        _safe(host),
        _bootstrap(facts, host, position, others, gone),
        Step(
            step_id="check-data",
            host="",
            title=f"Look at the data on {chosen} before any other node takes it over",
            done="You said that the data is right",
            why="As long as nobody else has joined, another node can still be chosen.",
            action=Ask(f"Is the data on {chosen} right? The other nodes take it over from here.", unattended="yes"),
            risk=Risk.YOU,
            limit_s=86_400.0,
            repeatable=True,
        ),
    ]
    up: tuple[str, ...] = (chosen,)
    for name in others:
        found += _join(facts, facts.host(name), up)
        up = (*up, name)
    found += [steps.restart_on(facts.host(name)) for name in everyone]
    found.append(steps.whole_again(facts, everyone))
    return tuple(found)


def _safe(host: HostFacts) -> Step:
    path = posixpath.join(host.datadir or "/var/lib/mysql", "grastate.dat")
    name = host.host

    def edit(old: str, new: str) -> Run:
        return Run(Command(("sed", "-i", f"s/^safe_to_bootstrap: {old}$/safe_to_bootstrap: {new}/", path), sudo=True))

    return Step(
        step_id="safe",
        host=name,
        title=f"Mark {name} as safe to bootstrap in grastate.dat",
        done=f"{name} may be bootstrapped",
        why="The server refuses to bootstrap a node that was not the last one to leave; only this line is changed.",
        action=edit("0", "1"),
        already=(FileSays(name, path, "^safe_to_bootstrap: 1$"),),
        proof=(FileSays(name, path, "^safe_to_bootstrap: 1$"),),
        undo=Undo(f"Take the mark back on {name}", edit("1", "0"), (FileSays(name, path, "^safe_to_bootstrap: 0$"),)),
        repeatable=True,
        estimate_s=0.5,
    )


def _bootstrap(facts: Facts, host: HostFacts, position: int, others: tuple[str, ...], gone: tuple[str, ...]) -> Step:
    name, unit = host.host, steps.unit_of(host)
    maria = "mariadb" in unit or "MariaDB" in host.server_program
    start = (
        Command(("galera_new_cluster",), sudo=True)
        if maria
        else Command(("systemctl", "start", "mysql@bootstrap.service"), sudo=True)
    )
    running = unit if maria else "mysql@bootstrap.service"
    primary = (
        Joined(name, facts.cluster_id, running),
        StatusIs(name, "wsrep_cluster_size", "=", "1"),
        Position(name, position),
    )
    stopped = tuple(Stopped(other, steps.unit_of(facts.host(other))) for other in others)
    return Step(
        step_id="bootstrap",
        host=name,
        title=f"Bootstrap {name} at seqno {position}: its data becomes the cluster's",
        done=f"{name} is the Primary Component",
        why="Every other node takes over this data. Before any write it can still be stopped and another chosen.",
        action=Detached(start, name=f"bootstrap-{name}"),
        risk=Risk.IRREVERSIBLE,
        before=(NoPrimary((name, *others), gone), Stopped(name, running), *stopped),
        already=primary,
        proof=primary,
        limit_s=900.0,
        undo=Undo(f"Stop {name} again", steps.systemctl("stop", running), (Stopped(name, running),), limit_s=900.0),
        cancellable=False,
        moves=name,
        settles=(name,),
        estimate_s=15.0,
        confirm=name,
    )


def _join(facts: Facts, host: HostFacts, up: tuple[str, ...]) -> list[Step]:
    start = steps.start_node(facts, host, limit_s=JOIN_LIMIT_S)
    start = replace(
        start,
        before=(*start.before, StillPrimary(up, len(up), facts.cluster_id)),
        why="It takes what it misses from a member: by IST where the cache reaches, else by SST.",
    )
    return [
        start,
        steps.prove_transfer(host, "any", "", start.step_id),
        steps.whole_again(facts, (*up, host.host), f"{host.host}:"),
    ]


def make_primary(
    facts: Facts, chosen: str, position: int, up: tuple[str, ...], gone: tuple[str, ...]
) -> tuple[Step, ...]:
    """Return case B, every server up and none Primary: one statement on the most advanced node; the rest follow it."""
    primary = (
        StatusIs(chosen, "wsrep_cluster_status", "=", "Primary"),
        StatusIs(chosen, "wsrep_ready", "=", "ON"),
        Position(chosen, position),
    )
    return (
        Step(
            step_id="make-primary",
            host=chosen,
            title=f"Make {chosen} and the nodes that see it the Primary Component",
            done=f"{chosen} is Primary",
            why="There is no way back but to stop the nodes: from here on they take writes.",
            action=Sql(set_provider_option("pc.bootstrap", "YES")),
            risk=Risk.IRREVERSIBLE,
            before=(NoPrimary((*up,), gone),),
            already=primary,
            proof=primary,
            limit_s=60.0,
            repeatable=True,  # `before` keeps it from being done where a Primary Component has come up
            cancellable=False,
            estimate_s=5.0,
            confirm=chosen,
        ),
        steps.whole_again(facts, up),
    )
