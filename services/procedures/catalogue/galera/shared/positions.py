"""Which node to bootstrap: every position side by side, and what may be lost. Pure.

A seqno of -1 is 'not known', never 'nothing'; a zero UUID was inconsistent or mid-transfer; positions of different
UUIDs are different histories and can't be compared. None of these is ever chosen without a person's word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.facts.galera.state_files import ZERO_UUID, position_of
from services.facts.reading import count
from services.procedures.catalogue.checks.parts import state_file
from services.procedures.plan.forms.inputs import number_of
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.pasts.positions import kept_name, not_recovered, tail_name


@dataclass(frozen=True, slots=True)
class NodePosition:
    """What is known of one node's position.

    Attributes:
        uuid, seqno: the position that counts: recovered by the server itself, else live, else grastate's; None unknown.
        source: 'recovered', 'running', 'grastate', ''.
        grastate: as UUID:seqno, or what it is instead (see state_file).
        recovered, remembered (the highest that our own history saw): each as text, '' where there is none.
        claimed: what a grastate.dat says or once said beyond all that InnoDB, a log or a server of this host ever told;
            None for none, and while nobody has asked InnoDB.
        safe: grastate.dat's safe_to_bootstrap: the node that was stopped last in a clean stop; it breaks a tie.
        depth: last - cached_downto where known live, to break a tie.
        tail: the last Xid of its binary log, None where that was not read or none is there.
        out: why it is no candidate, '' when it is; later: it may become one when its position is recovered.
        by_word: it is none by itself, and a person may choose it: its data are whole, and its state file names none.
    """

    host: str
    uuid: str = ""
    seqno: int | None = None
    source: str = ""
    grastate: str = ""
    recovered: str = ""
    remembered: str = ""
    claimed: int | None = None
    safe: bool | None = None
    depth: int = 0
    tail: int | None = None
    out: str = ""
    later: bool = False
    by_word: bool = False

    @property
    def text(self) -> str:
        """Return the position as UUID:seqno."""
        return f"{self.uuid}:{'unknown' if self.seqno is None else self.seqno}"

    @property
    def stale(self) -> bool:
        """Return whether grastate.dat tells a seqno that InnoDB contradicts: killed while a backup or SST held it."""
        claimed = count(self.grastate.rpartition(":")[2])
        return self.source == "recovered" and claimed is not None and self.seqno is not None and claimed != self.seqno


def standings(facts: Facts, hosts: tuple[str, ...]) -> tuple[NodePosition, ...]:
    """Return the hosts' positions in the order given."""
    return tuple(_standing(facts, facts.host(name)) for name in hosts)


def _standing(facts: Facts, host: HostFacts) -> NodePosition:
    state = host[DataFolder].grastate
    memory = next((r for r in host.remembered if r.cluster_uuid == facts.cluster_id), None)
    uuid, seqno, source = _position(facts, host)
    failed = not_recovered(facts, host.host)
    recovered = "" if failed else facts.value(kept_name(host.host)) or ""
    broken = (f"its server could not recover its position ({failed})", False) if failed else None
    out, later = broken or _out(facts, host, uuid, seqno, confirmed=source == "recovered" and uuid == facts.cluster_id)
    galera = host.node.galera if host.node is not None else None
    depth = 0
    if galera is not None and galera.last_committed is not None and galera.cached_downto is not None:
        depth = galera.last_committed - galera.cached_downto
    return NodePosition(
        host=host.host,
        uuid=uuid,
        seqno=seqno,
        source=source,
        grastate=state_file(host),
        recovered=recovered,
        remembered=f"{memory.cluster_uuid}:{memory.proven}" if memory is not None and memory.proven is not None else "",
        claimed=_claimed(facts, host, memory, seqno) if source == "recovered" else None,
        safe=state.safe_to_bootstrap if state is not None else None,
        depth=depth,
        tail=number_of(facts.value(tail_name(host.host)) or ""),
        out=out,
        later=later,
        by_word=not failed and _by_word(facts, host, uuid, seqno, recovered=source == "recovered"),
    )


def _position(facts: Facts, host: HostFacts) -> tuple[str, int | None, str]:
    """Return (uuid, seqno, source). What the server recovered wins: grastate may be stale after a kill."""
    recovered = None if not_recovered(facts, host.host) else position_of(facts.value(kept_name(host.host)) or "")
    if recovered is not None:
        return recovered[0], _known(recovered[1]), "recovered"
    galera = host.node.galera if host.node is not None else None
    if host.server_up and galera is not None and galera.last_committed is not None:
        return galera.local_state_uuid or galera.state_uuid, _known(galera.last_committed), "running"
    state = host[DataFolder].grastate
    if state is not None:
        return state.uuid, _known(state.seqno), "grastate"
    return "", None, ""


def _claimed(facts: Facts, host: HostFacts, memory: Remembered | None, seqno: int | None) -> int | None:
    """Return what only a grastate.dat says or once said: no log, no server and not its own InnoDB goes so far."""
    state = host[DataFolder].grastate
    seqnos = [state.seqno] if state is not None and state.uuid == facts.cluster_id else []
    seqnos += [memory.claimed] if memory is not None else []
    tail = number_of(facts.value(tail_name(host.host)) or "")
    shown = [n for n in (seqno, tail, memory.proven if memory is not None else None) if n is not None]
    highest = max((n for n in seqnos if n is not None), default=None)
    return highest if highest is not None and highest > max(shown, default=-1) else None


def _known(seqno: int | None) -> int | None:
    return None if seqno is None or seqno < 0 else seqno


def _out(facts: Facts, host: HostFacts, uuid: str, seqno: int | None, *, confirmed: bool) -> tuple[str, bool]:
    """Return why it is no candidate, and whether a recovered position may change that.

    Args:
        confirmed: InnoDB itself told a position of this cluster: then a lost state file is written anew.
    """
    folder = host[DataFolder]
    if folder.transfer_broke_off:
        return "a state transfer into it was not finished", False
    if folder.entries == 0 or (folder.grastate_absent and not confirmed):
        return "it has no grastate.dat: a bootstrap would create a new, empty cluster", False
    # InnoDB may recover a position all the same: that of data which the node itself has given up.
    given_up = not host.server_up and folder.grastate is not None and folder.grastate.uuid == ZERO_UUID
    if uuid == ZERO_UUID or given_up:
        return "its UUID is zero: it was inconsistent, or receiving a state transfer", False
    if folder.grastate_damaged and not host.server_up and not confirmed:
        return "its grastate.dat is damaged: not known until its position is recovered", not uuid
    if not uuid:
        return "its position could not be read", False
    if facts.cluster_id and uuid != facts.cluster_id:
        return f"it has another cluster's history ({uuid})", False
    if seqno is None:
        return "its seqno is -1: not known until it is recovered", True
    return "", False


def _by_word(facts: Facts, host: HostFacts, uuid: str, seqno: int | None, *, recovered: bool) -> bool:
    """Return whether a node that has given its state up may be bootstrapped by a person's word.

    Its server took the state out of grastate.dat and its InnoDB lies there whole: a transfer that never began leaves it
    so, and so does a node that was found inconsistent. Which of them it was no file tells for sure.
    """
    folder = host[DataFolder]
    zero = folder.grastate is not None and not folder.names_state and not host.server_up
    whole = folder.tablespace is True and not folder.sst_in_progress
    return zero and whole and (not recovered or (uuid == facts.cluster_id and seqno is not None))


def chosen_by_word(found: NodePosition) -> NodePosition:
    """Return a node that a person has named as one that may be bootstrapped, where a word is enough for that."""
    return replace(found, out="", later=found.seqno is None) if found.by_word else found


def most_advanced(found: tuple[NodePosition, ...]) -> NodePosition | None:
    """Return the candidate with the highest seqno; who was stopped last, the deepest cache, the name break a tie."""
    candidates = [s for s in found if not s.out and s.seqno is not None]
    return min(candidates, key=lambda s: (-(s.seqno or 0), not s.safe, -s.depth, s.host), default=None)


def behind(found: tuple[NodePosition, ...], chosen: NodePosition) -> tuple[tuple[NodePosition, int], ...]:
    """Return (standing, write sets it has more than the chosen one) of nodes that are ahead of it."""
    return tuple(
        (s, s.seqno - chosen.seqno)
        for s in found
        if s.uuid == chosen.uuid and s.seqno is not None and chosen.seqno is not None and s.seqno > chosen.seqno
    )


def joining_order(
    found: tuple[NodePosition, ...], chosen: NodePosition, apart: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the others that may join, the next most advanced first; those without a position last.

    A node that is ahead is left out: it would abort ("Reversing history"), and its next start would take an SST over
    the only copy of its transactions. So are those `apart`, whose past is another.
    """
    ahead = {s.host for s, _ in behind(found, chosen)} | set(apart)
    others = [s for s in found if s.host != chosen.host and s.host not in ahead]
    return tuple(s.host for s in sorted(others, key=lambda s: (s.seqno is None, -(s.seqno or 0), s.host)))
