"""Why a transfer came to nothing: the ways from the members to a joiner that has failed, tried once it is down.

While it runs a try would be taken for the donor's stream; down, "refused" shows that the way is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from services.connections.ports import Output
from services.procedures.gather_links import TRANSFER_PORTS, outcome_of, try_argv
from services.procedures.proving_asking import Asking

_BROKEN = re.compile(r"Will never receive state|State transfer to .* failed|Failed to prepare for IST|IST failed")


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
        argv = try_argv(address, port)
        for name, output in asking.each(members, partial(_tried, asking, argv)).items():
            outcome, said = outcome_of(output) if isinstance(output, Output) else ("unknown", "")
            closed += [f"{name} gets no answer at port {port} of {joiner} ({said})"] if outcome == "filtered" else []
    return f"; now that it is down, {', '.join(closed)}: a firewall is between them" if closed else ""


def _tried(asking: Asking, argv: tuple[str, ...], member: str) -> Output:
    return asking.run(member, argv)
