"""A joiner whose past is not the cluster's: what only it has is written to a file, counted, and given up by a person.

IST between forks "succeeds" and the data differ from then on: it is never begun. The way back is an SST over the data
of one side, after its transactions were extracted from its binary log (page "Conventions", "The same UUID is not the
same history").
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.facts.binlog.extracted import parse_extracted
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.catalogue.checks.joiner_state import (
    beyond,
    lies_in,
    nothing_left,
    position_of,
    seen_beyond,
)
from services.procedures.catalogue.checks.parts import state_word
from services.procedures.catalogue.checks.sides import with_both
from services.procedures.catalogue.steps import extraction
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.conditions.galera.data.at_rest import PositionMark, Unmoved
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import RemoveFile, Several
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.forms.inputs import hosts_of
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.parts.server.log_filters import left_out_of_log
from services.procedures.plan.pasts.histories import histories, side_of, with_shared
from services.procedures.plan.pasts.histories_model import Histories

_NOTHING_OF_IT = {
    "nothing": "the data folder of {0} is empty, or an SST to it was interrupted",
    "a spare's own": "{0} was never a member according to its files, the local history and the inventory",
    "another's": "{0} has no position of this cluster in its data folder",
}
_STATE_FILES = ("grastate.dat", "gvwstate.dat", "galera.cache")


def fields(joiner: str) -> tuple[Field, ...]:
    """Return the questions about a joiner whose past is another one, or not known."""
    gives_up = f"discard the transactions that only {joiner} has: they are saved to a file first, then an SST follows"
    return (
        Field(
            "loser",
            "Side to discard if the histories have diverged",
            "host",
            "",
            ((joiner, gives_up),) if joiner else (),
            help="Only if HISTORY reports it. The run shows the count and asks you again before anything is lost.",
            required=False,
            advanced=True,
        ),
        Field(
            "unknown_history",
            "Hosts whose history may remain unknown",
            "hosts",
            "",
            tuple((name, "its history is not proven") for name in (joiner,) if name),
            help="Only if HISTORY cannot be determined. An IST between diverged nodes leaves different data.",
            required=False,
            advanced=True,
        ),
    )


def history_of(facts: Facts, joiner: str, donor: str) -> Histories:
    """Return how the joiner's past stands to that of the donor and of the members beside it."""
    return histories(facts, joiner, donor)


def accepted(values: Inputs, joiner: str) -> bool:
    """Return whether a person named the joiner as one whose past may stay unknown."""
    return joiner in hosts_of(values.get("unknown_history", ""))


def parted(facts: Facts, values: Inputs) -> bool:
    """Return whether the joiner has what the cluster has not, and a person said that it gives that up."""
    return values.get("loser") == values["joiner"] and _past(facts, values).outcome == "forked"


def _past(facts: Facts, values: Inputs) -> Histories:
    """Return how the joiner's past stands to the cluster's, told by all that lies in its data folder or was seen.

    A node that has more than any member is one that has parted: the cluster goes on without what only it has.
    """
    joiner = values["joiner"]
    if lies_in(facts, joiner) not in {"this cluster's", "state lost"}:
        return Histories("same", "")
    found = history_of(facts, joiner, values["donor"])
    if found.outcome != "forked" and (more := beyond(facts, joiner)):
        said = f"{joiner} has {more} write sets in InnoDB or its binary log that no member of the cluster has"
        return Histories("forked", said, _searched(facts, joiner))
    if found.outcome == "same" and position_of(facts, joiner)[1] is None:
        return replace(found, outcome="not known", missing=(f"the position of {joiner}",))
    seen = seen_beyond(facts, joiner)
    if found.outcome == "same" and seen is not None:
        return Histories(
            "not known", _seen(facts, joiner, seen), missing=(f"where the missing transactions of {joiner} are",)
        )
    return found


def _seen(facts: Facts, joiner: str, seen: Remembered) -> str:
    now = position_of(facts, joiner)[1]
    stands = "its position is not known" if now is None else f"it is at {now}"
    return f"{joiner} was last seen at {seen.seqno} ({seen.origin}), {stands}, and no member has reached that seqno"


def _searched(facts: Facts, joiner: str) -> int | None:
    """Return the last Xid that the joiner's binary log has alike with a member's, where it was searched for."""
    serving = (host[Traces].trace for host in facts.hosts if side_of(facts, host).serves)
    found = [xid for trace in serving if trace is not None for host, xid in trace.shared if host == joiner]
    return max(found, default=None)


def history(facts: Facts, values: Inputs, *, pending: bool) -> Check:
    """Say whether the joiner and the cluster share their past, and by what. A fork, or not to know it, has no override.

    Args:
        pending: the joiner's position is recovered first; what is not known yet is told then. What a server outside
            the cluster wrote no position tells: a run that began all the same would end there, and change for nothing.
    """
    joiner = values["joiner"]
    lies = lies_in(facts, joiner)
    if lies in _NOTHING_OF_IT:
        return _check(joiner, Verdict.PASS, f"{_NOTHING_OF_IT[lies].format(joiner)}: it can join only by SST")
    lost = f"grastate.dat of {joiner} is {state_word(facts.host(joiner))}; " if lies == "state lost" else ""
    if lost and nothing_left(facts, joiner):
        evidence = f"{lost}InnoDB has no position, and no binary log has a transaction: it can join only by SST"
        return _check(joiner, Verdict.PASS, evidence)
    found = _past(facts, values)
    found = replace(found, evidence=f"{lost}{found.evidence}")
    if found.outcome == "same":
        return _check(joiner, Verdict.PASS, found.evidence)
    if found.outcome == "forked":
        since = f", diverged after seqno {found.shared_to}" if found.shared_to is not None else ""
        if values.get("loser") == joiner:
            given_up = _check(joiner, Verdict.WARN, f"{found.evidence}{since}; the side of {joiner} is discarded")
            return replace(given_up, title=f"Discard the transactions that only {joiner} has")
        way = f"Discard the transactions that only {joiner} has (they are saved to a file first, then an SST follows)"
        refused = _check(joiner, Verdict.BLOCK, f"{found.evidence}{since}", Remedy(way, "loser", (joiner,)))
        return with_both(refused, facts, joiner, member_hosts(facts), found.shared_to)
    evidence = f"not known: {found.evidence} ({'; '.join(found.missing)})"
    if pending and (not found.outside or accepted(values, joiner)):
        more = f"{evidence}; checked again when its position is known"
        given_in = "If its server cannot recover a position, accept that it remains unknown"
        blind = Remedy(given_in, "unknown_history", (joiner,))
        return _check(joiner, Verdict.WARN, more, *((blind,) if lost else ()))
    if accepted(values, joiner):
        return _check(joiner, Verdict.WARN, f"{evidence}; you accepted this for {joiner}")
    by_name = Remedy("Or accept by its name that it remains unknown", "unknown_history", (joiner,))
    tries = ("Make the missing data readable, or let the node join with an empty folder.",)
    return replace(_check(joiner, Verdict.BLOCK, evidence, by_name), try_=tries)


def _check(joiner: str, outcome: Verdict, evidence: str, *ways: Remedy) -> Check:
    return Check(
        code="HISTORY",
        title=f"{joiner} and the cluster share one history",
        verdict=outcome,
        evidence=evidence,
        why="An equal state UUID does not prove an equal history: an IST between diverged nodes succeeds, and their "
        "data differ.",
        answers=ways,
        host=joiner,
        absolute=outcome is Verdict.BLOCK,
        to_read=True,
    )


# -- the steps ---------------------------------------------------------------------------------------------------------


def file_of(facts: Facts, joiner: str) -> str:
    """Return the file that takes what only the joiner has."""
    return extraction.file_of(facts.cluster_id, joiner, _parted(facts, joiner).shared_to)


def _parted(facts: Facts, joiner: str) -> Histories:
    """Return what the joiner shares with any who serves: what one of them has stays."""
    donors = [h.host for h in facts.hosts if h.host != joiner and side_of(facts, h).serves]
    history = with_shared(Histories("forked", ""), tuple(history_of(facts, joiner, donor) for donor in donors))
    return history if history.shared_to is not None else replace(history, shared_to=_searched(facts, joiner))


def can_extract(facts: Facts, joiner: str) -> bool:
    """Return whether the joiner has a binary log that was found, and it was not written out yet."""
    return bool(extraction.log_index(facts.host(joiner))) and facts.value(extraction.extracted_name(joiner)) is None


def extract(facts: Facts, joiner: str) -> tuple[Step, ...]:
    """Return the step that writes the joiner's side out, and the one that plans the rest with the count."""
    why = "The file is kept for you, readable by root only: an SST erases the binary log that it comes from."
    host = facts.host(joiner)
    written = extraction.write_out(host, facts.cluster_id, _parted(facts, joiner).shared_to, why)
    mark = PositionMark(joiner, host[DataFolder].path or DEFAULT_DATADIR, _counted_at(joiner))
    return (
        replace(written, proof=(*written.proof, mark)),
        steps.plan_the_rest(
            "loss-known",
            f"Count the transactions that {joiner} would lose",
            f"the number of transactions that {joiner} loses is known only now",
        ),
    )


def _counted_at(joiner: str) -> str:
    """Return the name of the mark of the data that were written out and counted."""
    return f"{extraction.extracted_name(joiner)}-at"


def _as_counted(facts: Facts, host: HostFacts) -> tuple[Unmoved, ...]:
    """Return what must hold when the count was typed: a server that ran on the data since wrote what no count has."""
    mark = _counted_at(host.host)
    if facts.value(mark) is None:
        return ()
    return (Unmoved(host.host, host[DataFolder].path or DEFAULT_DATADIR, facts.cluster_id, mark, "", ""),)


def loss(facts: Facts, joiner: str) -> str:
    """Return what the joiner gives up, for a person: the count, the tables, where it is kept."""
    extracted = parse_extracted(facts.value(extraction.extracted_name(joiner)) or "")
    if extracted is None:
        least = beyond(facts, joiner)
        if least:
            return f"at least {least} write sets that only {joiner} has; no file contains them"
        return f"an unknown number of transactions that only {joiner} has; no file contains them"
    more = f" and {extracted.statements} DDL statements" if extracted.statements != "0" else ""
    kept = f"kept in {file_of(facts, joiner)} on {joiner}"
    some = "" if _parted(facts, joiner).by_logs else ", some of which the others may have"
    filters = left_out_of_log(facts.host(joiner))
    unlogged = f", and an unknown part that its binary log excludes ({'; '.join(filters)})" if filters else ""
    return f"{extracted.transactions} transactions{more} of {joiner} ({extracted.tables}){some}{unlogged}, {kept}"


def only_sst(facts: Facts, host: HostFacts, *, given_up: bool) -> Step:
    """Take the state files away, so that nothing but an SST can come: Galera believes grastate.dat alone.

    Source: galera/galera/src/replicator_smm.cpp: a recovered position counts only for the UUID of grastate.dat.
    """
    name, folder = host.host, host[DataFolder].path or "/var/lib/mysql"
    paths = tuple(posixpath.join(folder, file) for file in _STATE_FILES)
    title = f"Remove the Galera state of {name}, so that it joins by SST"
    if given_up:
        lost = loss(facts, name)
        title = f"The side of {name} is discarded: {lost}. Remove its Galera state, so that an SST replaces its data"
    return Step(
        step_id=f"only-sst-{name}",
        host=name,
        title=title,
        done=f"{name} has no Galera state: it can join only by SST",
        why="The cluster's data replaces it; an IST must not be applied to a diverged history.",
        action=Several(tuple(RemoveFile(path) for path in paths)),
        risk=Risk.IRREVERSIBLE if given_up else Risk.CHANGES,
        before=(Stopped(name, steps.unit_of(host)), *(_as_counted(facts, host) if given_up else ())),
        proof=tuple(FileAbsent(name, path) for path in paths),
        repeatable=True,
        estimate_s=1.0,
        confirm=name if given_up else "",
    )
