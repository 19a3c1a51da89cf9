"""What a server is to its cluster where it may not answer: Primary, something else, no server at all, or not known.

Three things that are never mixed: no answer (nothing is known), no server (its host says that none runs), and what
answered and could not be read all the same (a refused login, a missing password of ours).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from services.connections.reads import commands
from services.errors import Unreachable, UserError
from services.facts import reads
from services.facts.machine.machine import parse_process
from services.facts.machine.system import properties
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import Unit


@dataclass(frozen=True, slots=True)
class PrimaryStatus:
    """What one look found: whether it is a member of a Primary Component, and what it is in words."""

    primary: bool
    words: str


def standing(asking: Asking, host: str) -> PrimaryStatus:
    """Return what the server says, or what its host says of it; raise UserError when neither can be told."""
    try:
        status = asking.status(host).get("wsrep_cluster_status") or "no member"
    except UserError:
        without = without_server(asking, host)
        if not without:
            raise
        return PrimaryStatus(primary=False, words=without)
    return PrimaryStatus(status == "Primary", status)


class Absent(Enum):
    """Why a server does not serve."""

    NOT = "it runs"
    NONE = "no server runs"
    STARTING = "its server is starting and serves no clients yet"


def absent(asking: Asking, host: str) -> Absent:
    """Return what its host says of a server that gives no answer. Raises UserError."""
    listing = asking.run(host, reads.PROCESS)
    state, _ = parse_process(listing.text)
    if listing.exit_code in {0, 1} and not listing.stderr.strip() and state in {"", "Z"}:
        return Absent.NONE
    return Absent.STARTING if _still_starting(asking, host) else Absent.NOT


def without_server(asking: Asking, host: str) -> str:
    """Return in words that no server runs, or one that serves nobody yet; '' for one that runs. Raises UserError."""
    why = absent(asking, host)
    return "" if why is Absent.NOT else why.value


def silent(host: str, why: UserError) -> str:
    """Return why nothing was read of a host's server: 'no answer from s2 (...)', or that it could not be read."""
    reason = why.sentence.rstrip(".")
    evidence = f"no answer from {host}" if isinstance(why, Unreachable) else f"{host} could not be read"
    return f"{evidence} ({reason})"


def _still_starting(asking: Asking, host: str) -> bool:
    """Return whether systemd waits for the server's word that it is ready: until then it is no Synced member.

    After a crash of all, servers that wait for the rest of their last view hang there for ever, their port closed.
    """
    unit = (asking.facts.host(host)[Unit].name if asking.facts is not None else "") or "mariadb.service"
    shown = asking.run(host, commands.UNIT_PROPERTY.read("ActiveState", unit))
    return properties(shown.text).get("ActiveState") == "activating"
