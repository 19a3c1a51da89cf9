"""The shards while a set is made in a window: they go over to it by themselves, and are brought back by an undo.

Tried on 3.2.5: every member of a shard that has ever led asks the config servers by itself, each half minute. As soon
as the first of them answers as a set, it goes over for good; a mongos that names mirrored ones is refused by it from
then on ("mongos specified a different config database string"), reads too, until its mongod is started again.
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.mongodb.config_servers.common import START_S, waits
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.mongodb.sets import GatheredSet
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.gone_over import NotGoneOver
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Step, Undo

_WHOLE_S = 180.0


def mirrored_steps(party: Party) -> tuple[Step, ...]:
    """Return a step for each member of each shard, between the stop of the mongos and that of the config servers.

    Going forward they only look. Taken back, they come when the mirrors are back and before any mongos is: a member
    that went over is started again, one at a time, and only while its set is whole.
    """
    return tuple(_mirrored(party, one, host) for one in party.shards for host in one.hosts)


def mirrored_still(party: Party) -> tuple[Condition, ...]:
    """Return that no member of a shard has gone over, looked at when all is back: one that has takes no write."""
    return tuple(NotGoneOver(host, party.unit(host)) for one in party.shards for host in one.hosts)


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
        f"Restart the server of {host}, should it have gone over to {party.name} by itself",
        systemctl("restart", unit),
        proof=stays,
        limit_s=START_S,
        waits=(SetWhole(one.hosts),),
        waits_s=_WHOLE_S,
        again=True,  # a mongos on a host that did not answer may have it go over once more
    )
    why = f"A shard goes over by itself as soon as {party.first} answers as a set. Taken back, it is brought back too."
    return replace(step, host=host, why=why, undo=undo)
