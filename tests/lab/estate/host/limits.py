"""Limits of the machine that a whole estate needs more of than a kernel gives by default."""

from __future__ import annotations

from pathlib import Path

_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
ENOUGH = 1024
"""systemd keeps several inotify instances a host, and all hosts count as root's (inotify(7): 128 by default)."""


def give_room(path: Path = _INSTANCES) -> str:
    """Raise the number of inotify instances where it is lower; return what was done, '' for nothing.

    Without it a container ends on its way up, without a reason on its console, as soon as about six estates are up.
    """
    now = int(path.read_text(encoding="ascii"))
    if now >= ENOUGH:
        return ""
    path.write_text(f"{ENOUGH}\n", encoding="ascii")
    return f"fs.inotify.max_user_instances raised from {now} to {ENOUGH} until the next boot"
