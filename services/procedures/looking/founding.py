"""Was the server that runs on a host started to found a cluster?"""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.facts.machine.machine import parse_process
from services.facts.server.start_line import founds
from services.procedures.plan.looks import Asking


def founded(asking: Asking, host: str) -> bool:
    """Return whether the server that runs on a host was started to found a cluster. Raises UserError."""
    _, pid = parse_process(asking.run(host, reads.PROCESS).text)
    return pid is not None and founds(asking.run(host, commands.SERVER_WORDS.read(pid)).text)


def founded_words(asking: Asking, host: str) -> str:
    """Return in words that the server of a host, which SQL does not reach, founded a cluster; '' for any other."""
    try:
        there = founded(asking, host)
    except UserError:
        return ""
    evidence = f"the server of {host} was started with --wsrep-new-cluster: it FOUNDED a cluster of its own"
    return f"{evidence}and may accept writes that the other members never receive" if there else ""
