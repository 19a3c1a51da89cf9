"""Everybody whom any evidence names as a member of the cluster and who is no host here. Pure, for every procedure.

Evidence: gvwstate.dat, the views and the meetings that a node's own log tells, the table of members of a server that
runs, wsrep_cluster_address and wsrep_sst_donor of the option files, our own history. A member goes by a UUID of each of
its starts, its node's name, and addresses: what shares one of them is one member. What is left and is no host that was
gathered is 'not known': it may be Primary elsewhere, or hold what nobody else has.

A host's own log tells the UUIDs of its own starts, earlier ones too. One that other evidence gives another name or
address is not taken for the host by that: a log may have come with a cloned disk.

The common name of a transfer's certificate is no evidence: it names its own host, or all of them alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from services.addresses import is_address, is_ip
from services.discovery.model import ARBITRATOR
from services.facts.galera.log_peers import short
from services.facts.plain_names import is_node_name
from services.facts.reading import host_port, words
from services.facts.server.option_files import group_members
from services.procedures.plan.host_facts import Facts, HostFacts, Named
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.links import group_address
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting

MOST = 32
"""More are one sentence: what a log names costs its writer nothing."""
_NOBODY = frozenset({"", "auto", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})  # noqa: S104 - of no host
_CONFIGURED = "wsrep_cluster_address"
_ARBITRATORS = frozenset({"garb", ARBITRATOR})


@dataclass(frozen=True, slots=True)
class _Clue:
    """One thing that some evidence says of one member; `by`: 'gvwstate.dat of s2'."""

    by: str
    uuid: str = ""
    name: str = ""
    addresses: tuple[str, ...] = ()

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """Return what makes it the same member as another clue's."""
        told = (self.name.lower(), *(a.lower() for a in self.addresses))
        uuid = {("uuid", short(self.uuid))} if self.uuid else set()
        return frozenset({("word", text) for text in told if text not in _NOBODY} | uuid)


@dataclass(slots=True)
class _Member:
    """All clues that are of one member, and the hosts that it is."""

    keys: set[tuple[str, str]] = field(default_factory=set)
    clues: list[_Clue] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    @property
    def has_words(self) -> bool:
        return any(kind == "word" for kind, _ in self.keys)

    @property
    def only_configured(self) -> bool:
        return all(_CONFIGURED in clue.by for clue in self.clues)


def named_members(
    facts: Facts,
    seen: Iterable[str] = (),
    retired: Iterable[str] = (),
    beside: Iterable[tuple[str, str]] = (),
) -> tuple[Named, ...]:
    """Return whom evidence names as members and no host here is, at most 32, sorted by name.

    Files may call a host otherwise than the inventory does: where no more are left over than hosts whom nothing names,
    they may be these, and nobody is missing.

    Args:
        seen: hosts that our own history saw in this cluster; retired: names, addresses, UUIDs that a person wrote down.
        beside: (name, address) of hosts of the inventory that were not gathered now: a run reads those of its plan.
    """
    known = [_Member({*_Clue("", addresses=(name, at)).keys}, hosts={name}) for name, at in beside]
    clues = _whole((*_clues(facts), *(_Clue("our own history", name=host) for host in seen)))
    members = _members(facts, known, clues)
    left = [one for one in members if not one.hosts and not _is_arbitrator(one)]
    bare = [one for one in left if not one.has_words]
    configured = [one for one in left if one.has_words and one.only_configured]
    met = [one for one in left if one.has_words and not one.only_configured]
    nameless = {name for name in facts.members if not facts.host(name).node_name}
    unseen = {
        "configured": _not_of(facts, members, lambda one: any(_CONFIGURED in clue.by for clue in one.clues)),
        "met": _not_of(facts, members, lambda one: any(clue.by for clue in one.clues)) & nameless,
        "numbered": _not_of(facts, members, lambda one: any(kind == "uuid" for kind, _ in one.keys)),
    }
    kinds = ((configured, "configured"), (met, "met"), (bare, "numbered"))
    kept = [one for group, kind in kinds if len(group) > len(unseen[kind]) for one in group]
    gone = {text.lower() for text in retired}
    hosts = {host.host.lower() for host in facts.hosts}
    maybe = {id(one): tuple(sorted(unseen["numbered"])) for one in bare}
    found = (replace(_named(one, gone, hosts), maybe=maybe.get(id(one), ())) for one in kept)
    return tuple(sorted(found, key=lambda one: one.name))[:MOST]


def _not_of(facts: Facts, members: list[_Member], named: Callable[[_Member], bool]) -> set[str]:
    """Return the cluster's hosts that no such member is: what is left over may be these, by another name."""
    return set(facts.members) - {host for one in members if named(one) for host in one.hosts}


def _members(facts: Facts, found: list[_Member], clues: tuple[_Clue, ...]) -> list[_Member]:
    """Return the clues by member, those of the hosts themselves first."""
    for host in facts.hosts:
        _add(found, *_own(host), *_own_starts(host, clues), host=host.host)
    for clue in clues:
        if clue.keys:
            _add(found, clue)
    return found


def _add(found: list[_Member], *clues: _Clue, host: str = "") -> None:
    """Lay clues of one member to those that share a key with them."""
    keys = {key for clue in clues for key in clue.keys}
    same = [one for one in found if one.keys & keys]
    if host:  # two hosts are never one: what both go by tells neither from the other
        same = [one for one in same if not one.hosts]
    into = same[0] if same else _Member()
    if not same:
        found.append(into)
    for other in same[1:]:
        if into.hosts and other.hosts:
            continue
        into.keys |= other.keys
        into.clues += other.clues
        into.hosts |= other.hosts
        found.remove(other)
    into.keys |= keys
    into.clues += clues
    into.hosts |= {host} if host else set()


def _own(host: HostFacts) -> tuple[_Clue, ...]:
    """Return what a host itself goes by; `by` is '': it is no evidence of anybody else."""
    node = host.node
    galera = node.galera if node is not None else None
    machine = node.machine if node is not None else None
    names = (host.host, host.node_name, machine.hostname if machine is not None else "")
    uuids = (host[DataFolder].gvwstate_own, galera.node_uuid if galera is not None else "")
    addresses = tuple(dict.fromkeys(a for a in (host.address, group_address(host)) if a))
    return (
        _Clue("", addresses=addresses),
        *(_Clue("", name=name) for name in names if name),
        *(_Clue("", uuid=uuid) for uuid in uuids if uuid),
    )


def _own_starts(host: HostFacts, clues: tuple[_Clue, ...]) -> Iterator[_Clue]:
    """Yield the UUIDs of its starts by its own log, but for those that evidence gives to somebody else."""
    own = {key for clue in _own(host) for key in clue.keys}
    trace = host[Traces].trace
    for peer in trace.peers if trace is not None else ():
        uuid = _completed(peer.uuid, clues) if peer.own else ""
        others = {key for clue in clues if uuid and short(clue.uuid) == short(uuid) for key in clue.keys}
        if uuid and (not (told := {key for key in others if key[0] == "word"}) or told & own):
            yield _Clue("", uuid=uuid)


def _whole(clues: tuple[_Clue, ...]) -> tuple[_Clue, ...]:
    """Return the clues with the UUIDs that Galera 3 prints by their first group completed."""
    return tuple(replace(clue, uuid=_completed(clue.uuid, clues)) if clue.uuid else clue for clue in clues)


def _completed(uuid: str, clues: tuple[_Clue, ...]) -> str:
    """Return the one whole UUID that begins with a first group; what is whole, or begins several, stays as it is."""
    if "-" in uuid:
        return uuid
    found = {short(c.uuid): c.uuid for c in clues if "-" in c.uuid and c.uuid.lower().startswith(f"{uuid.lower()}-")}
    return next(iter(found.values())) if len(found) == 1 else uuid


def _clues(facts: Facts) -> Iterator[_Clue]:
    """Yield what the members tell of each other; what other hosts tell is of other clusters."""
    for host in (facts.host(name) for name in facts.members):
        yield from _of_files(host)
        yield from _of_log(facts, host)
        yield from _of_server(host)
    for story in facts.two_primaries:
        yield from (_Clue("our own history", name=name) for side in story.sides for name in side)


def _of_files(host: HostFacts) -> Iterator[_Clue]:
    folder = host[DataFolder]
    for uuid in folder.gvwstate[1] if folder.gvwstate is not None else ():
        yield _Clue(f"gvwstate.dat of {host.host}", uuid=uuid)
    for address in sorted(group_members(host[Options].option("mysqld", "wsrep_cluster_address") or "")):
        yield from _of_address(host, address)
    for name in (host[Options].option("mysqld", "wsrep_sst_donor") or "").split(","):
        if name.strip():
            yield _Clue(f"wsrep_sst_donor of {host.host}", name=words(name.strip(), 255))


def _of_address(host: HostFacts, address: str) -> Iterator[_Clue]:
    """Yield whom a word of wsrep_cluster_address means: a name with one address a family is one host, else several."""
    by = f"{_CONFIGURED} of {host.host}"
    there = next((found for name, found in host[Starting].addresses if name == address), ())
    families = Counter(":" in one for one in there)
    if is_ip(address) or all(number == 1 for number in families.values()):
        yield _Clue(by, addresses=(address, *there))
    else:
        yield from (_Clue(by, addresses=(one,)) for one in there)


def _of_log(facts: Facts, host: HostFacts) -> Iterator[_Clue]:
    trace = host[Traces].trace
    by = f"the log of {host.host}"
    carried = Counter(one.node_name for one in facts.hosts if one.node_name)
    for view in trace.views if trace is not None else ():
        often = Counter(name for _, name in view.members)
        for uuid, name in view.members:
            shared = often[name] > max(1, carried[name])  # more of this name than hosts have it: a UUID tells them
            yield _Clue(by, uuid=uuid, name="" if shared else name)
    for peer in (one for one in trace.peers if not one.own) if trace is not None else ():
        yield _Clue(by, peer.uuid, peer.name, (peer.address,) if peer.address else ())


def _of_server(host: HostFacts) -> Iterator[_Clue]:
    galera = host.node.galera if host.node is not None else None
    if galera is None:
        return
    by = f"the table of members of {host.host}"
    for member in galera.members:
        yield _Clue(by, member.uuid, member.name, tuple(_place(member.address)))
    for address in galera.incoming_addresses:
        yield _Clue(by, addresses=tuple(_place(address)))
    for address in sorted(group_members(galera.cluster_address)):
        yield from _of_address(host, address)


def _place(address: str) -> Iterator[str]:
    place = host_port(address)[0]
    if is_address(place):
        yield place


def _is_arbitrator(one: _Member) -> bool:
    """Return whether it is a garbd: it votes, and has no data; alone it is no Primary that anybody could write to."""
    return any(clue.name in _ARBITRATORS for clue in one.clues)


def _named(one: _Member, retired: set[str], hosts: set[str]) -> Named:
    names = tuple(dict.fromkeys(clue.name for clue in one.clues if clue.name))
    addresses = tuple(dict.fromkeys(a for clue in one.clues for a in clue.addresses if a.lower() not in _NOBODY))
    longest = {short(uuid): uuid for uuid in sorted((c.uuid for c in one.clues if c.uuid), key=len)}
    uuids = tuple(longest[key] for key in dict.fromkeys(short(c.uuid) for c in one.clues if c.uuid))
    plain = (name for name in names if is_node_name(name) and name.lower() not in hosts)
    name = next(plain, "") or next(iter(addresses), "") or next(iter(uuids), "") or next(iter(names), "")
    by = tuple(dict.fromkeys(clue.by for clue in one.clues))
    given = {text.lower() for text in (*names, *addresses, *uuids)}
    return Named(name, names, addresses, uuids, by, retired=bool(given & retired))
