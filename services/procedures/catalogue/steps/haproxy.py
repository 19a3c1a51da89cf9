"""The steps that take a node out of every HAProxy and put it back, each order an obligation of its own. Pure.

Source: HAProxy Management Guide 9.3: "set server" (drain: no new sessions, health checks go on; ready: normal again),
"shutdown sessions server". HAProxy answers an order with an empty line, and with a sentence when it refuses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from services.connections.command import Command
from services.procedures.catalogue.steps.haproxy_places import Place, open_places
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.traffic import not_apart
from services.procedures.conditions.haproxy.server import BalancerServer
from services.procedures.conditions.machine.listening import Listening
from services.procedures.plan.actions import Run, Several, WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step, Undo

SET_STATE = (
    'said=$(printf "set server %s state %s\\n" "$2" "$3" | socat -t 5 - "UNIX-CONNECT:$1") && echo "$said" '
    '&& test -z "$said"'
)
CLOSE_SESSIONS = (
    'said=$(printf "shutdown sessions server %s\\n" "$2" | socat -t 5 - "UNIX-CONNECT:$1") && echo "$said" '
    '&& test -z "$said"'
)
UP_LIMIT_S = 120.0
CUT_LIMIT_S = 30.0


def drain_steps(
    facts: Facts, node: str, limit_s: float, prefix: str = "", *, cut: bool = False, patient: bool = False
) -> list[Step]:
    """Return the steps that send no new sessions to a node and wait for those it has.

    Args:
        cut: sessions that are left after `limit_s` are closed; else the run stops there and asks.
        patient: the run goes on with sessions that are left: another step deals with them.
    """
    places = open_places(facts, node)
    if not places:
        return []
    found = [_drain(facts, node, place, number, prefix) for number, place in enumerate(places, 1)]
    found.append(_emptied(node, places, limit_s, prefix, patient=patient or cut))
    if cut:
        found += [_cut(node, place, number, prefix) for number, place in enumerate(places, 1)]
    return found


def return_steps(facts: Facts, node: str, prefix: str = "", *, again_s: float | None = None) -> list[Step]:
    """Discharge `drain_steps`: the node takes new sessions again, and HAProxy's own check finds it up.

    Args:
        again_s: taken back, the node goes down once more: it is drained again first, and sessions have so long to end.
    """
    places = enumerate(open_places(facts, node), 1)
    return [_ready(facts, node, place, number, prefix, again_s) for number, place in places]


def out_of(facts: Facts, node: str) -> tuple[Condition, ...]:
    """Return what must hold just before the node goes down: a HAProxy that was reloaded has forgotten its orders."""
    return tuple(_is(place, "drained") for place in open_places(facts, node))


def _set(place: Place, state: Literal["drain", "maint", "ready"]) -> Run:
    words = ("bash", "-c", SET_STATE, "pilothouse", place.haproxy.socket, place.name, state)
    return Run(Command(words, sudo=True))


def _is(
    place: Place, state: Literal["serving", "free", "drained"], at_most: int | None = None, patience_s: float = 0.0
) -> BalancerServer:
    return BalancerServer(
        place.host, place.haproxy.socket, place.server.backend, place.server.name, state, at_most, patience_s
    )


def _drained(facts: Facts, node: str, place: Place) -> Temporary:
    return Temporary(
        key=f"haproxy:{node}:{place.host}:{place.haproxy.socket}:{place.name}",
        host=place.host,
        sentence=f"{place.name} drained in HAProxy on {place.host}",
        danger=f"{node} receives no sessions from HAProxy on {place.host}",
        release=_set(place, "ready"),
        released=(_is(place, "free"),),
        release_when=not_apart(facts, node),
    )


def _drain(facts: Facts, node: str, place: Place, number: int, prefix: str) -> Step:
    step = Step(
        step_id=f"{prefix}haproxy-drain-{node}-{number}",
        host=place.host,
        title=f"Drain {place.name} in HAProxy on {place.host}",
        done=f"HAProxy on {place.host} sends no new sessions to {place.name}",
        why=f"New sessions go to {', '.join(place.others) or 'no server'}; existing sessions of {node} can end "
        "normally.",
        action=_set(place, "drain"),
        before=(_is(place, "free"),),
        proof=(_is(place, "drained"),),
        repeatable=True,
        limit_s=20.0,
        estimate_s=1.0,
    )
    return _drained(facts, node, place).on(step, f"Let HAProxy on {place.host} send sessions to {place.name}")


def _emptied(node: str, places: tuple[Place, ...], limit_s: float, prefix: str, *, patient: bool) -> Step:
    strict = "Sessions that stay open, such as those of a connection pool, stop the run here: it may not close them."
    most = f", at most {limit_s:g} s" if patient else ""
    conditions = tuple(_is(place, "drained", 0, limit_s if patient else 0.0) for place in places)
    return Step(
        step_id=f"{prefix}haproxy-empty-{node}",
        host="",
        title=f"Wait until {node} has no sessions through HAProxy{most}",
        done=f"The sessions of {node} through HAProxy had time to end"
        if patient
        else f"{node} has no sessions through HAProxy",
        why="" if patient else strict,
        action=WaitFor(conditions, f"the last session through HAProxy to {node}"),
        risk=Risk.READS,
        limit_s=limit_s + 60.0 if patient else limit_s,
        repeatable=True,
        estimate_s=min(limit_s, 10.0),
    )


def _cut(node: str, place: Place, number: int, prefix: str) -> Step:
    """Maintenance first: else a client that comes back could be taken in again where stickiness allows it."""
    words = ("bash", "-c", CLOSE_SESSIONS, "pilothouse", place.haproxy.socket, place.name)
    gone = (_is(place, "drained", 0),)
    return Step(
        step_id=f"{prefix}haproxy-cut-{node}-{number}",
        host=place.host,
        title=f"Close the remaining sessions of {place.name} in HAProxy on {place.host}",
        done=f"{place.name} has no sessions in HAProxy on {place.host}",
        why="The run cannot reopen a closed session; its client reconnects to another node.",
        action=Several((_set(place, "maint"), Run(Command(words, sudo=True)))),
        already=gone,
        proof=gone,
        repeatable=True,
        limit_s=CUT_LIMIT_S,
        estimate_s=1.0,
    )


def _ready(facts: Facts, node: str, place: Place, number: int, prefix: str, again_s: float | None) -> Step:
    step = _drained(facts, node, place).off(
        f"{prefix}haproxy-ready-{node}-{number}",
        f"Let HAProxy on {place.host} send sessions to {place.name}",
        f"{place.name} accepts sessions in HAProxy on {place.host}",
        3.0,
    )
    again = None
    if again_s is not None:
        drain = _drain(facts, node, place, number, prefix)
        title = f"Drain {place.name} in HAProxy on {place.host} again, before {node} stops"
        again = Undo(title, drain.action, (_is(place, "drained", 0, again_s),), again_s + 60.0, takes=drain.takes)
    return replace(step, proof=_takes_sessions(place), limit_s=UP_LIMIT_S, undo=again)


def _takes_sessions(place: Place) -> tuple[Condition, ...]:
    """Without a check of HAProxy's own, one connection from where it runs shows that sessions can get through."""
    serving = (_is(place, "serving"),)
    if place.server.status != "no check":
        return serving
    return (*serving, Listening(place.host, place.server.address, place.server.port or 3306))
