"""The steps of a rolling restart, node by node, each node whole and proven before the next one is touched."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import AS_MYSQL, Command
from services.facts.server.values import same
from services.procedures.catalogue.galera.rolling_restart.checks import REACH_TIMES, cache_lasts_for
from services.procedures.catalogue.galera.rolling_restart.clients import by_haproxy, drained, undrained, work_on
from services.procedures.catalogue.galera.rolling_restart.provider_string import keys_of, runs_with, value_for
from services.procedures.catalogue.galera.shared.order import donor_for
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps import set_before
from services.procedures.catalogue.steps import traffic as traffic_steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor, of_running
from services.procedures.catalogue.steps.haproxy import out_of
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts
from services.procedures.catalogue.steps.watches import disk, flow_control
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.transfer.cache import CacheLasts
from services.procedures.conditions.machine.files import FileAsWritten
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import EditOptions, RestoreFile, Run, WaitFor
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of, hosts_of, seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Consent, Plan, Risk, Step, Undo, WatchRule
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.variables import Variables

CONFIG_FILE = "/etc/mysql/mariadb.conf.d/99-pilothouse.cnf"
START_LIMIT_S, SST_LIMIT_S = 3_600.0, 4 * 3_600.0
PAUSED_SHARE = 0.1
"""Flow control for a tenth of the time: a node that is back and sends more of it has not caught up."""


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
    return Plan(
        procedure="rolling-restart",
        title=f"Restart {', '.join(nodes) or 'nothing'}{change}",
        summary="One node at a time; the next one starts only after all are Synced again."
        + (f" Reason: {values['reason']}" if values["reason"] else ""),
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=tuple(dict.fromkeys((*members, *(balancer_hosts(facts, nodes) if by_haproxy(values) else ())))),
        quorums=(members,),
        inputs=tuple(values.items()),
        steps=looked_again(tuple(found)),
        watches=_watches(facts, nodes, members),
        charts=tuple(Chart("galera.recv_queue", name, f"Receive queue of {name}") for name in nodes[-2:]),
        expects=(
            f"{', '.join(nodes) or 'Nothing'} restarted, all {len(members)} members Synced.",
            *((f"Each has {option} = {value}.",) if option else ()),
        ),
    )


def _has(host: HostFacts, option: str, value: str) -> bool:
    """Return whether the files say so already and the running server too (where it has a variable of that name)."""
    if keys_of(option, value):
        said = host[Options].option("mysqld", option) or ""
        wanted = dict(keys_of(option, value))
        in_files = {key: text for key, text in keys_of(option, said) if key in wanted}
        return in_files == wanted and runs_with(host, option, value)
    running = host[Variables].value(option)
    return host[Options].option("mysqld", option) == value and (running is None or same(running, value))


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
    option, value = values["option"].replace("-", "_"), value_for(host, values["option"], values["value"])
    sst_ok, desync = flag_of(values["sst_ok"]) is True, flag_of(values["desync"]) is True
    found = [*set_before.as_found(host, prefix), steps.restart_off(host, prefix)]
    found.append(of_running(name_donor(host, donor_name, prefix), host))
    found.append(_tried(host, option, value, prefix))
    found += drained(facts, values, host, prefix)
    if desync:
        found.append(traffic_steps.desync(name, prefix))
    others = tuple(m for m in members if m != name)
    stop = steps.stop_node(
        facts, host, others=others, whole=members, prefix=prefix, keep=f"position-{name}", desynced=desync
    )  # fmt: skip
    downtime = seconds_of(values["downtime"]) or 120.0
    if not sst_ok and cache_lasts_for(facts, donor, downtime):
        # Where it does not last a person has accepted that by its code: asked again, it would never go down.
        stop = replace(stop, before=(*stop.before, CacheLasts(donor, REACH_TIMES * downtime)))
    if by_haproxy(values):
        stop = replace(stop, before=(*stop.before, *out_of(facts, name)))
    stay = (StillPrimary(others, len(others), facts.cluster_id),)
    limit = SST_LIMIT_S if sst_ok else START_LIMIT_S
    one_past = steps.same_history(facts, host, others, f"position-{name}")
    start = steps.start_node(facts, host, one_past, limit_s=limit, prefix=prefix, before_undo=stay)
    stop, start = (steps.sst_accepted(stop), start) if sst_ok else (stop, steps.with_its_state(start, host))
    work = flag_of(values["work"]) is True
    # Written while the node is down: taken back in reverse order it is stopped, gets its file back, and is started.
    written = [_written(host, values["file"] or CONFIG_FILE, option, value, prefix, work=work)] if option else []
    by_person = [work_on(host, prefix), _tried(host, option, value, f"{prefix}worked-")] if work else []
    # What was written may be changed by a person before the start, while it waits for one's work most of all.
    as_written = replace(start, before=(*start.before, OptionIs(name, "mysqld", option, value)))
    found += [stop, *written, *by_person, as_written if option else steps.without_undo(start)]
    found += set_before.right_after_start(host, values, prefix)
    if desync:
        found.append(traffic_steps.resync(name, prefix))
    found.append(steps.prove_transfer(host, "any" if sst_ok else "IST", "", start.step_id, prefix))
    if option:
        found.append(_active(host, option, values["value"], prefix))
    found += [
        forget_donor(host, donor_name, prefix),
        steps.restart_on(host, prefix),
        _soak(host, seconds_of(values["soak"]) or 0.0, prefix),
    ]
    found += undrained(facts, values, host, prefix, stops_again=bool(option))
    found.append(steps.whole_again(facts, members, prefix))
    return found


def _soak(host: HostFacts, seconds: float, prefix: str) -> Step:
    """Let clients back only to a node that keeps up, and does not hold the others up by flow control."""
    step, name = steps.queue_settled(host, seconds, prefix), host.host
    assert isinstance(step.action, WaitFor)
    calm = FlowControlBelow(name, PAUSED_SHARE, seconds)
    return replace(
        step,
        title=f"Verify that the receive queue of {name} stays below 10 for {seconds:g} s without flow control",
        action=WaitFor((*step.action.conditions, calm), f"{name} to keep up without flow control"),
    )


def _active(host: HostFacts, option: str, value: str, prefix: str) -> Step:
    """Prove that the server took the option: a file that it reads later may say otherwise."""
    name = host.host
    keys = keys_of(option, value)  # the server shows the provider's whole string: what was asked for is looked at
    whole = VariableIs(name, option, value, if_there=True, was=host[Variables].value(option) or "")
    conditions = tuple(ProviderOption(name, key, "=", text) for key, text in keys) or (whole,)
    return Step(
        step_id=f"{prefix}active",
        host=name,
        title=f"Verify that {name} has {option} = {value}",
        done=f"{name} has {option} = {value}",
        action=WaitFor(conditions, f"@@{option} on {name}"),
        risk=Risk.READS,
        limit_s=30.0,
        repeatable=True,
        estimate_s=0.5,
    )


def _pause(name: str, seconds: float) -> Step:
    return Step(
        step_id=f"{name}:pause",
        host=name,
        title=f"Observe {name} for {seconds:g} s before the next node",
        done=f"{name} served for {seconds:g} s",
        action=steps.queue_settled(HostFacts(host=name), seconds).action,
        risk=Risk.READS,
        limit_s=seconds + 600.0,
        repeatable=True,
        estimate_s=seconds,
    )


def _tried(host: HostFacts, option: str, value: str, prefix: str) -> Step:
    """Let the server program itself read its files, and the new option, before anything depends on it."""
    name, unit = host.host, steps.unit_of(host)
    program = "mariadbd" if "mariadb" in unit or "MariaDB" in host[Program].text else "mysqld"
    new = (f"--{option}={value}",) if option else ()
    given = f" with {option} = {value}" if option else ""
    return Step(
        step_id=f"{prefix}config",
        host=name,
        title=f"Test the configuration of {name} with {program}{given}",
        done=f"{name}'s configuration is valid{given}",
        why="A server that cannot read its configuration does not come back, and its state is dropped.",
        action=Run(Command((*AS_MYSQL, program, *new, "--help", "--verbose"), sudo=True)),
        risk=Risk.READS,
        limit_s=60.0,
        repeatable=True,
        estimate_s=2.0,
    )


def _written(host: HostFacts, path: str, option: str, value: str, prefix: str, *, work: bool) -> Step:
    """Write the option for the start that follows."""
    name = host.host
    there = (OptionIs(name, "mysqld", option, value),)
    return Step(
        step_id=f"{prefix}option",
        host=name,
        title=f"Set {option} = {value} in {path} on {name}",
        done=f"{option} = {value} is in the files of {name}",
        action=EditOptions(path, "mysqld", ((option, value),)),
        already=there,
        proof=there,
        undo=Undo(
            f"Restore {path} of {name}", RestoreFile(path), consent=_worked_on(name, path, option) if work else None
        ),
        repeatable=True,
        estimate_s=1.0,
    )


def _worked_on(name: str, path: str, option: str) -> Consent:
    """Of a file that a person may have worked on because the run asked for work, nothing is taken without a word."""
    return Consent(
        unless=(FileAsWritten(name, path),),
        question=f"This run asked you to work on {name}: the content of {path} may be that work. Remove only this "
        f"run's own line of {option} if it can be identified?",
        expect=f"edit {name}",
        otherwise=f"Not restored: {path} on {name} was changed after the run, or this is not known, "
        f"after this run asked for work there; it may still contain {option} as the run wrote it; if there was a "
        f"file before, the original is next to it as {posixpath.basename(path)}.pilothouse-RUN",
    )


def _watches(facts: Facts, nodes: tuple[str, ...], members: tuple[str, ...]) -> tuple[WatchRule, ...]:
    """While one node is down the others must stay; when it is back it must not hold them up."""
    found = []
    for name in nodes:
        others = tuple(m for m in members if m != name)
        if not others:
            continue
        found.append(
            WatchRule(
                code=f"QUORUM-{name}".upper(),
                condition=StillPrimary(others, len(others), facts.cluster_id),
                sentence=f"One of {', '.join(others)} is no longer a full member while {name} is down.",
                from_step=f"{name}:stop-{name}",
                to_step=f"{name}:start-{name}",
            )
        )
        near = f"The data disk of {name} is nearly full: its server may not start again."
        found.append(disk(facts.host(name), f"DISK-{name}".upper(), near, f"{name}:stop-{name}", f"{name}:whole"))
        held_up = flow_control(others[0], name, f"{name}:start-{name}", f"{name}:whole", f"{name}-".upper())
        sentence = f"Flow control has nearly stopped the cluster's writes since {name} returned."
        found.append(replace(held_up, sentence=sentence))
    return tuple(found)
