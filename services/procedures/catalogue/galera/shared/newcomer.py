"""What makes a host a node of this cluster before it has data: its option file, its ports, its name with the others."""

from __future__ import annotations

import posixpath

from services.connections.command import AS_MYSQL, Command
from services.facts.machine.tcp_ways import GROUP_PORT, TRANSFER_PORTS
from services.procedures.catalogue.galera.shared.joiner_config import (
    FILE,
    address_of,
    address_place,
    cluster_address,
    config_text,
    extended_address,
)
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.listener import Listener, open_for_a_trial, opened
from services.procedures.conditions.machine.files import FileSays
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.server.option import OptionIs
from services.procedures.plan.actions import EditOptions, PutFile, RestoreFile, Run
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program

SST_PORT, IST_PORT = TRANSFER_PORTS
LISTEN_S = 120


def config_path(host: HostFacts) -> str:
    """Return where a new node's own option file is written."""
    return posixpath.join(steps.option_folder(host), FILE)


def server_off(facts: Facts, name: str) -> Step:
    """A spare may run a server of its own, or hang in an earlier start."""
    host = facts.host(name)
    why = "It is not a member now; undo restarts a server that ran on its own."
    return steps.make_stopped(host, why, steps.came_by_itself(facts, host, member_hosts(facts)))


def configure(facts: Facts, name: str, donor: str, node_name: str) -> list[Step]:
    """Write a new node's own option file after a member's, and let its server read it."""
    host, members = facts.host(name), member_hosts(facts)
    path = config_path(host)
    content = config_text(facts, donor, members, name, node_name)
    program = "mariadbd" if "MariaDB" in host[Program].text or "mariadb" in steps.unit_of(host) else "mysqld"
    return [
        Step(
            step_id=f"configure-{name}",
            host=name,
            title=f"Write {path} on {name}, derived from {donor}",
            done=f"{name} is configured",
            action=PutFile(path, content, mode="0640", owner="root:mysql"),
            proof=(
                FileSays(name, path, rf"^wsrep_node_name = {node_name}$"),
                # A file that the server reads later may say otherwise, and an address of nobody founds a cluster.
                OptionIs(name, "mysqld", "wsrep_cluster_address", cluster_address(facts, members, name)),
                OptionIs(name, "mysqld", "wsrep_node_name", node_name),
            ),
            undo=Undo(f"Remove {path}", RestoreFile(path)),
            repeatable=True,
            estimate_s=1.0,
        ),
        Step(
            step_id=f"config-{name}",
            host=name,
            title=f"Check the configuration of {name} with {program}",
            done=f"{name}'s configuration is valid",
            action=Run(Command((*AS_MYSQL, program, "--help", "--verbose"), sudo=True)),
            risk=Risk.READS,
            limit_s=60.0,
            repeatable=True,
            estimate_s=2.0,
        ),
    ]


def try_ports(facts: Facts, joiner: str, members: tuple[str, ...]) -> list[Step]:
    """Open the joiner's three ports for two minutes and connect from every member; and the members' from the joiner."""
    address = address_of(facts.host(joiner))
    ports = (SST_PORT, GROUP_PORT, IST_PORT)
    listeners = tuple(
        Listener(
            joiner, f"pilothouse-listen-{port}", LISTEN_S, ("-u", f"TCP-LISTEN:{port},reuseaddr,fork", "OPEN:/dev/null")
        )
        for port in ports
    )
    listening = open_for_a_trial(
        *listeners,
        key=f"listen:{joiner}",
        sentence=f"test ports open on {joiner}",
        danger="they close automatically within two minutes",
    )
    there = tuple(Listening(member, address, port) for member in members for port in ports)
    back = tuple(Listening(joiner, address_of(facts.host(member)), GROUP_PORT) for member in members)
    step = Step(
        step_id=f"listen-{joiner}",
        host=joiner,
        title=f"Open ports {SST_PORT}, {GROUP_PORT} and {IST_PORT} on {joiner} for a test, and connect both ways",
        done=f"Every member reaches {joiner}, and {joiner} every member",
        why=f"A blocked port would show only in the middle of a transfer. They close automatically after {LISTEN_S} s.",
        action=opened(*listeners),
        proof=(*there, *back),
        limit_s=30.0,
        repeatable=True,
        estimate_s=3.0,
    )
    close = f"Close the test ports of {joiner}"
    return [
        listening.on(step, close),
        listening.off(f"unlisten-{joiner}", close, f"The test ports of {joiner} are closed", 1.0),
    ]


def name_to_members(facts: Facts, joiner: str, members: tuple[str, ...]) -> list[Step]:
    """Write the whole list into each member's own file, where that file was found."""
    wanted = cluster_address(facts, members, joiner)
    found = []
    for name in members:
        path, section = address_place(facts.host(name))
        if not path:
            continue
        whole = extended_address(facts.host(name), wanted)
        there = (OptionIs(name, "mysqld", "wsrep_cluster_address", whole),)
        found.append(
            Step(
                step_id=f"extend-{name}",
                host=name,
                title=f"Add {joiner} to {path} of {name}",
                done=f"{name} has the address of {joiner} for its next start",
                action=EditOptions(path, section, (("wsrep_cluster_address", whole),)),
                already=there,
                proof=there,
                undo=Undo(f"Restore {path} of {name}", RestoreFile(path)),
                repeatable=True,
                estimate_s=1.0,
            )
        )
    return found


def joins_others(facts: Facts, joiner: HostFacts, members: tuple[str, ...], *, fresh: bool) -> tuple[OptionIs, ...]:
    """Read once more, just before the start, that the files don't have it found a cluster of its own."""
    said = joiner[Options].option("mysqld", "wsrep_new_cluster")
    off = OptionIs(joiner.host, "mysqld", "wsrep_new_cluster", said)  # not set, or the 'off' that the check read
    wanted = cluster_address(facts, members, joiner.host)
    return (off, *((OptionIs(joiner.host, "mysqld", "wsrep_cluster_address", wanted),) if fresh else ()))
