"""What is done on the joiner: old data aside, the copy in, its identity out, started by IST, proven. All pure."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.command import Command
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.shared.newcomer import server_off
from services.procedures.catalogue.galera.shared.restored_look import looked
from services.procedures.catalogue.galera.snapshot_node import newcomer_part
from services.procedures.catalogue.galera.snapshot_node.commands import argv_of
from services.procedures.catalogue.galera.snapshot_node.donor_part import (
    COMMAND_S,
    LOCKED,
    mark_of,
    offer_over,
    seconds,
)
from services.procedures.catalogue.galera.snapshot_node.hold import LISTED, RUN, in_scope, scope_of
from services.procedures.catalogue.galera.snapshot_node.look_through import (
    BRING,
    LIST_S,
    LOOK_THROUGH,
    NONE_BUT_ROOT,
    SYNC_S,
)
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.donor import forget_donor, name_donor
from services.procedures.catalogue.steps.restored import data_folders, restoring
from services.procedures.catalogue.steps.restored.left_alone import marked, until_start, used
from services.procedures.catalogue.steps.restored.recovering import recover
from services.procedures.catalogue.steps.restored.start_hold import hold_start, started_from_hold
from services.procedures.catalogue.steps.traffic import held_out, let_in
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.history.copied import CopiedHistory
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.ist_from import IstFrom
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.same_folder import SameFolder
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import Detached, Run, Several, WaitFor
from services.procedures.plan.condition import Condition, Kept
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Obligation, Risk, Step, Undo
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.pasts.positions import kept_name

START_LIMIT_S = 1_800.0
LOOK_S = LIST_S + SYNC_S + 300.0
COPY_BYTES_S = 50e6
"""Half of what a plain copy over a quiet gigabit network brings."""
_WITH_FOLDER = "It changes only the folder that the run created, and undo removes that folder."


def copy_seconds(facts: Facts, values: Inputs) -> float:
    """Return about how long the copy takes."""
    return 5.0 + (facts.host(values["donor"])[DataSize].in_bytes or 0) / COPY_BYTES_S


def before_the_lock(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return what keeps the joiner down: nothing may start it while its data folder is another's.

    Starts are forbidden at once: a new host gets the cluster's option file next, and a start would be an SST then.
    """
    host = facts.host(values["joiner"])
    return (
        _none_but_root(host),
        steps.restart_off(host),
        server_off(facts, host.host),
        hold_start(host, restoring.folder_of(host), _right(facts, host)),
        *held_out(facts, host, restoring.aside_path(host)),
    )


def _none_but_root(host: HostFacts) -> Step:
    name, folder = host.host, restoring.folder_of(host)
    return Step(
        step_id=f"own-path-{name}",
        host=name,
        title=f"Verify that only root of {name} can replace {folder}",
        done=f"Only root of {name} can replace {folder}",
        why="Root moves, fills and chowns it by its name. An account that can write to a folder above it could make "
        "root do this to another folder.",
        action=Run(Command(("bash", "-c", NONE_BUT_ROOT, "pilothouse", folder), sudo=True)),
        risk=Risk.READS,
        repeatable=True,
        estimate_s=0.5,
    )


def _right(facts: Facts, host: HostFacts) -> tuple[Condition, ...]:
    return (restoring.right_data(host, facts.cluster_id, Kept(LOCKED)), until_start(host))


def joiner_steps(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the joiner's part, from its old data to its place among the members."""
    host, donor, members = facts.host(values["joiner"]), facts.host(values["donor"]), member_hosts(facts)
    donor_name = donor.node_name or donor.host
    start = started_from_hold(_start(facts, values), host, restoring.folder_of(host), _right(facts, host))
    return (
        *restoring.keep_aside(host),
        *_kept_inside_noted(host),
        *_detachable(facts, values, host),
        _brought(facts, values, host),
        *offer_over(facts, values),
        _looked_through(host, values),
        _stands_at_the_lock(facts, host),
        *_made_its_own(facts, host),
        used(host, replace(recover(host), goes_with=f"new-data-{host.host}"), f"owner-{host.host}"),
        restoring.position_proven(host, facts.cluster_id, Kept(LOCKED)),
        *looked(host, donor.host),
        name_donor(host, donor_name),
        start,
        steps.prove_transfer(host, "IST", "", start.step_id),
        _began_behind(host, start.step_id),
        *comparing.compared(host.host, donor.host, values, members),
        *let_in(facts, host, restoring.aside_path(host)),
        *newcomer_part.at_the_end(facts, values),
        forget_donor(host, donor_name),
        steps.restart_on(host),
        steps.queue_settled(host, seconds_of(values["settle"]) or 0.0),
        *_kept_inside_proven(host),
        steps.whole_again(facts, tuple(sorted({*members, host.host}))),
    )


def _kept_inside(host: HostFacts) -> tuple[Condition, ...]:
    """Return what must hold of old data that lie inside the data folder, where the operator's command works."""
    if not restoring.is_mount(host):
        return ()
    return (SameFolder(host.host, restoring.aside_path(host), Kept(f"aside-{host.host}")),)


def _kept_inside_noted(host: HostFacts) -> tuple[Step, ...]:
    name, aside = host.host, restoring.aside_path(host)
    seen = Run(
        Command(("stat", "-c", "%d:%i %Y", "--", aside), sudo=True), keep=f"aside-{name}", pattern=r"^(\d+:\d+ \d+)$"
    )
    if not _kept_inside(host):
        return ()
    return (
        Step(
            step_id=f"note-aside-{name}",
            host=name,
            title=f"Record the identity of {aside} on {name}: your command runs next to it",
            done=f"The identity of {aside} on {name} is recorded",
            action=seen,
            risk=Risk.READS,
            repeatable=True,
            estimate_s=0.5,
        ),
    )


def _kept_inside_proven(host: HostFacts) -> tuple[Step, ...]:
    name, aside = host.host, restoring.aside_path(host)
    if not _kept_inside(host):
        return ()
    return (
        Step(
            step_id=f"aside-there-{name}",
            host=name,
            title=f"Verify that the old data of {name} are still in {aside}",
            done=f"The old data of {name} are still in {aside}",
            action=WaitFor(_kept_inside(host), f"the folder {aside}"),
            risk=Risk.READS,
            limit_s=10.0,
            repeatable=True,
            estimate_s=0.5,
        ),
    )


def _detachable(facts: Facts, values: Inputs, host: HostFacts) -> tuple[Step, ...]:
    """Return a step before the operator's command whose undo detaches what that attached: behind its end, always run.

    Nothing proves that something is detached, so no undo is skipped; a copy may still hold the folder by a mount.
    """
    detach, name = argv_of(facts, values, "detach"), host.host
    if not detach:
        return ()
    stopped = Stopped(name, steps.unit_of(host))
    scope = scope_of("bring", values["snapshot"])
    return (
        Step(
            step_id=f"attach-{name}",
            host=name,
            title=f"Verify that the data folder of {name} is empty before your command attaches to it",
            done=f"The data folder of {name} was empty before your command",
            action=Run(Command(("test", "-d", restoring.folder_of(host)), sudo=True)),
            before=(stopped, FileAbsent(name, posixpath.join(restoring.folder_of(host), "ibdata1"))),
            undo=Undo(
                f"Detach it from {name} again with your command: {values['detach']}",
                Run(Command(("bash", "-c", RUN, "pilothouse", str(COMMAND_S), *detach), sudo=True)),
                limit_s=COMMAND_S + 60.0,
                before=(UnitSetting(name, scope, "ActiveState", "inactive"),),
                waits=(stopped,),
                waits_s=restoring.ENDS_S,
            ),
            repeatable=True,
            estimate_s=0.5,
        ),
    )


def _brought(facts: Facts, values: Inputs, host: HostFacts) -> Step:
    """Run the operator's command that attaches or copies. Its undo ends it: it must not write into what is put back."""
    name, folder, limit_s = host.host, restoring.folder_of(host), seconds(values, "bring_limit")
    words = argv_of(facts, values, "bring")
    bring = ("bash", "-c", BRING, "pilothouse", folder, restoring.aside_path(host), RUN, str(limit_s), *words)
    scope = scope_of("bring", values["snapshot"])
    # The folder is root's again, whatever the command made of it: so long no start is let through (start_hold.py).
    ended = Several(
        (
            Run(Command(("systemctl", "stop", scope), sudo=True), ok=(0, 5)),  # 5: there is none
            data_folders.taken(host, ok=(0, 1)),  # 1: mounted read-only
        )
    )
    return Step(
        step_id=f"bring-{name}",
        host=name,
        title=f"Bring the snapshot to {folder} of {name} with your command: {values['bring']}",
        done=f"The snapshot is in {folder} of {name}",
        why=_WITH_FOLDER,
        action=Detached(
            Command(in_scope(scope, *bring), sudo=True),
            name=f"bring-{name}",
            grows=folder,
            total=facts.host(values["donor"])[DataSize].in_bytes or 0,
        ),
        before=(Stopped(name, steps.unit_of(host)), FileAbsent(name, posixpath.join(folder, "ibdata1"))),
        proof=_kept_inside(host),
        limit_s=limit_s + SYNC_S + 60.0,
        undo=Undo(f"End your command on {name} if it still runs, and give {folder} to root again", ended, limit_s=60.0),
        takes=Obligation(
            _bringing(name),
            name,
            f"your command running on {name}",
            ended,
            (UnitSetting(name, scope, "ActiveState", "inactive"),),
            f"it may still write to {folder}; manually: systemctl stop {scope}",
        ),
        estimate_s=copy_seconds(facts, values),
    )


def _bringing(name: str) -> str:
    """Return the key of what ends the operator's command on a way out, until the copy is proven to be there.

    It is in a scope of its own, which outlives the service of the run's work. From the proof on what it left may stay:
    a program that serves an attached volume has to.
    """
    return f"bring:{name}"


def _looked_through(host: HostFacts, values: Inputs) -> Step:
    name, folder = host.host, restoring.folder_of(host)
    words = (
        folder,
        restoring.aside_path(host),
        posixpath.basename(mark_of(values)),
        scope_of("bring", values["snapshot"]),
    )
    return Step(
        step_id=f"look-through-{name}",
        host=name,
        title=f"Check the copy in {folder} of {name}: complete, nothing in it linked elsewhere",
        done=f"The copy on {name} is complete and on disk, and nothing in it is linked elsewhere",
        why="The donor's files were listed under the lock, and none of them may be missing or shorter. A file that is "
        f"linked elsewhere would be changed there as well. The donor's own runtime files are removed. {_WITH_FOLDER}",
        action=Run(Command(("bash", "-c", LOOK_THROUGH, "pilothouse", *words), sudo=True)),
        before=(Stopped(name, steps.unit_of(host)),),
        limit_s=LOOK_S,
        repeatable=True,
        goes_with=f"new-data-{name}",
        estimate_s=2.0,
    )


def _made_its_own(facts: Facts, host: HostFacts) -> tuple[Step, ...]:
    """Return the shared steps; with the donor's identity goes the list of its files."""
    first, *rest, owner = restoring.made_its_own(host, facts.cluster_id)
    return (replace(first, action=data_folders.without_identity(host, LISTED)), *rest, marked(host, owner))


def _stands_at_the_lock(facts: Facts, host: HostFacts) -> Step:
    name, folder = host.host, restoring.folder_of(host)
    copied = CleanPosition(name, folder, facts.cluster_id, at_least=Kept(LOCKED))
    return Step(
        step_id=f"copied-at-{name}",
        host=name,
        title=f"Verify that the copy on {name} has the position of the lock",
        done=f"The copy on {name} has the position of the lock",
        why="In another copy grastate.dat has no position or an older one. The InnoDB position is compared as well.",
        action=WaitFor((copied,), f"the position of the copy on {name}"),
        risk=Risk.READS,
        limit_s=10.0,
        repeatable=True,
        discharges=(_bringing(name),),
        estimate_s=0.5,
    )


def _start(facts: Facts, values: Inputs) -> Step:
    host, donor, members = facts.host(values["joiner"]), values["donor"], member_hosts(facts)
    folder, recovered = restoring.folder_of(host), Kept(kept_name(host.host))
    history = CopiedHistory(
        host.host, members, facts.cluster_id, folder, Kept(LOCKED), recovered, source=donor, since_step="snapshot"
    )
    whole = ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id)
    start = restoring.start_by_ist(facts, host, history, limit_s=START_LIMIT_S, estimate_s=30.0)
    return replace(start, before=(*start.before, whole, *_kept_inside(host)))


def _began_behind(host: HostFacts, start_step: str) -> Step:
    name = host.host
    return Step(
        step_id=f"ist-from-{name}",
        host=name,
        title=f"Verify in the log of {name} that the IST began right after the position of the lock",
        done=f"The IST to {name} began right after the position of the lock",
        action=WaitFor((IstFrom(name, Kept(LOCKED), start_step),), f"the log of {name}"),
        risk=Risk.READS,
        limit_s=30.0,
        repeatable=True,
        estimate_s=1.0,
    )
