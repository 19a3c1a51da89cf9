"""The checks of bootstrap-after-crash that no position tells: will a start hold, what was durable, what leads back."""

from __future__ import annotations

from services.facts.logs.causes import asserts, disk_full, fails_again
from services.facts.machine.tcp_ways import GROUP_PORT
from services.procedures.catalogue.checks.haproxy import NONE_SEEN, unseen_balancers
from services.procedures.catalogue.checks.parts import checked, known, unread, verdict
from services.procedures.catalogue.checks.starting import LEAST_ROOM
from services.procedures.catalogue.checks.transfer import untried
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.forms.inputs import typed_hosts
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.links import Links
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.error_log import ErrorLog
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.variables import Variables

ROOM = 2**30
"""Free disk from which on an old 'disk full' in the log is history."""


def crash_cause(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """What brought them down must not bring them down again; a disk that has room again is only told.

    Nothing found is a pass where logs were read, and of the lines that were read: a log may end before the crash.
    """
    blocks: list[str] = []
    warns, bad = [], []
    for host in known(facts, hosts):
        stops, tells = _told_by_log(host)
        free = host[DataFolder].disk.free
        if free is not None and free < LEAST_ROOM:
            stops.append(f"{host.host}: less than 100 MiB free")
        if host[Unit].result == "oom-kill":
            stops.append(f"{host.host}: the kernel killed its server for lack of memory (oom-kill)")
        bad += [host.host] if stops else []
        blocks += stops
        warns += tells
    sound = [name for name in hosts if name not in bad]
    blind = [
        unread(host, "the log", "log") if host[ErrorLog].lines is None else f"the log of {host.host} is empty"
        for host in known(facts, hosts)
        if not host[ErrorLog].lines
    ]
    return Check(
        code="CRASH-CAUSE",
        title="The logs show no reason for a start to fail",
        verdict=verdict(blocks, [*warns, *blind]),
        not_known=bool(blind) and not warns and not blocks,
        evidence="; ".join([*[*blocks, *warns][:4], *blind]) or _nothing_in(facts, hosts),
        why="A node that crashes again during the run leaves a worse state than now.",
        try_=("Free disk space, or repair the cause that the log shows, then check again.",) if blocks else (),
        answers=(Remedy(_leave_out(bad), "nodes", (typed_hosts(sound),)),) if bad and sound else (),
    )


def _told_by_log(host: HostFacts) -> tuple[list[str], list[str]]:
    """Return what a host's log says that a start will not mend, and what may be mended or come again."""
    stops, tells = [], []
    free = host[DataFolder].disk.free
    for line in host[ErrorLog].errors:
        log_line = f"{host.host}: {line}"
        if fails_again(line) and disk_full(line) and free is not None and free >= ROOM:
            tells.append(f"{log_line} ({free / 1e9:.1f} GB are free now at its data folder)")
        elif fails_again(line):
            stops.append(log_line)
        elif asserts(line):
            tells.append(f"{log_line} (the server aborted itself; a start may end the same way)")
    return stops, tells


def _nothing_in(facts: Facts, hosts: tuple[str, ...]) -> str:
    logs = (
        f"{host.host} ({host[ErrorLog].lines} lines, the last of {host[ErrorLog].newest or 'an unknown time'})"
        for host in known(facts, hosts)
    )
    return f"no corruption, full or failing disk, or lack of memory in the logs that were read: {', '.join(logs)}"


def _leave_out(names: list[str]) -> str:
    lost = "you confirm the loss of the transactions that only it has"
    return f"Or start without {', '.join(names)}: {lost}, and add-node brings it back"


def durability(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Say where a commit may not have reached the disk; of a server that is down its option files tell."""
    settings = {name: _durable(facts.host(name)) for name in hosts}
    loose = {name: found for name, found in settings.items() if found[0] != "1"}
    return Check(
        code="DURABILITY",
        title="Commits were on disk",
        verdict=verdict((), loose),
        evidence="; ".join(
            f"{name}: innodb_flush_log_at_trx_commit = {flush or 'not known'}, sync_binlog = {sync or 'not known'}"
            for name, (flush, sync) in (loose or settings).items()
        ),
        why="After a killed process the most advanced node is usually complete. After a power loss each node may miss "
        "up to a second of commits if innodb_flush_log_at_trx_commit is not 1.",
    )


def unflushed(facts: Facts, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a power loss may have cost and no file can tell: a check that finds nothing missing says so too."""
    loose = [name for name in hosts if _durable(facts.host(name))[0] not in {"", "1"}]
    if not loose:
        return ()
    unsafe = f"innodb_flush_log_at_trx_commit is not 1 on {', '.join(loose)}: after a power loss"
    return (f"{unsafe} up to a second of commits may be missing, which cannot be verified",)


def _durable(host: HostFacts) -> tuple[str, str]:
    """Return (innodb_flush_log_at_trx_commit, sync_binlog); an option that no file sets has its default.

    Defaults: MariaDB KB and MySQL manual, "innodb_flush_log_at_trx_commit" (1), "sync_binlog" (MariaDB 0, MySQL 1).
    """
    running = dict(host[Variables].durability)
    binlog = "0" if "MariaDB" in host[Program].text else "1"
    found = []
    for name, default in (("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", binlog)):
        unset = default if host[Options].known and host[Program].text else ""
        found.append(running.get(name) or host[Options].option("mysqld", name) or unset)
    return found[0], found[1]


def copies(hosts: tuple[str, ...], how: str) -> Check:
    """Crash recovery and SST change data files: only a copy made before leads back (`how`: 'made', 'wait', 'none')."""
    named = ", ".join(hosts)
    answers = {
        "made": f"you confirmed that copies or snapshots of the data of {named} exist",
        "wait": "the run waits for your copies while every server is stopped, before any data file changes",
    }
    return Check(
        code="DATA-COPIES",
        title="The data folders are copied before they change",
        verdict=verdict((), how not in answers),
        evidence=answers.get(how) or f"NO COPY of the data of {named} is known; the run copies only the state files",
        why="Crash recovery changes data files, and a join may replace all data of a node: without a copy "
        "of at least the two most advanced nodes a wrong choice cannot be reversed.",
        answers=()
        if how in answers
        else (Remedy("Snapshot the volumes when the run asks for it", "copies", ("wait",)),),
    )


def clients_away(facts: Facts) -> Check:
    """Who writes on the first node before its data was looked at makes another choice cost those rows."""
    seen = sorted({f"{balancer} on {host.host}" for host in facts.hosts for balancer in host[Balancers].found})
    blind = unseen_balancers(facts)
    balancers = f"{', '.join(seen)} may send clients to it as soon as it is up" if seen else NONE_SEEN
    return Check(
        code="CLIENTS-AWAY",
        title="No client writes on the first node before you have checked its data",
        verdict=verdict((), [*seen, *blind]),
        not_known=bool(blind) and not seen,
        evidence="; ".join([balancers, *blind]),
        why="Clients' writes on it are lost if you choose another node after all.",
        try_=("Stop the applications, or remove the nodes from the load balancer, until you have checked the data.",)
        if seen or blind
        else (),
    )


def network_first(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Servers that are up and see each other again form the Primary Component by themselves: heal that first."""
    closed = [
        f"{host.host} to {link.to_host} port {GROUP_PORT}: {link.outcome}"
        for host in known(facts, hosts)
        for link in host[Links].tried
        if link.to_host in hosts and link.port == GROUP_PORT and link.outcome in {"filtered", "refused"}
    ]
    blind = untried(facts, hosts)
    return checked(
        "NETWORK-FIRST",
        "The servers that are up can connect to each other",
        block=closed,
        unread=blind,
        evidence="; ".join(closed or blind) or f"no blocked connection between {', '.join(hosts)} was seen",
        why="Nodes that were only partitioned merge automatically once the network is repaired. pc.bootstrap affects "
        "only the nodes that are connected to the chosen one, and must never be set on two sides.",
        try_=("Repair the network; the cluster then forms again without this procedure.",),
    )


def ways_closed(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """A node that starts and does not reach the others waits without end, and does not end when it is asked to.

    Seen on the lab: with a gvwstate.dat a node opens as non-Primary and wsrep's wait for a Primary never times out;
    mariadbd heeds no SIGTERM then, and Debian's unit gives up on it after twice 15 minutes and kills nothing. A
    refusal is a way that is open: nobody listens on a stopped node.
    """
    tried = [(host.host, link) for host in known(facts, hosts) for link in host[Links].tried if link.to_host in hosts]
    closed = [
        f"{name} to {link.to_host} ({link.address}) port {link.port}: {link.evidence or 'no answer'}"
        for name, link in tried
        if link.outcome == "filtered"
    ]
    blind = untried(facts, hosts)
    return checked(
        "PORTS",
        "The nodes can connect to each other's ports",
        block=closed,
        unread=blind,
        evidence="; ".join(closed or blind) or f"no blocked connection between {', '.join(hosts)} was seen",
        why="A node that cannot connect to the first one waits forever, and takes minutes to stop.",
        try_=("Repair the network between them, or leave out the nodes that are cut off ('nodes').",),
    )
