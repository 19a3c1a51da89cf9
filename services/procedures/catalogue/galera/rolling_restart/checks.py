"""The checks that only a rolling restart has: order, reach of the donors, limits of the units, the option itself."""

from __future__ import annotations

import math

from services.procedures.catalogue.checks.parts import checked, unread, verdict
from services.procedures.catalogue.galera.shared.cache_arithmetic import OPTION, cache_of
from services.procedures.catalogue.galera.shared.order import donor_for, order_of, writer_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.variables import Variables

REACH_TIMES = 3.0
FLUSH_S = 300.0
REFUSED_OPTIONS = frozenset({
    "wsrep_cluster_address", "wsrep_cluster_name", "wsrep_node_name", "wsrep_node_address", "wsrep_provider",
    "wsrep_on", "wsrep_new_cluster", "datadir", "innodb_data_home_dir", "innodb_log_group_home_dir",
    "innodb_undo_directory", "server_id", "lower_case_table_names", "innodb_page_size", "innodb_data_file_path",
})  # fmt: skip


def order(facts: Facts, nodes: tuple[str, ...]) -> Check:
    """The writer moves once when it goes last, and often when it goes early."""
    computed, reasons = order_of(facts)
    writer = writer_of(facts)
    early = bool(writer) and writer in nodes and nodes[-1] != writer
    reasons_text = "; ".join(f"{name}: {reasons[name]}" for name in computed)
    return checked(
        "ORDER",
        "The writer goes last",
        warn=early,
        evidence=f"{', '.join(nodes)} ({reasons_text})",
        why="Each switch of the writer causes a second or two of errors for the application.",
        try_=(f"Put {writer} last.",),
    )


def cache_lasts_for(facts: Facts, donor: str, downtime_s: float) -> bool:
    """Return whether the donor's cache lasts three downtimes at the rate that was measured."""
    lasts = cache_of(facts.host(donor)).reach_s
    return lasts is not None and lasts >= REACH_TIMES * downtime_s


def reach(facts: Facts, nodes: tuple[str, ...], downtime_s: float, *, sst_ok: bool) -> tuple[Check, ...]:
    """Each node needs another one whose cache lasts three downtimes."""
    found = []
    for place, name in enumerate(nodes):
        donor = donor_for(facts, name, nodes[:place])
        cache = cache_of(facts.host(donor))
        lasts = cache.reach_s
        enough = cache_lasts_for(facts, donor, downtime_s)
        shown = (
            "not known"
            if lasts is None
            else "indefinitely at the current rate"
            if math.isinf(lasts)
            else f"{lasts:.0f} s"
        )
        freeze = cache.frozen_at is not None
        advice = (
            f"Freeze the cache of {donor} for it: use freeze-gcache with node {name}."
            if freeze
            else f"Increase gcache.size of {donor} first, or accept an SST."
        )
        verdict = Verdict.PASS if enough else Verdict.WARN if sst_ok else Verdict.BLOCK
        found.append(
            Check(
                code=f"IST-REACH-{name}".upper(),
                title=f"{name} can return by IST",
                each="Each node can return by IST",
                verdict=verdict,
                not_known=lasts is None and verdict is Verdict.WARN,
                evidence=f"the cache of {donor} lasts {shown}; {REACH_TIMES:g} x {downtime_s:g} s are required"
                + (f"; {donor} has {OPTION}" if freeze else ""),
                why="Otherwise the node needs an SST: hours of copying, and a donor out of service.",
                try_=() if enough else (advice,),
                host=name,
            )
        )
    return tuple(found)


def stop_limits(facts: Facts, nodes: tuple[str, ...]) -> tuple[Check, ...]:
    """systemd kills a server that flushes longer than TimeoutStopSec."""
    found = []
    for name in nodes:
        unit = facts.host(name)[Unit]
        short = unit.timeout_stop_s is not None and unit.timeout_stop_s < FLUSH_S
        dark = not unit.stop_limit
        found.append(
            Check(
                code=f"STOP-LIMIT-{name}".upper(),
                title=f"{name} has time to stop",
                each="Each node has time to stop",
                not_known=dark,
                verdict=Verdict.WARN if short or dark else Verdict.PASS,
                evidence="TimeoutStopSec could not be read" if dark else f"TimeoutStopSec = {unit.stop_limit}",
                why="A server that is killed while it flushes has no known position afterwards.",
                try_=(f"Raise TimeoutStopSec of the unit on {name}.",) if short else (),
                host=name,
            )
        )
    return tuple(found)


def replicas(facts: Facts, nodes: tuple[str, ...]) -> Check:
    """A replica that hangs on a node stops with it."""
    counts = {name: facts.host(name)[Sessions].replicas for name in nodes}
    found = [f"{count} on {name}" for name, count in counts.items() if count]
    blind = [unread(facts.host(name), "the number of replicas", "processes", "sql")
             for name, count in counts.items() if count is None]  # fmt: skip
    return checked(
        "REPLICAS",
        "No asynchronous replica follows a node that goes down",
        warn=found,
        unread=blind,
        good=f"none on {', '.join(nodes)}",
        why="A replica receives nothing while its source is down, and may not find its position on another node.",
        try_=("Switch each replica to another node first (CHANGE MASTER, CHANGE REPLICATION SOURCE).",),
    )


def fast_shutdown(facts: Facts, nodes: tuple[str, ...]) -> Check:
    """innodb_fast_shutdown 2 and 3 leave as a crash does: recovery at the next start (MySQL manual, MariaDB KB)."""
    values = {name: facts.host(name)[Variables].value("innodb_fast_shutdown") for name in nodes}
    odd = {name: value for name, value in values.items() if value not in {"0", "1"}}
    return Check(
        code="FAST-SHUTDOWN",
        title="InnoDB shuts down cleanly",
        verdict=verdict((), odd),
        not_known=bool(odd) and not any(odd.values()),
        evidence=", ".join(f"{name}: innodb_fast_shutdown = {value or 'not read'}" for name, value in values.items()),
        why="Use 1 for a restart, 0 before a major upgrade; with 2 each start runs crash recovery.",
        try_=("SET GLOBAL innodb_fast_shutdown = 1 (0 before an upgrade).",) if odd else (),
    )
