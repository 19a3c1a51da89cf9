"""The checks of bootstrap-after-crash: no Primary anywhere, everybody accounted for, a position that may be trusted."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked, verdict
from services.procedures.catalogue.checks.sides import both_counted, other_choice
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.shared.positions import NodePosition, behind, standings
from services.procedures.catalogue.steps.choices import is_primary
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.forms.inputs import typed_hosts
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.pasts.histories import histories
from services.types import Reach


def primary_exists(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Bootstrapping beside a Primary Component is a split brain: never. Members that the person left out count too."""
    asked = tuple(dict.fromkeys((*hosts, *facts.members)))
    alive = tuple(name for name in asked if _is_any_primary(facts, name))
    down = tuple(name for name in asked if name not in alive and facts.host(name).server_up is False)
    other = (other_choice(alive, down[0]),) if down else ()
    return checked(
        "PRIMARY-EXISTS",
        "No Primary Component exists",
        block=alive,
        evidence=_primary_and_others(facts, alive, down) if alive else f"none of {', '.join(asked)} reports Primary",
        why="A second Primary Component would accept its own writes: split-brain.",
        try_=(
            "Bring the missing nodes back with add-node: it first reports the transactions that only they have.",
            *other,
        ),
        absolute=True,
    )


def _primary_and_others(facts: Facts, alive: tuple[str, ...], down: tuple[str, ...]) -> str:
    """Return who serves, and what is known of those that do not: a colleague may have bootstrapped the smaller side."""
    primaries = f"Primary on {', '.join(alive)}"
    if not down:
        return primaries
    sides = (alive[0], *down)
    shared = [one.shared_to for name in down if (one := histories(facts, name, alive[0])).outcome == "forked"]
    return f"{primaries}; {both_counted(facts, sides, min((n for n in shared if n is not None), default=None))}"


def unaccounted(party: Party) -> Check:
    """A node that can't be seen may run, and may be ahead; so may a member that the person left out.

    A person's word is no proof: nodes that are only called off are told as a warning, and one that answers was called
    off wrongly. Those whom only evidence names have a check of their own (catalogue/checks/named.py).
    """
    facts = party.facts
    dark = tuple(n for n in party.known if not _answers(facts, n))
    back = tuple(n for n in party.gone if _answers(facts, n))
    running = tuple(n for n in party.left if facts.host(n).server_up)
    accepted = [f"you confirmed that these are off: {', '.join(party.gone)}"] if party.gone else []
    accepted += [f"left out by you: {', '.join(party.left)}"] if party.left else []
    silent = [f"no answer from {', '.join(dark)}"] if dark else []
    silent += [f"{n} answers, although you confirmed that it is off" for n in back]
    silent += [f"{n} is left out, but its server runs: it would connect to the new Primary Component" for n in running]
    return Check(
        code="UNREACHABLE-MEMBERS",
        title="Every member answers or is known to be off",
        verdict=verdict(silent, accepted),
        evidence="; ".join([*silent, *accepted]) or f"{', '.join(party.known)} answer",
        why="An unreachable node may still be Primary with others, or have transactions that no other node has.",
        try_=(
            *(f"Repair the connection to {n}, or make sure that it is powered off." for n in dark),
            *(f"Stop the server of {n}." for n in running),
        ),
        answers=_answers_to(party, dark, back, running),
        absolute=bool(dark or back or running),
    )


def _answers_to(
    party: Party, dark: tuple[str, ...], back: tuple[str, ...], running: tuple[str, ...]
) -> tuple[Remedy, ...]:
    """Return how the questions account for members that can't be seen, were called off wrongly, or were left out."""
    off = tuple(n for n in party.gone if n not in back)
    found = []
    if dark:
        found.append(Remedy(f"Name {', '.join(dark)} once it is certainly off", "gone", (typed_hosts((*off, *dark)),)))
    if back:
        found.append(Remedy(f"Remove {', '.join(back)} from the list", "gone", (typed_hosts(off),) if off else ()))
        found.append(Remedy(f"To leave {', '.join(back)} as it is, remove it here as well", "nodes"))
    if running:
        found.append(Remedy(f"Or add {', '.join(running)}", "nodes"))
    return tuple(found)


def positions(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """All positions side by side, as evidence; a warning while some are not known yet."""
    found = standings(facts, hosts)
    rows = ";\n".join(_row(s) for s in found)
    unknown = any(s.out or s.stale for s in found)
    return checked(
        "POSITIONS",
        "The positions of the nodes",
        warn=unknown,
        evidence=rows,
        why="Only the most advanced node has every acknowledged transaction.",
        try_=("The run lets each server recover its own position before a node is chosen.",),
        to_read=True,
    )


def _row(found: NodePosition) -> str:
    """Return one node's position from each source; the recovered one counts before all others."""
    sources = [f"grastate {found.grastate}" + (" (safe_to_bootstrap)" if found.safe else "")]
    sources += [f"running at {found.text}"] if found.source == "running" else []
    sources += [f"binary log to Xid {found.tail}"] if found.tail is not None else []
    sources += [f"recovered {found.recovered or 'not yet'}", f"last seen {found.remembered or 'never'}"]
    once = found.claimed is not None and not found.stale
    sources += [f"its grastate.dat once contained {found.claimed}, which nothing else confirms"] if once else []
    stale = " - grastate.dat does not match InnoDB: the recovered position is used" if found.stale else ""
    out = f" - not a candidate: {found.out}" if found.out else ""
    return f"{found.host}: {', '.join(sources)}{stale}{out}"


def candidate_exists(facts: Facts, hosts: tuple[str, ...], chosen: str = "") -> Check:
    """At least one node must have a history at all, or a person names one whose data are whole."""
    found = standings(facts, hosts)
    able = [s for s in found if not s.out or s.later or (s.by_word and s.host == chosen)]
    return checked(
        "NULL-UUID",
        "A node with a usable history exists",
        block=not able,
        evidence="; ".join(f"{s.host}: {s.out or s.text}" for s in found),
        why="Without one, a bootstrap creates an empty cluster, which overwrites every other node.",
        try_=("Restore a backup on one node, or inspect the data folders yourself first.",),
        answers=by_your_word(found),
        absolute=True,
    )


def chosen_is_candidate(facts: Facts, hosts: tuple[str, ...], chosen: str) -> Check:
    """The person's own choice is held to the same rules."""
    mine = next((s for s in standings(facts, hosts) if s.host == chosen), None)
    reason = mine.out if mine is not None else "it is not among the nodes"
    hopeless = bool(reason) and not (mine is not None and (mine.later or mine.by_word))
    return checked(
        "EMPTY-NODE",
        f"{chosen} has the cluster's data",
        block=hopeless,
        evidence=reason or (mine.text if mine is not None else ""),
        why="The data of the bootstrapped node replaces the data of all others.",
        try_=("Choose a node with a position, or leave the choice to the run.",),
        host=chosen,
        absolute=True,
    )


def chosen_is_newest(found: tuple[NodePosition, ...], chosen: NodePosition, forked: tuple[str, ...] = ()) -> Check:
    """Nodes ahead of the chosen one would lose what only they have.

    Args:
        forked: nodes that went their own way: their seqnos count other transactions, so that none is ahead. The person
            who chose the side types what each of them loses.
    """
    ahead = tuple((s, more) for s, more in behind(found, chosen) if s.host not in forked)
    kin = [s for s in found if s.host not in {chosen.host, *forked}]
    alike = [s.host for s in kin if not s.out and s.seqno == chosen.seqno]
    tie = f", and {', '.join(alike)} is at the same position" if alike else ""
    aside = f" of its side; {', '.join(forked)} diverged and cannot be compared by seqno" if forked else ""
    able = tuple(s.host for s, _ in ahead if not s.out or s.by_word)[:1]
    accepted = (
        f"If you override this check, {', '.join(s.host for s, _ in ahead)} stays stopped and keeps its data: read"
    )
    return Check(
        code="CHOSEN-BEHIND",
        title=f"No node is ahead of {chosen.host}",
        verdict=Verdict.BLOCK if ahead else Verdict.PASS,
        evidence="; ".join(f"{s.host} has {more} more write sets" for s, more in ahead)
        or f"{chosen.text} is the highest{tie}{aside}",
        why="A node that is ahead aborts when it joins ('Reversing history'), and its extra transactions are lost.",
        try_=(
            f"{accepted} the transactions that only it has from its binary log, then bring it back, keeping its data.",
        )
        if ahead
        else (),
        answers=(Remedy("Bootstrap the node that is ahead", "bootstrap", able),) if able else (),
        host=chosen.host,
    )


def by_your_word(found: tuple[NodePosition, ...]) -> tuple[Remedy, ...]:
    """Return the way to a node that gave its state up and whose InnoDB lies there whole: the run asks where it stands,
    and has a person type that its rows are to be everybody's.
    """
    names = tuple(s.host for s in found if s.by_word)
    advice = "Let the run read the InnoDB position of such a node and bootstrap it on your confirmation"
    return (Remedy(advice, "bootstrap", names),) if names else ()


def chosen_is_behind_so_far(facts: Facts, found: tuple[NodePosition, ...], chosen: NodePosition) -> Check:
    """The same before anything was recovered, by what is known: a person learns of it while nothing is stopped yet.

    It warns: InnoDB may tell another position than grastate.dat, and what it tells decides, and blocks, later.
    """
    ahead = behind(found, chosen)
    behind_by = [f"{s.host} is at {s.seqno} by its {_BY[s.source]}, {chosen.host} at {chosen.seqno} by its "
            f"{_BY[chosen.source]}: {more} more, {_nature(facts, s, chosen, more)}" for s, more in ahead]  # fmt: skip
    first = max(ahead, key=lambda one: one[1])[0].host
    return Check(
        code="CHOSEN-BEHIND",
        title=f"No node is ahead of {chosen.host}, as far as is known",
        verdict=Verdict.WARN,
        evidence="; ".join(behind_by),
        why="The run lets every server recover its position and stops if a node is still ahead: the transactions that "
        "only that node has would be lost.",
        try_=(f"Choose {first}, or leave the choice to the positions.",),
        answers=(Remedy("Bootstrap the node that is ahead", "bootstrap", (first,)),),
        host=chosen.host,
    )


_BY = {"grastate": "grastate.dat", "running": "server", "recovered": "recovery"}


def _nature(facts: Facts, ahead: NodePosition, chosen: NodePosition, more: int) -> str:
    """Return whether the difference is view changes alone: each takes a seqno, and its log tells of it."""
    trace = facts.host(ahead.host)[Traces].trace
    known = {
        view.seqno
        for view in (trace.views if trace is not None else ())
        if view.state_uuid == ahead.uuid and (chosen.seqno or 0) < view.seqno <= (ahead.seqno or 0)
    }
    if not known:
        return "it is not known whether they are write sets of users"
    if len(known) >= more:
        return "according to its log all of them are membership changes: none is a user's write"
    return f"according to its log {len(known)} of them are membership changes: the others may be users' writes"


def _is_any_primary(facts: Facts, name: str) -> bool:
    host = facts.host(name)
    galera = host.node.galera if host.node is not None else None
    return is_primary(facts, host) or bool(host.server_up and galera is not None and galera.cluster_status == "Primary")


def _answers(facts: Facts, name: str) -> bool:
    node = facts.host(name).node
    return node is not None and node.reach in {Reach.FULL, Reach.SSH_ONLY, Reach.SQL_ONLY}
