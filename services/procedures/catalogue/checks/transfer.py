"""Can a state transfer go through: ports, tools, the [sst] section, the account, left-over scripts (add-node P4-P9)."""

from __future__ import annotations

from services.facts.machine.tcp_ways import GROUP_PORT, PORTS
from services.facts.server.option_files import sst_programs
from services.procedures.catalogue.checks.parts import (
    checked,
    galera_of,
    known,
    server_of,
    unread,
    unseen_processes,
    verdict,
)
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.links import Link, Links
from services.procedures.plan.parts.galera.sst_account import SstAccount
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options
from services.types import Flavour

_TOOLS = {
    "mariabackup": (("mariabackup", "mariadb-backup"), ("mbstream",), ("socat",)),
    "xtrabackup-v2": (("xtrabackup",), ("xbstream",), ("socat",)),
    "xtrabackup": (("xtrabackup",), ("xbstream",), ("socat",)),
    "rsync": (("rsync",),),
    "rsync_wan": (("rsync",),),
    "mysqldump": (("mysqldump", "mariadb-dump"),),
}
"""SST method -> what it needs, each a choice of names (scripts wsrep_sst_*)."""
_NO_ACCOUNT = frozenset({"rsync", "rsync_wan"})
_COMPARED = ("encrypt", "tca", "tcert", "tkey", "tmode", "ssl_ca", "ssl_cert", "ssl_key", "ssl_mode", "compressor",
             "decompressor", "streamfmt", "transferfmt")  # fmt: skip
_PATHS = frozenset({"tca", "tcert", "tkey", "ssl_ca", "ssl_cert", "ssl_key"})


def ports(facts: Facts, joiner: str, members: tuple[str, ...]) -> tuple[Check, ...]:
    """The group and transfer ports between the joiner and each member, both directions, as they were really tried.

    'refused' is a way that is open with nobody listening: right for 4444 and 4568 between transfers.
    """
    return tuple(_way(facts, joiner, member) for member in members if member != joiner)


def _way(facts: Facts, joiner: str, member: str) -> Check:
    pairs = ((joiner, member), (member, joiner))
    tried = [(a, b, link) for a, b in pairs for link in _links(facts, a, b)]
    closed = [
        f"{a} to {b} ({link.address}) port {link.port}: {link.evidence or 'no answer'}"
        for a, b, link in tried
        if link.outcome == "filtered"
    ]
    silent = [
        f"{a} to {b} ({link.address}) port {link.port}: refused"
        for a, b, link in tried
        if link.outcome == "refused" and link.port == GROUP_PORT and b == member
    ]
    unknown = untried(facts, (joiner, member), PORTS)
    seen = ", ".join(f"{a} to {b} {link.port} {link.outcome}" for a, b, link in tried)
    # With the way open it joins at once, by an SST as it may be, and nothing of this plan was asked.
    up = facts.host(joiner).server_up is not False
    some = "" if facts.host(joiner).server_up else ", if it runs"
    first = f"Stop the server of {joiner} first{some}: once it reaches a member, it joins by itself, by IST or by SST."
    mend = "Open these ports between the two hosts in their firewalls."
    return checked(
        "PORTS",
        f"{joiner} and {member} can connect to each other's ports",
        each=f"{joiner} and the members can connect to each other's ports",
        block=[*closed, *silent],
        unread=unknown,
        good=seen,
        why="Galera always needs port 4567, and 4444 for an SST and 4568 for an IST, in both directions.",
        try_=(*((first,) if up and closed else ()), mend),
        host=member,
    )


def _links(facts: Facts, host: str, other: str) -> list[Link]:
    return [link for link in facts.host(host)[Links].tried if link.to_host == other]


def untried(facts: Facts, hosts: tuple[str, ...], ports: tuple[int, ...] = (GROUP_PORT,)) -> list[str]:
    """Return which ways between these hosts nobody has tried, or could try: none of them is said to be open."""
    said = []
    for a in hosts:
        for b in hosts:
            known_ports = {link.port for link in _links(facts, a, b) if link.outcome != "unknown"}
            said += [f"{a} to {b} port {port}: not tested" for port in ports if a != b and port not in known_ports]
    return said


def sst_tools(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """The programs that the cluster's SST method and its [sst] section call are on each host."""
    everyone = known(facts, hosts)
    methods = [m for h in everyone if (m := _method(h))]
    live = [g.sst_method for h in facts.hosts if (g := galera_of(h)) is not None and g.sst_method]
    method = next(iter((*live, *methods)), "")
    named = {program for h in everyone for program in sst_programs(h[Options].given)}
    return tuple(_tools(host, method, named) for host in everyone)


def _method(host: HostFacts) -> str:
    return host[Options].option("mysqld", "wsrep_sst_method") or ""


def _tools(host: HostFacts, method: str, named: set[str]) -> Check:
    needed = (*_TOOLS.get(method, ()), *((name,) for name in sorted(named)))
    missing = [" or ".join(choice) for choice in needed if not set(choice) & set(host[Tools].there)]
    strange = [] if method in _TOOLS or not method else [f"the console does not know the method {method}"]
    blind = [] if host[Tools].there else [unread(host, "which programs are installed", "programs", "ssh")]
    if not method:
        strange = ["the SST method is not known"]
    if blind:
        missing = []
    return Check(
        code="SST-TOOLS",
        title=f"{host.host} has the programs for an SST",
        each="Each host has the programs for an SST",
        not_known=bool(blind) or not method,
        verdict=verdict(missing, [*strange, *blind]),
        evidence="; ".join([*(f"{host.host} does not have {name}" for name in missing), *strange, *blind])
        or f"{method}: {', '.join(' or '.join(choice) for choice in needed)}",
        why="A missing program makes the transfer fail with exit code 127.",
        try_=tuple(f"Install {name} on {host.host}." for name in missing),
        host=host.host,
    )


def sst_section(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """[sst] of all hosts agrees in what both sides of a transfer must have alike; file names may differ."""
    everyone = known(facts, hosts)
    found = {h.host: _section(h) for h in everyone if h[Options].known}
    blind = [unread(h, "the [sst] section", "options", "ssh") for h in everyone if not h[Options].known]
    differ = []
    for option in _COMPARED:
        values = {name: section.get(option) for name, section in found.items()}
        alike = {value is not None for value in values.values()} if option in _PATHS else set(values.values())
        if len(alike) > 1:
            shown = ", ".join(f"{name}: {'not set' if value is None else value}" for name, value in values.items())
            differ.append(f"{option} ({shown})")
    return checked(
        "SST-SECTION",
        "The [sst] sections are equal",
        block=differ,
        unread=blind,
        good=f"equal on {', '.join(found) or 'no host'}",
        why="If only one side encrypts or compresses, donor and joiner wait for each other forever.",
        try_=("Make the [sst] sections equal.",),
    )


def _section(host: HostFacts) -> dict[str, str]:
    return {option: value for section, option, value in host[Options].given if section == "sst"}


def sst_account(facts: Facts, donor: str) -> Check:
    """The account that the donor's SST script logs in with has its rights, where the method needs one at all.

    rsync copies files; Percona XtraDB Cluster 8 creates its own account for each transfer (its manual, "Percona
    XtraBackup SST configuration").
    """
    host = facts.host(donor)
    galera, server = galera_of(host), server_of(host)
    method = (galera.sst_method if galera is not None else "") or _method(host)
    internal = server is not None and server.flavour is Flavour.PXC and server.version_key >= (8,)
    if method in _NO_ACCOUNT:
        state, evidence = Verdict.PASS, f"{method} needs no account"
    elif internal:
        state, evidence = Verdict.PASS, f"the server of {donor} creates its own account for each transfer"
    elif host[SstAccount].state == "ok":
        state, evidence = Verdict.PASS, f"the account of wsrep_sst_auth on {donor} can log in and has its privileges"
    elif host[SstAccount].state:
        state, evidence = Verdict.BLOCK, host[SstAccount].sentence
    else:
        state, evidence = Verdict.WARN, unread(host, "the privileges of the SST account", "sst-account")
    return Check(
        code="SST-ACCOUNT",
        title=f"The SST account of {donor} has its privileges",
        verdict=state,
        not_known=state is Verdict.WARN,
        evidence=evidence,
        why="mariabackup needs RELOAD, PROCESS, LOCK TABLES and BINLOG MONITOR; without them, or with a wrong "
        "password, the donor's script fails after the joiner's data were erased.",
        try_=()
        if state is Verdict.PASS
        else (
            f"On {donor}, grant the account of wsrep_sst_auth its privileges, and correct its password in the files.",
        ),
        host=donor,
    )


def sst_orphans(facts: Facts, hosts: tuple[str, ...]) -> tuple[Check, ...]:
    """No script or stream of an earlier transfer is left: a new start would die of it."""
    checks = []
    for host in known(facts, hosts):
        left = [f"pid {pid} for {seconds:.0f} s: {line}" for pid, seconds, line in host[Processes].sst_orphans]
        blind = unseen_processes(host)
        checks.append(
            checked(
                "SST-ORPHANS",
                f"No script of an earlier transfer runs on {host.host}",
                each="No script of an earlier transfer runs on any host",
                block=left,
                unread=blind,
                good=f"none on {host.host}",
                why="Until it has ended, every start fails with 'previous SST script still running'.",
                try_=tuple(f"End process {pid} on {host.host}." for pid, _, _ in host[Processes].sst_orphans),
                host=host.host,
            )
        )
    return tuple(checks)
