"""Everything a procedure needs to know of a cluster, read over Observer sessions: one thread a host, joined at the end.

Three turns (plan/part.py): each host by itself; what is read only where a procedure would act; what needs the others'
answers. Which parts are read a card says (`needs`); what tells whose member a host is, is read of each. Nothing is
raised for the environment: what could not be read is 'not known', with its reason beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from services.boundary import foreign, unforeseen
from services.clock import Clock
from services.connections.reads import commands
from services.discovery.looks.probe import Part as ProbePart
from services.discovery.looks.probe import probe
from services.discovery.model import ClusterSnapshot
from services.discovery.snapshot import Look, updated_estate
from services.errors import UserError
from services.facts.machine.machine import is_root
from services.facts.model import NodeFacts, Problem
from services.i18n import tr
from services.inventory.model import ClusterEntry, Inventory
from services.procedures.engine.lock import lock_path, parse_lock
from services.procedures.engine.ports import Hosts
from services.procedures.gather.knocking import knocked
from services.procedures.gather.membership import (
    chosen,
    entry_of,
    is_elsewhere,
    left_behind,
    members_of,
    strangers,
    told_cluster,
    told_members,
)
from services.procedures.gather.memory import SECOND_LOOK_S, Memory, ever_seen, keep, remembered, with_two_primaries
from services.procedures.gather.reader import Reader
from services.procedures.gather.server_kinds import GATHERED
from services.procedures.looking.histories import with_histories
from services.procedures.plan.host_facts import Facts, HostFacts, LockSeen, Remembered
from services.procedures.plan.part import Company, Part, Turn, Way, in_order
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.pasts.named import named_members
from services.types import ClusterKind, Reach

MOST_AT_ONCE = 16
SQL_LIMIT_S = 4.0
_SQL_ONLY: frozenset[ProbePart] = frozenset({"sql"})

S = TypeVar("S")
T = TypeVar("T")


@dataclass(slots=True)
class _One:
    """One host while it is gathered."""

    facts: HostFacts
    reader: Reader | None = None


def gather(  # noqa: PLR0913 - the last nine by name
    hosts: Hosts,
    inventory: Inventory,
    clock: Clock,
    *,
    needs: frozenset[type[Part]],
    cluster_id: str = "",
    cluster_name: str = "",
    names: tuple[str, ...] = (),
    fits: Callable[[ClusterKind], bool] = lambda _: False,
    memory: Memory | None = None,
    operator: bool = False,
    kept: tuple[tuple[str, str], ...] = (),
    by: str = "plan",
    sought: frozenset[str] = frozenset(),
) -> Facts:
    """Return the facts of one cluster and of the other hosts. Never raises for the environment.

    Args:
        hosts: gives the reading sessions; they stay open and belong to the caller again on return.
        needs: the parts to read, beside those that they are made from; none for a look at the cluster's state.
        cluster_id: its state UUID; cluster_name: as the inventory or wsrep_cluster_name says; '': the only one.
        names: hosts to gather (discovered members too); (): every host of the inventory.
        fits: whether it is for a kind of cluster; what is none of these, and no Galera cluster, is not meant.
        memory: our own history, for positions of hosts that are down; what is read here is added to it.
        operator: the account for changes may be used, to read what it may do.
        kept: values of a run that goes on; by: who reads, for that history.
        sought: hosts and addresses that evidence names as members: silent, they count as that.
    """
    wanted = tuple(dict.fromkeys(names or tuple(entry.name for entry in inventory.hosts)))
    gathering = _Gathering(hosts, inventory, clock, memory, needs, operator=operator)
    by_name, look = gathering.once(wanted)
    found = tuple(one.facts for one in by_name.values())
    nodes = {one.host: one.node for one in found if one.node is not None}
    sizes = {seed: c.expected for c in inventory.clusters if c.expected is not None for seed in c.seeds}
    estate = updated_estate(None, nodes, look, _names(inventory), expected=sizes)
    galera = tuple(c for c in estate.clusters if any(n.facts is not None and n.facts.galera for n in c.nodes))
    entry = entry_of(inventory, cluster_name, cluster_id, galera)
    others = tuple(c for c in estate.clusters if fits(c.kind) and c not in galera)
    other = told_cluster(others, cluster_id, cluster_name, inventory, alone=not galera)
    cluster = other or chosen(galera, cluster_id, cluster_name, entry)
    uuid = cluster_id or (cluster.cluster_id if cluster is not None else left_behind(found, entry))
    name = cluster_name or (entry.name if entry else "") or (cluster.name if cluster is not None else "") or uuid[:8]
    members = told_members(found, other) or members_of(found, uuid, cluster, entry, sought)
    everyone = (*members, *(candidates := tuple(n for n in wanted if n not in members)))
    theirs = tuple(n for n in everyone if n in members or not is_elsewhere(by_name[n].facts))
    gathering.each(theirs, lambda n: gathering.rights(by_name[n]))
    together = Company({n: one.facts for n, one in by_name.items()}, members)
    gathering.each(everyone, lambda n: gathering.beside(by_name[n], together, uuid))
    done = tuple(_finished(by_name[n]) for n in everyone)
    problems = (*estate.problems, *strangers(cluster, wanted))
    expected = entry.expected if entry is not None else None
    facts = Facts(clock.wall(), uuid, name, cluster, expected, members, candidates, done, kept, problems)
    facts = keep(memory, facts, by, {h.name: h.address for h in inventory.hosts if h.ways_of})
    facts = with_two_primaries(memory, facts, by, lambda: gathering.again(by_name, uuid))
    if Traces in needs:
        roads = {n: one.reader.command for n, one in by_name.items() if one.reader is not None}
        facts = with_histories(facts, roads, gathering.each)
    # Members of another family say themselves who they are.
    return facts if other is not None else _with_named(facts, gathering, by_name, entry)


def _with_named(facts: Facts, gathering: _Gathering, by_name: Mapping[str, _One], entry: ClusterEntry | None) -> Facts:
    """Return the facts with those whom evidence names as members, and what the members hear of their ports."""
    beside = ((h.name, h.address) for h in gathering.inventory.hosts if h.name not in by_name)
    retired = entry.retired if entry is not None else ()
    named = named_members(facts, ever_seen(gathering.memory, facts.cluster_id), retired, beside)
    if Links in gathering.needs:
        readers = {name: one.reader for name in facts.members if (one := by_name[name]).reader is not None}
        named = tuple(gathering.each(named, lambda one: knocked(one, readers)))
    return replace(facts, named=named)


def _names(inventory: Inventory) -> dict[str, str]:
    """Return host -> name: found hosts stand in this inventory under the names that the window shows too."""
    return {host.name: host.name for host in inventory.hosts}


class _Gathering:
    """The reads of one gathering, host by host; every host has one thread at a time."""

    def __init__(
        self,
        hosts: Hosts,
        inventory: Inventory,
        clock: Clock,
        memory: Memory | None,
        needs: frozenset[type[Part]],
        *,
        operator: bool,
    ) -> None:
        self._hosts = hosts
        self.inventory = inventory
        self._clock = clock
        self.memory = memory
        self.needs = needs
        self._order = in_order(needs)
        self._operator = operator

    def each(self, names: tuple[S, ...], do: Callable[[S], T]) -> list[T]:
        """Return what `do` returns for each host, in order; all threads have ended then."""
        if not names:
            return []
        with ThreadPoolExecutor(min(MOST_AT_ONCE, len(names)), thread_name_prefix="pilothouse-gather") as pool:
            return list(pool.map(do, names))

    def once(self, names: tuple[str, ...]) -> tuple[dict[str, _One], Look]:
        """Return what each host said by itself, and from when to when they were asked."""
        began = self._clock.wall()
        by_name = {one.facts.host: one for one in self.each(names, self.first)}
        return by_name, Look(began, self._clock.wall())

    def first(self, name: str) -> _One:
        """Read a host by itself: discovery's facts, what tells whose member it is, the parts that are read alone."""
        entry = self.inventory.host(name)
        address = entry.address if entry is not None else ""
        known = remembered(self.memory, name, address)
        try:
            with foreign(lambda problem: unforeseen(problem, tr("The connection to the host"), name)):
                session = self._hosts.observer(name)
        except UserError as error:
            problem = Problem("sql", error.sentence, error.code)
            node = NodeFacts(name, self._clock.wall(), Reach.NONE, problems=(problem,))
            return _One(HostFacts(name, address, node, remembered=known, problems=(problem,)))
        reader = Reader(session, self._clock)
        node = probe(session, self._clock, address=address, limit_s=SQL_LIMIT_S)
        one = _One(_base(name, address, node, known), reader)
        if not Way.ANY.leads_to(one.facts):
            return one
        if Way.SSH.leads_to(one.facts):
            who = reader.run("root", commands.WHO.read(sudo=True))
            one.facts = replace(one.facts, is_root=None if who is None else is_root(who.text))
        self._read(one, (*self._of_membership(one.facts, session.kind), *self._order), Turn.ALONE)
        one.facts = replace(one.facts, node_name=_node_name(one.facts))
        if entry is not None and entry.ways_of and one.facts.node_name:  # seen as a member it goes by its node's name
            one.facts = replace(one.facts, remembered=remembered(self.memory, name, address, one.facts.node_name))
        return one

    def _of_membership(self, host: HostFacts, kind: str) -> tuple[type[Part], ...]:
        """Return what is read of every host, to tell whose member it is; of a mere look at the cluster's state, where
        its server is silent only."""
        running = host.node is not None and host.node.server is not None
        gathered = GATHERED[kind]
        return gathered.tells_running if running and not self._order else gathered.tells_member

    def _read(self, one: _One, parts: tuple[type[Part], ...], turn: Turn) -> None:
        """Read the parts whose turn it is, each after those that it is made from."""
        if one.reader is None:
            return
        for kind in dict.fromkeys(parts):
            if kind.turn is turn and kind.way.leads_to(one.facts):
                part = self._part(one, one.reader, kind)
                one.facts = one.facts.with_part(part) if part is not None else one.facts

    def _part(self, one: _One, reader: Reader, kind: type[Part]) -> Part | None:
        """Return a part; None where it was not told, or its reading failed: of this host, and the others go on."""
        what, host = tr("Reading what the host answers"), one.facts.host
        try:
            with foreign(lambda problem: unforeseen(problem, what, host)):
                return kind.read(one.facts, reader)
        except UserError as problem:
            reader.note(kind.__name__, problem.sentence, problem.code)
            return None

    def rights(self, one: _One) -> None:
        """Judge the accounts of a host on which a procedure is opened: the one for changes is not used before this."""
        if one.reader is None or not any(kind.turn is Turn.RIGHTS for kind in self._order):
            return
        one.reader.operator = self._operator_reader(one.facts) if Way.ANY.leads_to(one.facts) else None
        self._read(one, self._order, Turn.RIGHTS)
        one.reader.operator = None

    def _operator_reader(self, host: HostFacts) -> Reader | None:
        entry = self.inventory.host(host.host)
        if not self._operator or entry is None or entry.sql is None or entry.sql.operator_user is None:
            return None
        return Reader(self._hosts.rights_reader(host.host), self._clock)

    def again(self, found: dict[str, _One], cluster_id: str) -> ClusterSnapshot | None:
        """Ask every host once more who its group is, a little later; None where the cluster is not seen then."""
        self._clock.sleep(SECOND_LOOK_S)
        began = self._clock.wall()
        readers = {name: one.reader for name, one in found.items() if one.reader is not None}

        def ask(name: str) -> NodeFacts:
            return probe(readers[name].session, self._clock, parts=_SQL_ONLY, limit_s=SQL_LIMIT_S)

        nodes = {facts.host: facts for facts in self.each(tuple(readers), ask)}
        look = Look(began, self._clock.wall())
        return updated_estate(None, nodes, look, _names(self.inventory)).cluster(cluster_id)

    def beside(self, one: _One, company: Company, cluster_id: str) -> None:
        """Read what needs the others' answers: a console's lock, and the parts that are read in company."""
        if one.reader is None:
            return
        if Way.SSH.leads_to(one.facts):
            part = GATHERED[one.reader.session.kind].part_of(one.facts.node)
            one.facts = replace(one.facts, lock=_lock(one.reader, cluster_id, part))
        one.reader.company = company
        self._read(one, self._order, Turn.COMPANY)


def _lock(reader: Reader, cluster_id: str, part: str) -> LockSeen | None:
    """Return a console's lock on the cluster, or on the part of it that the host's server is in ('': in none)."""
    for name in dict.fromkeys((cluster_id, part or cluster_id)):
        found = reader.run("lock", commands.CONTENT.read(lock_path(name), sudo=True))
        held = parse_lock(found.text) if found is not None and found.exit_code == 0 else None
        if held is not None:
            return held
    return None


def _base(name: str, address: str, node: NodeFacts, known: tuple[Remembered, ...]) -> HostFacts:
    machine = node.machine
    up: bool | None = None
    if node.server is not None:
        up = True
    elif machine is not None and machine.server_state in {"", "Z"}:
        up = False
    elif machine is not None and machine.server_state != "?":
        up = True  # it runs and does not answer
    return HostFacts(name, address, node, server_up=up, remembered=known)


def _node_name(host: HostFacts) -> str:
    """Return wsrep_node_name, as the running server has it, else as its option files give it; '' = not known."""
    galera = host.node.galera if host.node is not None else None
    live = host[Variables].value("wsrep_node_name") or (galera.node_name if galera is not None else "")
    return live or host[Options].option("mysqld", "wsrep_node_name") or ""


def _finished(one: _One) -> HostFacts:
    told = tuple(dict.fromkeys((*one.facts.problems, *(one.reader.problems if one.reader is not None else ()))))
    return replace(one.facts, problems=told)
