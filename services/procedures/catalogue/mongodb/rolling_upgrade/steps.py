"""The steps of mongo-rolling-upgrade: a server at a time; a person installs the binaries, the version proves it."""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.change import command
from services.procedures.catalogue.mongodb.shared.balancing import at_rest
from services.procedures.catalogue.mongodb.shared.order import members_in_turn
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard
from services.procedures.conditions.mongodb.answering import Answering
from services.procedures.conditions.mongodb.balancer import BalancerIs
from services.procedures.conditions.mongodb.follows import SuccessorFollows
from services.procedures.conditions.mongodb.in_cluster import InCluster
from services.procedures.conditions.mongodb.leads_not import LeadsNot
from services.procedures.conditions.mongodb.others_follow import OthersFollow, acknowledging
from services.procedures.conditions.mongodb.others_hold import OthersHold
from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.spared import Spared, without
from services.procedures.conditions.mongodb.steady import SetSteady
from services.procedures.conditions.mongodb.stepped_down import AnotherLeads, NeedNotStepDown
from services.procedures.conditions.mongodb.strangers import NoOtherMember
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import Ask, Mongo, WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Risk, Step, WatchRule

YOURS_S, BACK_S, ELECTION_S = 8 * 3600.0, 1800.0, 90.0
NOBODY_ELSE_S = 150.0
"""Longer than a mongos that was ended in the last minutes counts as alive."""
STEP_DOWN_S, CATCH_UP_S = 600, 30
"""For so long the old primary is not elected: as long as a person may need to stop it, and more than the usual 60. Its
new process knows nothing of that."""
NOT_BACK = "The console does not downgrade: reinstall the old binaries as the manual's downgrade section describes."


def set_steps(one: GatheredSet, version: str, calm_s: float, routers: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """Return the steps for one set: arbiters and secondaries, then the primary when another one leads.

    Where nobody else may, it does not step down: it would be refused, and nobody would lead. Its clients wait.
    """
    steps: list[Step] = []
    for host in (*one.arbiters, *members_in_turn(one)):
        spared = _spared(one, host)
        stays = host == one.primary and not one.successors
        leaves = host == one.primary and not stays
        follows = (SuccessorFollows(one.hosts),) if leaves else ()  # before it steps down somebody has what it has
        steps.append(_calm(one, host, version, calm_s, (*follows, *spared, *at_rest(routers))))
        if leaves:
            steps.append(_step_down(one, version))
        leads = () if stays else (AnotherLeads(one.hosts, host),)
        steps += _replaced(host, "mongod", version, (SetWhole(one.hosts),), (*leads, *spared), moves=True)
    return (*steps, _caught_up(one, calm_s))


def set_watches(one: GatheredSet, version: str) -> tuple[WatchRule, ...]:
    """Return what is watched while a person has a member in hand: another one may fail, or fall behind, before it is
    stopped, and this one may be elected."""
    found: list[WatchRule] = []
    for host in (*one.arbiters, *members_in_turn(one)):
        others = tuple(other for other in one.hosts if other != host)
        places = [condition.place for condition in _spared(one, host) if isinstance(condition, Spared)]
        for place in places if others else ():
            found += _watched(one, host, others, place)
        if host in one.hosts and (host != one.primary or one.successors):
            found.append(_elected(one, host, version))
    return tuple(found)


def _elected(one: GatheredSet, host: str, version: str) -> WatchRule:
    others, member = tuple(other for other in one.hosts if other != host), one.own(host)
    return WatchRule(
        code=f"LEADS-{host}".upper(),
        condition=LeadsNot(host, version, others, member.place.name if member is not None else ""),
        sentence=f"{host} is primary of {one.name} now: leave its server running, because a stop prevents writes "
        "until the others have elected. Step it down first.",
        from_step=f"{host}:replace",
        to_step=f"{host}:replace",
    )


def _watched(one: GatheredSet, host: str, others: tuple[str, ...], place: str) -> tuple[WatchRule, ...]:
    until = "leave its server running, or start it again, until the others"
    holds = WatchRule(
        code=f"MAJORITY-{host}".upper(),
        condition=OthersHold(others, place),
        sentence=f"{one.name} has no majority without {host} now: {until} are back.",
        from_step=f"{host}:replace",
        to_step=f"{host}:back",
    )
    follow = replace(
        holds,
        code=f"BEHIND-{host}".upper(),
        condition=OthersFollow(others, place),
        sentence=f"Without {host} no majority of {one.name} keeps up now, and writes with majority concern wait or "
        f"fail: {until} have caught up.",
    )
    able = one.view.majority is not None and acknowledging(one.view, place) >= one.view.majority
    return (holds, follow) if able else (holds,)


def _spared(one: GatheredSet, host: str) -> tuple[Condition, ...]:
    """Return that the set can do without a member, looked at again: a colleague may have taken votes away since.

    () where it never could: ANOTHER-LEADS has told it, and who began the run accepted it.
    """
    place = next((name for name, mute in one.mute if mute == host), "")
    if not place and (own := one.own(host)) is not None:
        place = own.place.name
    return (Spared(one.hosts, place),) if without(one.view, place)[0] else ()


def mirror_steps(mirrors: tuple[str, ...], version: str, routers: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """Return the steps for mirrored config servers: while one is away the catalog takes no change, nor a move's end.

    Each has to be back with its metadata: one that was started on another folder answers too, and is empty.
    """
    whole: tuple[Condition, ...] = (Answering(mirrors), MetadataSame(mirrors))
    rest = at_rest(routers)
    return tuple(step for host in mirrors for step in _replaced(host, "mongod", version, whole, rest, moves=True))


def router_steps(routers: tuple[str, ...], version: str, cluster_id: str = "") -> tuple[Step, ...]:
    """Return the steps for mongos, one after the other; each serves the same cluster behind it ('': not known)."""
    return tuple(
        step
        for host in routers
        for step in _replaced(
            host, "mongos", version, (InCluster(host, cluster_id),) if cluster_id else (), moves=False
        )
    )


def nobody_else(
    sets: tuple[GatheredSet, ...], router: str, routers: tuple[str, ...], shards: tuple[str, ...]
) -> tuple[Step, ...]:
    """Return the last look of all: whoever came in the hours between was not replaced, and nothing else would say so.

    Args:
        router: the mongos that is asked, '' for none; routers: what each of the plan may write itself down as.
        shards: their names, () where they were not read.
    """
    looks = (
        *(NoOtherMember(one.hosts, tuple(member.place.name for member in one.view.members)) for one in sets),
        *((NoOtherRouter(router, routers),) if router else ()),
        *((NoOtherShard(router, shards),) if router and shards else ()),
    )
    kinds = (("no member", sets), ("no mongos", router), ("no shard", router and shards))
    *first, last = (word for word, some in kinds if some) if looks else ("",)
    who = " and ".join((", ".join(first), last)) if first else last
    step = Step(
        step_id="nobody-else",
        host="",
        title=f"Verify that {who} was added meanwhile",
        done=f"{who.capitalize()} was added meanwhile",
        why="A server that a colleague added keeps its release: a new plan replaces it as well.",
        action=WaitFor(looks, "the plan to know every member, shard and mongos"),
        risk=Risk.READS,
        limit_s=NOBODY_ELSE_S,
        repeatable=True,
        estimate_s=1.0,
    )
    return (step,) if looks else ()


def _calm(one: GatheredSet, host: str, version: str, calm_s: float, rest: tuple[Condition, ...]) -> Step:
    """A server that an earlier run replaced does not go down: nothing is looked for."""
    spare = f", with a majority of its votes without {host}" if any(isinstance(c, Spared) for c in rest) else ""
    quiet = (
        ", the balancer to be off, no chunk migration running" if any(isinstance(c, BalancerIs) for c in rest) else ""
    )
    return Step(
        step_id=f"{host}:calm",
        host="",
        title=f"Verify that {one.name} is healthy before {host} goes down",
        done=f"{one.name} was healthy before {host} went down",
        action=WaitFor(
            (SetSteady(one.hosts, calm_s), *rest), f"{one.name} to be healthy, no member behind{spare}{quiet}"
        ),
        risk=Risk.READS,
        already=(RunsRelease(host, version),),
        limit_s=calm_s + BACK_S,
        repeatable=True,
        estimate_s=calm_s,
    )


def _caught_up(one: GatheredSet, calm_s: float) -> Step:
    """The last server was whole as soon as it served: whether it follows shows behind it, as of the others."""
    return Step(
        step_id=f"{one.speaker}:caught-up",
        host="",
        title=f"Verify that {one.name} is healthy after its last server",
        done=f"{one.name} stayed healthy, and no member is behind",
        action=WaitFor((SetSteady(one.hosts, calm_s),), f"{one.name} to be healthy, no member behind"),
        risk=Risk.READS,
        limit_s=calm_s + BACK_S,
        repeatable=True,
        estimate_s=calm_s,
    )


def _step_down(one: GatheredSet, version: str) -> Step:
    """MongoDB manual, "replSetStepDown": it closes every connection, its own answer's too."""
    primary = one.primary
    down = command("admin", replSetStepDown=STEP_DOWN_S, secondaryCatchUpPeriodSecs=CATCH_UP_S)
    return Step(
        step_id=f"{primary}:step-down",
        host=primary,
        title=f"Step down {primary}",
        done=f"Another member is primary of {one.name}",
        why="It closes all of its connections; for some seconds there is no primary. It is not elected for ten "
        "minutes, or until its restart: with the highest priority it then becomes primary again.",
        action=Mongo(down),
        before=(SetWhole(one.hosts, primary=primary),),
        already=(NeedNotStepDown(one.hosts, primary, version),),
        proof=(AnotherLeads(one.hosts, primary),),
        limit_s=ELECTION_S,
        repeatable=True,
        estimate_s=12.0,
    )


def _replaced(
    host: str,
    program: str,
    version: str,
    whole: tuple[Condition, ...],
    first: tuple[Condition, ...] = (),
    *,
    moves: bool,
) -> tuple[Step, Step]:
    runs = RunsRelease(host, version)
    asked = Step(
        step_id=f"{host}:replace",
        host="",
        title=f"Replace {program} on {host} by {version}",
        done=f"Your work on {host} is done: the next step verifies its version",
        why=NOT_BACK,
        action=Ask(f"Stop {program} on {host}, install {version} and start it. Is it done?", deed=True),
        risk=Risk.YOU,
        before=(*whole, *first),
        already=(runs,),
        limit_s=YOURS_S,
        repeatable=True,
        moves=host if moves else "",
    )
    back = Step(
        step_id=f"{host}:back",
        host="",
        title=f"Wait until {host} is back with {version}",
        done=f"{host} runs {version}",
        action=WaitFor((runs, *whole), f"{host} to be back with {version}"),
        risk=Risk.READS,
        limit_s=BACK_S,
        repeatable=True,
        settles=(host,) if moves else (),
        estimate_s=10.0,
    )
    return asked, back
