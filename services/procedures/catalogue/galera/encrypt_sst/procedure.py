"""encrypt-sst: TLS for state transfers on all nodes of a cluster (encrypt=4), proven, and its renewal.

Domain: an SST sends the whole database; encrypt=4 makes donor and joiner speak TLS and verify each other's chain
(MariaDB KB "mariadb-backup SST method"; PXC-713). The scripts read [sst] each time they run, so that no server is
restarted; a donor and a joiner that differ wait for each other for minutes, also where only an IST is needed, since
that is announced by the same channel. So no node may join until all have the same (steps/sst_section.py). MariaDB
only: Percona XtraDB Cluster 8 sets it with pxc_encrypt_cluster_traffic, by a full stop. Tried with MariaDB 10.11.18.
"""

from __future__ import annotations

from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.base import Base
from services.procedures.catalogue.checks import sst_sections
from services.procedures.catalogue.galera.cards import ELSEWHERE, KINDS
from services.procedures.catalogue.galera.encrypt_sst import checks as own
from services.procedures.catalogue.galera.encrypt_sst.goal import (
    DEFAULT_DAYS,
    DEFAULT_RENEW,
    FILES,
    MAKE,
    SERVERS,
    SET,
    goal_of,
    good_already,
)
from services.procedures.catalogue.galera.encrypt_sst.steps import encrypt_plan
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import number_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.drop_ins import DropIns
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.galera.transfer_pairs import TransferPairs
from services.procedures.plan.parts.machine.processes import Processes
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.procedure import About

ABOUT = About(
    name="encrypt-sst",
    title="Encrypt state transfers",
    need="SSTs are unencrypted or slow",
    what="Installs one certificate and encrypt=4 on all nodes, verifies TLS between every two of them, and renews it.",
    takes="About a minute; no server is restarted.",
    can_break="No node can join while it runs: a start waits until all nodes have the same settings.",
    for_states=("synced",),
    kinds=KINDS,
    elsewhere=ELSEWHERE,
    place=60,
    needs=frozenset(
        {
            DataFolder,
            DropIns,
            LogFilters,
            Options,
            Processes,
            Rights,
            Sessions,
            SstOptions,
            Starting,
            Tools,
            TransferPairs,
            Unit,
        }
    ),
)
_SOURCES = (
    (MAKE, "Pilothouse creates a CA and one certificate for all nodes"),
    (SERVERS, "each node uses its server certificate (ssl_ca, ssl_cert and ssl_key of [mysqld])"),
    (FILES, "files on this workstation, one certificate for all nodes"),
)
_LONGEST_DAYS = 7300


class EncryptSst(Base):
    """See `plan.procedure.Procedure`."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions: where the certificates come from, and for how long."""
        files = inputs.get("source") == FILES
        return (
            Field("source", "Certificates", "choice", MAKE, _SOURCES),
            Field("ca_file", "CA certificate file", "text", required=files, advanced=not files),
            Field("cert_file", "Certificate file", "text", required=files, advanced=not files),
            Field("key_file", "Key file", "text", required=files, advanced=not files,
                  help="On this workstation; it is sent to the nodes by standard input and never stored."),
            Field("days", "Validity of new certificates in days", "number", str(DEFAULT_DAYS), advanced=True),
            Field("renew", "Renew this many days before expiry", "number", str(DEFAULT_RENEW), advanced=True),
            Field("again", "Replace certificates that are still valid", "flag", "no", advanced=True),
            *preflight.gone_fields(facts),
        )  # fmt: skip

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs."""
        faults, values = list(super().faults(facts, inputs)), self.values(facts, inputs)
        given = [name for name in ("ca_file", "cert_file", "key_file") if values[name]]
        faults += [
            Fault(name, "Enter the absolute path of the file.") for name in given if not values[name].startswith("/")
        ]
        days, renew = number_of(values["days"]), number_of(values["renew"])
        if days is not None and not 1 <= days <= _LONGEST_DAYS:
            faults.append(Fault("days", f"Enter 1 to {_LONGEST_DAYS} days."))
        if renew is not None and not 0 <= renew <= _LONGEST_DAYS:
            faults.append(Fault("renew", f"Enter 0 to {_LONGEST_DAYS} days."))
        return tuple(faults)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        values, members = self.values(facts, inputs), member_hosts(facts)
        goal, good = goal_of(facts, values), good_already(facts, members, values)
        return (
            preflight.health_gate(facts, members),
            preflight.no_transfer_or_ddl(facts, members),
            sst_sections.no_transfer(facts, members),
            sst_sections.joins_free(facts, members),
            preflight.known_product(facts, members),
            *preflight.foreign_provider(facts, members),
            *preflight.operator_rights(facts, members),
            own.transfers(facts, members),
            sst_sections.one_place(facts, members, SET),
            sst_sections.alike(facts, members, own.ALIKE),
            own.replaced(facts, members),
            *own.tls_programs(facts, members),
            *own.pairs_there(facts, members, goal, good=good),
            preflight.clocks(facts, members),
            preflight.all_named(facts, values),
            preflight.lock_free(facts, members),
        )

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan; without steps when the transfers are encrypted so, for long enough."""
        return encrypt_plan(facts, member_hosts(facts), self.values(facts, inputs), ABOUT.name)


PROCEDURE = EncryptSst()
