"""What decides about a join in the words of its logs: why it can't hold any more, how its donor gave up. Pure.

Texts: galera/gcs/src/gcs.cpp and gcs_group.cpp ("Shifting PRIMARY -> JOINED", "Will never receive state"),
galera/galera/src/replicator_str.cpp ("State transfer request failed unrecoverably", "State transfer not required"), the
scripts wsrep_sst_common and wsrep_sst_mariabackup, MariaDB's sql/wsrep_sst.cc and wsrep_utils.cc ("Process completed
with error"), Debian's galera_recovery. Met on the lab with MariaDB 10.11.18 and Galera 26.4.23. The lines come without
what clients wrote into them (services/facts/logs/client_text.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.facts.logs.causes import framing, unstamped
from services.facts.logs.error_log import JOIN_BROKE

_FATAL = re.compile(
    rf"{JOIN_BROKE}|"
    r"Must abort|Reversing history|Will never receive state|State transfer request failed unrecoverably"
    r"|is greater than group seqno|unsupported protocol version|Unsupported CC action version|Inconsistency detected"
    r"|previous SST script still running|It may not be safe to bootstrap"
    r"|SST failed|Failed to open channel|failed to open gcomm backend connection|\[ERROR\] Aborting"
    r"|Failed to recover position"  # Debian's galera_recovery: it has no room, or can't run the server
)
_PASSED_OVER = re.compile(r"WSREP: Could not find applier context for ")
_BROKEN = re.compile(
    rf"{JOIN_BROKE}|Will never receive state|State transfer to .{{0,300}} failed|Failed to prepare for IST|IST failed"
    r"|SST script aborted"
)
_ERROR = r"\[ERROR\] (?:\[MY-\d{1,9}\] ){0,2}"
"""MySQL 8 puts its number and the subsystem behind the level: '[ERROR] [MY-000000] [WSREP] ' for '[ERROR] WSREP: '."""
_DONOR_GAVE_UP = re.compile(rf"No space left on device|{_ERROR}(?!\[MY-|WSREP: |\[WSREP\] |\[Galera\] )")
_REFUSED = re.compile(r"Access denied for user '\w*'@'localhost'")
_DONOR_FAILED = re.compile(
    rf"{_ERROR}(?:WSREP: |\[WSREP\] )(?:Process completed with error|Failed to read from|Command did not run)"
)
_SCRIPT = re.compile(r"wsrep_sst_[\w-]{1,40}")
_NOT_NEEDED = re.compile(r"Shift(?:ing|ed) PRIMARY -> JOINED|State transfer (?:is )?not required")
_NEEDED = re.compile(r"state transfer needed: (yes|no)\b")
"""Said at each view (galera/galera/src/replicator_smm.cpp); of a start the first counts, for a member needs none."""
_OF_A_TRANSFER = re.compile(r"\b(IST|SST)\b|state transfer")


def fatal_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines after which a node that stands still joins no more in this start."""
    return tuple(line for line in lines if _FATAL.search(line))


def passed_over(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines that say that a part of a transaction was passed over: its beginning never came to the node.

    Of streaming replication; wsrep-lib/src/server_state.cpp, met on two servers 10.11.18 with Galera 26.4.23.
    """
    return tuple(dict.fromkeys(line for line in lines if _PASSED_OVER.search(line)))


def broke_off(lines: Iterable[str]) -> bool:
    """Return whether a joiner's log says that its transfer broke off: a question of ways, or of its donor."""
    return any(_BROKEN.search(line) for line in lines)


def needed_none(lines: Iterable[str]) -> bool:
    """Return whether a joiner's log says that it needed no transfer: it had missed nothing.

    A node whose grastate.dat said -1, at the position that was recovered, shifts without naming PRIMARY (MariaDB
    10.11.18 on the lab): only the view says it.
    """
    told = tuple(lines)
    first = next((found[1] for line in told if (found := _NEEDED.search(line))), "")
    return first == "no" or any(_NOT_NEEDED.search(line) for line in told)


def of_transfers(lines: Iterable[str], most: int) -> tuple[str, ...]:
    """Return the newest lines that speak of a transfer, for a person to read."""
    return tuple(line for line in lines if _OF_A_TRANSFER.search(line))[-most:]


@dataclass(frozen=True, slots=True)
class DonorFailed:
    """What a donor's log says of the end of the script that sent its data.

    Attributes:
        script: 'wsrep_sst_mariabackup'.
        refused: the server's own word on a login that it refused meanwhile; gave_up: the first error that is none of
            the provider's. '' where it says none.
    """

    script: str
    refused: str = ""
    gave_up: str = ""


def donor_failed(lines: Iterable[str]) -> DonorFailed | None:
    """Return how a donor's script failed by its server's log; None where the log tells of no failed script.

    mariadb-backup's own error stands among the words of a refused login, which are no evidence; the server's line about
    the login and its error about the script are its own.
    """
    told = tuple(lines)
    script = next((found for line in told if _DONOR_FAILED.search(line) and (found := _SCRIPT.search(line))), None)
    if script is None:
        return None
    refused = next((found[0] for line in told if (found := _REFUSED.search(line))), "")
    gave_up = next((unstamped(line) for line in told if _DONOR_GAVE_UP.search(line) and not framing(line)), "")
    return DonorFailed(script[0], refused, gave_up)
