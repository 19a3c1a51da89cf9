"""The programs of rejoin-from-binlogs on a scripted host: what they leave, and what they refuse to do twice."""

from __future__ import annotations

from services.errors import UserError
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE, TIDY
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey_program import SURVEY
from services.procedures.catalogue.galera.shared.private_programs import (
    END_PRIVATE,
    MARKER,
    POSITION,
    REPLAY,
)
from services.procedures.catalogue.galera.shared.restored_look import LOOK
from tests.faults.scripted.cluster import CLUSTER, ZERO, Host

BACKUP_SEQNO, TARGET = 50, 990
GTID, WHEN = "0-1-985", "261122,6:00:00,1"
BEGUN = 1_795_320_000
"""2026-11-22 04:00:00 UTC: when the server of n1 began the file."""
_FILE = (
    "file mysql-bin.000007 size=900000 version=10.11.18-MariaDB-log list=0-1-40 first=45 below=50 belowend=4000 "
    "above=51 abovefrom=4000 zoneddl=0 zonerows=0 zoneat=1 count=940 last=990 lastend=899000 gtid={gtid} "
    "when={when} endgtid={gtid} headddl=0 tailddl=0 ddl=0 local=0 stmts=0 stmtat=- xa=0 back=0 holes=0 missing=0 "
    "hole=- recent=-,989~261122~6:00:00~1,990~261122~6:00:00~1 by=1 belowof=0-1-45 belowwhen=261122,5:00:00,1 "
    "users=0 userat=- begun=261122,4:00:00 startup=0 "
    "ending=stop reached=900000 odd=0 torn=0 broken=0;"
)
SURVEYED = (
    f"survey: backup uuid={CLUSTER} stands={BACKUP_SEQNO} version=10.11.18-MariaDB-log log=mysql-bin.000007 "
    f"position=4000 kind=full-backuped size=500000000 links=0 oldlinks=0 gtids=0-1-45;"
    f"{_FILE.format(gtid=GTID, when=WHEN)}"
)
PROGRAMS = frozenset({SURVEY, PREPARE, TIDY, REPLAY, POSITION, END_PRIVATE, LOOK})
_MARKER = MARKER


def performed(host: Host, argv: list[str]) -> str:
    """Do what the program does, and return what it prints."""
    text = argv[2]
    if text == SURVEY:
        return host.surveyed or SURVEYED
    if text == END_PRIVATE:
        return ""
    if host.running:
        raise UserError("A server runs.", host=host.name)
    if text == LOOK:
        assert host.has_data
        return "end\nlooked: 9 tables"
    if text == PREPARE:
        return f"prepared: {CLUSTER}:{BACKUP_SEQNO}"
    if text == REPLAY:
        if _MARKER in host.files or host.grastate_uuid or not host.has_data:
            raise UserError("failed: a replay began on these data before", host=host.name)
        host.files[_MARKER] = f"done {TARGET} {GTID} {GTID}\n"
        return f"replayed: {TARGET} {GTID} in 2 s"
    if text == POSITION:
        host.seqno = TARGET
        return f"position: {CLUSTER}:{TARGET}, before {CLUSTER}:{BACKUP_SEQNO}"
    return ""


def uuid_of(host: Host) -> str:
    """Return what InnoDB of replayed data says, which no grastate.dat names yet."""
    return CLUSTER if _MARKER in host.files else ZERO
