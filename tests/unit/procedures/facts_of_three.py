"""A whole cluster of three as facts, and what one host may be instead: the ground of the checks' tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import Grastate
from services.facts.model import GaleraFacts, MachineFacts, NodeFacts, Problem, ServerFacts
from services.facts.replication.write_rate import Rates
from services.facts.server.start_line import StartLine
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traces import Trace
from services.types import Flavour, Reach
from tests.unit.procedures.host_of import changed, host_of

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
OTHER = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"
NAMES = ("n1", "n2", "n3")
TOGETHER = Trace((PrimaryView(UUID, 1, tuple((f"{n:08}{UUID[8:]}", f"n{n}") for n in (1, 2, 3))),))
"""All three have been in one Primary Component ever since: one past."""
PASS, WARN, BLOCK = Verdict.PASS, Verdict.WARN, Verdict.BLOCK


def galera(name: str, **more: Any) -> GaleraFacts:
    base = GaleraFacts(
        node_name=name, state_uuid=UUID, local_state_uuid=UUID, cluster_status="Primary", cluster_size=3, conf_id=7,
        local_state=4, local_state_comment="Synced", ready=True, desync_count=0, last_committed=100_000,
        cached_downto=90_000, provider_vendor="Codership Oy <info@codership.com>", provider_version="26.4.23(r)",
        proto_max=11, sst_method="mariabackup",
    )  # fmt: skip
    return replace(base, **more)


def host(name: str, *, group: GaleraFacts | None = None, **more: Any) -> HostFacts:
    server = ServerFacts(flavour=Flavour.MARIADB, version_key=(10, 11, 18), version_text="10.11.18-MariaDB")
    machine = MachineFacts(clock_offset_s=0.1)
    node = NodeFacts(name, 1.0, Reach.FULL, server=server, galera=group or galera(name), machine=machine)
    base = host_of(
        host=name, node=node, node_name=name, is_root=True, may_change=True, rights_evidence="granted SUPER",
        server_up=True, program_version=(10, 11, 18), program_text="mariadbd Ver 10.11.18-MariaDB",
        data_folder_disk_free=10**10, grastate=Grastate(UUID, -1, safe_to_bootstrap=False), sessions_clients=0,
        longest_transaction_s=0.0, program_checked=True, sst_account_state="ok",
        options_given=(("mysqld", "wsrep_on", "ON"),),
        tools_there=("socat", "mariadb-backup", "mbstream"), rates=Rates(1000.0, 10.0, 2.0), trace=TOGETHER,
        temporary=(("/tmp", 10**9),), starting_line=StartLine("mariadb.service"),
        processes_hidden=False, balancers_hidden=False, gcache_pages=(), error_log_lines=300,
        error_log_newest="2026-11-22  6:20:42",
    )  # fmt: skip
    return changed(base, **more)


def facts(*changed: HostFacts, **more: Any) -> Facts:
    own = {h.host: h for h in changed}
    hosts = tuple(own.pop(n, host(n)) for n in NAMES) + tuple(own.values())
    return replace(Facts(1.0, UUID, "lab", expected=3, members=NAMES, hosts=hosts), **more)


def down(name: str, **more: Any) -> HostFacts:
    node = NodeFacts(name, 1.0, Reach.SSH_ONLY, machine=MachineFacts(clock_offset_s=0.0))
    return host(name, server_up=False, **{"node": node, **more})


def gone(name: str) -> HostFacts:
    return HostFacts(name, node=NodeFacts(name, 1.0, Reach.NONE, problems=(Problem("sql", "No route to host."),)))
