"""Acts on MongoDB servers: a command, a change of a set's configuration, a comparison of two config servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from services.connections.reads import mongo as reads
from services.errors import QueryFailed, UserError
from services.facts.mongodb.metadata import differing, parse_hashes
from services.facts.mongodb.replica_set import parse_set
from services.i18n import tr
from services.procedures.engine.ports import Acted, ActFailed
from services.procedures.plan.actions import AtPrimary, AtRouter, Mongo, Reconfigure, TryMetadata
from services.procedures.plan.wording import wording

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.ports import ObserverSession, OperatorSession

_PAUSE_S, _LOOK_S = 1.0, 4.0


def acted_on_mongodb(
    operator: Callable[[str], OperatorSession],
    clock: Clock,
    host: str,
    action: Mongo | Reconfigure | TryMetadata,
    limit_s: float,
) -> Acted:
    """Do it. Raises UserError subclasses."""
    if isinstance(action, TryMetadata):
        return _compared(operator, host, action, limit_s)
    if isinstance(action, Reconfigure):
        operator(host).reconfigure(action.change, limit_s=limit_s)
    else:
        _sent(operator(host), clock, action, limit_s)
    return Acted((*wording(action), "ok: 1"))


def primary_of(observer: Callable[[str], ObserverSession], action: AtPrimary, host: str) -> str:
    """Return who of the members is primary by its own word, now. ActFailed where nobody is, or two are.

    Args:
        host: of the step, for what is raised.
    """
    leading, silent = list[str](), list[str]()
    for member in action.members:
        try:
            status = observer(member).ask(reads.SET_STATUS, limit_s=_LOOK_S).body
        except UserError as problem:
            silent.append(f"{member}: {problem.sentence}")
            continue
        seen = parse_set(status, None)
        if seen is not None and seen.own is not None and seen.own.state == "PRIMARY":
            leading.append(member)
    if len(leading) == 1:
        return leading[0]
    members, told = ", ".join(action.members), " ".join(silent)
    raise ActFailed(
        tr("Two members say that they are primary: {names}.", names=", ".join(leading))
        if leading
        else tr("None of {members} is primary now. {told}", members=members, told=told).strip(),
        host=host,
        safe=tr("Nothing was sent."),
        try_=(tr("See that the set elects one, then try again."),),
    )


def router_of(observer: Callable[[str], ObserverSession], action: AtRouter, host: str) -> str:
    """Return the first mongos that reads its cluster's settings, now. ActFailed where none does.

    Args:
        host: of the step, for what is raised.
    """
    silent = list[str]()
    for router in action.routers:
        try:
            observer(router).ask(reads.CONFIG_SETTINGS, limit_s=_LOOK_S)
        except UserError as problem:
            silent.append(f"{router}: {problem.sentence}")
            continue
        return router
    raise ActFailed(
        tr("No mongos reads the settings of its cluster now. {told}", told=" ".join(silent)),
        host=host,
        safe=tr("Nothing was sent."),
        try_=(tr("Bring one of them back, then try again."),),
    )


def _sent(session: OperatorSession, clock: Clock, action: Mongo, limit_s: float) -> None:
    """Send it; what is refused is tried again while the action allows it: a refusal has changed nothing."""
    until = clock.monotonic() + action.again_s
    while True:
        try:
            session.change(action.command, limit_s=limit_s)
        except QueryFailed:
            if clock.monotonic() >= until:
                raise
            clock.sleep(_PAUSE_S)
        else:
            return


def _compared(operator: Callable[[str], OperatorSession], host: str, action: TryMetadata, limit_s: float) -> Acted:
    here = parse_hashes(operator(host).metadata(port=action.port, limit_s=limit_s))
    there = parse_hashes(operator(action.host).metadata(limit_s=limit_s))
    other = differing((here, there))
    if other or not here:
        raise ActFailed(
            tr(
                "The metadata in the scratch server of {host} are not those of {other}: {names}.",
                host=host,
                other=action.host,
                names=", ".join(other) or tr("it has none"),
            ),
            host=host,
            safe=tr("Both were only read."),
            try_=(tr("See who changed the catalog meanwhile; then begin anew with a new copy."),),
        )
    said = ", ".join(f"{name} {here[name]}" for name in sorted(here))
    return Acted((*wording(action), tr("the same in both: {hashes}", hashes=said)))
