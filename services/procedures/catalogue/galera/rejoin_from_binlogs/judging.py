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
    _file(
        "REPLAY-LEFT", "No earlier replay was interrupted", "Data with an incomplete replay are never replayed again."
    ),
    _file(
        "BACKUP-ABSENT",
        "The backup is on the node",
        "The run reads it there; the console copies no backup between hosts.",
    ),
    _file(
        "BINLOGS-ABSENT",
        "The binary logs are on the node",
        "The run reads them there; the console copies no binary log between hosts.",
    ),
    _file("BACKUP-UNREAD", "The backup contains its position", "Without its seqno no replay can follow it."),
    _file("BACKUP-LINKED", "The backup contains all of its files", "A link leads to data outside of it."),
    _file("OLD-LINKED", "The old data folder contains all of its files", "Files outside of it are not kept."),
    _file("BINLOG-UNREAD", "The binary logs can be read", "An unreadable file cannot be replayed."),
    _file(
        "BINLOG-GAP", "The binary logs form one chain", "The changes of a missing file would be missing from the data."
    ),
    _file(
        "BACKUP-POSITION",
        "The backup's place in the binary logs is known",
        "A start too early repeats rows, a start too late omits some.",
    ),
    _file("NO-TARGET", "The binary logs continue after the backup", "Otherwise there is nothing to replay."),
    _file(
        "SERVER-VERSION",
        "Backup, binary logs and server have one version",
        "A replay with another version was not tested.",
    ),
    _file("XID-ORDER", "The Xids increase", "A transaction with wsrep off has a local number, which is not a seqno."),
    _file(
        "STATEMENT-EVENTS",
        "The binary logs contain rows",
        "A statement may have a different effect when it is repeated.",
    ),
    _file(
        "XA",
        "The binary logs contain no XA transactions",
        "Galera does not support XA: they were written with wsrep off.",
    ),
)
"""What the files are judged by, each passed; what speaks against them is put into them."""
_STATEMENTS = (
    "Inspect it with mariadb-binlog --start-position. This includes CREATE TABLE ... SELECT, which creates a table by "
    "a statement inside its transaction. A backup taken after it does not need to replay it."
)
_UNPACK = "Decompress a copy of it (mariadb-backup --decompress --remove-original), and use that."
_OTHER_LOGS_MAY_DO = frozenset({"BACKUP-POSITION", "BINLOG-GAP", "BINLOG-UNREAD", "NO-TARGET"})
_WHOSE = "those of another member, or of the server that the backup was taken from"
_SST = "Bring the node back by SST with add-node."


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
        hold = (
            f"Copy binary logs to {joiner} that contain everything after the backup's {seqno}, and enter their folder"
        )
        more = (f"{hold}: {_WHOSE}, may.", "Or use a newer backup.")
    elif wrong.code in {"BACKUP-ABSENT", "BINLOGS-ABSENT"}:
        more = (f"To copy it there, run as root on the host that has it: {carried(folder, joiner)}",)
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
        return f"the backup is at {backup.seqno}"
    behind = f", the {chain.behind} statements after it arrive by IST" if chain.behind else ""
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
    faults = [f"it is {backup.kind}: it was already prepared, and a server may have been started on it"] if used else []
    packed = backup.kind == PACKED
    faults += [f"it is {backup.kind}, not a full backup"] if backup.kind not in {FULL, PACKED, *PREPARED} else []
    faults += ["it contains compressed or encrypted files"] if packed else []
    other = backup.uuid != facts.cluster_id.lower()
    if backup.uuid != facts.cluster_id.lower():
        faults.append(f"it is from {backup.uuid}, but the cluster is {facts.cluster_id}")
    version = backup.version != program
    if version:
        faults.append(f"its version is {backup.version or 'not known'}, but the server of {joiner} is {program}")
    return Check(
        code="OTHER-UUID"
        if other
        else "SERVER-VERSION-JOINER"
        if version
        else "BACKUP-USED"
        if used
        else "BACKUP-KIND",
        title="The backup is a full, unprepared backup of this cluster and version",
        verdict=verdict(faults),
        evidence="; ".join(faults) or f"{backup.kind}, {backup.uuid}:{backup.seqno}, {backup.version}",
        why="This cluster's transactions cannot be applied to any other backup.",
        try_=(
            *(("Use the original backup again.",) if used else ()),
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
    position = "not known" if newest is None else str(newest)
    return checked(
        "AHEAD",
        "The binary logs do not extend beyond the cluster",
        block=ahead,
        evidence=f"they end at {target}, and the cluster is at {position}",
        why="A higher number is not a seqno of this cluster: it is a transaction with wsrep off, or another history.",
        try_=(_SST,),
        absolute=True,
    )


def _writer(facts: Facts, joiner: str, found: Survey) -> Check:
    """The server whose logs these are is one whose option files were asked for filters (FILTERS)."""
    server_id = facts.host(joiner)[Options].option("mysqld", "server_id") or "1"  # 1 is the default
    asked = {int(server_id)} if server_id.isascii() and server_id.isdecimal() else set[int]()
    asked |= {s.server_id for h in facts.hosts if (s := server_of(h)) is not None and s.server_id is not None}
    strange = not found.chain.writers or not asked.issuperset(found.chain.writers)
    ids = ", ".join(map(str, found.chain.writers)) or "not known"
    return Check(
        code="WRITER",
        title="The filters of the server that wrote the binary logs are known",
        verdict=verdict(strange),
        not_known=strange,
        evidence=f"written by server id {ids}; known are {', '.join(map(str, sorted(asked)))}",
        why="A filter omits rows of a transaction, and no seqno reveals this.",
        try_=("Use the binary logs of a member.",) if strange else (),
    )


def _invoked(found: Survey) -> Check:
    """No statement does something else in a replay: a log keeps who did it, mariadb-binlog does not print it.

    Tried on 10.11.18: with Galera an event is enabled on its own server alone, and SLAVESIDE_DISABLED on the others.
    """
    at = [f"{f.invoked} in {f.name}, the first at {f.invoked_at}" for f in found.chain.files if f.invoked]
    return checked(
        "DONE-BY",
        "No statement depends on the account or the server that runs it",
        block=at,
        good="none refers to the current user, creates a role, or creates or alters an event",
        why="The replay runs as root: a GRANT ... TO CURRENT_USER or a new role then belongs to root. An event is "
        "enabled on the node as well, and runs twice. Accounts and events would differ from the members'.",
        try_=(
            "Inspect them with mariadb-binlog; override this check if they are harmless or corrected afterwards.",
            _SST,
        ),
    )


def _holes(found: Survey) -> Check:
    chain = found.chain
    blocks = chain.missing > MOST_VIEWS or chain.untold > 0
    holes = ", ".join(f"{a + 1}-{b - 1}" for a, b, statements in chain.stretches if b - a - 1 > statements)
    missing = f"{chain.missing} seqnos do not occur in the files: {holes}" if chain.missing else ""
    if chain.untold:
        many = f"in {chain.untold + len(chain.stretches)} places seqnos are missing or statements occur"
        missing = f"{missing}; {many}: more than {MOST_STRETCHES} are not searched in the members' logs".removeprefix(
            "; "
        )
    local = (
        f"{chain.local} groups of rows without an Xid (not InnoDB, or sequences) are also replayed"
        if chain.local
        else ""
    )
    return Check(
        code="HOLES",
        title="No seqno is missing in the binary logs",
        verdict=verdict(blocks, chain.missing or chain.local),
        evidence="; ".join(filter(None, (missing or "none is missing", local))),
        why="A view change also uses a seqno, as does a write with sql_log_bin = 0, which would be lost. The run "
        "searches the members' logs for each before anything is changed. A fragment of streaming replication uses a "
        "seqno as well: the fragments of a transaction still open at the target are in no log and would be lost.",
        try_=("Use the binary logs of another node, or a newer backup.",) if blocks else (),
        absolute=chain.untold > 0,
    )


def _ist(facts: Facts, joiner: str, found: Survey) -> Check:
    near = [one for one in reaches(facts, joiner, found.backup.seqno) if one.able]
    return checked(
        "IST-REACHES",
        "IST is not possible from the backup itself",
        block=bool(near),
        evidence=f"the backup is at {found.backup.seqno}; {near[0].told if near else 'no member caches from there'}",
        why="If it is possible, no binary log is needed: the backup is restored, and IST sends the rest.",
        try_=("Use rejoin-from-incrementals with this backup alone: it is faster and safer.",),
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
    lasts = "for an unknown time" if best is None else f"for {best:.0f} s"
    lasts = "as long as nothing is written" if best is not None and math.isinf(best) else lasts
    cached = f"cached {lasts}" if able else "no member caches the target"
    caches = "; ".join(one.told for one in donors) or "no member answers"
    return Check(
        code="RACE",
        title="The replay is expected to be faster than the caches purge",
        verdict=verdict(lost, doubtful),
        evidence=f"about {needs:.0f} s to the start; {cached}; {caches}",
        why="An estimate: half of the replay rate and four fifths of the copy rate that were measured in the lab. "
        "During the replay the run reports the actual rate.",
        try_=("Use newer binary logs, or increase gcache.size.", _SST) if lost else (),
        not_known=blind,
        absolute=not able,
    )


def _disk(facts: Facts, joiner: str, found: Survey) -> Check:
    disk, needed = facts.host(joiner)[DataFolder].disk, disk_needed(found.backup.size, found.chain.bytes)
    short = disk.free is None or disk.free < needed
    free = "not known" if disk.free is None else f"{disk.free / 1e9:.1f} GB"
    return checked(
        "DISK-ROOM",
        f"The data disk of {joiner} has space for the restored and the old data",
        block=short,
        evidence=f"needed {needed / 1e9:.1f} GB (the backup twice, the binary logs twice, 1 GiB), free {free}",
        why="The old data are kept, and the backup is copied before it is prepared.",
        try_=("Free disk space, or use an SST.",),
        host=joiner,
        absolute=True,
    )
