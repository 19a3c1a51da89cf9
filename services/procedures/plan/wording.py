"""What an action does, as exact masked lines: one text for plan, rehearsal, report and the output of acts.

A command or statement is what runs, word for word (`Command` and `Statement` print themselves masked). The acts on
files are the console's own; they are told as a person would do them, with every line that is set or removed.
"""

from __future__ import annotations

from services.connections.command import MASK
from services.lines import lines_of
from services.procedures.plan.actions import (
    Action,
    Ask,
    AtPrimary,
    AtRouter,
    Checkpoint,
    Continue,
    CopiedSecret,
    Detached,
    EditOptions,
    EditYaml,
    HostPair,
    LocalPair,
    Mongo,
    PutFile,
    PutPair,
    Reconfigure,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
    TryMetadata,
    WaitFor,
)

_OF_OTHERS = "  (changed by somebody else since: only the run's own lines go, or it is kept, and that is told)"


def wording(action: Action, host: str = "") -> tuple[str, ...]:
    """Return the lines, each with 'host: ' before it when a host is given. Never holds a secret."""
    where = f"{host}: " if host else ""
    return tuple(where + line for line in _lines(action))


def _lines(action: Action) -> tuple[str, ...]:
    if isinstance(action, Several):
        return tuple(line for part in action.actions for line in _lines(part))
    if isinstance(action, Sql):
        return (f"{action.statement};",)
    if isinstance(action, Run):
        return (str(action.command),)
    if isinstance(action, Mongo | Reconfigure | TryMetadata | AtPrimary | AtRouter):
        return _mongo_lines(action)
    if isinstance(action, Detached):
        return (f"{action.command}   # detached as pilothouse-RUN-{action.name}: goes on without this console",)
    if isinstance(action, EditOptions | EditYaml | PutFile | RemoveFile | RestoreFile):
        return _file_lines(action)
    if isinstance(action, PutPair):
        return _pair_lines(action)
    return _console_lines(action)


def _mongo_lines(action: Mongo | Reconfigure | TryMetadata | AtPrimary | AtRouter) -> tuple[str, ...]:
    if isinstance(action, AtPrimary):
        first = f"// at whichever of {', '.join(action.members)} is primary then"
        return (first, *(line for part in action.actions for line in _mongo_lines(part)))
    if isinstance(action, AtRouter):
        sent, others = _mongo_lines(action.action), " or ".join(action.routers[1:])
        return (f"// at {action.routers[0]}, or {others} where it does not answer", *sent) if others else sent
    if isinstance(action, Reconfigure):
        return action.change.lines
    if isinstance(action, TryMetadata):
        return (f"compare dbHash of config at 127.0.0.1:{action.port} with {action.host}'s",)
    again = f"   # if refused, again for {action.again_s:g} s" if action.again_s else ""
    return (f"{action.command}{again}",)


def _pair_lines(action: PutPair) -> tuple[str, ...]:
    source, names = action.source, (action.ca, action.cert, action.key)
    if isinstance(source, HostPair):
        told = tuple(f"copied from {source.host}:{path}" for path in names)
    elif isinstance(source, LocalPair):
        told = tuple(f"from this workstation's {path}" for path in (source.ca, source.cert, source.key))
    else:
        told = (
            f"made in memory: {source.name} CA, valid for {source.days} days; its key is dropped",
            f"made in memory: {source.name} server, signed by that CA, one for all nodes",
            MASK,
        )
    modes = ("root:root 0644", "root:root 0644", f"{action.owner}:{action.group} 0600")
    return tuple(f"write {path} ({mode})   # {how}" for path, mode, how in zip(names, modes, told, strict=True))


def _file_lines(action: EditOptions | EditYaml | PutFile | RemoveFile | RestoreFile) -> tuple[str, ...]:
    if isinstance(action, EditYaml):
        lines = [f"- {name}" if value is None else f"+ {name}: {value}" for name, value in action.settings]
        return (f"edit {action.path}", *lines)
    if isinstance(action, EditOptions):
        settings = [f"- {name}" if value is None else f"+ {name} = {_shown(value)}" for name, value in action.options]
        return (f"edit {action.path} [{action.section}]", *settings)
    if isinstance(action, PutFile):
        text = "".join(_shown(part) for part in action.content)
        return (f"write {action.path} ({action.owner} {action.mode})", *(f"+ {line}" for line in lines_of(text)))
    if isinstance(action, RemoveFile):
        return (f"remove {action.path}", *((_OF_OTHERS,) if action.wrote or action.put else ()))
    told = f"put back {action.path} as it was before the run"
    if action.whole:
        return (told,)
    return (told, _OF_OTHERS)


def _console_lines(action: WaitFor | Ask | Checkpoint | Continue) -> tuple[str, ...]:
    if isinstance(action, WaitFor):
        return (f"wait for {action.reason}",)
    if isinstance(action, Ask):
        return (f"ask: {action.question}",)
    if isinstance(action, Checkpoint):
        return (f"rest: {action.sentence}",)
    return (f"plan on: {action.reason}",)


def _shown(value: str | CopiedSecret) -> str:
    if isinstance(value, str):
        return value
    return f"{MASK} (copied from {value.host}: [{value.section}] {value.option})"
