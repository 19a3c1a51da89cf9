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
        title="Nothing in the logs says that a start must fail",
        verdict=verdict(blocks, [*warns, *blind]),
        not_known=bool(blind) and not warns and not blocks,
        evidence="; ".join([*[*blocks, *warns][:4], *blind]) or _nothing_in(facts, hosts),
        why="A node that crashes again in the middle leaves a worse picture than now.",
        try_=("Make room, or repair what the log names, then check again.",) if blocks else (),
        answers=(Remedy(_leave_out(bad), "nodes", (typed_hosts(sound),)),) if bad and sound else (),
    )


def _told_by_log(host: HostFacts) -> tuple[list[str], list[str]]:
    """Return what a host's log says that a start will not mend, and what may be mended or come again."""
    stops, tells = [], []
    free = host[DataFolder].disk.free
    for line in host[ErrorLog].errors:
        told = f"{host.host}: {line}"
        if fails_again(line) and disk_full(line) and free is not None and free >= ROOM:
            tells.append(f"{told} ({free / 1e9:.1f} GB are free now where its data folder is)")
        elif fails_again(line):
            stops.append(told)
        elif asserts(line):
            tells.append(f"{told} (it ended itself at a check of its own; a start may come to the same)")
    return stops, tells


def _nothing_in(facts: Facts, hosts: tuple[str, ...]) -> str:
    logs = (
        f"{host.host} ({host[ErrorLog].lines} lines, the last of {host[ErrorLog].newest or 'a time that is not told'})"
        for host in known(facts, hosts)
    )
    return f"no corruption, no full or failing disk, no lack of memory in what was read of the logs: {', '.join(logs)}"


def _leave_out(names: list[str]) -> str:
    return f"Or begin without {', '.join(names)}: what only it has is typed as given up, and add-node brings it back"


def durability(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Say where a commit may not have reached the disk; of a server that is down its option files tell."""
    told = {name: _durable(facts.host(name)) for name in hosts}
    loose = {name: found for name, found in told.items() if found[0] != "1"}
    return Check(
        code="DURABILITY",
        title="Commits were on disk",
        verdict=verdict((), loose),
        evidence="; ".join(
            f"{name}: innodb_flush_log_at_trx_commit = {flush or 'not known'}, sync_binlog = {sync or 'not known'}"
            for name, (flush, sync) in (loose or told).items()
        ),
        why="After a killed process the most advanced node is usually complete. After a power loss each node may miss "
        "up to a second of commits where innodb_flush_log_at_trx_commit is not 1.",
    )


def unflushed(facts: Facts, hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a power loss may have cost and no file can tell: a check that finds nothing missing says so too."""
    loose = [name for name in hosts if _durable(facts.host(name))[0] not in {"", "1"}]
    if not loose:
        return ()
    told = f"innodb_flush_log_at_trx_commit is not 1 on {', '.join(loose)}: after a power loss"
    return (f"{told} the last commits before it, up to a second of them, may be missing, and nothing here can tell",)


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
    told = {
        "made": f"you said that copies or snapshots of the data of {named} are made",
        "wait": "the run waits for your copies when every server is stopped, before anything changes a data file",
    }
    return Check(
        code="DATA-COPIES",
        title="The data folders are copied before they change",
        verdict=verdict((), how not in told),
        evidence=told.get(how) or f"NO COPY of the data of {named} is known; the run copies only the state files",
        why="Crash recovery changes data files, and a node that joins may have all its data replaced: without a copy "
        "of at least the two most advanced nodes nothing leads back from a wrong choice.",
        answers=() if how in told else (Remedy("Snapshot the volumes when the run asks for it", "copies", ("wait",)),),
    )


def clients_away(facts: Facts) -> Check:
    """Who writes on the first node before its data was looked at makes another choice cost those rows."""
    seen = sorted({f"{balancer} on {host.host}" for host in facts.hosts for balancer in host[Balancers].found})
    blind = unseen_balancers(facts)
    told = f"{', '.join(seen)} may send clients to it as soon as it is up" if seen else NONE_SEEN
    return Check(
        code="CLIENTS-AWAY",
        title="No client writes on the first node before its data was looked at",
        verdict=verdict((), [*seen, *blind]),
        not_known=bool(blind) and not seen,
        evidence="; ".join([told, *blind]),
        why="What clients write there is lost when another node is chosen after all.",
        try_=("Stop the applications, or take the nodes out of the balancer, until you have looked.",)
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
        "The servers that are up reach each other",
        block=closed,
        unread=blind,
        evidence="; ".join(closed or blind) or f"no closed way between {', '.join(hosts)} was seen",
        why="Nodes that were only parted merge by themselves when the network is whole again. pc.bootstrap reaches "
        "only the nodes that are connected to the chosen one, and must never be given on two sides.",
        try_=("Heal the network; the cluster then forms again without this procedure.",),
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
        "The nodes reach each other's ports",
        block=closed,
        unread=blind,
        evidence="; ".join(closed or blind) or f"no closed way between {', '.join(hosts)} was seen",
        why="A node that does not reach the first one waits for it without end, and can't be stopped for minutes.",
        try_=("Heal the network between them, or leave the ones out that are cut off ('nodes').",),
    )
