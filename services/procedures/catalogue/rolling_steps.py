"""The steps of a rolling restart, node by node, each node whole and proven before the next one is touched."""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.procedures.actions import Ask, EditOptions, RestoreFile, Run
from services.procedures.catalogue import steps, traffic_steps
from services.procedures.catalogue.choices import member_hosts
from services.procedures.catalogue.haproxy_places import balancer_hosts
from services.procedures.catalogue.haproxy_steps import drain_steps, out_of, return_steps
from services.procedures.catalogue.rolling_order import donor_for
from services.procedures.conditions import OptionIs, StillPrimary, VariableIs
from services.procedures.facts_model import Facts, HostFacts
from services.procedures.fields import Inputs
from services.procedures.inputs import flag_of, hosts_of, seconds_of
from services.procedures.model import Chart, Plan, Risk, Step, Undo, WatchRule

CONFIG_FILE = "/etc/mysql/mariadb.conf.d/99-pilothouse.cnf"
START_LIMIT_S = 3_600.0
SOAK_S = 10.0


def rolling_plan(facts: Facts, values: Inputs) -> Plan:
    """Return the plan for inputs that have no faults."""
    members = member_hosts(facts)
    option, value = values["option"].replace("-", "_"), values["value"]
    older = seconds_of(values["older_than"])
    nodes = tuple(
        name
        for name in hosts_of(values["nodes"])
        if not (option and _has(facts.host(name), option, value)) and not _young(facts.host(name), older)
    )
    change = f" and set {option} = {value}" if option else ""
    found: list[Step] = []
    for place, name in enumerate(nodes):
        found += _node(facts, values, name, nodes[:place])
        if place + 1 < len(nodes):
            found.append(_pause(name, seconds_of(values["pause"]) or 0.0))
    if found:
        found.append(steps.whole_again(facts, members))
    return Plan(
        procedure="rolling-restart",
        title=f"Restart {', '.join(nodes) or 'nothing'}{change}",
        summary="One node at a time; the next one only when all are Synced again.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=tuple(dict.fromkeys((*members, *(balancer_hosts(facts, nodes) if _by_haproxy(values) else ())))),
        quorum=members,
        inputs=tuple(values.items()),
        steps=tuple(found),
        watches=_watches(facts, nodes, members),
        charts=tuple(Chart("galera.recv_queue", name, f"Receive queue of {name}") for name in nodes[-2:]),
        expects=(
            f"{', '.join(nodes) or 'Nothing'} restarted, all {len(members)} members Synced.",
            *((f"@@{option} is {value} on each.",) if option else ()),
        ),
    )


def _has(host: HostFacts, option: str, value: str) -> bool:
    """Return whether the files say so already and the running server too, as far as both are known."""
    server = host.node.server if host.node is not None else None
    running = dict(server.variables).get(option) if server is not None else None
    return host.option("mysqld", option) == value and (running is None or running.lower() == value.lower())


def _young(host: HostFacts, older: float | None) -> bool:
    """Return whether the server was started within the last `older` seconds."""
    server = host.node.server if host.node is not None else None
    uptime = server.uptime_s if server is not None else None
    return older is not None and uptime is not None and uptime <= older


def _node(facts: Facts, values: Inputs, name: str, restarted: tuple[str, ...]) -> list[Step]:
    """Return the steps of one node; ids begin with its name."""
    host, members = facts.host(name), member_hosts(facts)
    donor = donor_for(facts, name, restarted)
    donor_name = facts.host(donor).node_name or donor
    prefix = f"{name}:"
    option, value = values["option"].replace("-", "_"), values["value"]
    galera = host.node.galera if host.node is not None else None
    found = [steps.restart_off(host, prefix), steps.name_donor(host, donor_name, prefix)]
    found += _drained(facts, values, host, prefix)
    if flag_of(values["desync"]) is True:
        found.append(traffic_steps.desync(name, prefix))
    if option:
        found.append(_tried(host, option, value, prefix))
    others = tuple(m for m in members if m != name)
    stop = steps.stop_node(
        facts,
        host,
        others=others,
        whole=members,
        prefix=prefix,
        keep=f"position-{name}",
        desynced=flag_of(values["desync"]) is True,
    )
    if _by_haproxy(values):
        stop = replace(stop, before=(*stop.before, *out_of(facts, name)))
    stay = (StillPrimary(others, len(others), facts.cluster_id),)
    start = steps.start_node(facts, host, limit_s=START_LIMIT_S, prefix=prefix, before_undo=stay)
    if option:
        # Written while the node is down: taken back in reverse order it is stopped, gets its file back, and is started.
        written = [_written(host, values["file"] or CONFIG_FILE, option, value, prefix)]
        shown = (VariableIs(name, option, value),) if _visible(host, option) else ()
        start = replace(start, proof=(*start.proof, *shown))
    else:
        written, start = [], steps.without_undo(start)
    kind = "any" if flag_of(values["sst_ok"]) is True else "IST"
    found += [stop, *written, start]
    if flag_of(values["desync"]) is True:
        found.append(traffic_steps.resync(name, prefix))
    found.append(steps.prove_transfer(host, "IST" if kind == "IST" else "any", "", start.step_id, prefix))
    found += [
        steps.forget_donor(host, galera.sst_donor if galera is not None else "", prefix),
        steps.restart_on(host, prefix),
    ]
    found += _undrained(facts, values, host, prefix)
    found += [steps.queue_settled(host, SOAK_S, prefix), steps.whole_again(facts, members, prefix)]
    return found


def _visible(host: HostFacts, option: str) -> bool:
    """Return whether the running server's variables as read hold the option (only then can its value be proven)."""
    server = host.node.server if host.node is not None else None
    return server is not None and option in dict(server.variables)


def _by_haproxy(values: Inputs) -> bool:
    return values["drain"] == "haproxy"


def _drained(facts: Facts, values: Inputs, host: HostFacts, prefix: str) -> list[Step]:
    limit = seconds_of(values["drain_limit"]) or 120.0
    if _by_haproxy(values):
        return drain_steps(facts, host.host, limit, prefix, cut=flag_of(values["cut"]) is True)
    if values["drain"] == "server":
        return [traffic_steps.reject_queries(host, prefix), traffic_steps.wait_no_clients(host, limit, (), prefix)]
    if values["drain"] == "person":
        question = Ask(f"Is {host.host} out of the balancer?", unattended="done")
        asked = _asked(f"{prefix}out-of-balancer", f"Take {host.host} out of the balancer, then say so", question)
        return [asked, traffic_steps.wait_no_clients(host, limit, (), prefix)]
    return []


def _undrained(facts: Facts, values: Inputs, host: HostFacts, prefix: str) -> list[Step]:
    if _by_haproxy(values):
        return return_steps(facts, host.host, prefix)
    if values["drain"] == "server":
        return [traffic_steps.accept_queries(host, prefix)]
    if values["drain"] == "person":
        question = Ask(f"Is {host.host} back in the balancer?", unattended="done")
        return [_asked(f"{prefix}into-balancer", f"Put {host.host} back into the balancer, then say so", question)]
    return []


def _asked(step_id: str, title: str, question: Ask) -> Step:
    return Step(
        step_id=step_id, host="", title=title, done="You said so", action=question, risk=Risk.YOU, limit_s=86_400.0,
        repeatable=True,
    )  # fmt: skip


def _pause(name: str, seconds: float) -> Step:
    return Step(
        step_id=f"{name}:pause",
        host=name,
        title=f"Watch {name} serve for {seconds:g} s before the next node",
        done=f"{name} served {seconds:g} s",
        action=steps.queue_settled(HostFacts(host=name), seconds).action,
        risk=Risk.READS,
        limit_s=seconds + 600.0,
        repeatable=True,
        estimate_s=seconds,
    )


def _tried(host: HostFacts, option: str, value: str, prefix: str) -> Step:
    """Let the server program itself read its files and the new option while the server still runs."""
    name, unit = host.host, steps.unit_of(host)
    program = "mariadbd" if "mariadb" in unit or "MariaDB" in host.server_program else "mysqld"
    words = (program, "--user=mysql", f"--{option}={value}", "--help", "--verbose")
    return Step(
        step_id=f"{prefix}config",
        host=name,
        title=f"Let {program} on {name} try its configuration with {option} = {value}",
        done=f"{name}'s configuration is valid with {option} = {value}",
        why="A server that can't read its configuration would not come back, and its state would be dropped.",
        action=Run(Command(words, sudo=True)),
        risk=Risk.READS,
        limit_s=60.0,
        repeatable=True,
        estimate_s=2.0,
    )


def _written(host: HostFacts, path: str, option: str, value: str, prefix: str) -> Step:
    """Write the option for the start that follows."""
    name = host.host
    there = (OptionIs(name, "mysqld", option, value),)
    return Step(
        step_id=f"{prefix}option",
        host=name,
        title=f"Set {option} = {value} in {path} on {name}",
        done=f"{option} = {value} is in {name}'s files",
        action=EditOptions(path, "mysqld", ((option, value),)),
        already=there,
        proof=there,
        undo=Undo(f"Put {path} of {name} back", RestoreFile(path)),
        repeatable=True,
        estimate_s=1.0,
    )


def _watches(facts: Facts, nodes: tuple[str, ...], members: tuple[str, ...]) -> tuple[WatchRule, ...]:
    """While one node is down the others must stay; looked at from its stop to its start."""
    return tuple(
        WatchRule(
            code=f"QUORUM-{name}".upper(),
            condition=StillPrimary(others, len(others), facts.cluster_id),
            sentence=f"One of {', '.join(others)} is no full member any more while {name} is down.",
            from_step=f"{name}:stop-{name}",
            to_step=f"{name}:start-{name}",
        )
        for name in nodes
        if (others := tuple(m for m in members if m != name))
    )
