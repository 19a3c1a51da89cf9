"""The shards while a set is made in a window: they go over to it by themselves, and are brought back by an undo.

Tried on 3.2.5: every member of a shard that has ever led asks the config servers by itself, each half minute. As soon
as the first of them answers as a set, it goes over for good; a mongos that names mirrored ones is refused by it from
then on ("mongos specified a different config database string"), reads too, until its mongod is started again.

A primary that is ended by systemd hands nothing over (3.2.5): what only it had acknowledged is rolled back when it
returns. So it steps down first, and each member goes down only while the others have what the set has.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.change import command
from services.procedures.catalogue.mongodb.config_servers.common import START_S, waits
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.gone_over import NeedNotHandOver, NotGoneOver
from services.procedures.conditions.mongodb.follows import SuccessorFollows
from services.procedures.conditions.mongodb.steady import LedForGood, SetSteady
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import Mongo
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Step, Undo

_WHOLE_S, _CALM_S, _ELECTION_S = 180.0, 5.0, 90.0
LED_S, LED_LIMIT_S = 20.0, 300.0
_STEP_DOWN_S, _CATCH_UP_S = 120, 30
"""For so long the old primary is not elected, unless it is started anew, which follows at once."""


def mirrored_steps(party: Party) -> tuple[Step, ...]:
    """Return the steps for each member of each shard, between the stop of the mongos and that of the config servers.

    Going forward they only look. Taken back, they come when the mirrors are back and before any mongos is: a member
    that went over steps down where it leads and another one may, and is started again, one at a time, and only while
    its set is whole.
    """
    return tuple(
        step
        for one in party.shards
        for host in one.hosts
        for step in (_mirrored(party, one, host), *((_handed_over(party, one, host),) if one.successors else ()))
    )


def led_for_good(party: Party) -> tuple[Condition, ...]:
    """Return what is waited for before clients write again: no preferred member is about to take the lead back.

    It does so ten seconds after its start: the one that leads ends its term, and what it alone had acknowledged is lost
    (w: 1); both others ended themselves, for they could not roll it back (18750, seen twice on 3.2.5).
    """
    return tuple(LedForGood(one.hosts, LED_S) for one in party.shards if len(one.hosts) > 1)


def mirrored_still(party: Party) -> tuple[Condition, ...]:
    """Return that no member of a shard has gone over, looked at when all is back: one that has takes no write."""
    return tuple(NotGoneOver(host, party.unit(host)) for one in party.shards for host in one.hosts)


def _waits_for(one: GatheredSet) -> tuple[Condition, ...]:
    """Return what is waited for before a member goes down: the one before it is back, and has caught up."""
    return (SetWhole(one.hosts), *((SetSteady(one.hosts, _CALM_S),) if len(one.hosts) > 1 else ()))


def _mirrored(party: Party, one: GatheredSet, host: str) -> Step:
    unit = party.unit(host)
    stays = (NotGoneOver(host, unit),)
    step = waits(
        f"{host}:mirrored",
        stays,
        f"{host} to use the mirrored config servers",
        f"{host} uses the mirrored config servers, or none yet",
        _WHOLE_S,
    )
    undo = Undo(
        f"Restart the server of {host} if it has switched to {party.name} automatically",
        systemctl("restart", unit),
        proof=stays,
        limit_s=START_S,
        waits=(*_waits_for(one), *((NeedNotHandOver(host, unit),) if one.successors else ())),
        waits_s=_WHOLE_S,
        again=True,  # a mongos on a host that did not answer may have it go over once more
    )
    why = f"A shard switches automatically as soon as {party.first} answers as a set. A rollback switches it back."
    return replace(step, host=host, why=why, undo=undo)


def _handed_over(party: Party, one: GatheredSet, host: str) -> Step:
    """Return the step whose way back comes right before the restart: a primary that goes over to another one first."""
    unit = party.unit(host)
    step = waits(
        f"{host}:leads-as-before",
        (SetWhole(one.hosts),),
        f"{one.name} to be healthy",
        f"{one.name} is healthy",
        _WHOLE_S,
    )
    undo = Undo(
        f"Step down {host} if it is primary and has switched to {party.name}",
        Mongo(command("admin", replSetStepDown=_STEP_DOWN_S, secondaryCatchUpPeriodSecs=_CATCH_UP_S)),
        proof=(NeedNotHandOver(host, unit),),
        limit_s=_ELECTION_S,
        waits=(*_waits_for(one), SuccessorFollows(one.hosts)),
        waits_s=_WHOLE_S,
        again=True,
    )
    why = "Without a step-down, rows of the primary that no other member has yet would be rolled back."
    return replace(step, host=host, why=why, undo=undo)
