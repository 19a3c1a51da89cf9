"""A host that has just booted runs no database: nothing of one is active, and nothing but its sshd listens."""

from __future__ import annotations

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import container
from tests.lab.estate.host.image import DATABASE_WORDS
from tests.lab.estate.spec import EstateSpec

_SSH = "22"
_RUNS = (".service", ".socket", ".timer", ".path")
"""Kinds of units that run or start something; the mount of the lab's data disk has the database's name, too."""
_ASK = "systemctl list-units --all --plain --no-legend --no-pager; echo ---; ss -Hltn"


def assert_quiet(spec: EstateSpec, name: str) -> None:
    """Raise LabError that names what of a database stands on a host where none was started yet.

    A server of ours could not take its port there, or tests would ask one that nobody configured.
    """
    asked = container.sh(spec, name, _ASK, limit_s=20)
    if not asked.ok:
        raise LabError(f"{name} could not be asked what runs on it: {asked.err.strip() or asked.out.strip()}")
    units, _, sockets = asked.out.partition("---\n")
    found = [*active_units(units), *listeners(sockets)]
    if found:
        raise LabError(
            f"{name} booted with a database of its image's own: {'; '.join(found)}. The image should enable none: "
            "remove it (packaging/lab.py image prints where it lies) and let it be built again."
        )


def active_units(text: str) -> list[str]:
    """Return a database's units that are neither inactive nor failed: `systemctl list-units --plain` (systemctl(1))."""
    found = []
    for line in text.splitlines():
        parts = line.split(None, 4)
        if (
            len(parts) >= 4
            and parts[0].endswith(_RUNS)
            and any(word in parts[0] for word in DATABASE_WORDS)
            and parts[2] not in {"inactive", "failed"}
        ):
            found.append(f"{parts[0]} is {parts[2]}")
    return found


def listeners(text: str) -> list[str]:
    """Return the TCP ports but sshd's that are listened on: `ss -Hltn` (ss(8)), local address in the fourth column."""
    found = []
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[3].rpartition(":")[2] != _SSH:
            found.append(f"something listens on {parts[3]}")
    return found
