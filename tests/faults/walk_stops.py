"""The states in which the checks of the catalogue refuse, and what their advice says to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.procedures.plan.host_facts import Facts
from services.types import Flavour
from tests.faults.walk import Spoil, Stop
from tests.unit.procedures.host_of import changed


def on(name: str, **known: Any) -> Spoil:
    """Return what has a host's facts say this instead."""

    def spoil(facts: Facts) -> Facts:
        hosts = tuple(changed(h, **known) if h.host == name else h for h in facts.hosts)
        return replace(facts, hosts=hosts)

    return spoil


def server(name: str, **known: Any) -> Spoil:
    """Return what has a host's server say this of itself."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.server is not None
        return on(name, node=replace(node, server=replace(node.server, **known)))(facts)

    return spoil


def galera(name: str, **known: Any) -> Spoil:
    """Return what has a node say this of its group."""

    def spoil(facts: Facts) -> Facts:
        node = facts.host(name).node
        assert node is not None
        assert node.galera is not None
        return on(name, node=replace(node, galera=replace(node.galera, **known)))(facts)

    return spoil


FULL = 10 * 2**20
STOPS = (
    # -- may the console act, and does nobody else
    Stop("OPERATOR-RIGHTS", "rolling", on("n2", is_root=False), needs="sudo"),
    Stop("CONFIG-VALID", "rolling", on("n2", program_fault="unknown variable 'x'"), needs="Correct the option"),
    Stop("HEALTH-GATE", "rolling", galera("n2", desync_count=1), needs="Bring the members back"),
    Stop("NO-TRANSFER-OR-DDL", "rolling", on("n2", sessions_ddl=("ALTER TABLE t",)), needs="Wait for its end"),
    Stop("SST-ORPHANS", "rolling", on("n2", sst_orphans=((7, 9.0, "wsrep_sst_mariabackup"),)), needs="End process 7"),
    Stop("DONOR-NAMES", "rolling", galera("n2", sst_donor="10.0.0.1"), needs="Name members"),
    Stop("FOREIGN-PROVIDER", "rolling", galera("n2", provider_vendor="Percona"), needs="Install the provider"),
    Stop("PRODUCT", "rolling", server("n2", flavour=Flavour.CODERSHIP), needs="by hand"),
    Stop("TEMP-SPACE", "rolling", on("n2", temporary=(("/tmp", 0),)), needs="Make room"),
    Stop("DISK-FREE", "rolling", on("n2", data_folder_disk_free=FULL), needs="Make room"),
    Stop(
        "FORCED-RECOVERY",
        "rolling",
        on("n2", options_given=(("mysqld", "innodb_force_recovery", "1"),)),
        needs="Take it out",
    ),
    Stop(
        "JOINS-OTHERS",
        "rolling",
        on("n2", options_given=(("mysqld", "wsrep_new_cluster", "ON"),)),
        needs="remove wsrep_new_cluster",
    ),
    Stop("NAMES", "rolling", on("n2", names=(("n2.example", False),)), needs="Repair DNS"),
    # -- a joiner
    Stop("VERSIONS", "rejoin", on("n3", program_version=(10, 5, 9)), needs="Install the members' version"),
    Stop(
        "PROVIDER-FILE",
        "rejoin",
        on(
            "n3",
            traffic_files_sizes=(("/usr/lib/galera/lib.so", None),),
            options_given=(("mysqld", "wsrep_provider", "/usr/lib/galera/lib.so"),),
        ),
        needs="Install the Galera package",
    ),
    Stop("SST-TOOLS", "rejoin", on("n3", tools_there=("rsync",)), needs="Install"),
    Stop("SST-ACCOUNT", "rejoin", on("n1", sst_account_state="refused"), needs="right password"),
    Stop("CRASH-CAUSE", "bootstrap", on("n3", data_folder_disk_free=FULL), needs="Make room"),
    Stop("DISK-FREE", "add", on("new", data_folder_disk_free=FULL), needs="Make room"),
    Stop("RUNS-OUTSIDE", "rejoin", on("n3", server_up=True), needs=""),
)
NOT_WALKED: dict[str, str] = {}
