"""One real SST to a node that a person names, whose duration is held against the forecast. All pure.

The node is stopped, its Galera state is taken away (then only an SST can come) and it is started with the measured
donor. Its data are replaced by the cluster's own: the name is typed before.
"""

from __future__ import annotations

import math
from dataclasses import replace

from services.procedures.catalogue.checks.parts import checked, known, listed, verdict
from services.procedures.catalogue.galera.shared.order import enough_members
from services.procedures.catalogue.galera.sst_tuning.model import Forecast
from services.procedures.catalogue.steps import forked
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor, of_running
from services.procedures.catalogue.steps.watches import DISK_MOST, DISK_SHARE, disk
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.transfer.sst_took import SstTook
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.sessions import Sessions

PREFIX = "trial:"
LEAST_LIMIT_S = 1_800.0
FREE_TIMES = 0.1
"""Beside what is replaced, a tenth of the copy's size must be free (page add-node, P3: 1.1 x the data)."""


def trial_checks(
    facts: Facts, node: str, donor: str, data_bytes: int | None, forecast: Forecast | None = None
) -> tuple[Check, ...]:
    """Return what speaks against stopping this node and copying all data to it; the forecast where there is one."""
    return (
        enough_members(facts, member_hosts(facts)),
        _fit(facts, node, donor, forecast),
        _room(facts, node, data_bytes),
    )


def _fit(facts: Facts, node: str, donor: str, forecast: Forecast | None) -> Check:
    """Nobody works on it, two others serve meanwhile, and it catches up some day."""
    sessions, sends = facts.host(node)[Sessions].clients, facts.host(donor)[Sessions].clients
    others = [name for name in member_hosts(facts) if name != node]
    blocks = [f"{sessions} client session{'' if sessions == 1 else 's'} on {node}"] if sessions else []
    blocks += [f"the sessions on {node} are not known"] if sessions is None else []
    blocks += [f"only {listed(others)} serves besides {node}"] if len(others) < 2 else []
    never = forecast is not None and math.isinf(forecast.catch_up_s)
    blocks += ["write sets are written as fast as they are applied: it would never catch up"] if never else []
    warns = [f"its donor {donor} has {'unknown' if sends is None else sends} client sessions"] if sends != 0 else []
    return checked(
        "TRIAL-NODE",
        f"{node} can be copied again",
        block=blocks,
        warn=warns,
        good=f"no client on {node} and {donor}; {listed(others)} stay",
        why="The node is stopped during the copy, and its donor falls behind: their clients would notice.",
        try_=("Remove it from the load balancer first, or omit the trial.",) if blocks else (),
        host=node,
    )


def _room(facts: Facts, node: str, data_bytes: int | None) -> Check:
    """Hold the copy against what is free: the old data are erased before most of it comes, but not counted on."""
    host = facts.host(node)
    disk = host[DataFolder].disk
    free, least = disk.free, min(int((disk.size or 0) * DISK_SHARE), DISK_MOST)
    blind = [
        *(["the free disk is not known"] if free is None else ()),
        *(["the size is not known"] if not data_bytes else ()),
    ]
    short = not blind and (free or 0) < FREE_TIMES * (data_bytes or 0) + least
    return Check(
        code="TRIAL-DISK",
        title=f"{node} has disk space for the copy",
        verdict=verdict([*(["short"] if short else ()), *blind]),
        evidence="; ".join(blind)
        or f"{(free or 0) / 1e9:.2f} GB free in addition to the {(data_bytes or 0) / 1e9:.2f} GB that are replaced",
        why="With a full disk the transfer fails near its end, and the node cannot start from the data.",
        try_=(f"Free disk space on {node}.",) if short or blind else (),
        host=node,
        absolute=short,
    )


def trial_steps(facts: Facts, node: str, donor: str, forecast: Forecast, evidence: str) -> tuple[Step, ...]:
    """Return the steps; `evidence` says what was chosen, for the sentence at the end."""
    host, members = facts.host(node), member_hosts(facts)
    others, kept = tuple(m for m in members if m != node), f"trial-position-{node}"
    donor_name = facts.host(donor).node_name or donor
    # Its data are given up by the name that is typed before it goes down; its way back is an SST as well.
    stop = steps.sst_accepted(steps.stop_node(facts, host, others=others, whole=members, prefix=PREFIX, keep=kept))
    stop = replace(stop, title=f"{stop.title}: all its data are then replaced by an SST from {donor}", confirm=node)
    one_past = steps.same_history(facts, host, others, kept, removed=True)
    limit = max(LEAST_LIMIT_S, 4 * forecast.seconds)  # finite: rest.py plans no other
    start = steps.without_undo(
        steps.start_node(facts, host, one_past, limit_s=limit, prefix=PREFIX, estimate_s=forecast.seconds)
    )
    start = replace(start, before=(*start.before, StillPrimary(others, len(others), facts.cluster_id)))
    return (
        steps.restart_off(host, PREFIX),
        of_running(name_donor(host, donor_name, PREFIX), host),
        stop,
        _erased(facts, node, donor),
        start,
        steps.prove_transfer(host, "SST", donor_name, start.step_id, PREFIX),
        _compared(node, start.step_id, forecast, evidence),
        forget_donor(host, donor_name, PREFIX),
        steps.restart_on(host, PREFIX),
        steps.queue_settled(host, 10.0, PREFIX),
        steps.whole_again(facts, members, PREFIX),
    )


def _erased(facts: Facts, node: str, donor: str) -> Step:
    only = forked.only_sst(facts, facts.host(node), given_up=False)
    return replace(
        only,
        step_id=f"{PREFIX}{only.step_id}",
        title=f"Discard the data of {node}: an SST from {donor} replaces all of it",
        why=f"The trial is a real SST, and {node} was chosen for it before it went down. It left the cluster with all "
        "of its data; after a rollback it comes back by SST.",
    )


def _compared(node: str, start: str, forecast: Forecast, evidence: str) -> Step:
    condition = SstTook(node, start, round(forecast.joined_s, 1), evidence)
    return Step(
        step_id=f"{PREFIX}compare-{node}",
        host=node,
        title=f"Compare the duration in the log of {node} with the forecast of {forecast.joined_s:.0f} s",
        done=f"The forecast was compared with the SST to {node}",
        why="From the request to the joined state, according to the joiner's log; the report contains the error.",
        action=WaitFor((condition,), f"the log of {node}"),
        risk=Risk.READS,
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )


def trial_watches(facts: Facts, node: str) -> tuple[WatchRule, ...]:
    """Return the rules for the time in which the node is away: the others' quorum, and the room for what it gets."""
    others = tuple(host.host for host in known(facts, tuple(m for m in member_hosts(facts) if m != node)))
    start = f"{PREFIX}start-{node}"
    full = f"The data disk of {node} is nearly full: its SST will fail."
    return (
        WatchRule(
            code="TRIAL-QUORUM",
            condition=StillPrimary(others, len(others), facts.cluster_id),
            sentence=f"One of {listed(others)} is no longer a full member while {node} is down.",
            from_step=f"{PREFIX}stop-{node}",
            to_step=start,
        ),
        disk(facts.host(node), "TRIAL-DISK", full, start, start),
    )
