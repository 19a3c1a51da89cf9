"""Which of a host's processes that are called mongod or mongos are its servers: never by the name alone.

Anybody may call a program so, and a container's run beside the host's own. Whose one is tell its PID namespace
(pid_namespaces(7): a process of another one has several numbers, proc(5), NSpid), the main process of a unit of the
system, and its user. What none of these tells apart counts: it may be the server, started by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.machine.system import properties
from services.facts.mongodb.process import parse_owners, unit_of

_NAMESPACES = re.compile(r"^NSpid:((?:\s+\d{1,10})+)\s*$", re.MULTILINE)
_ROOT = frozenset({"root", "0"})
MOST = 16
"""More are not told apart, and all count: each costs three reads."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of that name.

    Attributes:
        own: pids of the host's servers; others: of what is called like one, each with whose it is.
    """

    own: tuple[int, ...]
    others: tuple[tuple[int, str], ...] = ()

    @property
    def told(self) -> str:
        """Return the others for a person, '' for none."""
        return "; ".join(f"pid {pid} is called like one, of {whose}" for pid, whose in self.others)


def processes_of(
    listing: str,
    text: Callable[[CommandRead], str],
    *,
    user: str | None = None,
    default: Callable[[], str] = lambda: "",
) -> Processes:
    """Return which processes of `ps` (commands.MONGODB_PROCESS) count as the host's servers.

    Args:
        text: returns what a read gave, '' where it gave nothing.
        user: of the one unit that is meant ('' not known); None: of the main process of whatever unit runs one.
        default: returns the user of the unit that would run one, asked where no main process runs.
    """
    owners = dict(parse_owners(listing))
    if not owners or len(owners) > MOST:
        return Processes(tuple(owners))
    inside = [pid for pid in owners if is_contained(text(commands.CONTENT.read(f"/proc/{pid}/status")))]
    left = [pid for pid in owners if pid not in inside]
    mains = [pid for pid in left if _is_main(pid, text)] if left and user is None else []
    names = _accounts(owners, mains, user, default) if left else frozenset[str]()
    foreign = [pid for pid in left if pid not in mains and names and owners[pid] and not owners[pid] & (names | _ROOT)]
    called = ", ".join(sorted(names - _ROOT, key=lambda name: (name.isascii() and name.isdigit(), name))[:1])
    return Processes(
        tuple(pid for pid in left if pid not in foreign),
        (
            *((pid, "a container, or another PID namespace") for pid in inside),
            *((pid, f"a user who is not {called}" if called else "another user") for pid in foreign),
        ),
    )


def is_contained(status: str) -> bool | None:
    """Return whether /proc/PID/status is of a process of another PID namespace; None where it does not say."""
    found = _NAMESPACES.search(status)
    return len(found[1].split()) > 1 if found is not None else None


def _accounts(
    owners: dict[int, frozenset[str]], mains: list[int], user: str | None, default: Callable[[], str]
) -> frozenset[str]:
    if len(mains) == 1:
        return owners[mains[0]]
    known = default() if user is None and not mains else user or ""
    return frozenset({known} - {""})


def _is_main(pid: int, text: Callable[[CommandRead], str]) -> bool:
    """Return whether it is the main process of a unit of the system, by the system's own word."""
    unit = unit_of(text(commands.CONTENT.read(f"/proc/{pid}/cgroup")))
    return bool(unit) and properties(text(commands.UNIT_ACCOUNT.read(unit))).get("MainPID") == str(pid)
