"""The copy of the metadata, made before anything is changed, and tried: a scratch server runs on a copy of it.

The last config server is stopped, its data folder copied and the copy tried, and the server started again: a whole
copy with users and indexes, of any storage engine, without a second program. While it is away the catalog takes no
change (tried on 3.2.5: refused, data go on; a mongos splits no chunk either, which it does by itself at any time else),
so that what is copied is what the others hold, and equal hashes prove it. The scratch server has the configuration of
the real one but for folder, port and log, and listens on the host's loopback alone.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.command import Command
from services.connections.operator import folders_of_others
from services.procedures.catalogue.mongodb.config_servers.common import (
    SCRATCH_UNIT,
    START_S,
    as_it_was,
    is_down,
    root,
    same_step,
    start_step,
    stop_step,
    waits,
)
from services.procedures.catalogue.mongodb.config_servers.folders import part_of, trial_of
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.mongodb.config_servers.room import room_wanted
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.machine.nothing_left import NothingLeft
from services.procedures.conditions.machine.there import FolderThere
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.plan.actions import Run, Several, TryMetadata
from services.procedures.plan.model import Risk, Step, Undo

COPY_S, NEW_S = 3600.0, 10.0
KEY = "scratch-server"


def copy_steps(party: Party, others: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the steps that make the copy, try it, and have the server back.

    A folder that is there before is no copy of today: its hashes may be the same, and its users be others.

    Args:
        others: config servers that run all the time, with which it is compared.
    """
    host = party.last
    back = as_it_was(party, host)
    why = "Its data are copied and the copy is tested while nobody writes. Until it is back, the catalog is read-only."
    return (
        same_step("same-before", (*others, host)),
        replace(stop_step(party, host, why, back, prefix="copy-"), before=(FileAbsent(host, party.backup),)),
        copied_step(party, host, party.backup, "the copy of the metadata"),
        scratch_up(party),
        scratch_compared(party, others[0], "copy"),
        replace(start_step(party, host, back), goes_with=f"{host}:copy-down"),
        same_step("same-behind", (*others, host)),
    )


def nothing_there(party: Party, folders: dict[str, tuple[str, ...]]) -> Step:
    """Return the first step: what is made is new, and has room. A folder of an earlier try would be taken for this
    run's own.

    Args:
        folders: host -> folders that the run makes there, and removes when it is taken back.
    """
    absent = tuple(FileAbsent(host, path) for host, own in folders.items() for path in own)
    paths = (one.path for one in absent)
    return waits(
        "nothing-there",
        (*absent, *room_wanted(party)),
        f"the places of the run's own folders to be empty and to have space: {', '.join(dict.fromkeys(paths))}",
        "The places of the run's own folders are empty and have space",
        NEW_S,
    )


def copied_step(party: Party, host: str, target: str, what: str) -> Step:
    """Return the step that copies a data folder whose server is stopped: whole, or it is not there."""
    source, part = party.data(host), part_of(target)
    return Step(
        step_id=f"{host}:copied",
        host=host,
        title=f"Copy {source} to {target} on {host}",
        done=f"{target} on {host} contains {what}",
        why="It is kept however the run ends: remove it when you no longer need it.",
        action=Run(folders_of_others.copied(source, target, party.account(host))),
        before=(is_down(party, host),),
        already=(FolderThere(host, target), FileAbsent(host, part)),
        proof=(FolderThere(host, target), FileAbsent(host, part)),
        limit_s=COPY_S,
        repeatable=True,
        undo=Undo(
            f"Remove {part} on {host} if the copy was interrupted",
            Run(folders_of_others.removed(party.account(host), part)),
            limit_s=COPY_S,
            leaves=(NothingLeft(host, part),),
        ),
        estimate_s=10.0,
    )


def scratch_up(party: Party) -> Step:
    """Return the step that starts the scratch server, an obligation."""
    host, folder, port = party.last, trial_of(party.backup), _port(party)
    step = Step(
        step_id="scratch-up",
        host=host,
        title=f"Start a scratch server on a copy of {party.backup}",
        done="A scratch server runs on a copy of the backup",
        why=f"It listens on the loopback address of {host} only and uses a copy: the backup itself is only read.",
        action=Several((
            Run(folders_of_others.removed(party.account(host), folder)),
            Run(folders_of_others.copied(party.backup, folder, party.account(host))),
            _started(party, folder, port),
        )),
        before=(FolderThere(host, party.backup),),
        proof=(Listening(host, "127.0.0.1", port), UnitSetting(host, SCRATCH_UNIT, "ActiveState", "active")),
        limit_s=COPY_S,
        repeatable=True,
        estimate_s=10.0,
    )  # fmt: skip
    return _scratch(party).on(step, "End the scratch server and remove its copy")


def scratch_compared(party: Party, host: str, stage: str) -> Step:
    """Return the step that compares what the scratch server holds with a config server."""
    alive = UnitSetting(party.last, SCRATCH_UNIT, "ActiveState", "active")
    return Step(
        step_id=f"compared-{stage}",
        host=party.last,
        title=f"Compare the backup's metadata with those of {host}",
        done=f"The backup contains the metadata of {host}",
        action=TryMetadata(_port(party), host),
        risk=Risk.READS,
        before=(alive,),
        proof=(alive,),
        limit_s=60.0,
        repeatable=True,
        estimate_s=2.0,
    )


def scratch_down(party: Party) -> Step:
    """Return the step that ends it."""
    return _scratch(party).off("scratch-down", "End the scratch server", "The scratch server is removed", 3.0)


def _scratch(party: Party) -> Temporary:
    host, folder = party.last, trial_of(party.backup)
    return Temporary(
        key=KEY,
        host=host,
        sentence=f"a scratch server runs on {host}",
        danger="it uses memory and disk space",
        release=Several((
            root("systemctl", "stop", SCRATCH_UNIT, ok=(0, 5)),  # 5: not loaded (systemctl(1), "EXIT STATUS")
            Run(folders_of_others.removed(party.account(host), folder, part_of(folder))),
        )),
        released=(
            UnitSetting(host, SCRATCH_UNIT, "ActiveState", "inactive"),
            NothingLeft(host, folder),
            NothingLeft(host, part_of(folder)),
        ),
        limit_s=START_S,
    )  # fmt: skip


def _started(party: Party, folder: str, port: int) -> Run:
    """systemd-run(1). The command line wins over the file (MongoDB manual, "Configuration File Options")."""
    process = party.process(party.last)
    kind = "forking" if process.setting("processManagement.fork") is True else "simple"
    log = () if process.setting("systemLog.destination") == "syslog" else ("--logpath", f"{folder}/trial.log")
    argv = (
        "systemd-run",
        f"--unit={SCRATCH_UNIT}",
        "--collect",
        f"--uid={process.account}",
        f"--property=Type={kind}",
        process.program,
        *("--config", process.path, "--dbpath", folder, "--port", str(port)),
        *("--bind_ip", "127.0.0.1", "--nounixsocket", *log, "--pidfilepath", f"{folder}/trial.pid"),
    )
    return Run(Command(argv, sudo=True))


def _port(party: Party) -> int:
    return party.port + 1000
