"""Where work that runs on a host without the console stands: systemd's word for its unit, or its own folder's. Pure.

org.freedesktop.systemd1(5) for the properties; the folder's script is execute/detached.py's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.facts.machine.system import properties
from services.facts.reading import count

UNIT_PROPERTIES = "LoadState,ActiveState,SubState,Result,ExecMainCode,ExecMainStatus"
_EXITED = "1"
"""CLD_EXITED; killed and dumped otherwise (man waitid(2))."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at the work found.

    Attributes:
        state: 'absent' never began (or was removed, or the host restarted); 'gone': it ended without leaving a result.
        exit_code: when it ended; 128 and more: killed by that signal. detail: systemd's word for a failure.
    """

    state: Literal["absent", "running", "ended", "gone"]
    exit_code: int = 0
    detail: str = ""


def parse_look(text: str) -> Found:
    """Return what the folder's script says: 'running', 'ended 3', 'gone', 'absent'."""
    state, _, code = text.strip().partition(" ")
    if state == "ended":
        return Found("ended", 255 if (ended := count(code)) is None else ended)
    if state == "running":
        return Found("running")
    return Found("gone") if state == "gone" else Found("absent")


def parse_unit(text: str) -> Found:
    """Return what `systemctl show --property=UNIT_PROPERTIES` says of the work's transient unit."""
    shown = properties(text)
    if shown.get("LoadState", "not-found") == "not-found":
        return Found("absent")
    ended = shown.get("ActiveState") in {"failed", "inactive"} or shown.get("SubState") == "exited"
    if not ended:
        return Found("running")
    result, status = shown.get("Result", ""), int(shown.get("ExecMainStatus") or 0)
    if shown.get("ExecMainCode") == _EXITED:
        return Found("ended", status, result)
    if shown.get("ExecMainCode", "0") == "0":  # it never came to run
        return Found("ended", 255, result)
    return Found("ended", 128 + status, result)
