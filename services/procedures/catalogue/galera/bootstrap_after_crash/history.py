"""Do the candidates share their past? Each against each; forks are never joined, a person chooses the side. Pure.

The comparison itself is `histories.py`. Same state UUID and near seqnos show nothing: two Primary Components of one
UUID both count on from where they parted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.catalogue.steps.extraction import log_index, write_out
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.model import Step
from services.procedures.plan.pasts.histories import histories, with_shared
from services.procedures.plan.pasts.histories_model import Histories


@dataclass(frozen=True, slots=True)
class Pair:
    """Two members and how their pasts stand to each other."""

    one: str
    other: str
    found: Histories


def pairs(party: Party) -> tuple[Pair, ...]:
    """Return every two members that have a history, compared both ways."""
    return tuple(Pair(one, other, between(party, one, other)) for one, other in combinations(_with_past(party), 2))


def _with_past(party: Party) -> tuple[str, ...]:
    found = standings(party.facts, party.known)
    return tuple(s.host for s in found if s.uuid and s.uuid == party.facts.cluster_id)


def between(party: Party, one: str, other: str) -> Histories:
    """Return how two pasts stand to each other, whichever of them is further: a fork seen from one side is a fork."""
    found = (histories(party.facts, one, other), histories(party.facts, other, one))
    return with_shared(min(found, key=lambda one: one.rank), found)


def strangers_to(party: Party, chosen: str) -> dict[str, Histories]:
    """Return the members whose past is another than the chosen one's, or not known: IST must not join them.

    One without a usable position has nothing of its own to compare: only an SST can join it.
    """
    found = standings(party.facts, party.known)
    able = [s.host for s in found if s.host != chosen and s.uuid == party.facts.cluster_id and s.seqno is not None]
    others = {name: between(party, name, chosen) for name in able}
    ends = next((s.seqno for s in found if s.host == chosen), None)
    stay = tuple(name for name, past in others.items() if past.outcome == "same")
    strange = {name: past for name, past in others.items() if past.outcome != "same"}
    return {name: _up_to(_by_all(party, name, past, stay), ends) for name, past in strange.items()}


def _by_all(party: Party, name: str, past: Histories, stay: tuple[str, ...]) -> Histories:
    """Return it with what those of the chosen one's past tell too: their logs may reach back further than its own."""
    return with_shared(past, (past, *(between(party, name, other) for other in stay)))


def _up_to(past: Histories, ends: int | None) -> Histories:
    """Return it with what both share only as far as the chosen node has it: one that crashed short lacks the rest too.

    Seen on the lab: with innodb_flush_log_at_trx_commit = 0 it stood 30 write sets before the fork, and 1 was typed.
    """
    if ends is None or past.shared_to is None or past.shared_to <= ends:
        return past
    return replace(past, shared_to=ends)


def forked_from(party: Party, chosen: str) -> tuple[str, ...]:
    """Return the members whose past is shown to be another than the chosen one's."""
    return tuple(name for name, past in strangers_to(party, chosen).items() if past.outcome == "forked")


def history(party: Party, *, side_chosen: bool) -> Check:
    """No node is bootstrapped between forks until a person named the side whose data stays."""
    found = pairs(party)
    forked = [pair for pair in found if pair.found.outcome == "forked"]
    unknown = [pair for pair in found if pair.found.outcome == "not known"]
    comparisons = [f"{p.one} and {p.other} FORKED{_shared(p.found)}: {p.found.evidence}" for p in forked]
    comparisons += [f"{p.one} and {p.other}: not known ({p.found.evidence})" for p in unknown]
    comparisons += [f"{p.one} and {p.other}: same ({p.found.evidence})" for p in found if p.found.outcome == "same"]
    bare = [name for name in party.known if name not in _with_past(party)]
    comparisons += [f"{name} was not compared: its files contain no state of this cluster" for name in bare]
    sides = tuple(sorted({name for pair in forked for name in (pair.one, pair.other)}))
    read = tuple(dict.fromkeys(sentence for pair in unknown for sentence in pair.found.missing))
    return Check(
        code="HISTORY",
        title=_title(chosen=bool(forked and side_chosen), bare=bool(bare)),
        verdict=verdict(forked and not side_chosen, forked or unknown or not found),
        evidence=";\n".join(comparisons) or "no two nodes have a position to compare",
        why="Nodes with the same state UUID can have diverged: after a bootstrap on each side both continue from the "
        "same seqno, and an IST between them succeeds although the data differ.",
        try_=tuple(f"Make this readable first: {sentence}." for sentence in read[:4]),
        answers=(Remedy("Choose the side to keep", "bootstrap", sides),) if forked and not side_chosen else (),
        absolute=bool(forked),
        to_read=True,
    )


def _title(*, chosen: bool, bare: bool) -> str:
    if chosen:
        return "The histories have diverged, and a side is chosen"
    return "The nodes that have a state share one history" if bare else "The nodes share one history"


def _shared(found: Histories) -> str:
    return f" after seqno {found.shared_to}" if found.shared_to is not None else ""


def extracted(party: Party, chosen: str) -> tuple[Step, ...]:
    """Return the steps that write what only the forked nodes have to a file each, where their binary logs were found.

    The nodes stay stopped with their data; the file is for a person who wants those transactions back.
    """
    strange = strangers_to(party, chosen)
    why = "The file is kept for you, readable by root only. The data of the node is not changed."
    return tuple(
        write_out(party.host(name), party.facts.cluster_id, strange[name].shared_to, why)
        for name in forked_from(party, chosen)
        if is_written_out(party, name)
    )


def is_written_out(party: Party, name: str) -> bool:
    """Return whether what only a forked node has is written to a file: it is of the plan, and its log was found."""
    return name in party.hosts and bool(log_index(party.host(name)))
