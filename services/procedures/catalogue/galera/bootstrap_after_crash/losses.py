"""What a bootstrap would lose, member by member: told with its count, and accepted by a person who types it. Pure.

'Nothing is lost' needs every member's position and proof that they share one past; all else is 'not known', which is
typed too. A member that was left out or called off counts like any other.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.galera.state_files import ZERO_UUID
from services.facts.reading import words
from services.procedures.catalogue.checks.parts import checked
from services.procedures.catalogue.checks.sides import write_sets
from services.procedures.catalogue.galera.bootstrap_after_crash.history import is_written_out, strangers_to
from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.bootstrap_after_crash.safety import unflushed
from services.procedures.catalogue.galera.shared.positions import NodePosition, standings
from services.procedures.catalogue.steps.extraction import file_of
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import CLAIM, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.pasts.histories_model import Histories
from services.procedures.plan.pasts.positions import tail_name


@dataclass(frozen=True, slots=True)
class Loss:
    """What would be given up of one member.

    Attributes:
        count: write sets, at least; None: not known. said: one sentence with the positions it comes from.
    """

    host: str
    count: int | None
    said: str

    @property
    def typed(self) -> str:
        """Return what a person types to accept it."""
        return f"lose {self.count} of {self.host}" if self.count else f"without {self.host}"


def losses(party: Party, chosen: NodePosition) -> tuple[Loss, ...]:
    """Return what is known to be lost, and what is not known, when the chosen node's data becomes everybody's."""
    strange = strangers_to(party, chosen.host)
    found: list[Loss] = []
    for one in standings(party.facts, party.known):
        if one.host in strange:
            found.append(_of_stranger(party, one, strange[one.host], chosen))
        elif one.host == chosen.host or _readable(one, party.host(one.host)):
            found += _beyond(one, chosen, party.host(one.host))
        else:
            found.append(_unknown(party, one.host, chosen))
    found += [_unknown(party, name, chosen) for name in party.gone]
    return (*found, *_seen_beyond(party, chosen, found))


def _readable(found: NodePosition, host: HostFacts) -> bool:
    """Return whether its position is known, or a transfer had emptied it: then it has nothing of its own."""
    # mariadbd makes ibdata1 anew in a folder that was emptied, when it recovers a position: it holds none then.
    emptied = bool(host[DataFolder].sst_in_progress) and (found.source, found.uuid) == ("recovered", ZERO_UUID)
    return host[DataFolder].erased_by_transfer or emptied or (found.seqno is not None and bool(found.uuid))


def _of_stranger(party: Party, found: NodePosition, past: Histories, chosen: NodePosition) -> Loss:
    host, stays = party.host(found.host), "it does not join and keeps its data"
    if past.outcome == "not known":
        said = f"whether {found.host} shares its history with {chosen.host} is not known ({past.evidence}): {stays}"
        return Loss(found.host, None, said)
    shared = past.shared_to
    # What InnoDB has lost and the binary log tells is lost too; a server's own count, with wsrep off, is no seqno.
    ends = max((n for n in (found.seqno, None if past.own else found.tail) if n is not None), default=None)
    count = None if shared is None or ends is None else write_sets(host, found.uuid, shared, ends)
    if past.own:
        more = f" with at least {past.own} transactions that it wrote with wsrep off"
        count = past.own + (count or 0)
    else:
        more = _with(count, at_most=not past.by_logs)
    after = "from a point that is not known" if shared is None else f"after seqno {shared}"
    if is_written_out(party, found.host):
        stays += (
            f"; its binary log's part of it is saved to {file_of(party.facts.cluster_id, found.host, shared)} first"
        )
    return Loss(found.host, count, f"{found.host} diverged {after}{more}: {stays}")


def _beyond(found: NodePosition, chosen: NodePosition, host: HostFacts) -> list[Loss]:
    """Return what a node has more than the chosen one: in InnoDB, or in its binary log only."""
    own, base = found.seqno or 0, chosen.seqno or 0
    if found.tail is not None and found.tail > max(own, base):
        more = write_sets(host, found.uuid or chosen.uuid, base, found.tail)
        said = f"the binary log of {found.host} ends at Xid {found.tail}, {more} beyond {chosen.host}"
        return [Loss(found.host, more, said)]
    if found.host != chosen.host and own > base:
        more = write_sets(host, found.uuid or chosen.uuid, base, own)
        by = " according to its grastate.dat only: its InnoDB position was not read" if found.source == CLAIM else ""
        said = f"{found.host} has {more} more write sets than {chosen.host}{by}"
        return [Loss(found.host, more, said)] if more else []
    return []


def _unknown(party: Party, name: str, chosen: NodePosition) -> Loss:
    host, base = party.host(name), chosen.seqno or 0
    seen = max(_memories(party, name), default=None)
    file = host[DataFolder].grastate
    on_disk = (
        file.seqno if file is not None and file.uuid == party.facts.cluster_id and (file.seqno or -1) >= 0 else None
    )
    last = max((n for n in (seen, on_disk) if n is not None), default=None)
    count = last - base if last is not None and last > base else None
    what = "confirmed off" if name in party.gone else "left out" if name in party.left else "without a position"
    known = f"its last known position is {last}" if last is not None else "its position is not known"
    return Loss(name, count, f"the transactions of {name} ({what}) are not known, {known}: it may be ahead{_of(count)}")


def _with(count: int | None, *, at_most: bool) -> str:
    return f" with {'at most ' if at_most else ''}{count} write sets" if count is not None else ""


def _of(count: int | None) -> str:
    return f" with at least {count} write sets" if count else ""


def _memories(party: Party, name: str) -> list[int]:
    known = (m for m in party.host(name).remembered if m.cluster_uuid == party.facts.cluster_id)
    return [m.proven for m in known if m.proven is not None]


def _claims(party: Party) -> list[str]:
    """Return what only files say: a grastate.dat is written by whoever has the server's account, or is damaged."""
    return [
        f"grastate.dat of {one.host} contains or contained {one.claimed}, but its InnoDB is at {one.seqno}, and no "
        "log or server confirms more: the value of the file is ignored"
        for one in standings(party.facts, party.known)
        if one.claimed is not None
    ]


def _seen_beyond(party: Party, chosen: NodePosition, found: list[Loss]) -> tuple[Loss, ...]:
    """Return the highest position that our own history saw of anybody, where neither a node nor a loss reaches it."""
    seen = [(seqno, name) for name in party.everyone for seqno in _memories(party, name)]
    highest, host = max(seen, default=(0, ""))
    base = chosen.seqno or 0
    reached = [n or 0 for s in standings(party.facts, party.known) for n in (s.seqno, s.tail)]
    counted = [base + (loss.count or 0) for loss in found]
    if highest <= max(base, *reached, *counted):
        return ()
    more = highest - base
    return (Loss(host, more, f"{host} was seen {more} write sets ahead of the current position of {chosen.host}"),)


def _tails_unread(party: Party) -> list[str]:
    """Return whose binary log was looked at and could not be read: InnoDB alone tells what that member has."""
    said = {name: party.facts.value(tail_name(name)) or "" for name in party.known}
    return [
        f"the end of the binary log of {name} is {words(told, 200)}: it may contain commits that InnoDB does not have"
        for name, told in said.items()
        if told.startswith("not known")
    ]


def lost(party: Party, chosen: NodePosition) -> Check:
    """What may be missing afterwards; 'nothing' only where all is known."""
    possible = [*(loss.said for loss in losses(party, chosen)), *unflushed(party.facts, party.everyone)]
    possible += [*_tails_unread(party), *_claims(party)]
    return checked(
        "LOST-TRANSACTIONS",
        "What would be lost",
        warn=possible,
        good=f"nothing: every position is known, the members share one history, and none is ahead of {chosen.text}",
        why="Only the data of the chosen node is kept. Unless innodb_flush_log_at_trx_commit is 1, a power loss may "
        "cost a second of commits on each node.",
        try_=("Extract the missing transactions from the binary logs (mysqlbinlog) before you continue.",),
        to_read=True,
    )


def accepted(party: Party, chosen: NodePosition) -> tuple[Step, ...]:
    """Return the steps in which a person types what is given up, one a member: never a script by itself."""
    return tuple(_accept(number, loss) for number, loss in enumerate(losses(party, chosen), 1))


def trusted(chosen: NodePosition) -> Step:
    """Return the step in which a person types that the data of a node that gave its state up are to be everybody's."""
    said = (
        f"grastate.dat of {chosen.host} contains no state: a state transfer was requested but did not begin, or the "
        f"node was inconsistent with the others. InnoDB of {chosen.host} is complete at {chosen.seqno}"
    )
    return Step(
        step_id=f"trust-{chosen.host}",
        host="",
        title=f"Accept that {chosen.host}, which cleared its state, is bootstrapped",
        done=f"You accepted that the data of {chosen.host} replace the data of all others",
        why=f"{said}. If it was inconsistent, its rows differ from those of the others.",
        action=Ask(
            f"{said}. Type 'trust {chosen.host}' to continue with its rows.", "typed", expect=f"trust {chosen.host}"
        ),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
    )


def _accept(number: int, loss: Loss) -> Step:
    return Step(
        step_id=f"accept-{number}-{loss.host}",
        host="",
        title=f"Accept the possible loss of {loss.host}",
        done=f"You accepted: {loss.typed}",
        why=f"{loss.said}. Its binary log or a backup may still contain the missing transactions.",
        action=Ask(f"{loss.said}. Type '{loss.typed}' to continue without it.", "typed", expect=loss.typed),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
    )
