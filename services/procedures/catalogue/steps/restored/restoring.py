"""Steps that put other data into a stopped node's data folder and let it join with them by IST. All pure.

The old data folder is kept aside by a rename within its file system, and never removed by a run; undo moves it back.
Its name and its place are told at the end. grastate.dat gets the UUID and -1: the server then takes what InnoDB vouches
for; a number that is not its data's ends in the middle of an IST (tried, MariaDB 10.11 with Galera 26.4).

A data folder that is the top of a file system can't be renamed (rename(2), EBUSY): its content is moved into a folder
inside it that belongs to root. Tried on MariaDB 10.11.18: the server starts beside it; a name that begins with #sql is
in no list of schemas, in no error of one, in no mariadb-check, mariadb-upgrade or dump, and in no backup; an SST by
mariabackup, whose script runs as mysql, passes over a name that ends with .sst and can't remove what is root's; with
another name it fails there, having removed the rest. An SST by rsync fails beside any (rsync --delete): the check says
so. MySQL 9.7.4 lists none and reads none that is root's or begins with a dot; of another it finds each tablespace
twice and does not start. Percona's server was not to be had: there a folder inside is refused.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.connections.programs.folder_programs import OWN_PLACE
from services.facts.binlog.files import index_of
from services.facts.galera.state_files import KEPT
from services.facts.reads import DEFAULT_DATADIR
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.restored import data_folders
from services.procedures.catalogue.steps.restored import restoring_programs as programs
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.conditions.galera.data.restored_whole import RestoredWhole
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.files import FileAbsent, FileSays
from services.procedures.conditions.machine.nothing_left import NothingLeft
from services.procedures.conditions.machine.only_kept import OnlyKept
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, PutFile, Run, Several, WaitFor
from services.procedures.plan.checks import Check
from services.procedures.plan.condition import Kept, Number
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.galera.data_folder import ASIDE, INSIDE, DataFolder
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.pasts.positions import kept_name

PACKED_AWAY_LIMIT_S = 600.0
COPY_LIMIT_S = 86_400.0
ENDS_S = 900.0
"""So long an undo waits for a server that recovers its position, or stops."""
_UNDONE_WITH_FOLDER = "It changes only the folder that the run created, and undo removes that folder."

PAST_WAY = (
    "If the last change in the backup never reached the others (wsrep_on = OFF, a table outside of InnoDB), no member "
    "can confirm it: use a newer backup, made after a change that all have; or start again with {} if you know that "
    "this backup is from this cluster; or bring the node back by SST with add-node"
)


def folder_of(host: HostFacts) -> str:
    """Return the data folder."""
    return (host[DataFolder].path or DEFAULT_DATADIR).rstrip("/")


def is_mount(host: HostFacts) -> bool:
    """Return whether the data folder is the top of a file system."""
    return host[DataFolder].disk.mount.rstrip("/") == folder_of(host)


def aside_path(host: HostFacts) -> str:
    """Return where the old data are kept: beside the data folder, inside it where that can't be renamed."""
    folder = folder_of(host)
    return posixpath.join(folder, INSIDE) if is_mount(host) else folder + ASIDE


def old_log(host: HostFacts, *, kept: bool) -> str:
    """Return where the index of the binary log of the old data lies: in place, or `kept` aside; '' = not known."""
    given = host[Options].option("mysqld", "log_bin_index") or index_of(host[Options].option("mysqld", "log_bin") or "")
    if not given:
        return ""
    plain = posixpath.normpath(posixpath.join(folder_of(host), given))
    inside = plain.startswith(f"{folder_of(host)}/")
    return posixpath.join(aside_path(host), posixpath.relpath(plain, folder_of(host))) if kept and inside else plain


def _account(host: HostFacts) -> str:
    """Return whose the data folder is, a user's number, mysql where that is not known."""
    return str(host[DataFolder].owner or "mysql")


def is_mariadb(host: HostFacts) -> bool:
    """Return whether the installed server program is MariaDB's."""
    return "MariaDB" in host[Program].text or "mariadb" in steps.unit_of(host)


def aside_possible(host: HostFacts) -> Check:
    """The old data can be kept: no older ones lie there, and the server starts beside what is kept inside."""
    name, path = host.host, aside_path(host)
    left = [f"{path} or a similar folder already exists"] if any(p.code in KEPT for p in host.problems) else []
    inside = is_mount(host) and not is_mariadb(host)
    untested = f"{folder_of(host)} is a mount point, and old data inside it were never tested with this server"
    blocks = [*left, *([untested] if inside else [])]
    warns = [f"the SST method is rsync, which fails on {name} while {path} exists"] if _by_rsync(host) else []
    way = "moved to a folder inside it, because it is a mount point" if is_mount(host) else "renamed"
    return Check(
        code="ASIDE",
        title=f"The old data of {name} can be kept",
        verdict=verdict(blocks, warns),
        evidence="; ".join(blocks) or "; ".join([f"{folder_of(host)} is kept as {path}: {way}", *warns]),
        why="A run never removes the old data; undo moves them back. They may contain rows that no other node has.",
        try_=(
            *((f"Remove or rename the data that an earlier run kept on {name}.",) if left else ()),
            *((f"Move the data of {name} to a subfolder of that file system.",) if inside else ()),
            *(("Set wsrep_sst_method = mariabackup, or move it to another disk once you are sure.",) if warns else ()),
        ),
        host=name,
        absolute=bool(blocks),
    )


def _by_rsync(host: HostFacts) -> bool:
    """Return whether an SST to a host that keeps old data inside its data folder would come by rsync."""
    given = [value for _, option, value in host[Options].given if option == "wsrep_sst_method"]
    default = ["rsync"] if host[Options].known else []  # MariaDB's own
    return is_mount(host) and is_mariadb(host) and [*default, *given][-1:] == ["rsync"]


# -- the folder --------------------------------------------------------------------------------------------------------


def keep_aside(host: HostFacts) -> tuple[Step, ...]:
    """Keep the old data, and make an empty data folder in their place."""
    return (_kept_inside(host), _emptied(host)) if is_mount(host) else (_renamed(host), _new_folder(host))


def _renamed(host: HostFacts) -> Step:
    name, folder, aside = host.host, folder_of(host), aside_path(host)
    return Step(
        step_id=f"keep-data-{name}",
        host=name,
        title=f"Keep the old data folder of {name} as {aside}",
        done=f"The old data folder of {name} is kept as {aside}",
        why="It is kept until you remove it; undo restores it.",
        action=Several(
            (
                _program(OWN_PLACE, posixpath.dirname(folder)),
                data_folders.renamed(host, folder, aside),
            )
        ),
        before=(FileAbsent(name, aside), Stopped(name, steps.unit_of(host))),
        proof=(FileAbsent(name, folder),),
        undo=Undo(
            f"Restore the old data folder of {name}",
            data_folders.renamed(host, aside, folder),
            (FileAbsent(name, aside),),
            before=(FileAbsent(name, folder),),
            waits=(Stopped(name, steps.unit_of(host)),),
            waits_s=ENDS_S,
        ),
        repeatable=True,
        estimate_s=1.0,
    )


def _new_folder(host: HostFacts) -> Step:
    name, folder, aside = host.host, folder_of(host), aside_path(host)
    came = f"{folder}.pilothouse-restored"
    return Step(
        step_id=f"new-data-{name}",
        host=name,
        title=f"Create an empty data folder on {name}",
        done=f"{name} has an empty data folder",
        action=_program(programs.MAKE_CLOSED, folder),
        before=(Stopped(name, steps.unit_of(host)),),
        proof=(FileAbsent(name, posixpath.join(folder, "ibdata1")),),
        undo=Undo(
            f"Remove the files that the run wrote to the data folder of {name}",
            data_folders.put_away(host, aside, came),
            (FileAbsent(name, folder),),
            limit_s=PACKED_AWAY_LIMIT_S,
            leaves=(NothingLeft(name, came),),
            waits=(Stopped(name, steps.unit_of(host)),),
            waits_s=ENDS_S,
        ),
        repeatable=True,
        estimate_s=1.0,
    )


def _kept_inside(host: HostFacts) -> Step:
    name, folder, aside = host.host, folder_of(host), aside_path(host)
    return Step(
        step_id=f"keep-data-{name}",
        host=name,
        title=f"Keep the old data of {name} in {aside}",
        done=f"The old data of {name} are kept in {aside}",
        why=f"{folder} is a mount point and cannot be renamed. The old data are kept until you remove them.",
        action=_program(programs.KEEP_INSIDE, folder, aside, _account(host)),
        before=(FileAbsent(name, aside), Stopped(name, steps.unit_of(host))),
        proof=(OnlyKept(name, folder, aside),),
        limit_s=120.0,
        undo=Undo(
            f"Move the old data of {name} back out of {aside}",
            _program(programs.BACK_FROM_INSIDE, folder, aside, _account(host)),
            (
                FileAbsent(name, aside),
                FileAbsent(name, f"{aside}.part"),
                OwnedBy(name, folder, host[DataFolder].owner or None),
            ),
            limit_s=120.0,
            waits=(Stopped(name, steps.unit_of(host)),),
            waits_s=ENDS_S,
        ),
        repeatable=True,
        estimate_s=1.0,
    )


def _emptied(host: HostFacts) -> Step:
    name, folder, aside = host.host, folder_of(host), aside_path(host)
    return Step(
        step_id=f"new-data-{name}",
        host=name,
        title=f"Give the data folder of {name} to root until the data are restored",
        done=f"{name} has an empty data folder",
        action=data_folders.taken(host),
        before=(Stopped(name, steps.unit_of(host)), OnlyKept(name, folder, aside)),
        proof=(FileAbsent(name, posixpath.join(folder, "ibdata1")),),
        undo=Undo(
            f"Remove the files that the run wrote to the data folder of {name}",
            _program(programs.EMPTY_BESIDE, folder, aside, _account(host)),
            (OnlyKept(name, folder, aside),),
            limit_s=PACKED_AWAY_LIMIT_S,
            leaves=(NothingLeft(name, folder),),
            waits=(Stopped(name, steps.unit_of(host)),),
            waits_s=ENDS_S,
        ),
        repeatable=True,
        estimate_s=1.0,
    )


def copied_back(host: HostFacts, program: str, prepared: str, total: int, seconds: float) -> Step:
    """Copy a prepared backup into the empty data folder.

    Args:
        program: 'mariadb-backup' or 'xtrabackup'; prepared: its folder; total: its bytes; seconds: an estimate.
    """
    name, folder = host.host, folder_of(host)
    beside = ("--force-non-empty-directories",) if is_mount(host) else ()  # no file is overwritten: all were moved
    # Files go to the data folder alone, whatever the option files say by now: it may remove a redo log where it writes.
    places = ["innodb-log-group-home-dir", "innodb-data-home-dir", "innodb-undo-directory"]
    places += ["aria-log-dir-path"] if is_mariadb(host) else []
    words = (
        "bash", "-c", programs.COPY_BACK, "pilothouse", folder, aside_path(host),
        program, "--no-defaults", "--copy-back", f"--target-dir={prepared}", f"--datadir={folder}",
        *(f"--{place}={folder}" for place in places), *beside,
    )  # fmt: skip
    return Step(
        step_id=f"copy-back-{name}",
        host=name,
        title=f"Copy the prepared backup into {folder} of {name}",
        done=f"The prepared backup is in {folder} of {name}",
        why="Undo removes the copied files with the folder that the run created.",
        action=Detached(
            Command(words, sudo=True), name=f"copy-back-{name}", keep=f"copied-back-{name}",
            pattern=programs.COPIED_BACK, grows=folder, total=total,
            apart=aside_path(host) if is_mount(host) else "",
        ),
        before=(Stopped(name, steps.unit_of(host)), FileAbsent(name, posixpath.join(folder, "ibdata1"))),
        limit_s=COPY_LIMIT_S,
        goes_with=f"new-data-{name}",
        estimate_s=seconds,
    )  # fmt: skip


# -- whose data they are -----------------------------------------------------------------------------------------------


def made_its_own(host: HostFacts, state_uuid: str) -> tuple[Step, ...]:
    """Give the folder to the server, take another server's identity out of it, and name the cluster in grastate.dat."""
    name, folder = host.host, folder_of(host)
    state = posixpath.join(folder, "grastate.dat")
    text = (
        "# GALERA saved state\nversion: 2.1\n",
        f"uuid:    {state_uuid}\nseqno:   -1\nsafe_to_bootstrap: 0\n",
    )
    gone = ("auto.cnf", "galera.cache", "gvwstate.dat")
    stopped = Stopped(name, steps.unit_of(host))
    owner = host[DataFolder].owner
    return (
        Step(
            step_id=f"identity-{name}",
            host=name,
            title=f"Remove the files that identify another server from {folder} of {name}",
            done=f"No file in {folder} of {name} identifies another server",
            why=f"The UUID, cache, view and replication channels belong to another server. {_UNDONE_WITH_FOLDER}",
            action=data_folders.without_identity(host),
            before=(stopped,),
            proof=tuple(FileAbsent(name, posixpath.join(folder, one)) for one in gone),
            repeatable=True,
            goes_with=f"new-data-{name}",
            estimate_s=1.0,
        ),
        Step(
            step_id=f"state-{name}",
            host=name,
            title=f"Write the cluster's UUID with seqno -1 to grastate.dat of {name}",
            done=f"grastate.dat of {name} contains the cluster's UUID",
            why=f"With seqno -1 the server uses the position that InnoDB has recorded. {_UNDONE_WITH_FOLDER}",
            action=PutFile(state, text, mode="0660", owner="mysql:mysql"),
            before=(stopped,),
            proof=(FileSays(name, state, rf"^uuid:\s+{state_uuid}$"), FileSays(name, state, r"^seqno:\s+-1$")),
            repeatable=True,
            goes_with=f"new-data-{name}",
            estimate_s=0.5,
        ),
        Step(
            step_id=f"owner-{name}",
            host=name,
            title=f"Give {folder} of {name} to its server's account",
            done=f"{folder} of {name} belongs to its server's account",
            why=_UNDONE_WITH_FOLDER,
            action=_program(programs.GIVE_TO_SERVER, folder, aside_path(host), _account(host)),
            before=(stopped,),
            proof=(
                OwnedBy(name, posixpath.join(folder, "ibdata1"), owner or None),
                OwnedBy(name, folder, owner or None),
            ),
            limit_s=300.0,
            repeatable=True,
            goes_with=f"new-data-{name}",
            estimate_s=2.0,
        ),
    )


def position_proven(host: HostFacts, state_uuid: str, seqno: Number, prefix: str = "") -> Step:
    """Hold the position that the server recovered (`recovering.recover`) against what the restored data should have."""
    name = host.host
    right = RecoveredIs(name, state_uuid, seqno, Kept(kept_name(name, prefix)))
    return Step(
        step_id=f"{prefix}position-{name}",
        host=name,
        title=f"Verify that the data of {name} are at the expected position",
        done=f"The data of {name} are at the expected position",
        action=WaitFor((right,), f"the recovered position of {name}"),
        risk=Risk.READS,
        limit_s=10.0,
        repeatable=True,
        estimate_s=0.5,
    )


def right_data(host: HostFacts, state_uuid: str, seqno: Number) -> RestoredWhole:
    """Return what must be shown before a start is let go: old data in place, or others whose position was right."""
    name, recovered = host.host, Kept(kept_name(host.host))
    return RestoredWhole(name, folder_of(host), aside_path(host), "", state_uuid, recovered, seqno)


# -- the start ---------------------------------------------------------------------------------------------------------


def start_by_ist(
    facts: Facts,
    host: HostFacts,
    history: RestoredHistory,
    *,
    limit_s: float,
    estimate_s: float,
    prefix: str = "",
) -> Step:
    """Start the node, only while a Synced member still caches all that its data lack: else an SST would erase them.

    The reach and the past are read right before the act; which transfer came is proven by `server.prove_transfer`.
    """
    started = steps.start_node(
        facts,
        host,
        history,
        limit_s=limit_s,
        prefix=prefix,
        estimate_s=estimate_s,
        before_undo=(StillPrimary(history.hosts, 1, facts.cluster_id),),
    )
    reach = IstReaches(host.host, history.hosts, facts.cluster_id, history.stopped_at)
    recovered = history.recovered or Kept(kept_name(host.host, prefix))
    right = RecoveredIs(host.host, facts.cluster_id, history.stopped_at, recovered)
    return replace(started, before=(*started.before, right, reach), already=())


def _program(text: str, *words: str) -> Run:
    return Run(Command(("bash", "-c", text, "pilothouse", *words), sudo=True))
