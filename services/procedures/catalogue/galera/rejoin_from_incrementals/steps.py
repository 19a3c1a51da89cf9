"""The steps of rejoin-from-incrementals: copies, prepares, the data put in place, the start by IST. All pure."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.facts.backup.backups import Backup
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.rejoin_from_incrementals.backup_checks import TOOL
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.catalogue.galera.rejoin_from_incrementals.forecast import Times, times
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import (
    CLEAR_COPIES,
    COPY_CHAIN,
    PREPARE_ONCE,
)
from services.procedures.catalogue.galera.shared.restored_look import looked
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor
from services.procedures.catalogue.steps.restored import recovering, restoring
from services.procedures.catalogue.steps.restored.left_alone import marked, until_start, used
from services.procedures.catalogue.steps.restored.start_hold import hold_start, started_from_hold
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.traffic import held_out, let_in
from services.procedures.catalogue.steps.watches import disk, flow_control
from services.procedures.conditions.galera.data.backup_is import BackupIs, PreparedTo
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.conditions.galera.history.restored import RestoredHistory
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.server.files_paired import FilesPaired
from services.procedures.plan.actions import Detached, Run, WaitFor
from services.procedures.plan.condition import Condition, Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import bytes_of, hosts_of, seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.last_look import looked_again
from services.procedures.plan.model import Chart, Plan, Risk, Step, WatchRule
from services.procedures.plan.parts.machine.volumes import Volumes

WORK_LIMIT_S, CLEAR_LIMIT_S = 86_400.0, 600.0
LEAST_FREE = 2**29
_PREPARED = (
    r"(?s)\A(?!.*could not be opened: Error)"
    r".*Recovered WSREP position: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+)"
    r"(?!.*Recovered WSREP position).*completed OK!\s*\Z"
)
"""The position that InnoDB itself told last, and the tool's last word: a prepare that ended otherwise has no match, nor
one that could not open an Aria table, whose rows are lost then (restore_programs.py)."""


def work_folder(joiner: str, scratch: str) -> str:
    """Return the folder of the run's own copies."""
    return posixpath.join(scratch.rstrip("/") or "/", f"pilothouse-restore-{joiner}")


def rejoin_plan(facts: Facts, values: Inputs, chain: Chain) -> Plan:
    """Return the plan; without steps for a host that is a full member already."""
    joiner, members = values["joiner"], member_hosts(facts)
    last = chain.last
    empty = joiner in members or last is None
    found = () if empty else _steps(facts, values, chain)
    at = last.position if last is not None else "no position"
    return Plan(
        procedure="rejoin-from-incrementals",
        title=f"Bring {joiner} back from its backups",
        summary=f"{len(chain.backups)} backups are prepared and restored at {at}, and {joiner} gets the rest by IST.",
        cluster_id=facts.cluster_id,
        cluster_name=facts.cluster_name,
        hosts=tuple(dict.fromkeys((*members, joiner))),
        quorums=(tuple(dict.fromkeys((*members, joiner))),),
        inputs=tuple(values.items()),
        steps=looked_again(found),
        watches=() if empty else _watches(facts, values),
        charts=(Chart("galera.recv_queue", joiner, f"Receive queue of {joiner}"),),
        expects=(
            f"{joiner} is Synced and joined by IST from seqno {(last.seqno or 0) + 1 if last is not None else 0} on.",
            f"Its old data are kept in {restoring.aside_path(facts.host(joiner))} until you remove them.",
        ),
    )


def _steps(facts: Facts, values: Inputs, chain: Chain) -> tuple[Step, ...]:
    host, donor = facts.host(values["joiner"]), facts.host(values["donor"])
    donor_name, name, last = donor.node_name or donor.host, host.host, chain.backups[-1]
    work, folder = work_folder(name, values["scratch"]), restoring.folder_of(host)
    estimate, others = times(facts, name, chain), tuple(m for m in member_hosts(facts) if m != name)
    past = _past(facts, values, chain)
    copies = _scratch(host, work)
    reach = IstReaches(name, others, facts.cluster_id, last.seqno or 0)
    kept, *rest = restoring.keep_aside(host)
    *its_own, owner = restoring.made_its_own(host, facts.cluster_id)
    placed = (
        *rest,
        restoring.copied_back(host, TOOL, posixpath.join(work, "0"), chain.size or 0, estimate.back),
        *its_own,
        marked(host, owner),
    )
    right = (restoring.right_data(host, facts.cluster_id, last.seqno or 0), until_start(host))
    start = started_from_hold(_start(facts, host, past, estimate), host, folder, right)
    return (
        comparing.comparable(_history(facts, values, past, chain), donor.host, values),
        steps.restart_off(host),
        _down(host),
        copies.on(
            _copied(host, work, chain, estimate), f"Remove the copies in {work} on {name}", limit_s=CLEAR_LIMIT_S
        ),
        *_prepares(host, work, chain, estimate, values),
        hold_start(host, folder, right),
        *held_out(facts, host, restoring.aside_path(host)),
        replace(kept, before=(*kept.before, reach)),
        *placed,
        used(host, replace(recovering.recover(host), goes_with=f"new-data-{name}"), owner.step_id),
        restoring.position_proven(host, facts.cluster_id, last.seqno or 0),
        *looked(host, donor.host),
        name_donor(host, donor_name),
        start,
        steps.prove_transfer(host, "IST", "", start.step_id),
        *comparing.compared(name, donor.host, values, others),
        *let_in(facts, host, restoring.aside_path(host)),
        forget_donor(host, donor_name),
        steps.restart_on(host),
        replace(
            copies.off(f"clear-copies-{name}", f"Remove the copies in {work} on {name}", "The copies are removed", 5.0),
            limit_s=CLEAR_LIMIT_S,
            final=True,
        ),
        steps.queue_settled(host, seconds_of(values["settle"]) or 0.0),
        steps.whole_again(facts, tuple(sorted({*others, name}))),
    )


def _past(facts: Facts, values: Inputs, chain: Chain) -> RestoredHistory:
    """Return what must hold of the restored data's past; where the data are in place grastate.dat is looked at too.

    Only the binary log that a backup brought tells its last change, and until when it can have been written: its info
    has the last one that its own server wrote (gtid_current_pos), which may be another.
    """
    joiner, last = values["joiner"], chain.backups[-1]
    others = tuple(name for name in member_hosts(facts) if name != joiner)
    accepted = joiner in hosts_of(values.get("unknown_history", ""))
    host = facts.host(joiner)
    return RestoredHistory(
        joiner, others, facts.cluster_id, restoring.folder_of(host), last.seqno or 0,
        gtid=last.gtid if last.since else "", until=last.since, old_log=restoring.old_log(host, kept=True),
        accepted=accepted, listed=last.listed if last.since else "",
        way=restoring.PAST_WAY.format(f"unknown_history = {joiner}"),
    )  # fmt: skip


def _history(facts: Facts, values: Inputs, past: RestoredHistory, chain: Chain) -> Step:
    """Compare pasts before anything is touched: the same is read again right before the start."""
    joiner = values["joiner"]
    reach = IstReaches(joiner, past.hosts, facts.cluster_id, past.stopped_at)
    early = replace(past, datadir="", old_log=restoring.old_log(facts.host(joiner), kept=False))
    donor = facts.host(values["donor"])
    whole = FilesPaired(joiner, tuple(one.path for one in chain.backups), donor.host, restoring.folder_of(donor))
    return Step(
        step_id=f"history-{joiner}",
        host="",
        title="Verify that the backups are complete and from the members' history, and that a member caches the next "
        "write sets",
        done="The backups are complete and from the members' history",
        action=WaitFor((whole, early, reach), "the backups' files, and the members' logs about the last one"),
        risk=Risk.READS,
        limit_s=120.0,
        repeatable=True,
        estimate_s=3.0,
    )


def _down(host: HostFacts) -> Step:
    why = "No server ran on it when the plan was made; its unit may hang in an earlier start. Undo leaves it stopped."
    return steps.make_stopped(host, why)


# -- copies and prepares -----------------------------------------------------------------------------------------------


def _scratch(host: HostFacts, work: str) -> Temporary:
    return Temporary(
        key=f"copies:{host.host}",
        host=host.host,
        sentence=f"copies of the backups on {host.host}",
        danger=f"they use space in {work}",
        release=Run(Command(("bash", "-c", CLEAR_COPIES, "pilothouse", work), sudo=True)),
        released=(FileAbsent(host.host, work),),
        limit_s=CLEAR_LIMIT_S,
    )


def _copied(host: HostFacts, work: str, chain: Chain, estimate: Times) -> Step:
    name = host.host
    sources = tuple(one.path for one in chain.backups)
    return Step(
        step_id=f"copy-{name}",
        host=name,
        title=f"Copy {len(sources)} backups to {work} on {name}",
        done=f"The backups are copied to {work} on {name}",
        why="A prepare changes its files and uses up each incremental: the originals are never touched.",
        action=Detached(
            Command(("bash", "-c", COPY_CHAIN, "pilothouse", work, restoring.folder_of(host), *sources), sudo=True),
            name=f"copy-{name}", keep=f"copied-{name}", pattern=r"copied: (\d+) folders\s*\Z",
            grows=work, total=chain.size or 0,
        ),
        before=(FileAbsent(name, work), *(_original(name, one) for one in chain.backups)),
        proof=tuple(_copy(name, work, at, one) for at, one in enumerate(chain.backups)),
        limit_s=WORK_LIMIT_S,
        repeatable=True,
        estimate_s=estimate.copies,
    )  # fmt: skip


def _original(host: str, one: Backup) -> BackupIs:
    return BackupIs(host, one.path, one.uuid, one.last_lsn or 0, one.size or 0, one.metas or 0)


def _copy(host: str, work: str, at: int, one: Backup) -> BackupIs:
    return BackupIs(host, posixpath.join(work, str(at)), one.uuid, one.last_lsn or 0, 0, one.metas or 0)


def _prepares(host: HostFacts, work: str, chain: Chain, estimate: Times, values: Inputs) -> tuple[Step, ...]:
    return tuple(_prepared(host, work, chain, at, estimate.prepares[at], values) for at in range(len(chain.backups)))


def _prepared(host: HostFacts, work: str, chain: Chain, at: int, seconds: float, values: Inputs) -> Step:
    """Prepare the copy with one backup of the chain. Each prepare begins once, on copies that none has touched."""
    name, one, target = host.host, chain.backups[at], posixpath.join(work, "0")
    memory = f"--use-memory={bytes_of(values['memory']) or 2**27}"
    more = (f"--incremental-dir={posixpath.join(work, str(at))}",) if at else ()
    mark, keep = posixpath.join(work, f"began-{at}"), f"prepared-{at}-{name}"
    before: tuple[Condition, ...] = (FileAbsent(name, mark), _copy(name, work, at, one))
    if at:
        former = chain.backups[at - 1]
        before = (*before, PreparedTo(name, target, former.uuid, former.state_uuid, former.seqno or 0))
    words = (TOOL, "--prepare", f"--target-dir={target}", memory, *more)
    what = f"incremental {at}" if at else "the full backup"
    return Step(
        step_id=f"prepare-{at}-{name}",
        host=name,
        title=f"Prepare {what} ({posixpath.basename(one.path)}) on {name}, up to seqno {one.seqno}",
        done=f"{what[0].upper()}{what[1:]} is prepared on {name}, at seqno {one.seqno}",
        why="It uses the run's own copies; an interrupted prepare is never repeated on them: start a new run.",
        action=Detached(
            Command(("bash", "-c", PREPARE_ONCE, "pilothouse", mark, *words), sudo=True),
            name=f"prepare-{at}-{name}", keep=keep, pattern=_PREPARED,
        ),
        before=before,
        proof=(
            PreparedTo(name, target, one.uuid, one.state_uuid, one.seqno or 0),
            RecoveredIs(name, one.state_uuid, one.seqno or 0, Kept(keep)),
        ),
        limit_s=WORK_LIMIT_S,
        goes_with=f"copy-{name}",
        estimate_s=seconds,
    )  # fmt: skip


def _start(facts: Facts, host: HostFacts, past: RestoredHistory, estimate: Times) -> Step:
    start = restoring.start_by_ist(facts, host, past, limit_s=max(1_800.0, 4 * estimate.ist), estimate_s=estimate.ist)
    members = past.hosts
    whole = ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id)
    return replace(start, before=(*start.before, whole))


# -- watched meanwhile -------------------------------------------------------------------------------------------------


def _watches(facts: Facts, values: Inputs) -> tuple[WatchRule, ...]:
    joiner, donor = values["joiner"], values["donor"]
    members = tuple(name for name in member_hosts(facts) if name != joiner)
    host = facts.host(joiner)
    work = work_folder(joiner, values["scratch"])
    volume = host[Volumes].of(work)
    begin, end = f"copy-{joiner}", f"settle-{joiner}"
    full = f"The disk of {joiner} is nearly full: the copy will fail."
    scratch = WatchRule(
        code="DISK-COPIES",
        condition=FreeDisk(joiner, volume.mount if volume is not None else "/", LEAST_FREE),
        sentence=f"The volume of the copies on {joiner} is nearly full.",
        from_step=begin,
        to_step=f"position-{joiner}",
        every_s=10.0,
    )
    return (
        WatchRule(
            code="QUORUM",
            condition=StillPrimary(members, len(members), facts.cluster_id),
            sentence=f"One of {', '.join(members)} is no longer a full member.",
        ),
        scratch,
        disk(host, "DISK-JOINER", full, begin, end),
        disk(facts.host(donor), "DISK-DONOR", f"The disk of {donor} is nearly full.", f"start-{joiner}", end),
        *((flow_control(members[0], joiner, f"start-{joiner}", end),) if members else ()),
    )
