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
from services.procedures.catalogue.galera.shared.positions import Standing, standings
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


def losses(party: Party, chosen: Standing) -> tuple[Loss, ...]:
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


def _readable(found: Standing, host: HostFacts) -> bool:
    """Return whether its position is known, or a transfer had emptied it: then it has nothing of its own."""
    # mariadbd makes ibdata1 anew in a folder that was emptied, when it recovers a position: it holds none then.
    emptied = bool(host[DataFolder].sst_in_progress) and (found.source, found.uuid) == ("recovered", ZERO_UUID)
    return host[DataFolder].erased_by_transfer or emptied or (found.seqno is not None and bool(found.uuid))


def _of_stranger(party: Party, found: Standing, past: Histories, chosen: Standing) -> Loss:
    host, stays = party.host(found.host), "it is not joined, and keeps its data"
    if past.outcome == "not known":
        said = f"whether {found.host} shares its past with {chosen.host} is not known ({past.evidence}): {stays}"
        return Loss(found.host, None, said)
    shared = past.shared_to
    # What InnoDB has lost and the binary log tells is lost too; a server's own count, with wsrep off, is no seqno.
    ends = max((n for n in (found.seqno, None if past.own else found.tail) if n is not None), default=None)
    count = None if shared is None or ends is None else write_sets(host, found.uuid, shared, ends)
    if past.own:
        more = f" with {past.own} transactions or more that it wrote with wsrep off"
        count = past.own + (count or 0)
    else:
        more = _with(count, at_most=not past.by_logs)
    after = "from a point that is not known" if shared is None else f"after seqno {shared}"
    if is_written_out(party, found.host):
        stays += f"; its binary log's part of it goes to {file_of(party.facts.cluster_id, found.host, shared)} first"
    return Loss(found.host, count, f"{found.host} went its own way {after}{more}: {stays}")


def _beyond(found: Standing, chosen: Standing, host: HostFacts) -> list[Loss]:
    """Return what a node has more than the chosen one: in InnoDB, or in its binary log only."""
    own, base = found.seqno or 0, chosen.seqno or 0
    if found.tail is not None and found.tail > max(own, base):
        more = write_sets(host, found.uuid or chosen.uuid, base, found.tail)
        said = f"the binary log of {found.host} goes to Xid {found.tail}, {more} beyond {chosen.host}"
        return [Loss(found.host, more, said)]
    if found.host != chosen.host and own > base:
        more = write_sets(host, found.uuid or chosen.uuid, base, own)
        by = " by its grastate.dat, a file's word: its InnoDB was not asked" if found.source == CLAIM else ""
        said = f"{found.host} has {more} write sets more than {chosen.host}{by}"
        return [Loss(found.host, more, said)] if more else []
    return []


def _unknown(party: Party, name: str, chosen: Standing) -> Loss:
    host, base = party.host(name), chosen.seqno or 0
    seen = max(_memories(party, name), default=None)
    file = host[DataFolder].grastate
    on_disk = (
        file.seqno if file is not None and file.uuid == party.facts.cluster_id and (file.seqno or -1) >= 0 else None
    )
    last = max((n for n in (seen, on_disk) if n is not None), default=None)
    count = last - base if last is not None and last > base else None
    what = "called off" if name in party.gone else "left out" if name in party.left else "without a position"
    known = f"its last known position is {last}" if last is not None else "no position of it is known"
    return Loss(name, count, f"what {name} ({what}) has is not known, {known}: it may be ahead{_of(count)}")


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
        f"grastate.dat of {one.host} says, or once said, {one.claimed}, its InnoDB is at {one.seqno}, no log and no "
        "server ever told more of it: a file's word, which does not count"
        for one in standings(party.facts, party.known)
        if one.claimed is not None
    ]


def _seen_beyond(party: Party, chosen: Standing, found: list[Loss]) -> tuple[Loss, ...]:
    """Return the highest position that our own history saw of anybody, where neither a node nor a loss reaches it."""
    seen = [(seqno, name) for name in party.everyone for seqno in _memories(party, name)]
    highest, host = max(seen, default=(0, ""))
    base = chosen.seqno or 0
    reached = [n or 0 for s in standings(party.facts, party.known) for n in (s.seqno, s.tail)]
    counted = [base + (loss.count or 0) for loss in found]
    if highest <= max(base, *reached, *counted):
        return ()
    more = highest - base
    return (Loss(host, more, f"{host} was seen {more} write sets further than {chosen.host} is now"),)


def _tails_unread(party: Party) -> list[str]:
    """Return whose binary log was looked at and could not be read: InnoDB alone tells what that member has."""
    said = {name: party.facts.value(tail_name(name)) or "" for name in party.known}
    return [
        f"how far the binary log of {name} goes is {words(told, 200)}: it may hold commits that InnoDB has not"
        for name, told in said.items()
        if told.startswith("not known")
    ]


def lost(party: Party, chosen: Standing) -> Check:
    """What may be missing afterwards; 'nothing' only where all is known."""
    told = [*(loss.said for loss in losses(party, chosen)), *unflushed(party.facts, party.everyone)]
    told += [*_tails_unread(party), *_claims(party)]
    return checked(
        "LOST-TRANSACTIONS",
        "What would be lost",
        warn=told,
        good=f"nothing: every member's position is known, they share one history, and none is beyond {chosen.text}",
        why="Only the chosen node's data stays. With innodb_flush_log_at_trx_commit other than 1 a power loss may cost "
        "a second of commits on each node.",
        try_=("Read what is missing out of the nodes' binary logs (mysqlbinlog) before you go on.",),
        to_read=True,
    )


def accepted(party: Party, chosen: Standing) -> tuple[Step, ...]:
    """Return the steps in which a person types what is given up, one a member: never a script by itself."""
    return tuple(_accept(number, loss) for number, loss in enumerate(losses(party, chosen), 1))


def trusted(chosen: Standing) -> Step:
    """Return the step in which a person types that the data of a node that gave its state up are to be everybody's."""
    said = (
        f"grastate.dat of {chosen.host} names no state: a state transfer was asked for and did not begin, or it was "
        f"found inconsistent with the others. InnoDB of {chosen.host} is whole at {chosen.seqno}"
    )
    return Step(
        step_id=f"trust-{chosen.host}",
        host="",
        title=f"Accept that {chosen.host}, which gave its state up, is bootstrapped",
        done=f"You accepted that the data of {chosen.host} become everybody's",
        why=f"{said}. Where it was inconsistent, its rows differ from those that the others have.",
        action=Ask(
            f"{said}. Type 'trust {chosen.host}' to go on with its rows.", "typed", expect=f"trust {chosen.host}"
        ),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
    )


def _accept(number: int, loss: Loss) -> Step:
    return Step(
        step_id=f"accept-{number}-{loss.host}",
        host="",
        title=f"Accept what would be lost of {loss.host}",
        done=f"You accepted: {loss.typed}",
        why=f"{loss.said}. Its binary log may still hold what is missing; so may a backup.",
        action=Ask(f"{loss.said}. Type '{loss.typed}' to go on without it.", "typed", expect=loss.typed),
        risk=Risk.YOU,
        limit_s=86_400.0,
        repeatable=True,
    )
