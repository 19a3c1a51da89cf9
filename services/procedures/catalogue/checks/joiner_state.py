"""What lies in a joiner's data folder, and where it stands: the file is a claim, InnoDB and the binary log know. Pure.

Seen on the lab (MariaDB 10.11, Galera 26.4): with its grastate.dat deleted a node is sent an SST, which erases rows and
binary logs that nobody else has; with an edited seqno the provider takes an IST from there onto newer data.
"""

from __future__ import annotations

from typing import Literal

from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.host_facts import CLAIM, Facts, Remembered
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.pasts.histories import claim_is_confirmed
from services.procedures.plan.pasts.positions import recovered_position

Lies = Literal["nothing", "a spare's own", "this cluster's", "another's", "state lost"]


def lies_in(facts: Facts, joiner: str) -> Lies:
    """Return what lies in the joiner's data folder.

    'state lost': a member's folder that is not empty and whose grastate.dat names no state: an SST would erase it.
    'nothing': it is empty, or an SST that had begun to erase it was not finished.
    """
    host = facts.host(joiner)
    folder = host[DataFolder]
    if folder.entries == 0 or folder.erased_by_transfer:
        return "nothing"
    if folder.grastate is not None and folder.grastate.names_state:
        return "this cluster's" if folder.grastate.uuid == facts.cluster_id else "another's"
    return "state lost" if joiner in facts.members else "a spare's own"


def position_of(facts: Facts, joiner: str) -> tuple[str, int | None]:
    """Return (uuid, seqno) of what lies in the joiner's data folder; ('', None) without a usable one.

    What this run had the server recover wins: grastate.dat may be stale after a kill, or edited.
    """
    recovered = recovered_position(facts, joiner)
    if recovered is not None:
        return recovered
    state = facts.host(joiner)[DataFolder].grastate
    if state is None or not state.names_state:
        return "", None
    known = state.seqno if state.seqno is not None and state.seqno >= 0 else None
    return state.uuid, known


def must_recover(facts: Facts, joiner: str, *, accepted: bool = False) -> bool:
    """Return whether the joiner's own server must be asked first where it stands.

    So it is where its state file is lost, says -1, or a seqno that its own traces don't account for.

    Args:
        accepted: a person named it before: what lies behind a lost state file may stay unknown.
    """
    host, lies = facts.host(joiner), lies_in(facts, joiner)
    its_own = bool(host[Options].option("mysqld", "wsrep_cluster_address")) and bool(host[Program].text)
    if not its_own or recovered_position(facts, joiner) is not None:
        return False
    if lies == "state lost":
        return not accepted
    state = host[DataFolder].grastate
    confirmed = state is not None and claim_is_confirmed(state, host[Traces].trace)
    return lies == "this cluster's" and not confirmed


def newest_of(facts: Facts) -> int | None:
    """Return the highest seqno that a member of the Primary Component has committed; None when none tells."""
    last = (galera.last_committed for m in member_hosts(facts) if (galera := galera_of(facts.host(m))) is not None)
    return max((seqno for seqno in last if seqno is not None), default=None)


def ahead(facts: Facts, joiner: str) -> bool:
    """Return whether the joiner stopped beyond what the cluster has: started, it aborts ("Reversing history")."""
    return bool(beyond(facts, joiner))


def beyond(facts: Facts, joiner: str) -> int:
    """Return how many write sets the joiner has, in InnoDB or its binary log, that no member has got to."""
    uuid, seqno = position_of(facts, joiner)
    newest, trace = newest_of(facts), facts.host(joiner)[Traces].trace
    if newest is None or lies_in(facts, joiner) in {"nothing", "another's"} or uuid not in {"", facts.cluster_id}:
        return 0
    logged = trace.marks if trace is not None and joiner in facts.members else ()
    highest = max((n for n in (seqno, *(mark.xid for mark in logged)) if n is not None), default=0)
    return max(0, highest - newest)


def seen_beyond(facts: Facts, joiner: str) -> Remembered | None:
    """Return what our own history saw last of the joiner, where neither it nor any member reaches that any more.

    What a grastate.dat alone told counts until its InnoDB was asked: a file is written by whoever has the account.
    """
    memory = next((m for m in facts.host(joiner).remembered if m.cluster_uuid == facts.cluster_id), None)
    if memory is not None and memory.source == CLAIM and recovered_position(facts, joiner) is not None:
        return None
    reached = (newest_of(facts), position_of(facts, joiner)[1])
    if memory is None or memory.seqno is None or memory.seqno <= max((n for n in reached if n is not None), default=0):
        return None
    return memory


def nothing_left(facts: Facts, joiner: str) -> bool:
    """Return whether InnoDB was asked and holds no position, and the binary log no transaction: nothing to lose."""
    trace = facts.host(joiner)[Traces].trace
    asked = recovered_position(facts, joiner) == ("", None)
    return asked and trace is not None and trace.log_told and not trace.marks
