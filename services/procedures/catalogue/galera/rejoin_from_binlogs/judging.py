"""The checks of what the run found in the backup and the binary logs, made before anything is changed."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace

from services.facts.binlog.chain import MOST_STRETCHES, MOST_VIEWS, Wrong
from services.procedures.catalogue.checks.parts import checked, galera_of, server_of, verdict
from services.procedures.catalogue.galera.rejoin_from_binlogs.filtering import filters_then
from services.procedures.catalogue.galera.rejoin_from_binlogs.forecast import disk_needed, reaches, until_start_s
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import Survey
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program

PACKED = "packed"
FULL, PREPARED = "full-backuped", frozenset({"full-prepared", "log-applied"})


def _file(code: str, title: str, why: str) -> Check:
    return Check(code=code or "FILE", title=title, verdict=Verdict.PASS, evidence="", why=why)


FILES = (
    _file("REPLAY-LEFT", "No replay of an earlier run is left", "Data that hold a half of one never get another."),
    _file("BACKUP-ABSENT", "The backup lies on the node", "It is read there; the console carries none between hosts."),
    _file("BINLOGS-ABSENT", "The binary logs lie on the node", "They are read there, and carried by nobody."),
    _file("BACKUP-UNREAD", "The backup says where it stands", "Without its seqno nothing can follow it."),
    _file("BACKUP-LINKED", "The backup holds all of its files itself", "A link leads out of it, to other data."),
    _file("OLD-LINKED", "The old data folder holds all of its files itself", "What lies elsewhere is not kept aside."),
    _file("BINLOG-UNREAD", "The binary logs can be read", "What can't be read can't be replayed."),
    _file("BINLOG-GAP", "The binary logs are one chain", "What a missing file held would be missing in the data."),
    _file(
        "BACKUP-POSITION", "The backup's place in them is known", "Too early repeats rows, too late leaves some out."
    ),
    _file("NO-TARGET", "They go beyond the backup", "Else there is nothing to replay."),
    _file("SERVER-VERSION", "All is of one server version", "A replay by another version was never tried."),
    _file("XID-ORDER", "The Xids rise", "A transaction with wsrep off has a local number, which is no seqno."),
    _file("STATEMENT-EVENTS", "They hold rows", "A statement may do something else when it is done again."),
    _file("XA", "They hold no XA transactions", "Galera has none: they were written with wsrep off."),
)
"""What the files are judged by, each passed; what speaks against them is put into them."""
_STATEMENTS = (
    "Look there with mariadb-binlog --start-position. A CREATE TABLE ... SELECT counts too: it makes a table by "
    "a statement inside its transaction. A backup that was taken after it needs no replay of it."
)
_UNPACK = "Unpack a copy of it (mariadb-backup --decompress --remove-original), and name that."
_OTHER_LOGS_MAY_DO = frozenset({"BACKUP-POSITION", "BINLOG-GAP", "BINLOG-UNREAD", "NO-TARGET"})
_WHOSE = "those of another member, or of the server that the backup was taken from"
_SST = "Bring the node back with add-node, by an SST."


def unusable(wrong: Wrong, joiner: str = "", folder: str = "", seqno: int | None = None) -> Check:
    """Return the check of what speaks against the files.

    Args:
        folder: the one that is not on the joiner. seqno: where the backup stands.
    """
    more: tuple[str, ...] = ()
    if wrong.code == "BACKUP-UNREAD":
        more = ("Take the backup with --galera-info.",)
    elif wrong.code == "STATEMENT-EVENTS":
        more = (_STATEMENTS,)
    elif wrong.code in _OTHER_LOGS_MAY_DO and seqno is not None:
        hold = f"Copy binary logs to {joiner} that hold all that follows the backup's {seqno}, and name their folder"
        more = (f"{hold}: {_WHOSE}, may.", "Or name a newer backup.")
    elif wrong.code in {"BACKUP-ABSENT", "BINLOGS-ABSENT"}:
        more = (f"Copy it there, on the host where it lies, as root: {carried(folder, joiner)}",)
    found = next(check for check in FILES if check.code == wrong.code)
    return replace(found, verdict=Verdict.BLOCK, evidence=wrong.evidence, try_=(*more, _SST), absolute=True)


def carried(folder: str, joiner: str) -> str:
    """Return what a person types to bring a folder from another host to the same place on this one."""
    place = shlex.quote(folder.rstrip("/"))
    there = f"sudo mkdir -p {place} && sudo tar -C {place} -xpf -"
    return f"tar -C {place} -cf - . | ssh {shlex.quote(joiner)} {shlex.quote(there)}"


def judged(facts: Facts, joiner: str, found: Survey) -> tuple[Check, ...]:
    """Return every check of what was found, passed ones too."""
    wrong = {one.code: one for one in reversed(found.chain.wrong)}
    files = tuple(
        unusable(wrong[check.code], joiner, seqno=found.backup.seqno)
        if check.code in wrong
        else replace(check, evidence=_evidence(found))
        for check in FILES
    )
    if not found.whole:
        return (*files, _backup(facts, joiner, found))
    return (
        *files,
        _backup(facts, joiner, found),
        _ahead(facts, found),
        _writer(facts, joiner, found),
        filters_then(facts, joiner, found),
        _invoked(found),
        _holes(found),
        _ist(facts, joiner, found),
        _race(facts, joiner, found),
        _disk(facts, joiner, found),
    )


def _evidence(found: Survey) -> str:
    chain, backup = found.chain, found.backup
    if not chain.files:
        return f"the backup stands at {backup.seqno}"
    behind = f", {chain.behind} statements behind it come by IST" if chain.behind else ""
    return (
        f"backup at {backup.seqno}; from {chain.files[0].name}:{chain.start} ({chain.how}) to {chain.files[-1].name}:"
        f"{chain.stop}, Xid {chain.target}, GTID {chain.gtid}: {chain.transactions} transactions, {chain.statements} "
        f"statements, {chain.bytes / 1e6:.1f} MB{behind}"
    )


def _backup(facts: Facts, joiner: str, found: Survey) -> Check:
    """It is a full one of this cluster that nobody prepared, and of the version of the server that is to run on it.

    A prepared one may have been started on, to try it: its own files would still say the position that it was made at.
    """
    backup, program = found.backup, ".".join(map(str, facts.host(joiner)[Program].version))
    used = backup.kind in PREPARED
    faults = [f"it is {backup.kind}: it was prepared already, and may have been started on since"] if used else []
    packed = backup.kind == PACKED
    faults += [f"it is {backup.kind}, no full backup"] if backup.kind not in {FULL, PACKED, *PREPARED} else []
    faults += ["compressed or encrypted files lie in it"] if packed else []
    other = backup.uuid != facts.cluster_id.lower()
    if backup.uuid != facts.cluster_id.lower():
        faults.append(f"it is of {backup.uuid}, the cluster is {facts.cluster_id}")
    version = backup.version != program
    if version:
        faults.append(f"it is of {backup.version or 'a version not known'}, the server of {joiner} is {program}")
    return Check(
        code="OTHER-UUID"
        if other
        else "SERVER-VERSION-JOINER"
        if version
        else "BACKUP-USED"
        if used
        else "BACKUP-KIND",
        title="The backup is a full one of this cluster and this version that nobody has prepared",
        verdict=verdict(faults),
        evidence="; ".join(faults) or f"{backup.kind}, {backup.uuid}:{backup.seqno}, {backup.version}",
        why="Anything else can't be gone on with by this cluster's transactions.",
        try_=(
            *(("Take the original again from where it was kept.",) if used else ()),
            *((_UNPACK,) if packed else ()),
            *((_SST,) if faults else ()),
        ),
        absolute=bool(faults),
    )


def _ahead(facts: Facts, found: Survey) -> Check:
    known = [
        g.last_committed for h in facts.hosts if (g := galera_of(h)) is not None and g.state_uuid == facts.cluster_id
    ]
    newest = max((seqno for seqno in known if seqno is not None), default=None)
    target = found.chain.target or 0
    ahead = newest is None or target > newest
    told = "not known" if newest is None else str(newest)
    return checked(
        "AHEAD",
        "The binary logs end at or before the cluster",
        block=ahead,
        evidence=f"they end at {target}, the cluster is at {told}",
        why="A number beyond the cluster's is no seqno of it: a transaction with wsrep off, or another past.",
        try_=(_SST,),
        absolute=True,
    )


def _writer(facts: Facts, joiner: str, found: Survey) -> Check:
    """The server whose logs these are is one whose option files were asked for filters (FILTERS)."""
    told = facts.host(joiner)[Options].option("mysqld", "server_id") or "1"  # 1 is the default
    asked = {int(told)} if told.isascii() and told.isdecimal() else set[int]()
    asked |= {s.server_id for h in facts.hosts if (s := server_of(h)) is not None and s.server_id is not None}
    strange = not found.chain.writers or not asked.issuperset(found.chain.writers)
    ids = ", ".join(map(str, found.chain.writers)) or "not known"
    return Check(
        code="WRITER",
        title="The binary logs are of a server whose filters are known",
        verdict=verdict(strange),
        not_known=strange,
        evidence=f"written by server id {ids}; known are {', '.join(map(str, sorted(asked)))}",
        why="A filter leaves rows out of a transaction, and no number shows it.",
        try_=("Take the binary logs of a member.",) if strange else (),
    )


def _invoked(found: Survey) -> Check:
    """No statement does something else in a replay: a log keeps who did it, mariadb-binlog does not print it.

    Tried on 10.11.18: with Galera an event is enabled on its own server alone, and SLAVESIDE_DISABLED on the others.
    """
    at = [f"{f.invoked} in {f.name}, the first at {f.invoked_at}" for f in found.chain.files if f.invoked]
    return checked(
        "DONE-BY",
        "No statement depends on who does it, and where",
        block=at,
        good="none names the current user, makes a role, or makes or alters an event",
        why="Root replays them: a grant TO CURRENT_USER is root's, a role's first admin is root. An event is enabled "
        "on the node too, and runs twice. Its accounts and events would not be the members'.",
        try_=(
            "Look at them with mariadb-binlog; override this where they do no harm, or are set right afterwards.",
            _SST,
        ),
    )


def _holes(found: Survey) -> Check:
    chain = found.chain
    blocks = chain.missing > MOST_VIEWS or chain.untold > 0
    holes = ", ".join(f"{a + 1}-{b - 1}" for a, b, statements in chain.stretches if b - a - 1 > statements)
    told = f"{chain.missing} seqnos were taken by nothing in the files: {holes}" if chain.missing else ""
    if chain.untold:
        many = f"in {chain.untold + len(chain.stretches)} places seqnos are missing or statements stand"
        told = f"{told}; {many}: more than {MOST_STRETCHES} are not looked up in the members' logs".removeprefix("; ")
    local = (
        f"{chain.local} groups of rows without an Xid (not InnoDB, or sequences) are replayed too"
        if chain.local
        else ""
    )
    return Check(
        code="HOLES",
        title="No seqno is missing in the binary logs",
        verdict=verdict(blocks, chain.missing or chain.local),
        evidence="; ".join(filter(None, (told or "none is missing", local))),
        why="A change of view takes a seqno too; so does what was written with sql_log_bin = 0: that would be lost. "
        "The members' own logs are asked for each before anything is changed. So does each part of a transaction with "
        "streaming replication: that of one still open at the target is in nobody's log, and would be lost.",
        try_=("Take the binary logs of another node, or a newer backup.",) if blocks else (),
        absolute=chain.untold > 0,
    )


def _ist(facts: Facts, joiner: str, found: Survey) -> Check:
    near = [one for one in reaches(facts, joiner, found.backup.seqno) if one.able]
    return checked(
        "IST-REACHES",
        "IST does not reach from the backup itself",
        block=bool(near),
        evidence=f"the backup stands at {found.backup.seqno}; {near[0].told if near else 'nobody caches from there'}",
        why="Where it does, no binary log is needed: the backup alone is restored, and IST brings the rest.",
        try_=("Use rejoin-from-incrementals with this backup alone: it is shorter and safer.",),
    )


def _race(facts: Facts, joiner: str, found: Survey) -> Check:
    chain = found.chain
    needs = until_start_s(found.backup.size, chain.transactions + chain.statements, chain.bytes)
    donors = reaches(facts, joiner, chain.target or 0)
    able = [one for one in donors if one.able]
    best = max((one.left_s for one in able if one.left_s is not None), default=None)
    lost = not able or (best is not None and best <= needs and all(one.left_s is not None for one in able))
    doubtful = max((one.least_s for one in able if one.least_s is not None), default=0.0) <= needs
    blind = not lost and (best is None or best <= needs)
    lasts = "for how long is not known" if best is None else f"for {best:.0f} s"
    lasts = "as long as nothing is written" if best is not None and math.isinf(best) else lasts
    cached = f"cached {lasts}" if able else "nobody caches the target"
    told = "; ".join(one.told for one in donors) or "no member answers"
    return Check(
        code="RACE",
        title="The replay is expected to be faster than the caches purge",
        verdict=verdict(lost, doubtful),
        evidence=f"about {needs:.0f} s to the start; {cached}; {told}",
        why="An estimate: a replay at half of the rates measured on the lab, copies at four fifths. While the replay "
        "runs it is told from its own rate.",
        try_=("Take newer binary logs, or make gcache.size larger.", _SST) if lost else (),
        not_known=blind,
        absolute=not able,
    )


def _disk(facts: Facts, joiner: str, found: Survey) -> Check:
    disk, needed = facts.host(joiner)[DataFolder].disk, disk_needed(found.backup.size, found.chain.bytes)
    short = disk.free is None or disk.free < needed
    free = "not known" if disk.free is None else f"{disk.free / 1e9:.1f} GB"
    return checked(
        "DISK-ROOM",
        f"The data disk of {joiner} has room for the restored data beside the old ones",
        block=short,
        evidence=f"needed {needed / 1e9:.1f} GB (the backup twice, the binary logs twice, 1 GiB), free {free}",
        why="The old data stay where they are, and the backup is copied before it is prepared.",
        try_=("Make room, or let an SST come.",),
        host=joiner,
        absolute=True,
    )
