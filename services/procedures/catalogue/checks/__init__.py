"""Preflight checks that several procedures share. Pure: facts in, checks out; every check appears, passed ones too.

Signatures: `check(facts, hosts, ...) -> Check` for what concerns the cluster, `-> tuple[Check, ...]` (one a host) for
what a person mends host by host. What could not be read is a WARN or a BLOCK with that as its evidence, never a PASS.
Codes are stable: an override names them. Texts are English: they are kept in the journal.
"""

from __future__ import annotations

from services.procedures.catalogue.checks.access import clocks, config_valid, lock_free, operator_rights
from services.procedures.catalogue.checks.donors import donor_names, named_donor
from services.procedures.catalogue.checks.foreign_data import datadir_foreign
from services.procedures.catalogue.checks.founding import founds_by_option, joins_others, joins_others_once_written
from services.procedures.catalogue.checks.health import (
    health_gate,
    long_transactions,
    no_transfer_or_ddl,
    rows_left_out,
    there_already,
)
from services.procedures.catalogue.checks.named import all_named, gone_fields, named_members
from services.procedures.catalogue.checks.one_past import one_past
from services.procedures.catalogue.checks.product import foreign_provider, known_product, provider_protocol, versions
from services.procedures.catalogue.checks.starting import (
    data_space,
    innodb_as_usual,
    names_known,
    stops_at_once,
    temporary_space,
)
from services.procedures.catalogue.checks.traffic import provider_library, traffic_alike, traffic_files
from services.procedures.catalogue.checks.transfer import ports, sst_account, sst_orphans, sst_section, sst_tools

__all__ = [
    "all_named",
    "clocks",
    "config_valid",
    "data_space",
    "datadir_foreign",
    "donor_names",
    "foreign_provider",
    "founds_by_option",
    "gone_fields",
    "health_gate",
    "innodb_as_usual",
    "joins_others",
    "joins_others_once_written",
    "known_product",
    "lock_free",
    "long_transactions",
    "named_donor",
    "named_members",
    "names_known",
    "no_transfer_or_ddl",
    "one_past",
    "operator_rights",
    "ports",
    "provider_library",
    "provider_protocol",
    "rows_left_out",
    "sst_account",
    "sst_orphans",
    "sst_section",
    "sst_tools",
    "stops_at_once",
    "temporary_space",
    "there_already",
    "traffic_alike",
    "traffic_files",
    "versions",
]
