"""Everything a procedure needs to know of a cluster, read over Observer sessions: one thread a host, joined at the end.

Three rounds: each host by itself; what the hosts' answers make together (the cluster, its members, the candidates); the
ways between hosts. Nothing is raised for the environment: what could not be read is None, with its reason beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from services.clock import Clock
from services.discovery.model import ClusterSnapshot
from services.discovery.probe import Part as ProbePart
from services.discovery.probe import probe
from services.discovery.snapshot import updated_estate
from services.errors import UserError
from services.facts.model import NodeFacts, Problem
from services.facts.option_files import group_members
from services.facts.provider_options import FREEZE
from services.inventory.model import ClusterEntry, Inventory
from services.procedures.engine.ports import Hosts
from services.procedures.gather.disk import (
    with_data_folder,
    with_log_and_lock,
    with_options,
    with_program,
    with_system,
)
from services.procedures.gather.files import wanted_files, with_files
from services.procedures.gather.histories import with_histories
from services.procedures.gather.links import links, listening
from services.procedures.gather.memory import SECOND_LOOK_S, Memory, keep, remembered, with_two_primaries
from services.procedures.gather.reader import Reader
from services.procedures.gather.server import (
    look,
    with_rates,
    with_rights,
    with_root_login,
    with_sessions,
    with_sst_account,
    with_variables,
)
from services.procedures.gather.starting import with_starting
from services.procedures.plan.host_facts import ZERO_UUID, Facts, HostFacts, Link, Remembered
from services.types import ClusterKind, Reach

MOST_AT_ONCE = 16
SQL_LIMIT_S = 4.0
Part = Literal["config", "sizes", "rates", "links", "histories", "operator"]
_SQL_ONLY: frozenset[ProbePart] = frozenset({"sql"})
ALL_PARTS: frozenset[Part] = frozenset({"config", "sizes", "rates", "links", "histories", "operator"})
"""What costs time and may be left out: option files and program, du of the data, the second look, ways of TCP, logs."""

T = TypeVar("T")


@dataclass(slots=True)
class _One:
    """One host while it is gathered."""

    facts: HostFacts
    reader: Reader | None = None
    ports: frozenset[int] | None = None


def gather(  # noqa: PLR0913 - the last six by name
    hosts: Hosts,
    inventory: Inventory,
    clock: Clock,
    *,
    cluster_id: str = "",
    cluster_name: str = "",
    names: tuple[str, ...] = (),
    memory: Memory | None = None,
    parts: frozenset[Part] = ALL_PARTS,
    kept: tuple[tuple[str, str], ...] = (),
    by: str = "plan",
) -> Facts:
    """Return the facts of one Galera cluster and of the other hosts. Never raises for the environment.

    Args:
        hosts: gives the reading sessions; they stay open and belong to the caller again on return.
        cluster_id: its state UUID; cluster_name: as the inventory or wsrep_cluster_name says; '': the only one.
        names: hosts to gather (discovered members too); (): every host of the inventory.
        memory: our own history, for positions of hosts that are down; what is read here is added to it.
        kept: values of a run that goes on; by: who reads, for that history.
    """
    wanted = tuple(dict.fromkeys(names or tuple(entry.name for entry in inventory.hosts)))
    gathering = _Gathering(hosts, inventory, clock, memory, parts)
    found = gathering.each(wanted, gathering.first)
    nodes = {one.facts.host: node for one in found if (node := one.facts.node) is not None}
    sizes = {seed: c.expected for c in inventory.clusters if c.expected is not None for seed in c.seeds}
    estate = updated_estate(None, nodes, clock.wall(), _names(inventory), expected=sizes)
    galera = tuple(c for c in estate.clusters if c.kind is ClusterKind.GALERA)
    entry = _entry(inventory, cluster_name, cluster_id, galera)
    cluster = _chosen(galera, cluster_id, cluster_name, entry)
    uuid = cluster_id or (cluster.cluster_id if cluster is not None else _left_behind(found, entry))
    name = cluster_name or (entry.name if entry else "") or (cluster.name if cluster is not None else "") or uuid[:8]
    by_name = {one.facts.host: one for one in found}
    company = _company(found, uuid, entry)
    members = tuple(n for n in wanted if _is_member(by_name[n].facts, uuid, cluster, entry, company))
    candidates = tuple(n for n in wanted if n not in members)
    theirs = tuple(n for n in (*members, *candidates) if n in members or not _is_elsewhere(by_name[n].facts))
    gathering.each(theirs, lambda n: gathering.rights(by_name[n]))
    files = wanted_files(one.facts for one in found) if "config" in parts else ()
    gathering.each((*members, *candidates), lambda n: gathering.second(by_name[n], uuid, files))
    if "links" in parts:
        gathering.each((*members, *candidates), lambda n: gathering.third(by_name[n], members, by_name))
    done = tuple(_finished(by_name[n]) for n in (*members, *candidates))
    expected = entry.expected if entry is not None else None
    problems = (*estate.problems, *_strangers(cluster, wanted))
    facts = Facts(clock.wall(), uuid, name, cluster, expected, members, candidates, done, kept, problems)
    facts = keep(memory, facts, by, {h.name: h.address for h in inventory.hosts if h.ways_of})
    facts = with_two_primaries(memory, facts, by, lambda: gathering.again(found, uuid))
    if "histories" not in parts:
        return facts
    roads = {n: one.reader.command for n, one in by_name.items() if one.reader is not None}
    return with_histories(facts, roads, gathering.each)


def _names(inventory: Inventory) -> dict[str, str]:
    """Return host -> name: found hosts stand in this inventory under the names that the window shows too."""
    return {host.name: host.name for host in inventory.hosts}


class _Gathering:
    """The reads of one gathering, host by host; every host has one thread at a time."""

    def __init__(
        self, hosts: Hosts, inventory: Inventory, clock: Clock, memory: Memory | None, parts: frozenset[Part]
    ) -> None:
        self._hosts = hosts
        self._inventory = inventory
        self._clock = clock
        self._memory = memory
        self._parts = parts

    def each(self, names: tuple[str, ...], do: Callable[[str], T]) -> list[T]:
        """Return what `do` returns for each host, in order; all threads have ended then."""
        if not names:
            return []
        with ThreadPoolExecutor(min(MOST_AT_ONCE, len(names)), thread_name_prefix="pilothouse-gather") as pool:
            return list(pool.map(do, names))

    def first(self, name: str) -> _One:
        """Read a host by itself: discovery's facts, its disk, its configuration, its server."""
        entry = self._inventory.host(name)
        address = entry.address if entry is not None else ""
        known = remembered(self._memory, name, address)
        try:
            session = self._hosts.observer(name)
        except UserError as error:
            problem = Problem("sql", error.sentence, error.code)
            node = NodeFacts(name, self._clock.wall(), Reach.NONE, problems=(problem,))
            return _One(HostFacts(name, address, node=node, remembered=known, problems=(problem,)))
        reader = Reader(session)
        node = probe(session, self._clock, address=address, limit_s=SQL_LIMIT_S)
        facts = _base(name, address, node, known)
        if node.reach in {Reach.NONE, Reach.NOT_TRIED}:
            return _One(facts, reader)
        began = look(reader, self._clock) if node.galera is not None and "rates" in self._parts else None
        if node.server is not None:
            facts = with_sessions(with_variables(facts, reader), reader)
        if node.reach is not Reach.SQL_ONLY:
            facts = self._over_ssh(facts, reader)
        facts = with_rates(facts, reader, self._clock, began)
        if entry is not None and entry.ways_of and facts.node_name:  # seen as a member it goes by its node's name
            facts = replace(facts, remembered=remembered(self._memory, name, address, facts.node_name))
        ports = listening(reader) if "links" in self._parts else None
        return _One(facts, reader, ports)

    def rights(self, one: _One) -> None:
        """Judge the accounts of a host on which a procedure is opened: the one for changes is not used before this."""
        node, reader = one.facts.node, one.reader
        if node is None or reader is None or node.reach in {Reach.NONE, Reach.NOT_TRIED}:
            return
        operator = self._operator_reader(one.facts.host)
        facts = with_rights(one.facts, reader, operator)
        if node.galera is not None:
            facts = with_sst_account(facts, reader, operator)
            if node.reach is Reach.FULL and facts.provider_option(FREEZE) is not None:
                facts = with_root_login(facts, reader)
        one.facts = facts

    def _operator_reader(self, name: str) -> Reader | None:
        entry = self._inventory.host(name)
        if "operator" not in self._parts or entry is None or entry.sql is None or entry.sql.operator_user is None:
            return None
        return Reader(self._hosts.rights_reader(name))

    def _over_ssh(self, facts: HostFacts, reader: Reader) -> HostFacts:
        config = "config" in self._parts
        if config or not facts.datadir:
            facts = with_options(facts, reader)
        facts = with_data_folder(with_system(facts, reader), reader, sizes="sizes" in self._parts)
        return with_starting(with_program(facts, reader), reader) if config else facts

    def again(self, found: list[_One], cluster_id: str) -> ClusterSnapshot | None:
        """Ask every host once more who its group is, a little later; None where the cluster is not seen then."""
        self._clock.sleep(SECOND_LOOK_S)
        readers = {one.facts.host: one.reader for one in found if one.reader is not None}

        def ask(name: str) -> NodeFacts:
            return probe(readers[name].session, self._clock, parts=_SQL_ONLY, limit_s=SQL_LIMIT_S)

        nodes = {facts.host: facts for facts in self.each(tuple(readers), ask)}
        return updated_estate(None, nodes, self._clock.wall(), _names(self._inventory)).cluster(cluster_id)

    def second(self, one: _One, cluster_id: str, files: tuple[str, ...]) -> None:
        """Read what needs the others' answers: a console's lock, files that they name; and the log's newest errors."""
        node = one.facts.node
        if one.reader is None or node is None or node.reach not in {Reach.FULL, Reach.SSH_ONLY}:
            return
        log_error = node.server.log_error if node.server is not None else ""
        one.facts = with_files(with_log_and_lock(one.facts, one.reader, cluster_id, log_error), one.reader, files)

    def third(self, one: _One, members: tuple[str, ...], everyone: dict[str, _One]) -> None:
        """Try the ways between this host and the others that a transfer or a start would use."""
        reader, node = one.reader, one.facts.node
        if reader is None or node is None or node.reach not in {Reach.FULL, Reach.SSH_ONLY}:
            return
        is_member = one.facts.host in members
        others = [n for n in everyone if n != one.facts.host and (n in members or is_member)]
        found: list[Link] = []
        for name in others:
            other = everyone[name]
            if _up(other) and _up(one):
                continue  # they are in one group: they do reach each other
            if address := _address(other.facts):
                found += links(reader, name, address, other.ports)
        one.facts = replace(one.facts, links=tuple(found))


def _base(name: str, address: str, node: NodeFacts, known: tuple[Remembered, ...]) -> HostFacts:
    machine, server, galera = node.machine, node.server, node.galera
    up: bool | None = None
    if server is not None:
        up = True
    elif machine is not None and machine.process_state in {"", "Z"}:
        up = False
    elif machine is not None and machine.process_state != "?":
        up = True  # it runs and does not answer
    return HostFacts(
        host=name,
        address=address,
        node=node,
        node_name=galera.node_name if galera is not None else "",
        server_up=up,
        unit=machine.unit if machine is not None else "",
        unit_state=machine.unit_state if machine is not None else "",
        datadir=server.datadir if server is not None else "",
        remembered=known,
    )


def _finished(one: _One) -> HostFacts:
    told = tuple(dict.fromkeys((*one.facts.problems, *(one.reader.problems if one.reader is not None else ()))))
    return replace(one.facts, problems=told)


def _up(one: _One) -> bool:
    galera = one.facts.node.galera if one.facts.node is not None else None
    return galera is not None and galera.cluster_status == "Primary"


def _address(facts: HostFacts) -> str:
    """Return where the group reaches this host: wsrep_node_address, else the inventory's address."""
    galera = facts.node.galera if facts.node is not None else None
    given = (galera.node_address if galera is not None else "") or facts.option("mysqld", "wsrep_node_address") or ""
    if given.count(":") == 1:
        given = given.partition(":")[0]
    return given.strip("[]") or facts.address


def _entry(
    inventory: Inventory, name: str, cluster_id: str, galera: tuple[ClusterSnapshot, ...]
) -> ClusterEntry | None:
    """Return the inventory's cluster: by name, else the one whose seeds are in the cluster meant."""
    if name:
        found = next((c for c in inventory.clusters if c.name == name), None)
        if found is not None:
            return found
    meant = [c for c in galera if c.cluster_id == cluster_id] if cluster_id else list(galera)
    hosts = {n.host for c in meant for n in c.nodes} if len(meant) == 1 else set()
    by_seed = [c for c in inventory.clusters if hosts & set(c.seeds)]
    if by_seed:
        return by_seed[0]
    return inventory.clusters[0] if len(inventory.clusters) == 1 and not galera else None


def _chosen(
    galera: tuple[ClusterSnapshot, ...], cluster_id: str, name: str, entry: ClusterEntry | None
) -> ClusterSnapshot | None:
    if cluster_id:
        return next((c for c in galera if c.cluster_id == cluster_id), None)
    if entry is not None:
        by_seed = [c for c in galera if {n.host for n in c.nodes} & set(entry.seeds)]
        if by_seed:
            return by_seed[0]
    if name:
        return next((c for c in galera if c.name == name), None)
    return galera[0] if len(galera) == 1 else None


def _left_behind(found: list[_One], entry: ClusterEntry | None) -> str:
    """Return the state UUID that our own history, else most hosts' grastate.dat, tells; '' when none does.

    What we saw the servers say was their own word; files may be damaged, and two of them are no majority over it.
    """
    seeds = set(entry.seeds) if entry is not None else set()
    own = [one.facts for one in found if not seeds or one.facts.host in seeds] or [one.facts for one in found]
    for group in (own, [one.facts for one in found]):
        uuids = Counter(f.remembered[0].cluster_uuid for f in group if f.remembered)
        uuids = uuids or Counter(f.grastate.uuid for f in group if f.grastate is not None and f.grastate.names_state)
        if uuids:
            return min(uuids, key=lambda u: (-uuids[u], u))
    return ""


@dataclass(frozen=True, slots=True)
class _Company:
    """What the hosts that surely belong to the cluster call it, where others find them, and whom they look for."""

    names: frozenset[str]
    addresses: frozenset[str]
    sought: frozenset[str]  # wsrep_cluster_address of them all


def _company(found: list[_One], uuid: str, entry: ClusterEntry | None) -> _Company:
    seeds = set(entry.seeds) if entry is not None else set()
    sure = [one.facts for one in found if (uuid and _state_uuid(one.facts) == uuid) or one.facts.host in seeds]
    names = {name for facts in sure if (name := facts.option("mysqld", "wsrep_cluster_name"))}
    addresses = {text for facts in sure for text in (facts.host, facts.address, _address(facts)) if text}
    return _Company(frozenset(names), frozenset(addresses), frozenset(a for facts in sure for a in _sought(facts)))


def _state_uuid(facts: HostFacts) -> str:
    galera = facts.node.galera if facts.node is not None else None
    live = (galera.state_uuid or galera.local_state_uuid) if galera is not None else ""
    return live or (facts.grastate.uuid if facts.grastate is not None else "")


def _is_member(
    facts: HostFacts, uuid: str, cluster: ClusterSnapshot | None, entry: ClusterEntry | None, company: _Company
) -> bool:
    """Return whether the host is a member, or by disk, our history, the inventory or its configuration was one.

    One whose state file has lost the UUID, or has another one, still belongs where its configuration says: else nobody
    would see that its history differs. One that tells nothing belongs where the others look for it: it may be Primary.
    """
    if cluster is not None and any(n.host == facts.host and n.facts and n.facts.galera for n in cluster.nodes):
        return True
    own, running = _state_uuid(facts), facts.node is not None and facts.node.galera is not None
    if own not in {"", ZERO_UUID} and (running or own == uuid):
        return bool(uuid) and own == uuid
    if uuid and facts.remembered and facts.remembered[0].cluster_uuid == uuid:
        return True
    if facts.node is not None and facts.node.server is not None and facts.node.galera is None:
        return False  # it runs, and not as a Galera node
    if entry is not None and facts.host in entry.seeds:
        return True
    if facts.node is None or facts.node.reach in {Reach.NONE, Reach.NOT_TRIED}:
        return bool({facts.host, facts.address} & company.sought)
    known = _sought(facts) & company.addresses
    return facts.option("mysqld", "wsrep_cluster_name") in company.names and bool(known)


def _is_elsewhere(facts: HostFacts) -> bool:
    """Return whether a host that is no member serves another group now: no procedure of this one is opened there."""
    node = facts.node
    if node is None:
        return False
    galera, replication = node.galera, node.replication
    return (galera is not None and galera.cluster_status == "Primary") or bool(
        replication is not None and (replication.channels or replication.replicas)
    )


def _sought(facts: HostFacts) -> frozenset[str]:
    return group_members(facts.option("mysqld", "wsrep_cluster_address") or "")


def _strangers(cluster: ClusterSnapshot | None, wanted: tuple[str, ...]) -> tuple[Problem, ...]:
    """Say which members of the cluster were not asked."""
    nodes = cluster.nodes if cluster is not None else ()
    return tuple(
        Problem(
            "discovery", f"{n.name} ({n.address or 'address not known'}) is a member and was not asked.", "not-asked"
        )
        for n in nodes
        if n.host not in wanted
    )
