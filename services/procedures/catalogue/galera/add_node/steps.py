"""The steps of add-node: configure, test the ports, start with a named donor, prove, tell the other members."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import Literal

from services.connections.command import Command
from services.procedures.catalogue.checks.joiner_state import lies_in, must_recover, position_of
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.add_node.erasing import erasing_told
from services.procedures.catalogue.galera.add_node.keeping import kept_aside
from services.procedures.catalogue.galera.shared import newcomer
from services.procedures.catalogue.galera.shared.estimate import transfer_expected
from services.procedures.catalogue.galera.shared.joining import aside_path, configured
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.catalogue.galera.shared.stale import innodb_counts
from services.procedures.catalogue.steps import forked
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor
from services.procedures.catalogue.steps.haproxy import drain_steps, return_steps
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts, can_drain
from services.procedures.catalogue.steps.orphans import END_ORPHANS, ORPHANS
from services.procedures.catalogue.steps.pair_copied import brought_pair
from services.procedures.catalogue.steps.restored import data_folders
from services.procedures.catalogue.steps.restored.recovering import recover
from services.procedures.catalogue.steps.restored.state_kept import keep_state
from services.procedures.catalogue.steps.watches import disk, flow_control
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.nothing_left import NothingLeft
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of, seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Step, Undo, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder

DONOR_DRAIN_S = 60.0


def add_plan(facts: Facts, values: Inputs, so_far: tuple[Step, ...] = ()) -> Plan:
    """Return the plan for inputs that have no faults.

    Args:
        so_far: the first part of a plan that goes on, now that the joiner's position is known.
    """
    joiner, donor, members = values["joiner"], values["donor"], member_hosts(facts)
    balancers = balancer_hosts(facts, (donor,)) if donor_leaves(facts, values) else ()
    if joiner in members:
        found: tuple[Step, ...] = ()
    elif not so_far and must_recover(facts, joiner, accepted=forked.accepted(values, joiner)):
        found = (*_begun(facts, values), _recover(facts.host(joiner)), _known(joiner))
    else:
        begun, written_out = so_far or _begun(facts, values), any(s.step_id == "loss-known" for s in so_far)
        lost = forked.parted(facts, values) and forked.can_extract(facts, joiner) and not written_out
        found = (*begun, *(forked.extract(facts, joiner) if lost else _joining(facts, values)))
    return Plan(
        procedure="add-node",
        title=f"Add {joiner} to {facts.cluster_name or 'the cluster'}",
        summary=f"{joiner} is configured like {donor}, starts with {donor} as its donor and becomes a full member.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=tuple(dict.fromkeys((*members, joiner, *balancers))),
        quorums=(tuple(dict.fromkeys((*members, joiner))),),
        inputs=tuple(values.items()),
        steps=looked_again(found),
        watches=_watches(facts, (joiner, donor), members, found),
        charts=(
            Chart("galera.recv_queue", joiner, f"Receive queue of {joiner}"),
            Chart("galera.recv_queue", donor, f"Receive queue of {donor}"),
        ),
        expects=(
            f"{joiner} is Synced in a cluster of {len({*members, joiner})}.",
            "The other members' option files name it for their next start.",
        ),
    )


def donor_leaves(facts: Facts, values: Inputs) -> bool:
    """Return whether the donor is to get no new sessions from HAProxy while it sends (page add-node, plan 2 and 8)."""
    return flag_of(values["donor_out"]) is True and can_drain(facts, values["donor"])


def _begun(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    return (steps.restart_off(facts.host(values["joiner"])), newcomer.server_off(facts, values["joiner"]))


def _recover(joiner: HostFacts) -> Step:
    step = recover(joiner)
    way = f"If {joiner.host} cannot recover it, copy its data and empty its data folder, so that it joins by SST."
    return replace(step, why=f"{step.why} {way}")


def _known(joiner: str) -> Step:
    return steps.plan_the_rest(
        "transfer-known",
        f"Determine from the position of {joiner} whether IST is possible",
        f"the write sets that {joiner} missed are known only now",
    )


def _joining(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    joiner, donor, members = facts.host(values["joiner"]), facts.host(values["donor"]), member_hosts(facts)
    accepted = forked.accepted(values, joiner.host)
    donor_name = donor.node_name or donor.host
    expected = transfer_expected(facts, joiner.host, donor.host, accepted=accepted)
    fresh = not configured(facts, joiner.host)
    out = expected.kind == "SST" and donor_leaves(facts, values)
    found: list[Step] = []
    given_up = forked.parted(facts, values)
    removed = given_up or (expected.kind == "SST" and _has_another_past(facts, joiner))
    kept = kept_aside(facts, joiner.host, expected, keep=flag_of(values["keep_data"]) is True)
    if kept:  # before its state files go: what is kept is a whole data folder
        found += _keep_data(facts, joiner.host)
    if removed:
        found.append(forked.only_sst(facts, joiner, given_up=given_up))
    else:
        found += innodb_counts(facts, standings(facts, (joiner.host,)))
    found += brought_pair(facts, joiner.host, donor.host, fresh=fresh)
    if fresh:
        found += newcomer.configure(facts, joiner.host, donor.host, values["node_name"])
    found.append(name_donor(joiner, donor_name))
    found += newcomer.try_ports(facts, joiner.host, members)
    if out:
        found += drain_steps(facts, donor.host, DONOR_DRAIN_S, patient=True)
    limit = max(1_800.0, 4 * expected.seconds)
    one_past = steps.same_history(facts, joiner, members, accepted=accepted, removed=removed or kept)
    start = steps.start_node(
        facts, joiner, one_past, limit_s=limit, estimate_s=expected.seconds,
        before_undo=(StillPrimary(members, 1, facts.cluster_id),),
    )  # fmt: skip
    whole = ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id)
    start = replace(start, before=(*start.before, whole, *newcomer.joins_others(facts, joiner, members, fresh=fresh)))
    start = _without_orphans(start, joiner)
    if not kept:
        start = erasing_told(start, facts, joiner)
    came: Literal["IST", "SST", "any"] = "SST" if given_up else "any" if flag_of(values["sst_ok"]) is True else "IST"
    if not (removed or kept):
        found += keep_state(joiner)
    found += [start, steps.prove_transfer(joiner, came, "", start.step_id)]
    if flag_of(values["extend"]) is True:
        found += newcomer.name_to_members(facts, joiner.host, members)
    found += [
        forget_donor(joiner, donor_name),
        steps.restart_on(joiner),
        steps.queue_settled(joiner, seconds_of(values["settle"]) or 0.0),
        steps.whole_again(facts, tuple(sorted({*members, joiner.host}))),
    ]
    if out:
        found += return_steps(facts, donor.host)
    return tuple(found)


def _has_another_past(facts: Facts, joiner: HostFacts) -> bool:
    """Return whether what lies there is no state that an IST could go on from."""
    lies = lies_in(facts, joiner.host)
    none = lies == "this cluster's" and not position_of(facts, joiner.host)[0]  # InnoDB was asked, and holds none
    return none or lies in {"another's", "state lost"} or joiner[DataFolder].erased_by_transfer


def _without_orphans(start: Step, joiner: HostFacts) -> Step:
    """End what an earlier transfer left, before a start and after one that failed: else each start dies of it.

    Both only while no server runs: then no script of an SST on this host belongs to anybody.
    """
    account = str(joiner[DataFolder].owner) if joiner[DataFolder].owner else "mysql"
    end = Run(Command(("bash", "-c", END_ORPHANS, "pilothouse", account, ORPHANS), sudo=True))
    assert start.undo is not None
    assert isinstance(start.action, Run)
    assert isinstance(start.undo.action, Run)
    undo = replace(start.undo, action=Several((start.undo.action, end)))
    return replace(start, action=Several((end, start.action)), undo=undo)


def _keep_data(facts: Facts, name: str) -> list[Step]:
    """Rename the data folder and make an empty one; undo renames too, before it removes the copy that came by SST."""
    host = facts.host(name)
    datadir, aside = data_folders.folder_of(host), aside_path(facts, name)
    joined = f"{datadir}.pilothouse-joined"
    return [
        Step(
            step_id=f"keep-data-{name}",
            host=name,
            title=f"Keep the old data folder of {name} as {aside}",
            done=f"The old data folder of {name} is kept as {aside}",
            why="An SST erases the data folder; the old one is kept until you remove it.",
            action=data_folders.renamed(host, datadir, aside),
            before=(FileAbsent(name, aside), Stopped(name, steps.unit_of(host))),
            proof=(FileAbsent(name, datadir),),
            undo=Undo(
                f"Restore the old data folder of {name}",
                data_folders.renamed(host, aside, datadir),
                (FileAbsent(name, aside),),
            ),
            repeatable=True,
            estimate_s=1.0,
        ),
        Step(
            step_id=f"new-data-{name}",
            host=name,
            title=f"Create an empty data folder on {name}",
            done=f"{name} has an empty data folder",
            action=data_folders.made(host),
            proof=(FileAbsent(name, posixpath.join(datadir, "ibdata1")),),
            undo=Undo(
                f"Remove the data that {name} received",
                data_folders.put_away(host, aside, joined),
                (FileAbsent(name, datadir),),
                limit_s=600.0,
                leaves=(NothingLeft(name, joined),),
            ),
            repeatable=True,
            estimate_s=1.0,
        ),
    ]


def _watches(
    facts: Facts, pair: tuple[str, str], members: tuple[str, ...], plan: tuple[Step, ...]
) -> tuple[WatchRule, ...]:
    joiner, donor = pair
    if joiner in members:
        return ()
    quorum = WatchRule(
        code="QUORUM",
        condition=StillPrimary(members, len(members), facts.cluster_id),
        sentence=f"One of {', '.join(members)} is no longer a full member.",
    )
    planned = {step.step_id for step in plan}
    if f"start-{joiner}" not in planned or not members:
        return (quorum,)
    while_ = (f"start-{joiner}", f"settle-{joiner}")
    full = f"The disk of {joiner} is nearly full: the transfer will fail."
    sender = f"The disk of {donor} is nearly full: its cache grows while it sends."
    return (
        quorum,
        flow_control(members[0], joiner, *while_),
        disk(facts.host(joiner), "DISK-JOINER", full, *while_),
        *((disk(facts.host(donor), "DISK-DONOR", sender, *while_),) if donor in members else ()),
    )
