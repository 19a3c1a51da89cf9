"""Galera's own recovery after a crash: all members of the last Primary Component are started and find each other.

Each keeps that component in gvwstate.dat and forms it again when every member of it is there; with one of them missing
the others wait for ever (Galera documentation, "pc.recovery"; trials on the lab). Nobody is bootstrapped by hand then.
"""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import state_file
from services.procedures.catalogue.galera.bootstrap_after_crash.history import pairs
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.bootstrap_after_crash.unmoved import unmoved
from services.procedures.catalogue.galera.shared.positions import NodePosition
from services.procedures.catalogue.steps import server as steps
from services.procedures.conditions.galera.membership.whole import FormedAgain
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.galera.traces import Traces

PATIENCE_S = 300.0
FORMED = "formed"
"""The step at which the rest is planned by whether they found each other."""
_OFF = frozenset({"no", "false", "off", "0"})


def in_the_way(party: Party, found: tuple[NodePosition, ...]) -> str:
    """Return why these nodes can't form their last Primary Component again; '' when they can."""
    hosts = party.hosts
    if party.gone:
        return f"{', '.join(party.gone)} will not come back, but all members of the last view are required"
    if forked := [f"{p.one} and {p.other}" for p in pairs(party) if p.found.outcome == "forked"]:
        return f"the histories of {', '.join(forked)} have diverged"
    nodes = [party.host(name) for name in hosts]
    if outside := _ran_outside(nodes):
        return outside
    if other := _no_common_view(nodes):
        return other
    off = [host.host for host in nodes if (host[Provider].option("pc.recovery") or "").lower() in _OFF]
    if off:
        return f"pc.recovery is disabled on {', '.join(off)}"
    unfit = [f"{s.host}: {s.out}" for s in found if s.out]
    unfit += [
        f"grastate.dat of {host.host} is {state_file(host)}" for host in nodes if host[DataFolder].grastate is None
    ]
    return "; ".join(unfit)


def _no_common_view(nodes: list[HostFacts]) -> str:
    if damaged := [host.host for host in nodes if host[DataFolder].gvwstate_damaged]:
        return f"gvwstate.dat of {', '.join(damaged)} is empty or truncated"
    views = {host.host: host[DataFolder].gvwstate for host in nodes}
    without = [name for name, view in views.items() if view is None]
    if without:
        return f"{', '.join(without)} has no gvwstate.dat: it left earlier or was stopped cleanly"
    if len({view[0] for view in views.values() if view is not None}) > 1:
        return "the nodes' last views differ: " + ", ".join(f"{n} {v[0]}" for n, v in views.items() if v is not None)
    members = max(len(view[1]) for view in views.values() if view is not None)
    if members != len(nodes):
        return f"their last view has {members} members, but {len(nodes)} nodes are given"
    return ""


def _ran_outside(nodes: list[HostFacts]) -> str:
    traces = [(host.host, host[Traces].trace) for host in nodes]
    others = {name: trace.other_server for name, trace in traces if trace is not None and trace.other_server}
    if ran := [name for name, other in others.items() if other.certain]:
        return f"another server ran on the data of {', '.join(ran)}"
    return f"whether another server ran on the data of {', '.join(others)} is not known" if others else ""


def told(reason: str, *, wanted: bool) -> Check:
    """Say which way the run takes."""
    shown = f"not tried: {reason}" if reason else "every node has the same last view: this recovery is tried first"
    return Check(
        code="SELF-RECOVERY",
        title="Galera's own recovery is tried before a node is bootstrapped",
        verdict=Verdict.PASS,
        evidence=shown if wanted else "not tried: you disabled it",
        why="Nodes that restore their last Primary Component automatically need no manual bootstrap.",
    )


def form_again(party: Party) -> tuple[Step, ...]:
    """Return the steps: start all at once, wait for them for five minutes, plan on by what came of it."""
    hosts = party.hosts
    condition = FormedAgain(hosts, party.facts.cluster_id, PATIENCE_S)
    return (
        Step(
            step_id="still-none",
            host="",
            title="Verify that there is still no Primary Component",
            done="There was no Primary Component",
            action=WaitFor(
                (party.none_is_primary(), *unmoved(party, party.looked, starts="form-")),
                "an answer from every node",
            ),
            risk=Risk.READS,
            limit_s=60.0,
            repeatable=True,
            estimate_s=1.0,
        ),
        *(_start(party, party.host(name)) for name in hosts),
        Step(
            step_id="find-each-other",
            host="",
            title=f"Wait until {', '.join(hosts)} restore their last Primary Component",
            done="The nodes had time to find each other",
            why="If they do not, the run stops them again and bootstraps the most advanced one.",
            action=WaitFor((condition,), "the nodes to restore their last Primary Component"),
            risk=Risk.READS,
            limit_s=PATIENCE_S + 120.0,
            repeatable=True,
            estimate_s=30.0,
        ),
        steps.plan_the_rest(
            FORMED,
            "Check whether the cluster has formed automatically",
            "whether a node must be bootstrapped is known only now",
            serves=True,  # they may have formed: what fails from here on is a person's to judge
        ),
    )


def _start(party: Party, host: HostFacts) -> Step:
    """Start one of them without a wait: it can't come up before the others are there."""
    name, unit = host.host, steps.start_unit_of(host)
    return Step(
        step_id=f"form-{name}",
        host=name,
        title=f"Start {unit} on {name} to find the others",
        done=f"{unit} on {name} is starting",
        why="It rejoins its last Primary Component or waits; it does not bootstrap.",
        action=steps.systemctl("start", unit, "--no-block"),
        before=(
            *unmoved(party, (name,), starts="form-"),
            steps.same_history(party.facts, host, party.hosts),
            steps.founds_nothing(host),
        ),
        limit_s=60.0,
        undo=Undo(
            f"Stop {unit} on {name}", steps.stop_unit(unit), (Stopped(name, unit),), limit_s=steps.stop_limit_s(host)
        ),
        repeatable=True,
        estimate_s=1.0,
    )
