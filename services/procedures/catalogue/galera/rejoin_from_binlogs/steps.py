"""The steps of rejoin-from-binlogs: survey, then restore a copy, replay, set the position, prove it, join by IST. Pure.

Until the position is proven no grastate.dat names the cluster: a server that is started too early (a host that boots)
could only take an SST, never an IST onto data that are half replayed.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.rejoin_from_binlogs import restore_programs as programs
from services.procedures.catalogue.galera.rejoin_from_binlogs.forecast import COPY_BYTES_S, replay_s
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import Survey, survey_name
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey_program import SURVEY, SURVEYED
from services.procedures.catalogue.galera.shared import private_programs as private
from services.procedures.catalogue.galera.shared.restored_look import looked
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor
from services.procedures.catalogue.steps.restored import restoring
from services.procedures.catalogue.steps.restored.left_alone import marked, until_start, used
from services.procedures.catalogue.steps.restored.recovering import recover
from services.procedures.catalogue.steps.restored.start_hold import hold_start, started_from_hold
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.traffic import held_out, let_in
from services.procedures.conditions.galera.data.restored_whole import RestoredWhole
from services.procedures.conditions.galera.history.chain_known import ChainKnown
from services.procedures.conditions.galera.history.fragments_whole import FragmentsWhole
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.files import FileAbsent, FileSays
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.server.files_paired import FilesPaired
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, RemoveFile, Run, WaitFor
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of, seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.pasts.positions import kept_name

DAY_S = 86_400.0
SURVEY_LIMIT_S = 4 * 3_600.0
PRIVATE_LIMIT_S = 3_600.0
PAST_LIMIT_S, STRETCH_LIMIT_S = 600.0, 60.0
"""A member's log is read for each stretch, for half a minute at most."""
_WITH_FOLDER = "It changes only the folder that the run created, and undo removes that folder."


def work_path(host: HostFacts) -> str:
    """Return where the copy of the backup is prepared: on the data folder's own file system."""
    folder, name = restoring.folder_of(host), ".pilothouse-prepared"
    return posixpath.join(folder, name) if restoring.is_mount(host) else folder + name


def progress_path(target: int) -> str:
    """Return the file in which a replay tells how far it is."""
    return f"/run/pilothouse/replay-{target}.log"


def surveyed(host: HostFacts, values: Inputs) -> tuple[Step, ...]:
    """Return the first part: what the backup and the binary logs hold; it only reads."""
    name = host.host
    words = ("bash", "-c", SURVEY, "pilothouse", values["backup"], values["binlogs"], restoring.folder_of(host))
    look = Step(
        step_id=f"survey-{name}",
        host=name,
        title=f"Read the backup and the binary logs on {name}",
        done=f"The contents of the backup and the binary logs on {name} are known",
        why="Every event is read once, to find the end, the gaps and the events that must not be replayed.",
        action=Detached(Command(words, sudo=True), name=f"survey-{name}", keep=survey_name(name), pattern=SURVEYED),
        risk=Risk.READS,
        limit_s=SURVEY_LIMIT_S,
        repeatable=True,
        estimate_s=30.0,
    )
    rest = steps.plan_the_rest(
        "chain-known", f"Evaluate the files found on {name}", "the start and end of the replay are known only now"
    )
    return comparing.comparable(look, values["donor"], values), rest


def rejoining(facts: Facts, host: HostFacts, values: Inputs, found: Survey, donor: str) -> tuple[Step, ...]:
    """Return the second part. `donor` can send, by IST, what follows the target."""
    name, members = host.host, tuple(m for m in member_hosts(facts) if m != host.host)
    target, accepted = found.chain.target or 0, flag_of(values["past_unknown"]) is True
    donor_name = facts.host(donor).node_name or donor
    identity, state, owner = restoring.made_its_own(host, facts.cluster_id)
    when = found.chain.when or ("", "", 0)
    history = RestoredHistory(
        name, members, facts.cluster_id, restoring.folder_of(host), target, recovered=Kept(kept_name(name)),
        gtid=found.chain.gtid, accepted=accepted, server=when[2], time=f"{when[0]} {when[1]}",
    )  # fmt: skip
    whole = (
        RestoredWhole(name, restoring.folder_of(host), restoring.aside_path(host), private.MARKER, facts.cluster_id),
        until_start(host),
    )
    start = restoring.start_by_ist(facts, host, history, limit_s=4 * 3_600.0, estimate_s=60.0)
    start = replace(start, before=(*start.before, IstReaches(name, (donor,), facts.cluster_id, target)))
    start = started_from_hold(start, host, restoring.folder_of(host), whole)
    fragments = _fragments_whole(host, start.step_id)
    return (
        _pasts_known(facts, host, values, found, donor),
        steps.restart_off(host),
        hold_start(host, restoring.folder_of(host), whole),
        *held_out(facts, host, restoring.aside_path(host)),
        *_kept_aside(facts, host, members),
        _prepared(host, values, found),
        restoring.copied_back(
            host, _tool(host), work_path(host), found.backup.size, found.backup.size / COPY_BYTES_S + 1.0
        ),
        _tidied(host, found),
        identity,
        marked(host, owner),
        _noted(host),
        used(host, _replayed(facts, host, members, values, found), owner.step_id),
        used(host, _positioned(facts, host, found), f"replay-{name}"),
        _no_private(host),
        used(host, replace(recover(host), goes_with=f"new-data-{name}"), f"set-position-{name}"),
        restoring.position_proven(host, facts.cluster_id, target),
        *looked(host, donor),
        _unmarked(host),
        state,
        name_donor(host, donor_name),
        start,
        steps.prove_transfer(host, "IST", "", start.step_id),
        fragments,
        *comparing.compared(name, donor, values, members),
        *let_in(facts, host, restoring.aside_path(host)),
        forget_donor(host, donor_name),
        steps.restart_on(host),
        steps.queue_settled(host, seconds_of(values["settle"]) or 0.0),
        replace(fragments, step_id=f"{fragments.step_id}-again"),  # of one that ended while rows were compared
        steps.whole_again(facts, tuple(sorted({*members, name}))),
    )


def _fragments_whole(host: HostFacts, start_step: str) -> Step:
    name = host.host
    return Step(
        step_id=f"fragments-{name}",
        host=name,
        title=f"Verify in the log of {name} that no transaction arrived without its beginning",
        done=f"No transaction arrived on {name} without its beginning",
        why="With streaming replication (wsrep_trx_fragment_size) a binary log records a transaction only at its end: "
        "one that was open at the target is not in the replay, and IST sends only its rest, which is skipped.",
        action=WaitFor((FragmentsWhole(name, steps.unit_of(host), start_step),), f"the log of {name}"),
        risk=Risk.READS,
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )


def _tool(host: HostFacts) -> str:
    return "mariadb-backup" if "mariadb-backup" in host[Tools].there else "mariabackup"


def _pasts_known(facts: Facts, host: HostFacts, values: Inputs, found: Survey, donor: str) -> Step:
    chain, accepted = found.chain, flag_of(values["past_unknown"]) is True
    members = tuple(m for m in member_hosts(facts) if m != host.host)
    known = ChainKnown(members, host.host, chain.gtid, chain.recent, chain.stretches, chain.writers, accepted)
    own = _backup_past(facts, host, members, found, accepted=accepted)
    paired = FilesPaired(
        host.host, (values["backup"].rstrip("/"),), donor, restoring.folder_of(facts.host(donor))
    )  # fmt: skip
    return Step(
        step_id=f"past-{host.host}",
        host="",
        title="Verify that the backup's files are complete, and from the members' binary logs that backup and files "
        "belong to their history, with nothing missing",
        done="The backup is complete and, like the binary logs, belongs to the members' history",
        why="An equal UUID and seqno prove nothing: both sides of a fork have them. Nothing is changed before this "
        "is known for the backup as well.",
        action=WaitFor((paired, own, known), "the backup's files, and the members' binary logs"),
        risk=Risk.READS,
        limit_s=PAST_LIMIT_S + STRETCH_LIMIT_S * len(chain.stretches),
        repeatable=True,
        estimate_s=5.0 + len(chain.stretches),
    )


def _backup_past(
    facts: Facts, host: HostFacts, members: tuple[str, ...], found: Survey, *, accepted: bool
) -> RestoredHistory:
    """Return that the last change which the backup holds is the members' at its seqno: a backup may be of a fork too.

    Nodes count GTIDs differently: where the files have the backup's own GTID, server and time of that transaction are
    laid beside the members'. Not where it names several domains: then its last change may be another one. Elsewhere the
    members' change must not be younger than the binary log that was begun for the backup.
    """
    backup, own = found.backup, found.chain.own
    led = own is not None and own[1] == backup.gtid
    at, server, time = (own[0], own[2], own[3]) if own is not None and led else (backup.seqno, 0, "")
    return RestoredHistory(
        host.host, members, facts.cluster_id, "", at, gtid=backup.gtid, accepted=accepted,
        old_log=restoring.old_log(host, kept=False), server=server, time=time, until="" if time else backup.since,
        listed=backup.listed, way=restoring.PAST_WAY.format("past_unknown = yes"),
    )  # fmt: skip


def _kept_aside(facts: Facts, host: HostFacts, members: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the steps that keep the old data, begun only while the others are whole without this node."""
    first, *rest = restoring.keep_aside(host)
    whole = ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id)
    return (replace(first, before=(*first.before, whole)), *rest)


def _prepared(host: HostFacts, values: Inputs, found: Survey) -> Step:
    name, work, backup = host.host, work_path(host), found.backup
    words = ("bash", "-c", programs.PREPARE, "pilothouse", values["backup"], work, _tool(host),
             f"{backup.uuid}:{backup.seqno}")  # fmt: skip
    away = Run(Command(("bash", "-c", programs.REMOVE_COPY, "pilothouse", work), sudo=True))
    return Step(
        step_id=f"prepare-{name}",
        host=name,
        title=f"Copy the backup to {work} of {name}, and prepare the copy",
        done=f"A copy of the backup is prepared on {name}",
        why="Preparing changes the files: the backup itself stays unchanged.",
        action=Detached(
            Command(words, sudo=True), name=f"prepare-{name}", keep=f"prepared-{name}", pattern=programs.PREPARED,
            grows=f"{work}.part", total=backup.size,
        ),
        before=(Stopped(name, steps.unit_of(host)), FileAbsent(name, work)),
        limit_s=DAY_S,
        undo=Undo(f"Remove the copy of the backup from {name}", away, (FileAbsent(name, work),), limit_s=600.0),
        estimate_s=2 * backup.size / COPY_BYTES_S + 2.0,
    )  # fmt: skip


def _tidied(host: HostFacts, found: Survey) -> Step:
    name, folder, work = host.host, restoring.folder_of(host), work_path(host)
    base = found.backup.file.rpartition(".")[0]
    return Step(
        step_id=f"tidy-{name}",
        host=name,
        title=f"Remove the prepared copy, and the backup's metadata from {folder} of {name}",
        done=f"{folder} of {name} contains only the restored data",
        why=_WITH_FOLDER,
        action=Run(Command(("bash", "-c", programs.TIDY, "pilothouse", folder, work, base), sudo=True)),
        before=(Stopped(name, steps.unit_of(host)),),
        proof=(FileAbsent(name, work),),
        limit_s=600.0,
        repeatable=True,
        goes_with=f"new-data-{name}",
        estimate_s=2.0,
    )


def _state(host: HostFacts) -> str:
    return posixpath.join(restoring.folder_of(host), "grastate.dat")


def _private(host: HostFacts) -> Temporary:
    """Return the private server, which ends with its work; a way out in the middle ends both."""
    name = host.host
    end = Run(Command(("bash", "-c", private.END_PRIVATE, "pilothouse"), sudo=True))
    return Temporary(
        key=f"private:{name}",
        host=name,
        sentence=f"a private server may be running on the restored data of {name}",
        danger=f"it uses the data folder of {name}",
        release=end,
        released=(Stopped(name, steps.unit_of(host)), FileAbsent(name, private.PRIVATE)),
    )


def _no_private(host: HostFacts) -> Step:
    name = host.host
    title = f"Make sure that no private server runs on {name}"
    return _private(host).off(f"no-private-{name}", title, f"No private server runs on {name}", 1.0)


def _noted(host: HostFacts) -> Step:
    """Return the step whose undo takes the replay's mark away: behind the replay's own, before that of its data."""
    name = host.host
    folder = Command(("install", "-d", "-m", "0700", "-o", "root", "-g", "root", "--", private.STATE), sudo=True)
    return Step(
        step_id=f"notes-{name}",
        host=name,
        title=f"Create {private.STATE} on {name}, accessible to root only, for the mark of the replay",
        done=f"The replay on {name} can be recorded where only root can write",
        action=Run(folder),
        before=(FileAbsent(name, private.MARKER),),
        proof=(OwnedBy(name, private.STATE, 0),),
        undo=Undo(
            f"Remove the mark of the replay from {name}",
            RemoveFile(private.MARKER),
            (FileAbsent(name, private.MARKER),),
        ),
        repeatable=True,
        estimate_s=0.5,
    )


def _replayed(facts: Facts, host: HostFacts, members: tuple[str, ...], values: Inputs, found: Survey) -> Step:
    name, chain, folder = host.host, found.chain, restoring.folder_of(host)
    target = chain.target or 0
    # The joiner's own binary logs were moved with the old data.
    logs = restoring.aside_path(host) if values["binlogs"].rstrip("/") == folder else values["binlogs"]
    many = chain.transactions + chain.statements
    words = ("bash", "-c", private.REPLAY, "pilothouse", folder, logs, str(chain.start), str(chain.stop), chain.gtid,
             str(target), str(many), progress_path(target), steps.unit_of(host),
             *(f"{file.name}:{file.size}" for file in chain.files))  # fmt: skip
    step = Step(
        step_id=f"replay-{name}",
        host=name,
        title=f"Replay {many} transactions up to Xid {target} into the restored data of {name} with a private server",
        done=f"The restored data of {name} contain everything up to Xid {target}",
        why="It succeeds only if both programs succeed and the server is at the planned GTID; an interrupted replay is "
        f"never continued. {_WITH_FOLDER}",
        action=Detached(
            Command(words, sudo=True), name=f"replay-{name}", keep=f"replayed-{name}", pattern=private.REPLAYED
        ),
        before=(
            Stopped(name, steps.unit_of(host)),
            FileAbsent(name, private.MARKER),
            FileAbsent(name, _state(host)),
            IstReaches(name, members, facts.cluster_id, target),
        ),
        proof=(FileSays(name, private.MARKER, rf"^done {target} {chain.gtid} "),),
        limit_s=DAY_S,
        estimate_s=replay_s(many, chain.bytes),
    )
    return _private(host).on(step, f"End the private server of {name} and the replay", limit_s=900.0)


def _positioned(facts: Facts, host: HostFacts, found: Survey) -> Step:
    name, chain = host.host, found.chain
    words = ("bash", "-c", private.POSITION, "pilothouse", restoring.folder_of(host), facts.cluster_id,
             str(found.backup.seqno), str(chain.target), chain.gtid, steps.unit_of(host))  # fmt: skip
    return Step(
        step_id=f"set-position-{name}",
        host=name,
        title=f"Set the InnoDB position of {name} from {found.backup.seqno} to {chain.target} with a private server",
        done=f"InnoDB of {name} is at {chain.target}",
        why="Galera 4 reads the position from InnoDB: a seqno in grastate.dat alone makes the IST fail. The statement "
        f"reports ERROR 1231 but takes effect; wsrep_se_checkpoint confirms it. {_WITH_FOLDER}",
        action=Detached(
            Command(words, sudo=True), name=f"set-position-{name}", keep=f"position-set-{name}",
            pattern=private.POSITIONED,
        ),
        before=(
            Stopped(name, steps.unit_of(host)),
            FileSays(name, private.MARKER, rf"^done {chain.target} {chain.gtid} "),
        ),
        limit_s=PRIVATE_LIMIT_S,
        repeatable=True,
        goes_with=f"new-data-{name}",
        estimate_s=10.0,
    )  # fmt: skip


def _unmarked(host: HostFacts) -> Step:
    name, path = host.host, private.MARKER
    return Step(
        step_id=f"unmark-{name}",
        host=name,
        title=f"Remove the mark of the replay from {name}",
        done=f"The mark of the replay is removed from {name}",
        why="It is no longer needed: the position is verified. Undo restores the data themselves.",
        action=RemoveFile(path),
        proof=(FileAbsent(name, path),),
        repeatable=True,
        goes_with=f"notes-{name}",
        estimate_s=0.5,
    )
