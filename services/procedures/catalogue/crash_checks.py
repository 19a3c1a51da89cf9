"""The checks of bootstrap-after-crash: no Primary anywhere, everybody accounted for, a position that may be trusted."""

from __future__ import annotations

from services.procedures.catalogue.choices import is_primary
from services.procedures.catalogue.crash_positions import Standing, behind, lost_estimate, only_in_binlogs, standings
from services.procedures.catalogue.crash_safety import unflushed
from services.procedures.catalogue.joiner_config import address_of
from services.procedures.checks import Check, Verdict
from services.procedures.facts_model import ZERO_UUID, Facts
from services.procedures.gather_options import group_members
from services.procedures.preflight.parts import verdict
from services.types import Reach


def primary_exists(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Bootstrapping beside a Primary Component is a split brain: never. Members that the person left out count too."""
    asked = tuple(dict.fromkeys((*hosts, *facts.members)))
    alive = tuple(name for name in asked if _is_any_primary(facts, name))
    return Check(
        code="PRIMARY-EXISTS",
        title="No Primary Component exists",
        verdict=Verdict.BLOCK if alive else Verdict.PASS,
        evidence=f"Primary on {', '.join(alive)}" if alive else f"none of {', '.join(asked)} says Primary",
        why="A second Primary Component would take writes of its own: split brain.",
        try_=("Bring the missing nodes back with add-node.",) if alive else (),
        absolute=True,
    )


def unaccounted(facts: Facts, hosts: tuple[str, ...], gone: tuple[str, ...]) -> Check:
    """A node that can't be seen may run, and may be ahead; so may a member that the person left out.

    A person's word is no proof: nodes that are only called off are told as a warning. A node that only the others'
    option files name may be an arbitrator, or gone for long: that a person may accept.
    """
    everyone = dict.fromkeys((*hosts, *facts.members))
    dark = tuple(n for n in everyone if n not in gone and not _answers(facts, n))
    told = [f"off by your word: {', '.join(gone)}"] if gone else []
    told += [f"{n} answers, though you called it off" for n in gone if _answers(facts, n)]
    strange = _unasked(facts, hosts)
    silent = [f"no answer from {', '.join(dark)}"] if dark else []
    silent += [f"wsrep_cluster_address names {', '.join(strange)}, no host of the inventory"] if strange else []
    return Check(
        code="UNREACHABLE-MEMBERS",
        title="Every member answers, or is known to be off",
        verdict=verdict(silent, told),
        evidence="; ".join([*silent, *told]) or "every member answers",
        why="A node that can't be seen may still be Primary with others, or hold transactions nobody else has.",
        try_=(
            *(f"Repair the way to {n}, or make sure that it is powered off and name it under 'gone'." for n in dark),
            *(f"Add {n} to the inventory, so that it is asked." for n in strange),
        ),
        absolute=bool(dark),
    )


def _unasked(facts: Facts, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the nodes' option files name as members and no host of the inventory is.

    Files may call a host otherwise than the inventory does: one such name for each member that no file names is not
    counted.
    """
    given = (facts.host(name).option("mysqld", "wsrep_cluster_address") or "" for name in hosts)
    named = {address for text in given for address in group_members(text)}
    called = {h.host: {h.host, h.address, h.node_name, address_of(h)} for h in facts.hosts}
    strange = named - {text for texts in called.values() for text in texts}
    otherwise = [name for name in facts.members if not called.get(name, set()) & named]
    return tuple(sorted(strange)) if len(strange) > len(otherwise) else ()


def positions(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """All positions side by side, as evidence; a warning while some are not known yet."""
    found = standings(facts, hosts)
    rows = "; ".join(_row(s) for s in found)
    unknown = any(s.out or s.stale for s in found)
    return Check(
        code="POSITIONS",
        title="The nodes' positions, side by side",
        verdict=Verdict.WARN if unknown else Verdict.PASS,
        evidence=rows,
        why="Only the most advanced node has every transaction that was acknowledged.",
        try_=("The run lets each server recover its own position before anything is chosen.",) if unknown else (),
        to_read=True,
    )


def _row(found: Standing) -> str:
    """Return one node's position from each source; the recovered one counts before all others."""
    told = [f"grastate {found.grastate}" + (" (safe_to_bootstrap)" if found.safe else "")]
    told += [f"running at {found.text}"] if found.source == "running" else []
    told += [f"binary log to Xid {found.tail}"] if found.tail is not None else []
    told += [f"recovered {found.recovered or 'not yet'}", f"last seen by us {found.remembered or 'never'}"]
    stale = " - grastate.dat is stale: the recovered position counts" if found.stale else ""
    out = f" - no candidate: {found.out}" if found.out else ""
    return f"{found.host}: {', '.join(told)}{stale}{out}"


def one_history(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Different UUIDs are different histories."""
    found = {s.uuid for s in standings(facts, hosts) if s.uuid and s.uuid != ZERO_UUID}
    strange = found - {facts.cluster_id} if facts.cluster_id else set()
    bad = len(found) > 1 or bool(strange)
    return Check(
        code="UUID-MISMATCH",
        title="One state UUID on all nodes",
        verdict=Verdict.BLOCK if bad else Verdict.PASS,
        evidence="; ".join(f"{s.host}: {s.uuid or 'none'}" for s in standings(facts, hosts)),
        why="Nodes of different UUIDs have different data; seqnos of one say nothing about the other.",
        try_=("Leave the foreign node out of 'nodes'. It can join later, when its data has been moved away.",)
        if bad
        else (),
        absolute=True,
    )


def candidate_exists(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """At least one node must have a history at all."""
    found = standings(facts, hosts)
    able = [s for s in found if not s.out or s.out.startswith("its seqno is -1")]
    return Check(
        code="NULL-UUID",
        title="A node with a usable history exists",
        verdict=Verdict.PASS if able else Verdict.BLOCK,
        evidence="; ".join(f"{s.host}: {s.out or s.text}" for s in found),
        why="Without one, bootstrapping founds an empty cluster, and every other node is overwritten with it.",
        try_=() if able else ("Restore a backup on one node, or look into the data folders by hand first.",),
        absolute=True,
    )


def chosen_is_candidate(facts: Facts, hosts: tuple[str, ...], chosen: str) -> Check:
    """The person's own choice is held to the same rules."""
    mine = next((s for s in standings(facts, hosts) if s.host == chosen), None)
    reason = mine.out if mine is not None else "it is not among the nodes"
    hopeless = bool(reason) and not reason.startswith("its seqno is -1")
    return Check(
        code="EMPTY-NODE",
        title=f"{chosen} has the cluster's data",
        verdict=Verdict.BLOCK if hopeless else Verdict.PASS,
        evidence=reason or (mine.text if mine is not None else ""),
        why="The bootstrapped node's data becomes everybody's data.",
        try_=("Choose a node with a position, or leave the choice to the run.",) if hopeless else (),
        host=chosen,
        absolute=True,
    )


def chosen_is_newest(found: tuple[Standing, ...], chosen: Standing) -> Check:
    """Nodes ahead of the chosen one would lose what only they have."""
    ahead = behind(found, chosen)
    alike = [s.host for s in found if s.host != chosen.host and not s.out and s.seqno == chosen.seqno]
    tie = f", and {', '.join(alike)} is as far" if alike else ""
    accepted = f"Accepted by its code, {', '.join(s.host for s, _ in ahead)} stays stopped and keeps its data: read"
    return Check(
        code="CHOSEN-BEHIND",
        title=f"No node is ahead of {chosen.host}",
        verdict=Verdict.BLOCK if ahead else Verdict.PASS,
        evidence="; ".join(f"{s.host} has {more} write sets more" for s, more in ahead)
        or f"{chosen.text} is the highest{tie}",
        why="'Reversing history': a node that is ahead aborts when it joins, and its extra transactions are lost.",
        try_=(
            f"Bootstrap {ahead[0][0].host}.",
            f"{accepted} what only it has out of its binary log, then bring it back with add-node and keep_data=yes.",
        )
        if ahead
        else (),
        host=chosen.host,
    )


def lost(found: tuple[Standing, ...], gone: tuple[str, ...], facts: Facts, chosen: Standing) -> Check:
    """What our own history saw beyond the chosen position."""
    number, host = lost_estimate(found, gone, facts, chosen)
    told = [f"{host} was seen {number} write sets further than {chosen.host} is now"] if number else []
    told += [f"what {name} has is not known: it may be ahead" for name in gone]
    told += [
        f"the binary log of {s.host} goes to Xid {s.tail}, {more} beyond {chosen.host}"
        for s, more in only_in_binlogs(found, chosen)
    ]
    told += unflushed(facts, tuple(s.host for s in found))
    return Check(
        code="LOST-TRANSACTIONS",
        title="Nothing that we saw is missing",
        verdict=verdict((), told),
        evidence="; ".join(told) or f"nothing was seen beyond {chosen.text}",
        why="With innodb_flush_log_at_trx_commit other than 1 a power loss may cost a second of commits on each node.",
        try_=("Read what is missing out of the nodes' binary logs (mysqlbinlog) before you go on.",) if told else (),
        to_read=True,
    )


def _is_any_primary(facts: Facts, name: str) -> bool:
    host = facts.host(name)
    galera = host.node.galera if host.node is not None else None
    return is_primary(facts, host) or bool(host.server_up and galera is not None and galera.cluster_status == "Primary")


def _answers(facts: Facts, name: str) -> bool:
    node = facts.host(name).node
    return node is not None and node.reach in {Reach.FULL, Reach.SSH_ONLY, Reach.SQL_ONLY}
