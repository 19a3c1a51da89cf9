"""A node's own view of its Galera group, out of status wsrep_* and the provider's options.

Sources: Galera documentation "Galera Status Variables" and "Galera Parameters"; PXC "Index of wsrep status variables"
(wsrep_flow_control_interval, wsrep_ist_receive_seqno_*); flow control's limit: galera/gcs/src/gcs_gcs.cpp,
`gcs_fc_init`/`fc_limits`, upper limit = fc_limit * sqrt(members), or fc_limit itself with a single primary; seen in the
log of MariaDB 10.11.18 as "Flow-control interval: [28, 28]" for 3 members and gcs.fc_limit = 16.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Mapping

from services.connections.ports import Rows, text
from services.facts.galera.provider_options import FREEZE, is_cut, option_flag, option_number, provider_options
from services.facts.model import GaleraFacts, GaleraMember, Problem
from services.facts.reading import amount, count, first, flag, whole_number, words
from services.facts.server.cut_texts import uncut
from services.facts.server.dialect import identify
from services.i18n import mark, tr
from services.types import Flavour

NO_UUID = "00000000-0000-0000-0000-000000000000"
MOST_MEMBERS = 1024
"""Bound of any member list: a hostile answer must not make a thousand cards of one node."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_INTERVAL = re.compile(r"\[\s*(\d+)\s*,\s*(\d+)\s*\]")


OFF_SENTENCE = mark("wsrep_on is OFF: its writes are not replicated, and its state in the group is not reported")


def parse_galera(status: Mapping[str, str], variables: Mapping[str, str]) -> GaleraFacts | None:
    """Return the node's view, None when wsrep is off. What a server does not offer, or says wrongly, stays None."""
    if not wsrep_is_on(status, variables):
        return None
    given = variables.get("wsrep_provider_options", "")
    options, cut = provider_options(given), is_cut(given)
    status, variables = uncut(status), uncut(variables)
    suspect = bool(provider_problem(status, variables))
    members = count(status.get("wsrep_cluster_size", ""))
    members = None if members is None or members > MOST_MEMBERS else members  # votes are counted one by one
    return GaleraFacts(
        off=flag(variables.get("wsrep_on", "")) is False,
        node_name=words(variables.get("wsrep_node_name", "")),
        node_uuid=uuid(status.get("wsrep_gcomm_uuid", "")),
        state_uuid=uuid(status.get("wsrep_cluster_state_uuid", "")),
        local_state_uuid=uuid(status.get("wsrep_local_state_uuid", "")),
        cluster_name=words(variables.get("wsrep_cluster_name", "")),
        cluster_status=words(status.get("wsrep_cluster_status", "")),
        cluster_size=members,
        conf_id=count(status.get("wsrep_cluster_conf_id", "")),
        local_state=count(status.get("wsrep_local_state", "")),
        local_state_comment=words(status.get("wsrep_local_state_comment", "")),
        ready=flag(status.get("wsrep_ready", "")),
        connected=flag(status.get("wsrep_connected", "")),
        desync_count=count(status.get("wsrep_desync_count", "")),
        last_committed=count(status.get("wsrep_last_committed", "")),
        cached_downto=count(status.get("wsrep_local_cached_downto", "")),
        recv_queue=count(status.get("wsrep_local_recv_queue", "")),
        send_queue=count(status.get("wsrep_local_send_queue", "")),
        flow_control_paused_ns=count(status.get("wsrep_flow_control_paused_ns", "")),
        flow_control_sent=count(status.get("wsrep_flow_control_sent", "")),
        flow_control_high=flow_control_high(status, options, members),
        incoming_addresses=addresses(status.get("wsrep_incoming_addresses", "")),
        cluster_address=words(variables.get("wsrep_cluster_address", "")),
        node_address=words(variables.get("wsrep_node_address", "")),
        segment=_number(first(status, "wsrep_gmcast_segment") or options.get("gmcast.segment", "")),
        weight=_number(options.get("pc.weight", "")),
        provider_version="" if suspect else words(status.get("wsrep_provider_version", "")),
        provider_vendor="" if suspect else words(status.get("wsrep_provider_vendor", "")),
        gcache_size=_number(options.get("gcache.size", "")),
        gcache_dir=words(posixpath.join(variables.get("datadir", ""), options.get("gcache.dir", ""))),
        gcache_freeze_supported=FREEZE in options if options and (FREEZE in options or not cut) else None,
        gcache_frozen_at=_number(options.get(FREEZE, "")),  # -1 is the option's way to say: not frozen
        proto_max=_number(options.get("repl.proto_max", "")),
        sst_method=words(variables.get("wsrep_sst_method", "")),
        sst_donor=words(variables.get("wsrep_sst_donor", "")),
        reject_queries=words(variables.get("wsrep_reject_queries", "")),
        maint_mode=words(variables.get("pxc_maint_mode", ""), 40),
        applier_threads=count(first(variables, "wsrep_applier_threads", "wsrep_slave_threads")),
        deps_distance=amount(status.get("wsrep_cert_deps_distance", "")),
        evs_state=words(status.get("wsrep_evs_state", "")),
        cluster_weight=count(status.get("wsrep_cluster_weight", "")),
        single_primary=_single_primary(options),
        provider_suspect=suspect,
        ist_first=count(status.get("wsrep_ist_receive_seqno_start", "")) or None,
        ist_current=count(status.get("wsrep_ist_receive_seqno_current", "")) or None,
        ist_last=count(status.get("wsrep_ist_receive_seqno_end", "")) or None,
    )


def wsrep_is_on(status: Mapping[str, str], variables: Mapping[str, str]) -> bool:
    """Return whether this server runs as a Galera node.

    A loaded provider decides; wsrep_on=OFF with a provider and a group still is a node (writes there are not
    replicated). Without variables (not read yet) the provider's name in the status must do.
    """
    if "wsrep_provider" in variables:
        if not identify(variables).galera:
            return False
        in_group = bool(uuid(status.get("wsrep_cluster_state_uuid", "")))
        return flag(variables.get("wsrep_on", "ON")) is not False or in_group
    return bool(status.get("wsrep_provider_name", "").strip())


def uuid(value: str) -> str:
    """Return a UUID in lower case; '' for none, the zero UUID and anything that is no UUID."""
    found = value.strip().lower()
    return found if _UUID.fullmatch(found) and found != NO_UUID else ""


def addresses(value: str) -> tuple[str, ...]:
    """Return wsrep_incoming_addresses in the view's order, '' for a member that gives none.

    garbd serves no clients and gives none; outside a primary component the others are "unspecified" (seen on MariaDB
    10.11 after two minorities had merged). One that several members give (behind one proxy, or the wrong
    wsrep_node_incoming_address copied to all) tells of none of them who it is.
    """
    if not value.strip():
        return ()
    parts = [words(part, 255) for part in value.split(",", MOST_MEMBERS)[:MOST_MEMBERS]]
    times = Counter(parts)
    return tuple("" if times[part] > 1 or part.lower() in {"unspecified", "auto"} else part for part in parts)


def listed_addresses(value: str) -> tuple[str, ...]:
    """Return wsrep_incoming_addresses as it stands, to hold two views against each other: ('',) for an empty one."""
    return tuple(value.split(","))


def flow_control_high(status: Mapping[str, str], options: Mapping[str, str], members: int | None) -> float | None:
    """Return the receive queue above which the node stops the group: from the status (PXC), else computed."""
    shown = _INTERVAL.search(status.get("wsrep_flow_control_interval", ""))
    if shown:
        high = count(shown.group(2))
        return None if high is None else float(high)
    limit = _number(options.get("gcs.fc_limit", ""))
    if limit is None or members is None or members > MOST_MEMBERS:
        return None
    if _single_primary(options):
        return float(limit)
    return float(math.floor(limit * math.sqrt(max(1, members)) + 0.5))


def _single_primary(options: Mapping[str, str]) -> bool | None:
    """Return gcs.fc_single_primary, called gcs.fc_master_slave before Galera 26.4.10 (deprecated alias since)."""
    return option_flag(options.get("gcs.fc_single_primary", "") or options.get("gcs.fc_master_slave", ""))


def _number(text: str) -> int | None:
    """Return an option's number that can't be negative, else None."""
    number = option_number(text)
    return number if number is not None and number >= 0 else None


def parse_members(rows: Rows | None) -> tuple[GaleraMember, ...]:
    """Return mysql.wsrep_cluster_members; rows with too few columns or without a UUID are dropped."""
    if rows is None:
        return ()
    return tuple(
        GaleraMember(uuid=member, name=words(row[1]), address=words(row[2], 255))
        for row in rows.rows[:MOST_MEMBERS]
        if len(row) >= 3 and (member := uuid(text(row[0])))
    )


def provider_problem(status: Mapping[str, str], variables: Mapping[str, str]) -> Problem | None:
    """Return what is wrong with the provider: fields one slot off (another vendor's function table), or foreign.

    Trial on a lab: Percona's provider in a MariaDB server said name "1??ff.?", vendor "4.7(r84f7c3b9)", version
    "Galera"; desync then did nothing and unloading ended in signal 11.
    """
    name, version = status.get("wsrep_provider_name", ""), status.get("wsrep_provider_version", "")
    vendor = status.get("wsrep_provider_vendor", "")
    if not (name or version or vendor):
        return None
    shifted = name.strip() != "Galera" or re.match(r"\d+\.\d", version.strip()) is None
    if shifted:
        return Problem(
            "galera",
            tr(
                "The Galera provider's fields are shifted: it was built for another server's interface. Its "
                "numbers cannot be trusted, and changing its options may crash the server."
            ),
            "provider-shifted",
        )
    if identify(variables).flavour is Flavour.MARIADB and "percona" in vendor.lower():
        sentence = tr("A MariaDB server runs Percona's Galera provider: their interfaces differ.")
        return Problem("galera", sentence, "provider-foreign")
    return None


def galera_problems(status: Mapping[str, str], variables: Mapping[str, str], facts: GaleraFacts) -> tuple[Problem, ...]:
    """Return why parts of the view are missing or doubtful."""
    found = []
    if (provider := provider_problem(status, variables)) is not None:
        found.append(provider)
    if facts.off:
        return (*found, Problem("galera", tr(OFF_SENTENCE), "wsrep-off"))
    missing = [
        name
        for name, value in (
            ("wsrep_cluster_status", facts.cluster_status),
            ("wsrep_local_state", facts.local_state),
            ("wsrep_cluster_size", facts.cluster_size),
        )
        if value is None or value == ""
    ]
    if missing:
        sentence = tr(
            "The server reports no usable {names}: its state in the group is not known.", names=", ".join(missing)
        )
        found.append(Problem("galera", sentence, "galera-incomplete"))
    negative = whole_number(status.get("wsrep_last_committed", ""))
    if negative is not None and negative < -1:
        found.append(Problem("galera", tr("wsrep_last_committed is negative."), "galera-odd"))
    return tuple(found)
