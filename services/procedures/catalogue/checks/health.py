"""Is the cluster whole, and is nothing under way that a change would meet? (page "Conventions", G1; rolling P5, P6)"""

from __future__ import annotations

from dataclasses import replace

from services.discovery.clash import CLASH
from services.discovery.families.galera.two_primaries import primaries_apart
from services.facts.galera.status import OFF_SENTENCE
from services.facts.galera.whole import SYNCED, Lack, lacks
from services.facts.model import GaleraFacts
from services.procedures.catalogue.checks.access import lock_free
from services.procedures.catalogue.checks.parts import (
    answered,
    arbitrators,
    checked,
    galera_of,
    known,
    listed,
    problem_of,
    server_of,
    unread,
    unseen_processes,
)
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.server.log_filters import left_out_of_log
from services.procedures.plan.parts.server.sessions import Sessions


def health_gate(
    facts: Facts, hosts: tuple[str, ...], but_desynced: tuple[str, ...] = (), size: int | None = None
) -> Check:
    """All hosts Primary, Synced, ready, one state UUID and conf_id, the size expected, nobody desynced.

    Args:
        but_desynced: hosts that are Donor/Desynced on purpose.
        size: the size to expect where it isn't the whole cluster's (a member that is down is to be brought back).
    """
    everyone = known(facts, hosts)
    faults = [fault for host in everyone for fault in _node_faults(facts, host, desynced=host.host in but_desynced)]
    faults += _group_faults(facts, everyone, size)
    faults += _one_identity_twice(facts)
    if size is None:
        faults += _left_out(facts, hosts)
    seen = [
        f"{h.host}: {g.cluster_status} {g.local_state_comment}, size {g.cluster_size}, conf_id {g.conf_id}"
        for h in everyone
        if (g := galera_of(h)) is not None
    ]
    if not everyone:
        faults.append("no member answers")
    return checked(
        "HEALTH-GATE",
        "All members are Synced in one Primary Component",
        block=faults,
        good="; ".join(seen),
        why="A change can cost an incomplete cluster its quorum; different views mean that a partition is in progress.",
        try_=("Bring the members back or repair the network first, then check again.",),
    )


def there_already(facts: Facts, joiner: str, members: tuple[str, ...]) -> tuple[Check, ...]:
    """Return whether nothing is to be done for a full member: no run is open on it, and it answers its clients.

    One that came back without an SST is Synced before its data were compared: a run that rests there is not over.
    """
    gate = health_gate(facts, members, size=len(members) + arbitrators(facts))
    galera = galera_of(facts.host(joiner))
    if gate.verdict is Verdict.PASS and galera is not None and Lack.REFUSES in lacks(galera):
        said = f"{joiner} refuses its clients' statements: wsrep_reject_queries is {galera.reject_queries}"
        ways = (
            "Resume or undo the run that keeps its clients out (pilothouse procedures --runs shows it).",
            f"If there is none, compare the tables of {joiner} with a member's, then set wsrep_reject_queries to NONE.",
        )
        gate = replace(gate, verdict=Verdict.BLOCK, evidence=said, try_=ways)
    return gate, lock_free(facts, tuple(dict.fromkeys((*members, joiner))))


def _node_faults(facts: Facts, host: HostFacts, *, desynced: bool) -> list[str]:
    galera = galera_of(host)
    if galera is None:
        return [_no_member(host)]
    missing = lacks(galera, desynced=desynced)
    if Lack.OFF in missing:
        return [f"{host.host}: {OFF_SENTENCE}"]
    if Lack.NOT_PRIMARY in missing:
        missing -= {Lack.NOT_CONNECTED}  # one of them says it
    sentences = {
        Lack.NOT_PRIMARY: f"{host.host} is {galera.cluster_status or 'of unknown status'}, not Primary",
        Lack.NOT_CONNECTED: f"{host.host}: wsrep_connected is not ON",
        Lack.NOT_SYNCED: f"{host.host} is {_state_of(galera)}, not Synced",
        Lack.NOT_READY: f"{host.host}: wsrep_ready is not ON",
        Lack.READY_UNTOLD: f"{host.host}: wsrep_ready is not ON",
        Lack.DESYNC_UNTOLD: f"{host.host}: wsrep_desync_count could not be read",
        Lack.DESYNCED: f"{host.host}: wsrep_desync_count is {galera.desync_count}",
    }
    faults = [words for lack, words in sentences.items() if lack in missing]
    if galera.state_uuid != facts.cluster_id:
        faults.append(f"{host.host} has the state UUID {galera.state_uuid or 'none'}, the cluster {facts.cluster_id}")
    return faults


def _state_of(galera: GaleraFacts) -> str:
    number = galera.local_state
    return galera.local_state_comment or ("in an unreported state" if number is None else f"in state {number}")


def _no_member(host: HostFacts) -> str:
    """Return what a host is that gave nothing of a member: silent, without a server, with one that could not be read.

    A host that was not asked at all is silent too: nothing is known of it.
    """
    why = problem_of(host, "sql", "ssh").rstrip(".")
    reason = f" ({why})" if why else ""
    if host.server_up is False:
        return f"no server runs on {host.host}"
    if server_of(host) is not None:
        return f"the server of {host.host} is not a member"
    if answered(host, "sql"):
        return f"the server of {host.host} could not be read{reason}"
    return f"{'the server of ' if host.server_up else ''}{host.host} does not answer{reason}"


def _group_faults(facts: Facts, everyone: tuple[HostFacts, ...], size: int | None) -> list[str]:
    # One whose wsrep_on is OFF is told for that alone: it has no view to compare.
    views = {h.host: g for h in everyone if (g := galera_of(h)) is not None and not g.off}
    faults = _two_components(facts)
    if len({g.conf_id for g in views.values()}) > 1:
        conf_ids = (f"{name} {'not known' if g.conf_id is None else g.conf_id}" for name, g in views.items())
        faults.append("conf_id differs: " + ", ".join(conf_ids))
    expected = size or (facts.expected if facts.expected is not None else len(facts.members) + arbitrators(facts))
    wrong = [
        f"{name} sees {'not known how many' if g.cluster_size is None else g.cluster_size}"
        for name, g in views.items()
        if g.cluster_size != expected
    ]
    if wrong:
        faults.append(f"{expected} nodes are expected, but {', '.join(wrong)}")
    return faults


def _two_components(facts: Facts) -> list[str]:
    """Return one fault where this look shows Primary Components of which each knows nothing of the other."""
    seen = primaries_apart(facts.cluster) if facts.cluster is not None else None
    if seen is None:
        return []
    sides = " and ".join(", ".join(names) for names in seen.sides)
    return [f"two Primary Components: {sides}; each accepts rows that the other never receives"]


def _left_out(facts: Facts, hosts: tuple[str, ...]) -> list[str]:
    """Return a fault for each host of the cluster that is not among those that were looked at: 'all' is more."""
    faults = []
    for name in facts.members:
        if name in hosts:
            continue
        host = facts.host(name)
        galera = galera_of(host)
        faults.append(
            _no_member(host)
            if galera is None
            else f"{name} belongs to this cluster and is not in its Primary Component: it reports "
            f"{galera.cluster_status or 'nothing'} {galera.local_state_comment}".rstrip()
        )
    return faults


def _one_identity_twice(facts: Facts) -> list[str]:
    """Return a fault for each uuid of the group that two of the hosts that were asked show: one is not who it says."""
    owners: dict[str, list[str]] = {}
    for host in facts.hosts:
        galera = galera_of(host)
        if galera is not None and galera.node_uuid:
            owners.setdefault(galera.node_uuid, []).append(host.host)
    found = [
        f"{' and '.join(names)} report the same node UUID: it is not known which of them is the member"
        for names in owners.values()
        if len(names) > 1
    ]
    if facts.cluster is not None:
        found += [problem.sentence for problem in facts.cluster.problems if problem.code == CLASH]
    return found


def no_transfer_or_ddl(facts: Facts, hosts: tuple[str, ...], but_desynced: tuple[str, ...] = ()) -> Check:
    """No state transfer, no DDL, no backup is running on any of the hosts."""
    busy: list[str] = []
    blind: list[str] = []
    for host in known(facts, hosts):
        galera = galera_of(host)
        if galera is not None and galera.desync_count and host.host not in but_desynced:
            busy.append(f"{host.host}: wsrep_desync_count is {galera.desync_count}")
        if host[DataFolder].sst_in_progress and (
            galera is None or galera.local_state != SYNCED
        ):  # else an old script's file
            busy.append(f"{host.host}: a state transfer is in progress")
        busy += [f"{host.host}: {statement}" for statement in host[Sessions].ddl]
        busy += [f"{host.host}: {program} runs" for program in host[Processes].backups]
        blind += unseen_processes(host)
        if host.server_up is not False and host[Sessions].clients is None:
            blind.append(unread(host, "the process list", "processes", "sql"))
    if facts.cluster is not None:
        busy += [
            f"{t.joiner_id} receives a state transfer from {t.donor_id}" for t in facts.cluster.transfers if t.active
        ]
    return checked(
        "NO-TRANSFER-OR-DDL",
        "No state transfer, DDL or backup is running",
        block=busy,
        unread=blind,
        good=f"none on {listed(hosts)}",
        why="If the donor stops, the transfer fails; an interrupted DDL statement blocks or breaks the whole cluster.",
        try_=("Wait until it has ended, then check again.",),
    )


def long_transactions(facts: Facts, hosts: tuple[str, ...], drain_s: float) -> Check:
    """The longest open transaction ends within the time that a drain may take."""
    slow: list[str] = []
    seen: list[str] = []
    for host in known(facts, hosts):
        longest = host[Sessions].longest_transaction_s
        if longest is None and host.server_up:
            slow.append(unread(host, "the longest transaction", "transactions", "sql"))
        elif longest is not None:
            seen.append(f"{host.host}: {longest:.0f} s")
            if longest >= drain_s:
                slow.append(f"{host.host}: a transaction is open for {longest:.0f} s")
    return checked(
        "LONG-TRANSACTIONS",
        "No transaction takes longer than the drain",
        warn=slow,
        evidence="; ".join(slow or seen) + f" (drain {drain_s:.0f} s)",
        why="A transaction that is open when its node stops is rolled back.",
        try_=("Wait for it, allow more time for the drain, or accept that it is rolled back.",),
    )


def rows_left_out(facts: Facts, members: tuple[str, ...]) -> tuple[Check, ...]:
    """Return who sends on only a part of what clients write through it; nothing where nobody is known to.

    Galera takes a write set from the binary log's own cache: what a filter leaves out of that reaches no member.
    """
    filters = [one for host in known(facts, members) for one in left_out_of_log(host)]
    warned = Check(
        code="ROWS-LEFT-OUT",
        title="Writes through a member reach the other members",
        verdict=Verdict.WARN,
        evidence="; ".join(filters),
        why="Galera does not replicate what a binlog filter excludes: rows written through such a member exist only "
        "there, although all members are Synced (tested: MariaDB 10.11.18, Galera 26.4.23). An SST erases them.",
        try_=("Compare its tables with another member's, save the rows that only it has, then remove the filter.",),
    )
    return (warned,) if filters else ()
