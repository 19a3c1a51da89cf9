"""Why a transfer came to nothing: what its donor's log says, and the ways from the members to a joiner that has failed.

The ways are tried once it is down: while it runs a try would be taken for the donor's stream; down, "refused" shows
that the way is open. What ends a transfer at its donor stands in the donor's log alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.errors import UserError
from services.procedures.gather.links import TRANSFER_PORTS, outcome_of
from services.procedures.verify.asking import Asking
from services.procedures.verify.log import Log, read_log_since

_SLACK_S = 2.0
"""Clocks are compared over SSH, good to a fraction of the round trip."""
_BROKEN = re.compile(r"Will never receive state|State transfer to .{0,300} failed|Failed to prepare for IST|IST failed")
_DONOR_GAVE_UP = re.compile(r"No space left on device|\[ERROR\] (?!WSREP: )")
_REFUSED = re.compile(r"Access denied for user '\w*'@'localhost'")
_DONOR_FAILED = re.compile(r"\[ERROR\] WSREP: (?:Process completed with error|Failed to read from|Command did not run)")
_SCRIPT = re.compile(r"wsrep_sst_\w+")


def donor_said(asking: Asking, log: Log | None, fatal: Iterable[str]) -> str:
    """Return why the donor gave up by its own log, to go on a sentence; '' where no transfer broke, or it says nothing.

    mariadb-backup's own error stands among the words of a refused login, which are no evidence (`read_log_since`); the
    server's line about the login and its error about the script are its own.

    Args:
        log: the joiner's, since its newest start.
    """
    if asking.facts is None or log is None or not any(_BROKEN.search(line) for line in fatal):
        return ""
    last = next(reversed(log.transfers(0.0)), None)
    donor = next((h for h in asking.facts.hosts if last is not None and h.node_name == last.donor_name != ""), None)
    if last is None or donor is None or last.since is None:
        return ""
    try:
        own = read_log_since(asking, donor.host, donor.unit or "mariadb.service", last.since - _SLACK_S)
    except UserError:
        return ""
    lines = own.since(last.since - _SLACK_S) if own is not None else ()
    script = next((found for line in lines if _DONOR_FAILED.search(line) and (found := _SCRIPT.search(line))), None)
    if script is None:
        return ""
    refused = next((found[0] for line in lines if (found := _REFUSED.search(line))), "")
    gave_up = next((line.strip() for line in lines if _DONOR_GAVE_UP.search(line)), "")
    told = f", and its server refused a login meanwhile: {refused} (wsrep_sst_auth?)" if refused else ""
    told = told or (f": {gave_up}" if gave_up else ": its log says more")
    return f"; on its donor {donor.host} {script[0]} failed{told}"


def ways_closed(asking: Asking, joiner: str, fatal: Iterable[str]) -> str:
    """Return which ways to a joiner that is down now are closed, to go on a sentence; '' for none, or untried.

    Args:
        fatal: what the joiner's log said: only a transfer that broke off is a question of ways.
    """
    if asking.facts is None or not any(_BROKEN.search(line) for line in fatal):
        return ""
    host = asking.facts.host(joiner)
    address = (host.option("mysqld", "wsrep_node_address") or "").partition(":")[0] or host.address
    members = tuple(name for name in asking.facts.members if name != joiner)
    closed = []
    for port in TRANSFER_PORTS if address else ():
        read = commands.TCP_TRIED.read(address, port)
        for name, output in asking.each(members, partial(_tried, asking, read)).items():
            outcome, said = outcome_of(output) if isinstance(output, Output) else ("unknown", "")
            closed += [f"{name} gets no answer at port {port} of {joiner} ({said})"] if outcome == "filtered" else []
    return f"; now that it is down, {', '.join(closed)}: a firewall is between them" if closed else ""


def _tried(asking: Asking, read: CommandRead, member: str) -> Output:
    return asking.run(member, read)
