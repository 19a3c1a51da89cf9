"""What the checks are made with: verdicts out of lists of troubles, and small reads of facts."""

from __future__ import annotations

from typing import TypedDict, Unpack

from services.discovery.model import ARBITRATOR
from services.errors import UNHEARD
from services.facts.model import GaleraFacts, Problem, ServerFacts
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.server.options import Options
from services.types import Reach


def verdict(blocks: object, warns: object = ()) -> Verdict:
    """Return BLOCK when there is anything in `blocks`, else WARN for anything in `warns`, else PASS."""
    return Verdict.BLOCK if blocks else Verdict.WARN if warns else Verdict.PASS


Against = list[str] | tuple[str, ...] | bool
"""Sentences that are the evidence too; or yes or no, with the evidence given whole."""


class Details(TypedDict, total=False):
    """What a check may have besides: see `Check`; evidence: given whole, where it is no list of what was found."""

    evidence: str
    why: str
    host: str
    each: str
    answers: tuple[Remedy, ...]
    commands: tuple[str, ...]
    absolute: bool
    to_read: bool


def checked(
    code: str,
    title: str,
    *,
    block: Against = (),
    warn: Against = (),
    unread: Against = (),
    must_read: Against = (),
    good: str = "",
    try_: tuple[str, ...] = (),
    **details: Unpack[Details],
) -> Check:
    """Return the check of what was found: its verdict, its evidence and its ways out follow from that.

    Args:
        block, warn: what speaks against it; the ways out (try_, answers) are those of either.
        unread: what could not be read: not known, where nothing else speaks against it.
        must_read: what could not be read, and nothing begins without.
        good: the evidence where nothing was found.
    """
    against = bool(block or warn)
    outcome = verdict(block or must_read, warn or unread)
    found = [one for part in (block, must_read, warn, unread) if not isinstance(part, bool) for one in part]
    return Check(
        code=code,
        title=title,
        verdict=outcome,
        evidence=details.get("evidence") or "; ".join(found) or good,
        why=details.get("why", ""),
        try_=try_ if against else (READ_IT,) if must_read else (),
        host=details.get("host", ""),
        absolute=outcome is Verdict.BLOCK and details.get("absolute", False),
        to_read=details.get("to_read", False),
        answers=details.get("answers", ()) if against else (),
        commands=details.get("commands", ()) if against else (),
        each=details.get("each", ""),
        not_known=bool(unread or must_read) and not against,
    )


def galera_of(host: HostFacts) -> GaleraFacts | None:
    """Return the node's view of its group when its server answers."""
    return host.node.galera if host.node is not None else None


def server_of(host: HostFacts) -> ServerFacts | None:
    """Return the server's facts when it answers."""
    return host.node.server if host.node is not None else None


def problem_of(host: HostFacts, *parts: str) -> str:
    """Return the first reason that gathering gave for one of these parts, '' when there is none."""
    return next((p.sentence for p in _problems(host) if p.part in parts), "")


def answered(host: HostFacts, part: str) -> bool:
    """Return whether a part that could not be read did answer, and otherwise: a refused login is no silence."""
    return next((p.code for p in _problems(host) if p.part == part), "") not in {"", *UNHEARD}


def login_refused(host: HostFacts) -> bool:
    """Return whether the server is there and refuses the console: nothing is known of its state, it may be Synced."""
    return any(p.part == "sql" and p.code == "auth-failed" for p in _problems(host))


def _problems(host: HostFacts) -> tuple[Problem, ...]:
    return (*host.problems, *(host.node.problems if host.node is not None else ()))


def unread(host: HostFacts, what: str, *parts: str) -> str:
    """Return 'WHAT of HOST could not be read', with the reason where gathering gave one."""
    why = problem_of(host, *parts)
    return f"{what} of {host.host} could not be read" + (f" ({why.rstrip('.')})" if why else "")


def unseen_processes(host: HostFacts, part: type[Processes | Balancers] = Processes) -> list[str]:
    """Return why it is not known that no such process runs on a host, [] where everybody's were seen."""
    hidden = host[part].hidden
    if hidden is None:
        return [unread(host, "the process table", "ps", "ssh")]
    return [f"the login on {host.host} cannot see other users' processes"] if hidden else []


def unread_options(*hosts: HostFacts) -> list[str]:
    """Return of which of these hosts the option files could not be read: that they name nothing says nothing."""
    blind = (host for host in hosts if not host[Options].known and not host[Options].files)
    return [unread(host, "the option files", "options", "option-files", "ssh") for host in blind]


READ_IT = "Make sure that it can be read (the host answers, the console's accounts have access), then check again."
"""The way out of what blocks because it could not be read: each evidence names what, of which host, and why."""


def listed(names: tuple[str, ...] | list[str]) -> str:
    """Return names with commas; 'none' for none."""
    return ", ".join(names) or "none"


def arbitrators(facts: Facts) -> int:
    """Return how many arbitrators (garbd) vote in the cluster: they count in its size, and are no hosts to ask."""
    nodes = facts.cluster.nodes if facts.cluster is not None else ()
    return sum(node.role == ARBITRATOR for node in nodes)


def known(facts: Facts, hosts: tuple[str, ...]) -> tuple[HostFacts, ...]:
    """Return the facts of these hosts, in this order, each once."""
    return tuple(facts.host(name) for name in dict.fromkeys(hosts))


def unread_state(host: HostFacts) -> list[str]:
    """Return that grastate.dat could not be read, [] where it was, or is not there."""
    folder = host[DataFolder]
    state_known = folder.grastate is not None or folder.grastate_absent or folder.grastate_damaged
    return [] if state_known else [unread(host, "grastate.dat", "grastate", "root", "ssh")]


def state_file(host: HostFacts) -> str:
    """Return what grastate.dat says, as UUID:seqno, or in the words used everywhere what it is instead.

    'no answer' (the host), 'absent', 'damaged', 'not read'.
    """
    state = host[DataFolder].grastate
    if state is not None:
        return f"{state.uuid}:{state.seqno}"
    return state_word(host)


def state_word(host: HostFacts) -> str:
    """Return what grastate.dat is where it names no state: 'zero' (its UUID), else as `state_file`."""
    folder = host[DataFolder]
    if folder.grastate is not None:
        return "zero"
    if ssh_silent(host):
        return "no answer"
    return "absent" if folder.grastate_absent else "damaged" if folder.grastate_damaged else "not read"


def ssh_silent(host: HostFacts) -> bool:
    """Return whether nothing was read of the host over SSH."""
    return host.node is None or host.node.reach not in {Reach.FULL, Reach.SSH_ONLY}
