"""What is done on the donor: out of flow control, one moment under a read lock, back again. All pure."""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.connections.sql.statement import set_global
from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.galera.snapshot_node.commands import argv_of
from services.procedures.catalogue.galera.snapshot_node.hold import (
    COPY,
    HOLD,
    KEEP,
    OFFER,
    REMOVE,
    RUN,
    UNLOCK,
    held,
    in_scope,
    scope_of,
)
from services.procedures.catalogue.steps import server as steps
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.restored.data_folders import account_of
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.catalogue.steps.traffic import catch_up, desync, resync
from services.procedures.conditions.galera.membership.no_read_lock import NoReadLock
from services.procedures.conditions.galera.membership.still_desynced import StillDesynced
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Action, Detached, Run, Several, Sql
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import number_of, seconds_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.server.variables import Variables

LOCKED = "locked-at"
"""The name under which the run keeps the seqno that was read under the lock."""
DIRTY = "innodb_max_dirty_pages_pct"
CATCH_UP_S = 4 * 3_600.0
QUIET_S = 120
COMMAND_S = 600
"""How long the commands that follow the lock may take: offering the snapshot, removing it, detaching it."""
_SEARCH_S = 300.0
_AROUND_S = 180
"""So long the script needs at most around the command, under the lock: to list, to write out, to end what hangs."""


def seconds(values: Inputs, field: str) -> int:
    """Return a typed time in whole seconds, at least one."""
    return max(1, round(seconds_of(values[field]) or 0))


def donor_steps(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the donor's part: desync, rest, snapshot under the lock, rest back, catch up, resync, offer."""
    donor, members = values["donor"], member_hosts(facts)
    whole = ClusterWhole(members, len(members) + arbitrators(facts), facts.cluster_id)
    resting = _resting(facts, values)
    return (
        _lock_first(facts, values, desync(donor, before=(whole,))),
        *((_rest(resting, donor),) if resting else ()),
        *_snapshot(facts, values),
        *((_rest_no_more(resting, donor),) if resting else ()),
        catch_up(donor, CATCH_UP_S),
        _lock_first(facts, values, resync(donor)),
        *_offered(facts, values),
    )


def _locking(facts: Facts, values: Inputs) -> Temporary:
    """Return the read lock as something that is to be ended: before the snapshot is removed, and before the resync."""
    host = facts.host(values["donor"])
    scope, folder = scope_of("lock", values["snapshot"]), folder_of(host)
    return Temporary(
        key=f"lock:{host.host}",
        host=host.host,
        sentence=f"read lock on {host.host}",
        danger=f"every write on {host.host} waits",
        release=Run(Command(("bash", "-c", UNLOCK, "pilothouse", account_of(host), scope, folder), sudo=True)),
        released=(NoReadLock(host.host, folder, steps.unit_of(host), scope),),
    )


def _lock_first(facts: Facts, values: Inputs, step: Step) -> Step:
    """Return a step of the desync, whose end ends the lock before: under it flow control stops every member's writes.

    A watch rule releases the desync alone, while the lock may be held.
    """
    unlock = _locking(facts, values).release

    def behind(action: Action) -> Action:
        assert isinstance(unlock, Run)
        assert isinstance(action, Sql)
        return Several((unlock, action))

    if step.takes is None or step.undo is None:
        return replace(step, action=behind(step.action))
    undo = replace(step.undo, action=behind(step.undo.action))
    return replace(step, undo=undo, takes=replace(step.takes, release=behind(step.takes.release)))


def _resting(facts: Facts, values: Inputs) -> Temporary | None:
    """Return what has InnoDB write all its pages soon, for a copy of files; None where that is not needed or can't be.

    A statement takes whole numbers; a share that is none stays, and a copy waits for as long as it may.
    """
    donor, before = values["donor"], dirty_share(facts, values["donor"])
    if values["way"] != COPY or before is None:
        return None
    return Temporary(
        key=f"rest:{donor}",
        host=donor,
        sentence=f"InnoDB of {donor} flushes every page at once",
        danger=f"{donor} writes more than necessary",
        release=Sql(set_global(DIRTY, before)),
        released=(VariableIs(donor, DIRTY, str(before), or_ended=True),),
        shown=(VariableIs(donor, DIRTY, str(before)),),
    )


def dirty_share(facts: Facts, donor: str) -> int | None:
    """Return the donor's innodb_max_dirty_pages_pct; None where it was not read, or no statement of ours can set it."""
    whole, _, part = (facts.host(donor)[Variables].value(DIRTY) or "").partition(".")
    return (number_of(whole) or None) if not part.strip("0") else None


def _rest(resting: Temporary, donor: str) -> Step:
    step = Step(
        step_id="rest",
        host=donor,
        title=f"Make InnoDB of {donor} flush every changed page at once",
        done=f"InnoDB of {donor} flushes every changed page at once",
        why="Files copied one after another are consistent only if InnoDB writes none of them meanwhile.",
        action=Sql(set_global(DIRTY, 0)),
        proof=(VariableIs(donor, DIRTY, "0"),),
        repeatable=True,
        estimate_s=0.5,
    )
    return resting.on(step, f"Restore the page flushing of InnoDB on {donor}")


def _rest_no_more(resting: Temporary, donor: str) -> Step:
    title = f"Restore the page flushing of InnoDB on {donor}"
    return resting.off("rest-over", title, f"InnoDB of {donor} flushes its pages as before", 0.5)


def mark_of(values: Inputs) -> str:
    """Return the file on the donor that says that a snapshot of this run may be there."""
    return f"{KEEP}/snapshot-{values['snapshot']}"


def _snapshot(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the steps around the lock. What it may leave is an obligation before it, so that the lock ends first."""
    donor, name = values["donor"], values["snapshot"]
    locking, removed = _locking(facts, values), _removed(facts, values)
    folder = Step(
        step_id="mark",
        host=donor,
        title=f"Create a place on {donor} for the mark of the snapshot {name}",
        done=f"{donor} has a place for the mark of the snapshot {name}",
        action=Run(Command(("install", "-d", "-m", "0700", "--", KEEP), sudo=True)),
        before=(FileAbsent(donor, mark_of(values)),),
        proof=(FileAbsent(donor, mark_of(values)),),
        repeatable=True,
        estimate_s=0.5,
    )
    taken = locking.on(_taken(facts, values), f"End the read lock on {donor} and your command under it")
    if removed is None and taken.undo is not None:  # nothing removes it: an undo has to say so
        taken = replace(taken, undo=replace(taken.undo, leaves=(FileAbsent(donor, mark_of(values)),)))
    over = locking.off(
        "lock-over", f"End the process that held the read lock on {donor}", f"No read lock is held on {donor}", 1.0
    )
    return (
        *((removed.on(folder, f"Remove the snapshot {name} from {donor}with your command", COMMAND_S + 60.0),)
          if removed else ()),
        taken,
        replace(over, limit_s=60.0),
    )  # fmt: skip


def _taken(facts: Facts, values: Inputs) -> Step:
    donor, name = values["donor"], values["snapshot"]
    others = tuple(member for member in member_hosts(facts) if member != donor)
    wait_s, limit_s = seconds(values, "wait"), seconds(values, "take_limit")
    quiet_s, share = QUIET_S if values["way"] == COPY else 0, dirty_share(facts, donor)
    host = facts.host(donor)
    words = in_scope(
        scope_of("lock", name),
        "bash", "-c", HOLD, "pilothouse", account_of(host), folder_of(host), mark_of(values), values["way"],
        str(wait_s), str(quiet_s),
        str(limit_s), str(share or "") if values["way"] == COPY else "", *argv_of(facts, values, "take"),
    )  # fmt: skip
    copies = " Only InnoDB's writes are checked: other tables are stopped by the lock alone." if quiet_s else ""
    return Step(
        step_id="snapshot",
        host=donor,
        title=f"Take the snapshot {name} on {donor} under a read lock with your command: {values['take']}",
        done=f"The snapshot {name} was taken on {donor} under a read lock",
        why=f"The script waits at most {wait_s} s for the lock and holds it at most {limit_s + quiet_s + _AROUND_S} "
        f"s; the lock ends with the script, even if this console fails.{copies}{'' if values['remove'] else _STAYS}",
        action=Detached(Command(words, sudo=True), name="snapshot", keep=LOCKED, pattern=held(facts.cluster_id)),
        before=(
            StillDesynced(donor),
            StillPrimary(others, len(others), facts.cluster_id),
            FileAbsent(donor, mark_of(values)),
        ),
        limit_s=wait_s + quiet_s + limit_s + _SEARCH_S + _AROUND_S + 60.0,
        estimate_s=10.0,
    )


_STAYS = " No command removes it: it stays on the donor until you remove it."


def _removed(facts: Facts, values: Inputs) -> Temporary | None:
    """Return the snapshot as something that is to be removed; None where the person gave no command for it."""
    donor, name, words = values["donor"], values["snapshot"], argv_of(facts, values, "remove")
    if not words:
        return None
    script = ("bash", "-c", REMOVE, "pilothouse", mark_of(values), RUN, str(COMMAND_S), *words)
    return Temporary(
        key=f"snapshot:{donor}",
        host=donor,
        sentence=f"snapshot {name} on {donor}",
        danger="it uses space and may slow writes down while it exists",
        release=Run(Command(script, sudo=True)),
        released=(FileAbsent(donor, mark_of(values)),),
        # A command that still works would make the snapshot behind its removal.
        release_when=(UnitSetting(donor, scope_of("lock", name), "ActiveState", "inactive"),),
    )


def removal(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the step that removes the snapshot in its turn; what stays is said where no command was given."""
    removed, donor, name = _removed(facts, values), values["donor"], values["snapshot"]
    if removed is None:
        return (
            Step(
                step_id="snapshot-stays",
                host=donor,
                title=f"Remove the run's mark of the snapshot {name} on {donor}; the snapshot stays",
                done=f"The snapshot {name} stays on {donor} until you remove it",
                why="No command removes it. There is nothing to undo.",
                action=Run(Command(("rm", "-f", "--", mark_of(values)), sudo=True)),
                proof=(FileAbsent(donor, mark_of(values)),),
                repeatable=True,
                estimate_s=0.5,
            ),
        )
    step = removed.off(
        "remove-snapshot",
        f"Remove the snapshot {name} from {donor} with your command: {values['remove']}",
        f"The snapshot {name} is removed from {donor}",
        5.0,
    )
    return (replace(step, limit_s=COMMAND_S + 60.0, final=True),)


def _offering(values: Inputs) -> tuple[Temporary, str]:
    """Return the offer as something that is to be ended, and its unit."""
    donor, unit = values["donor"], f"pilothouse-offer-{values['snapshot']}.service"
    return (
        Temporary(
            key=f"offer:{donor}",
            host=donor,
            sentence=f"snapshot offered on {donor}",
            danger="any host that can connect may be able to read it",
            release=Run(Command(("systemctl", "stop", unit), sudo=True), ok=(0, 5)),  # 5: there is none
            released=(UnitSetting(donor, unit, "ActiveState", "inactive"),),
        ),
        unit,
    )


def _offered(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the step that lets the joiner at the snapshot, after the lock; none where no command is needed."""
    donor, words = values["donor"], argv_of(facts, values, "offer")
    if not words:
        return ()
    offering, unit = _offering(values)
    step = Step(
        step_id="offer",
        host=donor,
        title=f"Offer the snapshot on {donor} with your command: {values['offer']}",
        done=f"{donor} offers the snapshot",
        why="Processes that it leaves running are ended once the joiner has the data, and however the run ends. What "
        "it mounts must be unmounted by your command that removes the snapshot.",
        action=Detached(
            Command(("bash", "-c", OFFER, "pilothouse", unit, str(COMMAND_S), *words), sudo=True), name="offer"
        ),
        limit_s=COMMAND_S + 60.0,
        estimate_s=5.0,
    )
    return (offering.on(step, f"Stop offering the snapshot on {donor}", 120.0),)


def offer_over(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the step that ends what offers the snapshot, once the joiner has it."""
    if not argv_of(facts, values, "offer"):
        return ()
    donor = values["donor"]
    over = _offering(values)[0].off(
        "offer-over", f"Stop offering the snapshot on {donor}", f"{donor} no longer offers the snapshot", 1.0
    )
    return (replace(over, limit_s=120.0),)
