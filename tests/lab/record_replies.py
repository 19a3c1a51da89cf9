"""Record what the hosts of a running estate answer to discovery, as a file for the tests that need no lab.

    .venv/bin/python -m tests.lab.record_replies galera galera-killed "n2 was killed with SIGKILL a moment ago"

Statuses, variables and journals are cut to what discovery reads, so that a situation stays small; nothing else is
changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from services.clock import SystemClock
from services.connections.reads.registry import statement_of
from services.discovery.looks.probe import probe
from services.facts.server.dialect import VARIABLES
from tests.lab.connections.connecting import entry, session
from tests.lab.estate.estate import Estate
from tests.unit.recorded.replies import HERE, RecordingSession

STATUS = re.compile(r"wsrep_|Uptime|Threads_|Slave|Replica|Rpl_|Gr_|Binlog|Questions$|Connections$")
SETTINGS = re.compile(
    r"wsrep_|version|hostname|port$|server_|gtid_|log_bin$|log_error$|datadir$|socket$|read_only|report_host|aria_page|"
    r"innodb_(buffer_pool_size|flush_log|flush_method|io_capacity$|doublewrite$|log_file_size)|sync_binlog|binlog_format|"
    r"max_connections|log_slave_updates|log_replica_updates|character_set_server|time_zone|"
    r"group_replication_|rpl_semi_sync_|super_read_only|replica_parallel_workers"
)
LOG = re.compile(r"ransfer|SST|IST|synced|sst|Shifting")
OPTION = re.compile(r"--(log[-_]error|datadir)=")
MOST_LOG = 150


def record(estate: Estate, hosts: list[str]) -> dict[str, Any]:
    """Return every host's answers, asked at the same time."""

    def ask(name: str) -> dict[str, Any]:
        host = entry(estate, name)
        with session(estate, host) as real:
            recording = RecordingSession(real, host.address)
            probe(recording, SystemClock(), address=host.address)
            return _cut(recording.recorded)

    with ThreadPoolExecutor(len(hosts)) as pool:
        return dict(zip(hosts, pool.map(ask, hosts), strict=True))


def _cut(recorded: dict[str, Any]) -> dict[str, Any]:
    status = recorded.get("status", {})
    if "error" not in status:
        recorded["status"] = {k: v for k, v in status.items() if STATUS.match(k)}
    variables = recorded["queries"].get(statement_of(VARIABLES), {})
    if "rows" in variables:
        variables["rows"] = [row for row in variables["rows"] if SETTINGS.match(row[0])]
    for words, found in recorded["commands"].items():
        if "stdout" in found:
            lines = found["stdout"].splitlines()
            kept = [line for line in lines if not line.startswith(("intr ", "softirq "))]
            if words.startswith("journalctl"):
                kept = [line[:700] for line in kept if LOG.search(line)][-MOST_LOG:]
            if words.startswith("my_print_defaults"):  # secrets are among them
                kept = [line for line in kept if OPTION.match(line)]
            found["stdout"] = "\n".join(kept) + ("\n" if kept else "")
    return recorded


def main() -> None:
    """Record one situation into tests/unit/recorded/situations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("estate")
    parser.add_argument("name")
    parser.add_argument("about")
    options = parser.parse_args()
    estate = Estate(options.estate)
    for variable, value in estate.environment().items():
        os.environ[variable] = value
    at = time.time()
    found = {
        "about": options.about,
        "source": f"recorded from the lab's estate {options.estate} (tests/lab)",
        "at": at,
        "hosts": record(estate, [h.name for h in estate.spec.hosts if h.role != "spare"]),
    }
    target = HERE / "situations" / f"{options.name}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
