"""What an action does, as exact masked lines for the report: the statement, the command, the lines of a file."""

from __future__ import annotations

from services.connections.command import MASK
from services.procedures.actions import (
    Action,
    Ask,
    Checkpoint,
    Continue,
    CopiedSecret,
    Detached,
    EditOptions,
    PutFile,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
    WaitFor,
)


def act_lines(action: Action) -> tuple[str, ...]:
    """Return the lines; a copied secret is masked and its source named."""
    if isinstance(action, Several):
        return tuple(line for part in action.actions for line in act_lines(part))
    if isinstance(action, Sql):
        return (f"{action.statement};",)
    if isinstance(action, Run):
        return (str(action.command),)
    if isinstance(action, Detached):
        return (f"{action.command}   # detached as '{action.name}': survives the console",)
    if isinstance(action, EditOptions | PutFile | RemoveFile | RestoreFile):
        return _file_lines(action)
    return _console_lines(action)


def _file_lines(action: EditOptions | PutFile | RemoveFile | RestoreFile) -> tuple[str, ...]:
    if isinstance(action, EditOptions):
        settings = [f"- {name}" if value is None else f"+ {name} = {_shown(value)}" for name, value in action.options]
        return (f"edit {action.path}", f"[{action.section}]", *settings)
    if isinstance(action, PutFile):
        text = "".join(_shown(part) for part in action.content)
        return (f"write {action.path} ({action.owner}, {action.mode})", *(f"+ {line}" for line in text.splitlines()))
    if isinstance(action, RemoveFile):
        return (f"remove {action.path}",)
    return (f"put back {action.path} as it was before the run",)


def _console_lines(action: WaitFor | Ask | Checkpoint | Continue) -> tuple[str, ...]:
    if isinstance(action, WaitFor):
        return (f"wait for {action.reason}",)
    if isinstance(action, Ask):
        return (f"ask: {action.question}",)
    if isinstance(action, Checkpoint):
        return (f"rest: {action.sentence}",)
    return (f"plan on: {action.reason}",)


def _shown(value: str | CopiedSecret) -> str:
    return value if isinstance(value, str) else f"{MASK} (copied from {value.host}: [{value.section}] {value.option})"
