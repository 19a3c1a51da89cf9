"""Why a transfer came to nothing: what its donor's log says, and the ways from the members to a joiner that has failed.

The ways are tried once it is down: while it runs a try would be taken for the donor's stream; down, "refused" shows
that the way is open. What ends a transfer at its donor stands in the donor's log alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.errors import UserError
from services.facts.logs.part import Log
from services.facts.machine.tcp_ways import TRANSFER_PORTS, outcome_of
from services.facts.reading import without_port
from services.facts.transfer.join_words import broke_off, donor_failed
from services.procedures.looking.log import read_log_since
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options

_SLACK_S = 2.0
"""Clocks are compared over SSH, good to a fraction of the round trip."""


def donor_said(asking: Asking, log: Log | None, fatal: Iterable[str]) -> str:
    """Return why the donor gave up by its own log, to go on a sentence; '' where no transfer broke, or it says nothing.

    Args:
        log: the joiner's, since its newest start.
    """
    if asking.facts is None or log is None or not broke_off(fatal):
        return ""
    last = next(reversed(log.transfers(0.0)), None)
    donor = next((h for h in asking.facts.hosts if last is not None and h.node_name == last.donor_name != ""), None)
    if last is None or donor is None or last.since is None:
        return ""
    try:
        own = read_log_since(asking, donor.host, donor[Unit].name or "mariadb.service", last.since - _SLACK_S)
    except UserError:
        return ""
    failed = donor_failed(own.since(last.since - _SLACK_S)) if own is not None else None
    if failed is None:
        return ""
    told = f", and its server refused a login meanwhile: {failed.refused} (wsrep_sst_auth?)" if failed.refused else ""
    told = told or (f": {failed.gave_up}" if failed.gave_up else ": its log says more")
    return f"; on its donor {donor.host} {failed.script} failed{told}"


def ways_closed(asking: Asking, joiner: str, fatal: Iterable[str]) -> str:
    """Return which ways to a joiner that is down now are closed, to go on a sentence; '' for none, or untried.

    Args:
        fatal: what the joiner's log said: only a transfer that broke off is a question of ways.
    """
    if asking.facts is None or not broke_off(fatal):
        return ""
    host = asking.facts.host(joiner)
    address = without_port(host[Options].option("mysqld", "wsrep_node_address") or "") or host.address
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
