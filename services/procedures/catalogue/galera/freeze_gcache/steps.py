"""The steps of freeze-gcache, in order, with their obligations and what is watched while the node is away."""

from __future__ import annotations

from dataclasses import replace

from services.connections.sql.statement import set_provider_option
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.freeze_gcache.guard import RELEASE, Guard
from services.procedures.catalogue.galera.shared.cache_arithmetic import OPTION, cache_folder, cache_of, is_frozen
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps import set_before
from services.procedures.catalogue.steps import traffic as traffic_steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor, of_running
from services.procedures.catalogue.steps.haproxy import drain_steps, return_steps
from services.procedures.catalogue.steps.haproxy_places import balancer_hosts, can_drain
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.watches import flow_control
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.cache import CacheFrozen, CacheReaches
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.actions import Ask, Sql, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import bytes_of, flag_of, seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Breach, Chart, Consent, Plan, Risk, Step, WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.gcache import Gcache

START_LIMIT_S = 3_600.0
DRAIN_S = 120.0
SST_ACCEPTED = "sst_accepted"


def freeze_plan(facts: Facts, values: Inputs) -> Plan:
    """Return the plan for inputs that have no faults."""
    node, donor = values["node"], values["donor"]
    members = member_hosts(facts)
    away = seconds_of(values["away"]) or 1_800.0
    floor = bytes_of(values["floor"]) or 0
    by_haproxy = flag_of(values["drain"]) is True and can_drain(facts, node)
    balancers = balancer_hosts(facts, (node,)) if by_haproxy else ()
    return Plan(
        procedure="freeze-gcache",
        title=f"Take {node} down without SST",
        summary=f"{donor} keeps its gcache while {node} is away; {node} returns by IST; then the cache is released.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=tuple(dict.fromkeys((*members, *balancers))),
        quorums=(members,),
        inputs=tuple(values.items()),
        steps=looked_again(_steps(facts, values, away)),
        watches=_watches(facts, node, donor, floor),
        charts=_charts(facts, node, donor, floor),
        expects=(
            f"{node} is Synced and its log shows IST, or SST if you accepted it.",
            f"{OPTION} is -1 on {donor}; its page files shrink when the next purge runs.",
        ),
    )


def release_plan(facts: Facts, values: Inputs) -> Plan:
    """Return the plan that only ends a freeze; without steps where none is on."""
    donor, members = values["donor"], member_hosts(facts)
    off = (ProviderOption(donor, OPTION, "=", "-1"),)
    step = Step(
        step_id="release",
        host=donor,
        title=f"Release the gcache of {donor}",
        done=f"gcache of {donor} released",
        why="The kept write sets are purged at the next purge and cannot be restored.",
        action=RELEASE,
        already=off,
        proof=off,
        repeatable=True,
        estimate_s=1.0,
    )
    return Plan(
        procedure="freeze-gcache",
        title=f"Release the gcache of {donor}",
        summary=f"Ends a freeze that was left on {donor}; no node goes down.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=members,
        quorums=(members,),
        inputs=tuple(values.items()),
        steps=(step,) if is_frozen(facts, donor) else (),
        expects=(f"{OPTION} is -1 on {donor}; its page files shrink when the next purge runs.",),
    )


def _steps(facts: Facts, values: Inputs, away: float) -> tuple[Step, ...]:
    node, donor = facts.host(values["node"]), facts.host(values["donor"])
    members = member_hosts(facts)
    others = tuple(h for h in members if h != node.host)
    drain = flag_of(values["drain"]) is True
    by_haproxy = drain and can_drain(facts, node.host)
    guard = flag_of(values["guard"]) is True
    donor_name = donor.node_name or donor.host
    guarded = Guard(donor.host, facts.cluster_id, away, cache_folder(donor), bytes_of(values["floor"]) or 0)
    # The guard first: a console that dies just after the freeze leaves nobody else to end it.
    found = [guarded.on()] if guard else []
    freeze = _freeze(facts, values, members)
    found.append(replace(freeze, before=(*freeze.before, guarded.stays)) if guard else freeze)
    named = of_running(name_donor(node, donor_name), node)
    found += [*set_before.as_found(node), steps.restart_off(node), named]
    if drain:
        if by_haproxy:
            found += drain_steps(facts, node.host, DRAIN_S, patient=True)
        reject = [] if set_before.refusing(node) else [traffic_steps.reject_queries(facts, node)]
        found += [*reject, traffic_steps.wait_no_clients(node, DRAIN_S, ())]
    found += [
        _stop(facts, node.host, donor.host, others, members),
        _maintenance(node.host, away),
        _compare(facts, node.host, others),
        _start(facts, node.host),
        *set_before.right_after_start(node, values),
        _prove(facts, node.host, donor_name),
        _release(donor.host),
    ]
    if guard:
        found.append(guarded.off())
    found += [forget_donor(node, donor_name), steps.restart_on(node)]
    if drain and not set_before.refusing(node):
        found.append(traffic_steps.accept_queries(facts, node))
    if by_haproxy:
        found += return_steps(facts, node.host)
    found += [*set_before.at_last(node, values, DRAIN_S), steps.whole_again(facts, members)]
    return tuple(found)


def _freeze(facts: Facts, values: Inputs, members: tuple[str, ...]) -> Step:
    donor = values["donor"]
    cache = cache_of(facts.host(donor))
    at = values["seqno"] if values["mode"] == "seqno" else "now"
    # As it was when the checks were read: -1, or a freeze of somebody else's that FREEZE-SEEN was overridden for.
    as_seen = (ProviderOption(donor, OPTION, "=", cache.frozen_at or "-1"),)
    step = Step(
        step_id="freeze",
        host=donor,
        title=f"Freeze the gcache of {donor} at {at}" + (f" (oldest seqno {cache.downto})" if at == "now" else ""),
        done=f"gcache of {donor} frozen",
        why=f"From that seqno on {donor} purges nothing, so it can send {values['node']} all missed write sets.",
        action=Sql(set_provider_option(OPTION, at)),
        before=(ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id), *as_seen),
        proof=(
            ProviderOption(donor, OPTION, ">=", "0", keep="frozen_at"),
            StatusIs(donor, "wsrep_local_cached_downto", ">=", "0", keep="first_cached"),
        ),
        limit_s=15.0,
        estimate_s=1.0,
    )
    return _frozen(donor).on(step, f"Release the gcache of {donor}")


def freeze_key(donor: str) -> str:
    """Return the obligation's key."""
    return f"freeze:{donor}"


def _frozen(donor: str) -> Temporary:
    return Temporary(
        key=freeze_key(donor),
        host=donor,
        sentence=f"gcache frozen on {donor}",
        danger=f"the disk of {donor} fills",
        release=RELEASE,
        released=(ProviderOption(donor, OPTION, "=", "-1", or_ended=True),),
        shown=(ProviderOption(donor, OPTION, "=", "-1"),),
    )


def _release(donor: str) -> Step:
    step = _frozen(donor).off("release", f"Release the gcache of {donor}", f"gcache of {donor} released", 1.0)
    return replace(
        step, why="It ends the freeze. Space comes back when the current page is full and the next purge runs."
    )


# -- away and back ----------------------------------------------------------------------------------------------------


def _maintenance(node: str, away: float) -> Step:
    return Step(
        step_id="maintenance",
        host="",
        title=f"Do the maintenance on {node}, then confirm that it is done",
        done=f"You confirmed: maintenance on {node} is done",
        action=Ask(f"Is the maintenance on {node} done, and can it start again?", unattended="done"),
        risk=Risk.YOU,
        limit_s=away * 10,
        repeatable=True,
        estimate_s=away,
    )


def _charts(facts: Facts, node: str, donor: str, floor: int) -> tuple[Chart, ...]:
    host = facts.host(donor)
    apart = bool(host[Gcache].disk.mount) and host[Gcache].disk.mount != host[DataFolder].disk.mount
    disk = "disk.gcache_free" if apart else "disk.data_free"
    return (
        Chart(disk, donor, f"Free disk of gcache on {donor}", float(floor), "below this the run releases the cache"),
        Chart("ist.seqnos", donor, f"Write sets cached on {donor}"),
        Chart("disk.gcache_pages", donor, f"Page files of gcache on {donor}"),
        Chart("galera.recv_queue", node, f"Receive queue of {node}"),
    )


def _reaches(facts: Facts, node: str, others: tuple[str, ...]) -> CacheReaches:
    return CacheReaches(node, facts.host(node)[DataFolder].path, facts.cluster_id, others)


def _stop(facts: Facts, node: str, donor: str, others: tuple[str, ...], members: tuple[str, ...]) -> Step:
    """Stop the node while the freeze is surely on; who takes that back hears first when only an SST brings it back."""
    step = steps.stop_node(
        facts, facts.host(node), others=others, whole=members, keep="stopped_at", at_least=Kept("frozen_at")
    )
    undo = step.undo
    if undo is not None:
        undo = replace(undo, consent=Consent((_reaches(facts, node, others),), steps.by_sst(node), node))
    return replace(step, before=(*step.before, ProviderOption(donor, OPTION, ">=", "0")), undo=undo)


def _compare(facts: Facts, node: str, others: tuple[str, ...]) -> Step:
    return Step(
        step_id=f"reach-{node}",
        host="",
        title=f"Compare the position of {node} with the caches of the others",
        done=f"You accepted that {node} may come back by SST",
        why="If IST is no longer possible, a start replaces all of its data: the run asks you first.",
        action=Ask(steps.by_sst(node), "typed", expect=node, keep=SST_ACCEPTED),
        already=(_reaches(facts, node, others),),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
        estimate_s=1.0,
    )


def _prove(facts: Facts, node: str, donor_name: str) -> Step:
    step = steps.prove_transfer(facts.host(node), "IST", donor_name, f"start-{node}")
    shown = TransferWas(node, "IST", donor_name, f"start-{node}", accepted=SST_ACCEPTED)
    return replace(step, action=WaitFor((shown,), f"the log of {node}"))


def _start(facts: Facts, node: str) -> Step:
    host = facts.host(node)
    one_past = steps.same_history(facts, host, member_hosts(facts), "stopped_at")
    started = steps.with_its_state(steps.start_node(facts, host, one_past, limit_s=START_LIMIT_S), host, SST_ACCEPTED)
    # The node was up before the run: what takes the run back leaves it up.
    return steps.without_undo(started)


def _watches(facts: Facts, node: str, donor: str, floor: int) -> tuple[WatchRule, ...]:
    folder = cache_folder(facts.host(donor))
    others = tuple(h for h in member_hosts(facts) if h != node)
    return (
        WatchRule(
            code="DISK-FLOOR",
            condition=FreeDisk(donor, folder, floor),
            sentence=f"The disk of {donor} was nearly full: its cache was released, and {node} may need an SST.",
            breach=Breach.RELEASE,
            releases=freeze_key(donor),
            from_step="freeze",
            to_step=f"start-{node}",
        ),
        WatchRule(
            code="FREEZE-LOST",
            condition=CacheFrozen(donor, OPTION, Kept("stopped_at"), folder),
            sentence=f"The cache of {donor} no longer has all write sets that {node} missed: {node} may need an SST.",
            from_step="maintenance",
            to_step=f"start-{node}",
        ),
        WatchRule(
            code="QUORUM",
            condition=StillPrimary(others, len(others), facts.cluster_id),
            sentence=f"One of {', '.join(others)} is no longer a full member.",
            from_step=f"stop-{node}",
            to_step=f"start-{node}",
        ),
        flow_control(donor, node, f"start-{node}", f"transfer-{node}"),
    )
