"""Nobody starts a node while its data are exchanged: no colleague, no timer, no boot of a host that fell. Pure.

A drop-in asserts that its own file is not there: a start fails with systemd's word for it, and works at once when the
file is removed, by hand too. systemctl status and the journal say why, in the unit's description. It lies under /etc:
one under /run is gone after a boot, and a server that starts on half of its data asks for an SST, whose script empties
the folder. It stays on while the data folder is root's: so long something else than whole data of the server's lies
there. Whose it is does not show that its data are the right ones: a private server writes into it, an operator's
command may give it away, and a position may be found to be wrong. Each procedure names what does show it (`proven`).

Sources: systemd.unit(5), "Conditions and Asserts", drop-ins.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from services.procedures.catalogue.steps.server import RELOAD, restart_off, start_unit_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.drop_in import DropInFollowed
from services.procedures.conditions.machine.files import FileSays, FileWithout
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.options_read import OptionsRead
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import (
    Action,
    PutFile,
    RemoveFile,
    Several,
    Small,
)
from services.procedures.plan.condition import Condition
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.galera.data_folder import DataFolder

ASSERT = "AssertPathExists=!"
SAID = "Starts are blocked: Pilothouse is replacing the data of this server. Resume its run, or roll it back"


def hold_path(host: HostFacts) -> str:
    """Return the drop-in that forbids the starts of a node: one that a boot does not take away."""
    return posixpath.join("/etc/systemd/system", f"{start_unit_of(host)}.d", "91-pilothouse-hold.conf")


def _hold(host: HostFacts, folder: str, proven: tuple[Condition, ...]) -> Temporary:
    unit, name, path = start_unit_of(host), host.host, hold_path(host)
    # Not known is not enough: a read that fails lets nothing be started.
    # A folder that was root's before any run says nothing of what a run does with it.
    whole = () if host[DataFolder].owner == 0 else (OwnedBy(name, folder, host[DataFolder].owner),)
    return Temporary(
        key=f"hold:{name}",
        host=name,
        sentence=f"starts of {unit} blocked on {name}",
        danger=f"{name} cannot be started; manually: remove {path} and run systemctl daemon-reload, but only if the "
        f"complete data of its server are in {folder}",
        release=Several((RemoveFile(path, _forbidding(path)), RELOAD)),
        released=(FileWithout(name, path, _forbidding(path)), UnitSetting(name, unit, "NeedDaemonReload", "no")),
        release_once=(*whole, *proven),
    )


def hold_start(host: HostFacts, folder: str, proven: tuple[Condition, ...]) -> Step:
    """Forbid every start of a stopped node.

    Args:
        folder: its data folder, that belongs to root from its first change until all is in place.
        proven: what must be shown besides before a start is let go.
    """
    unit, name = start_unit_of(host), host.host
    step = Step(
        step_id=f"hold-{name}",
        host=name,
        title=f"Block starts of {unit} on {name}, manual and at boot",
        done=f"{unit} on {name} cannot be started",
        why="A server that starts with incomplete data requests an SST, which erases the rest.",
        action=_held(host),
        before=(Stopped(name, unit), *_reads_alike(host)),
        proof=_is_held(host),
        repeatable=True,
        estimate_s=1.0,
    )
    return _hold(host, folder, proven).on(step, f"Allow starts of {unit} on {name} again")


def _reads_alike(host: HostFacts) -> tuple[Condition, ...]:
    """A server of the run's own begins as the data's account: what it would not read is known before anything moves."""
    owner = host[DataFolder].owner
    return (OptionsRead(host.host, start_unit_of(host), owner),) if owner else ()


def started_from_hold(start: Step, host: HostFacts, folder: str, proven: tuple[Condition, ...]) -> Step:
    """Return a start that discharges `hold_start` in the same act: all that it reads before, it reads while held.

    Let go in a step before, a start that is then refused (no member caches what follows any more) would leave a node
    that a boot starts, by an SST that nobody approved. Taken back, starts are forbidden first, then it is stopped.
    systemd's restart (`restart_off`) is switched off once more: what lies under /run does not outlast a boot.
    """
    hold, undo, unit = _hold(host, folder, proven), start.undo, start_unit_of(host)
    if undo is not None:
        undo = replace(
            undo,
            title=f"Stop {unit} on {host.host} and block its starts again",
            action=Several((*_held(host).actions, *_acts(undo.action))),
            proof=(*undo.proof, *_is_held(host)),
            takes=hold_start(host, folder, proven).takes,
        )
    return replace(
        start,
        why=f"{start.why} The same action allows starts again: the conditions are checked while starts are still "
        "blocked. systemd's automatic restart is disabled once more, because the host may have been rebooted.",
        action=Several((*_acts(restart_off(host).action), *_acts(hold.release), *_acts(start.action))),
        before=(*start.before, *hold.release_once),
        undo=undo,
        discharges=(*start.discharges, hold.key),
    )


def _acts(action: Action) -> tuple[Small, ...]:
    """Return the small acts of an action that is one of them, or several."""
    if isinstance(action, Several):
        return action.actions
    assert isinstance(action, Small)
    return (action,)


def _held(host: HostFacts) -> Several:
    path = hold_path(host)
    return Several((PutFile(path, (_forbidding(path),)), RELOAD))


def _forbidding(path: str) -> str:
    advice = (
        "# Either removes this file. By hand only where whole data of the server lie in its data folder: remove this\n"
        "# file, and run systemctl daemon-reload.\n"
    )
    return f"# {SAID}\n{advice}[Unit]\nDescription={SAID}\n{ASSERT}{path}\n"


def _is_held(host: HostFacts) -> tuple[Condition, ...]:
    name, path = host.host, hold_path(host)
    stands = f"^{re.escape(ASSERT + path)}$"  # somebody else may have taken it out of the drop-in
    return (FileSays(name, path, stands), DropInFollowed(name, start_unit_of(host), path))
