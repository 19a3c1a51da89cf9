"""From any one host to all of them: ask a host, ask those it names, and so on, in parallel and bounded.

A host that is found is asked only where a person said that it may be (services/inventory/trust.py), with the ways in of
the one that named it; whoever else is named is told as `unasked`. Who a host is decides whether it is new: the same
server under a second address is dropped, and no address is asked twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from services.addresses import is_address, is_this_machine
from services.boundary import unforeseen
from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.families.port import Lead
from services.discovery.families.registry import registered
from services.discovery.identity import aliases_among
from services.discovery.known_as import addresses_among, addresses_of
from services.discovery.looks.patience import Heard, Patience
from services.discovery.looks.probe import FINDING_PARTS, probe
from services.discovery.model import Unasked, place_of
from services.discovery.naming import name_of
from services.discovery.shared_hosts import of_entry
from services.errors import UserError
from services.facts.model import NodeFacts, Problem
from services.facts.reading import host_port
from services.i18n import tr
from services.inventory.lookalikes import skeleton
from services.inventory.model import HostEntry
from services.inventory.trust import Trust
from services.types import Reach
from services.visible import as_line

MOST_HOSTS = 512
MOST_UNASKED = 128
"""Drawn and not asked: what a server names costs it nothing, and each is a card in the window."""
log = logging.getLogger(__name__)
MOST_AT_ONCE = 16
SQL_LIMIT_S = 1.5
SILENT_S = 5.0
"""A host that says nothing for so long is given up: a first answer over a wire of 200 ms takes half of it."""
_MOST_ODD = 3
"""One server may name a thousand: so many tell it."""
_MOST_NAME = 80
"""Of a name that is no address, within a sentence."""


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


@dataclass(slots=True)
class _Search:
    """The state of one crawl; only the crawling thread touches it."""

    trust: Trust
    written: frozenset[str] = frozenset()  # every key of the inventory
    seeds: dict[str, HostEntry] = field(default_factory=dict)
    known: Mapping[str, NodeFacts] = field(default_factory=dict)  # what seeds said before this search
    facts: dict[str, NodeFacts] = field(default_factory=dict)
    entries: dict[str, HostEntry] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    running: dict[Future[NodeFacts], HostEntry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unasked: dict[str, Unasked] = field(default_factory=dict)  # by its place


def crawl(
    seeds: Sequence[HostEntry],
    open_session: Callable[[HostEntry], ObserverSession],
    clock: Clock,
    *,
    trust: Trust,
    limit_s: float = SILENT_S,
    known: Mapping[str, NodeFacts] | None = None,
) -> CrawlResult:
    """Return every host that can be found from `seeds`. Never raises for the environment.

    Args:
        open_session: gives a session that this function closes; connecting happens in its first call.
        trust: which of the named hosts may be asked.
        limit_s: who has said nothing for so many seconds is left out (a seed gets a Problem), and who is not through
            after four times as long (patience.py).
        known: facts of hosts that are watched already: they are not asked again, but whom they name is followed.
    """
    search = _Search(trust, trust.keys.union(*(seed.keys for seed in seeds if not seed.ways_of)))
    search.seeds, search.known = {seed.name: seed for seed in seeds}, known or {}
    patience = Patience(clock, limit_s)
    lanes = _Lanes(open_session, clock, patience)
    try:
        _begin_all(search, lanes.submit)
        while search.running:
            left = patience.left_s(entry.name for entry in search.running.values())
            if left <= 0:
                break
            done, _ = wait(search.running, timeout=left, return_when=FIRST_COMPLETED)
            for future in done:
                entry = search.running.pop(future)
                _answered(search, entry, future.result(), lanes.submit)
    finally:
        lanes.close()
    _give_up(search, seeds, limit_s, lanes)
    return _result(search, seeds)


class _Lanes:
    """Asks hosts side by side, a session each."""

    def __init__(self, open_session: Callable[[HostEntry], ObserverSession], clock: Clock, patience: Patience) -> None:
        self._open = open_session
        self._clock = clock
        self._patience = patience
        self._sessions: dict[str, ObserverSession] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="pilothouse-crawl")

    def submit(self, entry: HostEntry) -> Future[NodeFacts]:
        """Ask a host as soon as a lane is free."""
        self._patience.heard(entry.name)
        return self._pool.submit(self._ask, entry)

    def close(self) -> None:
        """Close every session: that unblocks whatever is still asking."""
        with self._lock:
            for session in self._sessions.values():
                session.close()
        self._pool.shutdown(wait=False, cancel_futures=True)  # a connect to a dead host ends by its own limit

    def _ask(self, entry: HostEntry) -> NodeFacts:
        try:
            session = self._open(entry)
        except UserError as error:  # a missing secret, say: nothing was even tried
            return self.silent(entry, Problem("sql", error.sentence, error.code))
        except BaseException as error:  # noqa: BLE001 - of one host: the others are asked all the same
            return self._odd(entry, error, tr("The connection to the host"))
        with self._lock:
            self._sessions[entry.name] = session
        try:
            heard = Heard(session, lambda: self._patience.heard(entry.name))
            facts = probe(heard, self._clock, parts=FINDING_PARTS, address=entry.address, limit_s=SQL_LIMIT_S)
            return of_entry(facts, entry)
        except UserError:
            raise
        except BaseException as error:  # noqa: BLE001 - see above
            return self._odd(entry, error, tr("Reading the host's answers"))
        finally:
            session.close()

    def _odd(self, entry: HostEntry, error: BaseException, what: str) -> NodeFacts:
        log.debug("of something foreign", exc_info=error)
        told = unforeseen(error, what, entry.name)
        return self.silent(entry, Problem("sql", told.sentence, told.code))

    def silent(self, entry: HostEntry, problem: Problem) -> NodeFacts:
        """Return the facts of a host that gave no answer: what it carries and where it is was known all the same."""
        with self._lock:
            session = self._sessions.get(entry.name)
        reached = session.reached if session is not None else ()
        bare = NodeFacts(entry.name, self._clock.wall(), Reach.NONE, entry.address, problems=(problem,))
        return of_entry(replace(bare, reached=reached), entry)


Submit = Callable[[HostEntry], "Future[NodeFacts]"]


def _begin_all(search: _Search, submit: Submit) -> None:
    for seed in search.seeds.values():  # all of them first: what one names another may be
        search.asked |= {seed.name.lower(), _place_of(seed)}
    for name, seed in search.seeds.items():
        _begin(search, seed, search.known.get(name), submit)


def _begin(search: _Search, entry: HostEntry, known: NodeFacts | None, submit: Submit) -> None:
    """Ask a host, or take the fresh facts that are there already."""
    if entry.name in search.entries:
        return
    search.entries[entry.name] = entry
    search.asked.add(_place_of(entry))  # a found host's name is its own word: it may be another's address
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
    search.asked |= {place_of(address, entry.port) for address in addresses_of(facts)}
    own = name_of(entry.name, facts, written=not entry.ways_of)
    for name in odd_names(facts)[:_MOST_ODD]:
        text = tr(
            "{host} reports '{name}' as an address, which is invalid: no host was queried.",
            host=own,
            name=as_line(name, _MOST_NAME),
        )
        search.problems.append(Problem("discovery", text, "no-address"))
    for lead in leads_of(facts):
        host = host_port(lead.address)[0]
        place = place_of(host, lead.port)
        if place in search.unasked:
            search.unasked[place] = _named_again(search.unasked[place], lead, entry.name)
        if place in search.asked:
            continue
        search.asked.add(place)
        many = len(search.entries) + len(search.unasked) >= MOST_HOSTS
        if many or len(search.unasked) >= MOST_UNASKED:
            most = MOST_HOSTS if many else MOST_UNASKED
            text = tr("More than {most} hosts were named; {host} and others were not queried.", most=most, host=host)
            search.problems.append(Problem("discovery", text, "too-many-hosts"))
            return
        name = _name_for(search, lead.name or place, place)
        found = search.trust.entry(entry, name, host, lead.port)
        if found is None or (found.ways_of and place in _led_to(search)):
            ways_of = entry.ways_of or entry.name
            search.unasked[place] = Unasked(host, name, (entry.name,), ways_of, lead.sure, lead.port)
            continue
        if not lead.sure and found.ways_of:
            search.unsure.add(name)
        _begin(search, _beside_another(search, found), None, submit)


def _led_to(search: _Search) -> set[str]:
    """Return the places that SSH leads to for hosts that a person wrote down, where they are these hosts' alone.

    A host of ssh_config is written by its alias: only once it is asked is it known to be the member at an address.
    """
    entries = {name: one for name, one in {**search.seeds, **search.entries}.items() if not one.ways_of}
    written = {name: one for name, one in {**search.known, **search.facts}.items() if name in entries}
    known = addresses_among(written)
    return {
        place_of(address, entries[name].port)
        for name, one in written.items()
        for address in {host_port(place)[0] for place in one.reached} & known[name]
    }


def _silent_at_home(search: _Search) -> set[str]:
    """Return the found hosts that gave no answer, at a place that leads to a host that a person wrote down."""
    silent = {name for name, one in search.facts.items() if one.reach is Reach.NONE and search.entries[name].ways_of}
    led = _led_to(search) if silent else set[str]()
    return {name for name in silent if _place_of(search.entries[name]) in led}


def _place_of(entry: HostEntry) -> str:
    """Return what no second server is asked at."""
    return place_of(host_port(entry.address)[0], entry.port)


def _beside_another(search: _Search, found: HostEntry) -> HostEntry:
    """Return a found server as one beside another on its host, where one is asked there: its machine is that one's."""
    if not found.ways_of or found.port is None:
        return found
    others = (one.on or key for key, one in search.entries.items() if one.address == found.address)
    first = next(others, None)
    return found if first is None else replace(found, on=first)


def _named_again(known: Unasked, lead: Lead, by: str) -> Unasked:
    """Return an unasked host with one more who names it, by a name of its own where nobody gave it one."""
    name = lead.name if lead.name and known.name == known.address else known.name
    return replace(known, name=name, by=tuple(dict.fromkeys((*known.by, by))), sure=known.sure or lead.sure)


def _name_for(search: _Search, wanted: str, host: str) -> str:
    """Return a key for a found host: its own name, else its address, unless that is, or looks like, another's key.

    Identical names never merge, and what a person wrote down stays theirs: hosts, instances, those only named too.
    """
    taken = {skeleton(name) for name in (*search.entries, *search.written)}
    if skeleton(wanted) not in taken:
        return wanted
    return host if skeleton(host) not in taken else f"{wanted}@{host}"


def leads_of(facts: NodeFacts) -> tuple[Lead, ...]:
    """Return whom a host names: members, sources, replicas, then its configured fellows; no loopback addresses."""
    own = addresses_of(facts)
    port = facts.server.port if facts.server is not None else None
    return tuple(
        lead
        for lead in registered().leads(facts)
        if _leads(host_port(lead.address)[0], own if lead.port in {None, port} else frozenset())
    )


def odd_names(facts: NodeFacts) -> tuple[str, ...]:
    """Return what a host names that is no address at all: no honest server does, and nobody is asked there."""
    named = dict.fromkeys(host_port(lead.address)[0] for lead in registered().leads(facts))
    return tuple(name for name in named if name and not is_address(name))


def _leads(host: str, own: frozenset[str]) -> bool:
    return is_address(host) and host not in own and not is_this_machine(host) and host != "auto"


def _give_up(search: _Search, seeds: Sequence[HostEntry], limit_s: float, lanes: _Lanes) -> None:
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
            search.facts[entry.name] = lanes.silent(entry, problem)
        else:
            search.entries.pop(entry.name, None)


def _result(search: _Search, seeds: Sequence[HostEntry]) -> CrawlResult:
    written = frozenset(seed.name for seed in seeds if not seed.ways_of)
    # What a person wrote down counts first, whoever answers first.
    first = dict(sorted(search.facts.items(), key=lambda item: item[0] not in written))
    same = aliases_among(first, frozenset(seed.name for seed in seeds), written)
    aliases = {host: first for host, first in same.items() if host not in written}
    gone = dict.fromkeys((*aliases, *sorted(_silent_at_home(search))))
    problems = [
        Problem("discovery", tr("{other} and {host} are the same server.", other=other, host=host), "same-server")
        for other, host in same.items()
    ]
    return CrawlResult(
        facts={host: facts for host, facts in search.facts.items() if host not in gone},
        entries={host: entry for host, entry in search.entries.items() if host not in gone and host in search.facts},
        aliases=tuple(gone),
        problems=(*search.problems, *problems),
        unasked=_still_unasked(search),
    )


def _still_unasked(search: _Search) -> tuple[Unasked, ...]:
    """Return the unasked hosts without those that turned out to be another address of one that was asked."""
    asked = {host: facts for host, facts in search.facts.items() if host in search.entries}
    known = {
        place_of(address, search.entries[host].port)
        for host, addresses in addresses_among(asked).items()
        for address in addresses
    }
    known |= {_place_of(entry) for entry in search.entries.values()}
    left = (one for place, one in search.unasked.items() if place not in known)
    return tuple(sorted(left, key=lambda one: (one.name, one.place)))
