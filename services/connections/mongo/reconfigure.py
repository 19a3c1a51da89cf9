"""Changing a replica set's configuration: the document as the server gave it, every field and type, but for the change.

MongoDB manual, "replSetReconfig", "Replica Set Configuration". What a server lets be changed it judges itself; two
changes at once have one winner: a version that is not above the one that stands is refused (NewReplicaSetConfiguration-
Incompatible, 103).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.connections.mongo.change import SetChange
from services.errors import BadInput, QueryFailed
from services.i18n import tr

CHANGED_SINCE = 103


def changed(config: Mapping[str, Any], change: SetChange, host: str) -> dict[str, Any]:
    """Return the configuration to send: one version higher.

    Raises:
        QueryFailed: it is not of the version that the change was made for, nor newer where it may be. BadInput: it has
            no such member.
    """
    told = config.get("version")
    version = told if isinstance(told, int) else change.version if told == change.version else 0
    if version != change.version and not (change.newer and version > change.version):
        moved = QueryFailed(
            tr(
                "The configuration of the set has version {now}, and the change was planned for {wanted}: "
                "somebody else has changed it.",
                now=told,
                wanted=change.version,
            ),
            host=host,
            errno=CHANGED_SINCE,
        )
        # Each step that changes a set is done already where the set is as the step would leave it.
        by_hand = tr("Or make the change manually, as printed in the plan: a resumed run then finds its step done.")
        moved.try_ = (tr("Check what was changed (rs.conf()), and plan again."), by_hand)
        raise moved
    made: dict[str, Any] = {**config, "version": version + 1}
    for where, value in change.settings:
        _set(made, where, value, host)
    if change.adds or change.removes:
        made["members"] = _members(made.get("members", ()), change, host)
    return made


def _members(found: Sequence[dict[str, Any]], change: SetChange, host: str) -> list[dict[str, Any]]:
    """Return the members with those that come and without those that leave; a configuration never has one twice."""
    kept = [one for one in found if one.get("_id") not in change.removes]
    come = [one.as_dict() for one in change.adds]
    if len(kept) + len(change.removes) != len(found):
        raise BadInput(tr("The set has no member {id}.", id=", ".join(map(str, change.removes))), host=host)
    for one in come:
        if any(one[name] == other.get(name) for other in kept for name in ("_id", "host")):
            raise BadInput(tr("The set already has a member {name}.", name=one["host"]), host=host)
    return [*kept, *come]


def _set(made: dict[str, Any], where: str, value: object, host: str) -> None:
    kind, _, rest = where.partition(".")
    if kind == "settings" and rest:
        made["settings"] = {**made.get("settings", {}), rest: value}
    elif kind == "members" and rest:
        key, _, name = rest.partition(".")
        found = [dict(one) for one in made.get("members", ())]
        meant = [one for one in found if one.get("_id") == int(key)]
        if len(meant) != 1:
            raise BadInput(tr("The set has no member {id}.", id=key), host=host)
        meant[0][name] = value
        made["members"] = found
    else:
        made[where] = value
