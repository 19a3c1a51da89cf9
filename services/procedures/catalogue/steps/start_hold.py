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
from dataclasses import replace

from services.procedures.catalogue.steps.server import RELOAD, start_unit_of
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.drop_in import DropInFollowed
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.actions import PutFile, RemoveFile, Several
from services.procedures.plan.condition import Condition
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step, Undo
from services.procedures.plan.parts.galera.data_folder import DataFolder

ASSERT = "AssertPathExists=!"
SAID = "Starts are forbidden: Pilothouse exchanges the data of this server. Resume its run, or take it back"


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
        sentence=f"starts of {unit} forbidden on {name}",
        danger=f"{name} can't be started; by hand: remove {path} and run systemctl daemon-reload, but only when whole "
        f"data of its server lie in {folder}",
        release=Several((RemoveFile(path), RELOAD)),
        released=(FileAbsent(name, path), UnitSetting(name, unit, "NeedDaemonReload", "no")),
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
        title=f"Forbid starts of {unit} on {name}, by a person or a boot",
        done=f"{unit} on {name} can't be started",
        why="A server that starts on half of its data asks for an SST, which erases the rest.",
        action=_held(host),
        before=(Stopped(name, unit),),
        proof=_is_held(host),
        repeatable=True,
        estimate_s=1.0,
    )
    return _hold(host, folder, proven).on(step, f"Let {unit} on {name} be started again")


def let_start(host: HostFacts, folder: str, proven: tuple[Condition, ...]) -> Step:
    """Discharge `hold_start`, right before the run starts the node. Taken back, starts are forbidden again first."""
    unit, name = start_unit_of(host), host.host
    title, done = f"Let {unit} on {name} be started again", f"{unit} on {name} may be started again"
    again = Undo(
        f"Forbid starts of {unit} on {name} again",
        _held(host),
        _is_held(host),
        takes=hold_start(host, folder, proven).takes,
    )
    why = "It ends what the run switched on; a run that is taken back from here switches it on again first."
    return replace(_hold(host, folder, proven).off(f"let-{name}", title, done, 1.0), undo=again, why=why)


def _held(host: HostFacts) -> Several:
    path = hold_path(host)
    advice = (
        "# Either removes this file. By hand only where whole data of the server lie in its data folder: remove this\n"
        "# file, and run systemctl daemon-reload.\n"
    )
    text = (f"# {SAID}\n", advice, f"[Unit]\nDescription={SAID}\n{ASSERT}{path}\n")
    return Several((PutFile(path, text), RELOAD))


def _is_held(host: HostFacts) -> tuple[Condition, ...]:
    return (DropInFollowed(host.host, start_unit_of(host), hold_path(host)),)
