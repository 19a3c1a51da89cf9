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
from services.procedures.execute.site import Site
from services.procedures.plan.actions import AtPrimary, AtRouter, Mongo, Reconfigure, TryMetadata
from services.procedures.plan.wording import wording

if TYPE_CHECKING:
    from services.connections.ports import ObserverSession

_PAUSE_S, _LOOK_S = 1.0, 4.0
_OK = "ok: 1"


def send(site: Site, action: Mongo) -> Acted:
    """Send the command; what is refused is tried again while the action allows it: a refusal has changed nothing."""
    session, until = site.session, site.clock.monotonic() + action.again_s
    while True:
        try:
            session.change(action.command, limit_s=site.limit_s)
        except QueryFailed:
            if site.clock.monotonic() >= until:
                raise
            site.clock.sleep(_PAUSE_S)
        else:
            return Acted((*wording(action), _OK))


def reconfigure(site: Site, action: Reconfigure) -> Acted:
    """Change the set's configuration."""
    site.session.reconfigure(action.change, limit_s=site.limit_s)
    return Acted((*wording(action), _OK))


def compare_metadata(site: Site, action: TryMetadata) -> Acted:
    """Compare the metadata of two config servers. Raises ActFailed where they differ."""
    here = parse_hashes(site.session.metadata(port=action.port, limit_s=site.limit_s))
    there = parse_hashes(site.hosts.operator(action.host).metadata(limit_s=site.limit_s))
    other = differing((here, there))
    if other or not here:
        raise ActFailed(
            tr(
                "The metadata in the scratch server of {host} differ from those of {other}: {names}.",
                host=site.host,
                other=action.host,
                names=", ".join(other) or tr("it has none"),
            ),
            host=site.host,
            safe=tr("Both were only read."),
            try_=(tr("Find out who changed the catalog in the meantime; then start again with a new copy."),),
        )
    said = ", ".join(f"{name} {here[name]}" for name in sorted(here))
    return Acted((*wording(action), tr("the same in both: {hashes}", hashes=said)))


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
        tr("Two members report that they are primary: {names}.", names=", ".join(leading))
        if leading
        else tr("None of {members} is primary now. {told}", members=members, told=told).strip(),
        host=host,
        safe=tr("Nothing was sent."),
        try_=(tr("Make sure that the set elects a primary, then retry."),),
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
        try_=(tr("Start one of them, then retry."),),
    )
