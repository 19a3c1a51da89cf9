"""From any one host to all of them: ask a host, ask those it names, and so on, in parallel and bounded.

A host that is found is asked only where a person said that it may be (services/inventory/trust.py), with the ways in of
the one that named it; whoever else is named is told as `unasked`. Who a host is decides whether it is new: the same
server under a second address is dropped, and no address is asked twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from services.addresses import is_address, is_this_machine
from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.identity import aliases_among
from services.discovery.model import Unasked
from services.discovery.naming import name_of
from services.discovery.nodes import addresses_of
from services.discovery.probe import FINDING_PARTS, probe
from services.errors import UserError
from services.facts.model import NodeFacts, Problem
from services.facts.reading import host_port
from services.inventory.model import HostEntry
from services.inventory.trust import Trust
from services.types import Reach
from services.words import tr

MOST_HOSTS = 512
MOST_UNASKED = 128
"""Drawn and not asked: what a server names costs it nothing, and each is a card in the window."""
MOST_AT_ONCE = 16
SQL_LIMIT_S = 1.5
_MOST_ODD = 3
"""One server may name a thousand: so many tell it."""


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """What was found.

    Attributes:
        facts: host key -> facts of every host that was asked, seeds included, each; other aliases are left out.
        entries: host key -> how to reach it, for the hosts in `facts`.
        aliases: keys nobody wrote down that turned out to be another name of one in `facts`.
        problems: hosts that were named and could not be asked, and where the bounds cut the search.
        unasked: hosts that were named and that nobody said may be asked.
    """

    facts: Mapping[str, NodeFacts]
    entries: Mapping[str, HostEntry]
    aliases: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    unasked: tuple[Unasked, ...] = ()


@dataclass(frozen=True, slots=True)
class Lead:
    """Somebody named this address. `sure`: a member or channel of now, not only a line in a configuration."""

    address: str
    name: str = ""
    sure: bool = True


@dataclass(slots=True)
class _Search:
    """The state of one crawl; only the crawling thread touches it."""

    trust: Trust
    facts: dict[str, NodeFacts] = field(default_factory=dict)
    entries: dict[str, HostEntry] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    running: dict[Future[NodeFacts], HostEntry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unasked: dict[str, Unasked] = field(default_factory=dict)


def crawl(
    seeds: Sequence[HostEntry],
    open_session: Callable[[HostEntry], ObserverSession],
    clock: Clock,
    *,
    trust: Trust,
    limit_s: float = 3.0,
    known: Mapping[str, NodeFacts] | None = None,
) -> CrawlResult:
    """Return every host that can be found from `seeds`. Never raises for the environment.

    Args:
        open_session: gives a session that this function closes; connecting happens in its first call.
        trust: which of the named hosts may be asked.
        limit_s: after so many seconds what is still unanswered is left out (a seed gets a Problem).
        known: facts of hosts that are watched already: they are not asked again, but whom they name is followed.
    """
    search = _Search(trust)
    deadline = clock.monotonic() + limit_s
    open_sessions: dict[str, ObserverSession] = {}
    lock = threading.Lock()

    def ask(entry: HostEntry) -> NodeFacts:
        try:
            session = open_session(entry)
        except UserError as error:  # a missing secret, say: nothing was even tried
            problem = Problem("sql", error.sentence, error.code)
            return NodeFacts(entry.name, clock.wall(), Reach.NONE, entry.address, problems=(problem,))
        with lock:
            open_sessions[entry.name] = session
        try:
            return probe(session, clock, parts=FINDING_PARTS, address=entry.address, limit_s=SQL_LIMIT_S)
        finally:
            session.close()

    pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="pilothouse-crawl")
    try:
        for seed in seeds:  # all of them first: what one names another may be
            search.asked |= {seed.name.lower(), host_port(seed.address)[0]}
        for seed in seeds:
            _begin(search, seed, (known or {}).get(seed.name), lambda entry: pool.submit(ask, entry))
        while search.running and clock.monotonic() < deadline:
            done, _ = wait(search.running, timeout=max(0.0, deadline - clock.monotonic()), return_when=FIRST_COMPLETED)
            for future in done:
                entry = search.running.pop(future)
                _answered(search, entry, future.result(), lambda e: pool.submit(ask, e))
    finally:
        with lock:
            for session in open_sessions.values():
                session.close()  # unblocks whatever is still asking
        pool.shutdown(wait=False, cancel_futures=True)  # a connect to a dead host ends by its own limit
    _give_up(search, seeds, limit_s, clock)
    return _result(search, seeds)


Submit = Callable[[HostEntry], "Future[NodeFacts]"]


def _begin(search: _Search, entry: HostEntry, known: NodeFacts | None, submit: Submit) -> None:
    """Ask a host, or take the fresh facts that are there already."""
    if entry.name in search.entries:
        return
    search.entries[entry.name] = entry
    search.asked |= {entry.name.lower(), host_port(entry.address)[0]}
    if known is not None and known.reach is not Reach.NOT_TRIED:
        _answered(search, entry, known, submit)
    else:
        search.running[submit(entry)] = entry


def _answered(search: _Search, entry: HostEntry, facts: NodeFacts, submit: Submit) -> None:
    """Keep an answer and follow whom it names."""
    if entry.name in search.unsure and facts.reach is Reach.NONE:
        search.entries.pop(entry.name, None)  # a line in a configuration that leads nowhere is no host
        return
    search.facts[entry.name] = facts
    search.asked |= addresses_of(facts)
    own = name_of(entry.name, facts, written=not entry.ways_of)
    for name in odd_names(facts)[:_MOST_ODD]:
        text = tr("{host} names '{name}' as an address, which is none: nobody was asked there.", host=own, name=name)
        search.problems.append(Problem("discovery", text, "no-address"))
    for lead in leads_of(facts):
        host = host_port(lead.address)[0]
        if host in search.unasked:
            search.unasked[host] = _named_again(search.unasked[host], lead, entry.name)
        if host in search.asked:
            continue
        search.asked.add(host)
        many = len(search.entries) + len(search.unasked) >= MOST_HOSTS
        if many or len(search.unasked) >= MOST_UNASKED:
            most = MOST_HOSTS if many else MOST_UNASKED
            text = tr("More than {most} hosts were named; {host} and others were not asked.", most=most, host=host)
            search.problems.append(Problem("discovery", text, "too-many-hosts"))
            return
        name = _name_for(search, lead.name or host, host)
        found = search.trust.entry(entry, name, host)
        if found is None:
            search.unasked[host] = Unasked(host, name, (entry.name,), entry.ways_of or entry.name, lead.sure)
            continue
        if not lead.sure and found.ways_of:
            search.unsure.add(name)
        _begin(search, found, None, submit)


def _named_again(known: Unasked, lead: Lead, by: str) -> Unasked:
    """Return an unasked host with one more who names it, by a name of its own where nobody gave it one."""
    name = lead.name if lead.name and known.name == known.address else known.name
    return replace(known, name=name, by=tuple(dict.fromkeys((*known.by, by))), sure=known.sure or lead.sure)


def _name_for(search: _Search, wanted: str, host: str) -> str:
    """Return a key for a found host: its own name unless another host has it (identical names never merge)."""
    taken = {name.lower() for name in search.entries}
    if wanted.lower() not in taken:
        return wanted
    return host if host.lower() not in taken else f"{wanted}@{host}"


def leads_of(facts: NodeFacts) -> tuple[Lead, ...]:
    """Return whom a host names: members, sources, replicas, then its configured fellows; no loopback addresses."""
    own = addresses_of(facts)
    return tuple(lead for lead in _named_by(facts) if _leads(host_port(lead.address)[0], own))


def odd_names(facts: NodeFacts) -> tuple[str, ...]:
    """Return what a host names that is no address at all: no honest server does, and nobody is asked there."""
    named = dict.fromkeys(host_port(lead.address)[0] for lead in _named_by(facts))
    return tuple(name for name in named if name and not is_address(name))


def _named_by(facts: NodeFacts) -> list[Lead]:
    found: list[Lead] = []
    galera, replication = facts.galera, facts.replication
    if galera is not None:
        found += [Lead(m.address, m.name) for m in galera.members if m.uuid != galera.node_uuid]
        found += [Lead(address) for address in galera.incoming_addresses]
    if replication is not None:
        found += [Lead(c.source_host) for c in replication.channels]
        found += [Lead(r.host) for r in replication.replicas]
    if galera is not None:
        listed = galera.cluster_address.partition("//")[2].partition("?")[0].split(",")
        found += [Lead(host_port(address)[0], sure=False) for address in listed]
    return found


def _leads(host: str, own: frozenset[str]) -> bool:
    return is_address(host) and host not in own and not is_this_machine(host) and host != "auto"


def _give_up(search: _Search, seeds: Sequence[HostEntry], limit_s: float, clock: Clock) -> None:
    """Say of each host that did not answer in time that it did not; a found one that is unsure is dropped."""
    named = {seed.name for seed in seeds}
    for entry in search.running.values():
        text = tr(
            "{name} ({address}) did not answer within {limit:g} s.",
            name=entry.name,
            address=entry.address,
            limit=limit_s,
        )
        search.problems.append(Problem("discovery", text, "timed-out"))
        if entry.name in named or entry.name not in search.unsure:
            problem = Problem("sql", tr("No answer within {limit:g} s.", limit=limit_s), "timed-out")
            search.facts[entry.name] = NodeFacts(
                entry.name, clock.wall(), Reach.NONE, entry.address, problems=(problem,)
            )
        else:
            search.entries.pop(entry.name, None)


def _result(search: _Search, seeds: Sequence[HostEntry]) -> CrawlResult:
    written = frozenset(seed.name for seed in seeds if not seed.ways_of)
    same = aliases_among(search.facts, frozenset(seed.name for seed in seeds))
    aliases = {host: first for host, first in same.items() if host not in written}
    problems = [
        Problem("discovery", tr("{other} and {host} are the same server.", other=other, host=host), "same-server")
        for other, host in same.items()
    ]
    return CrawlResult(
        facts={host: facts for host, facts in search.facts.items() if host not in aliases},
        entries={host: entry for host, entry in search.entries.items() if host not in aliases and host in search.facts},
        aliases=tuple(aliases),
        problems=(*search.problems, *problems),
        unasked=_still_unasked(search),
    )


def _still_unasked(search: _Search) -> tuple[Unasked, ...]:
    """Return the unasked hosts without those that turned out to be another address of one that was asked."""
    known = {address for facts in search.facts.values() for address in addresses_of(facts)}
    known |= {host_port(entry.address)[0] for entry in search.entries.values()}
    left = (one for host, one in search.unasked.items() if host not in known)
    return tuple(sorted(left, key=lambda one: (one.name, one.address)))
