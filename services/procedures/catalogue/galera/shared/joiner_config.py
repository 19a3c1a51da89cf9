"""The option file of a new node, derived from a member's: what must be equal, what is its own. Pure.

Sources: MariaDB KB "Configuring MariaDB Galera Cluster" (mandatory options), Percona XtraDB Cluster manual "Configure
nodes". A password is never read here: the SST account's is copied from host to host when the step acts, every other
one a person sets by hand (joiner_secrets.py).
"""

from __future__ import annotations

from services.errors import BadInput
from services.facts.galera.provider_options import without_options
from services.facts.reading import count, without_port
from services.facts.server.option_files import cluster_addresses, group_members
from services.facts.server.server_groups import in_reading_order
from services.i18n import tr
from services.procedures.catalogue.galera.shared.joiner_secrets import left_out, may_copy
from services.procedures.plan.actions import CopiedSecret
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program

COPIED = (
    "wsrep_on",
    "wsrep_provider",
    "wsrep_provider_options",
    "wsrep_cluster_name",
    "wsrep_sst_method",
    "wsrep_slave_threads",
    "wsrep_applier_threads",
    "wsrep_gtid_mode",
    "wsrep_gtid_domain_id",
    "default_storage_engine",
    "innodb_autoinc_lock_mode",
    "binlog_format",
    "log_bin",
    "log_slave_updates",
    "log_replica_updates",
    "gtid_mode",
    "enforce_gtid_consistency",
    "bind_address",
    "skip_name_resolve",
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_flush_method",
    "lower_case_table_names",
    "character_set_server",
    "collation_server",
    "max_allowed_packet",
    "sql_mode",
    "pxc_strict_mode",
    "pxc_encrypt_cluster_traffic",
    "wsrep_dirty_reads",
    "wsrep_retry_autocommit",
)
"""Options that make nodes one cluster, or that replicated data depends on."""
OWN = frozenset(
    {"wsrep_node_name", "wsrep_node_address", "wsrep_cluster_address", "server_id", "report_host", "wsrep_sst_auth"}
)
_ADDRESSES = ("base_host", "ist.recv_addr", "gmcast.listen_addr", "ist.recv_bind")
FILE = "90-pilothouse-galera.cnf"


def cluster_address(facts: Facts, members: tuple[str, ...], joiner: str) -> str:
    """Return gcomm:// of every member and the joiner, the members' own notation kept."""
    known = members_addresses(facts, members)
    address = address_of(facts.host(joiner))
    listed = address in group_members(f"gcomm://{','.join(known)}")
    return "gcomm://" + ",".join((*known, *(() if listed else (f"[{address}]" if ":" in address else address,))))


def members_addresses(facts: Facts, members: tuple[str, ...]) -> tuple[str, ...]:
    """Return the addresses in a member's own wsrep_cluster_address, else the members' node addresses."""
    for name in members:
        text = facts.host(name)[Options].option("mysqld", "wsrep_cluster_address") or ""
        listed = cluster_addresses(text)
        if listed:
            return listed
    return tuple(address_of(facts.host(name)) for name in members)


def address_of(host: HostFacts) -> str:
    """Return a node's address for its group: wsrep_node_address, else the address the inventory has."""
    galera = host.node.galera if host.node is not None else None
    live = galera.node_address if galera is not None else ""
    given = (live or host[Options].option("mysqld", "wsrep_node_address") or host.address).strip()
    return without_port(given)


def provider_options(text: str) -> str:
    """Return a member's provider options without the addresses that are its own."""
    return without_options(text, _ADDRESSES)


def free_server_id(facts: Facts, members: tuple[str, ...]) -> int:
    """Return a server_id that no host of the facts has."""
    used = {
        server.server_id
        for host in facts.hosts
        if host.node is not None and (server := host.node.server) is not None and server.server_id is not None
    }
    used |= {own for h in facts.hosts if (own := count(h[Options].option("mysqld", "server_id"))) is not None}
    del members
    return max(used, default=0) + 1


def config_text(
    facts: Facts, donor: str, members: tuple[str, ...], joiner: str, node_name: str
) -> tuple[str | CopiedSecret, ...]:
    """Return the file's content for PutFile: texts and, where the donor has it, the SST account as a copied secret.

    What is left out, for a secret in it or for not being plain, is named in a remark: the plan and the file say what to
    set by hand.
    """
    source = facts.host(donor)
    lines = [f"# Written by Pilothouse: derived from {donor}."]
    lines += [
        f"# Not copied, a secret or not plain; set it by hand on {joiner} before the start: [{section}] {option}"
        for section, option in left_out(facts, donor, COPIED)
    ]
    lines.append("[mysqld]")
    for option in COPIED:
        value = source[Options].option("mysqld", option)
        if value is None or not may_copy("mysqld", option, value):
            continue
        if option == "wsrep_provider_options":
            value = provider_options(value)
        lines.append(f"{option} = {quoted(value)}" if value else f"{option}")
    lines += [
        f"wsrep_cluster_address = {cluster_address(facts, members, joiner)}",
        f"wsrep_node_name = {node_name}",
        f"wsrep_node_address = {address_of(facts.host(joiner))}",
        f"server_id = {free_server_id(facts, members)}",
    ]
    odd = next((line for line in lines if not line.isprintable()), "")
    if odd:  # what the others call themselves, or where they say that they are, is no line of this file
        raise BadInput(
            tr("The file for {host} would contain a line break or a control character: {line}", host=joiner,
               line=repr(odd[:80])),
            safe=tr("Nothing was written."),
            try_=(tr("Check wsrep_node_address and wsrep_cluster_address of the members."),),
        )  # fmt: skip
    content: list[str | CopiedSecret] = ["\n".join(lines) + "\n"]
    if source[Options].option("mysqld", "wsrep_sst_auth") is not None:
        content += ["wsrep_sst_auth = ", CopiedSecret(donor, "wsrep_sst_auth"), "\n"]
    sst = [
        (name, value)
        for section, name, value in source[Options].given
        if section == "sst" and may_copy(section, name, value)
    ]
    if sst:
        content.append("\n[sst]\n" + "".join(f"{name} = {quoted(value)}\n" for name, value in sst))
    return tuple(content)


def quoted(value: str) -> str:
    """Return a value as an option file takes it: quoted where it holds a sign of the file's own grammar."""
    if any(sign in value for sign in "#;\"' ") and not (value.startswith('"') and value.endswith('"')):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return value


def not_copied(facts: Facts, donor: str) -> tuple[str, ...]:
    """Return options of the donor's [mysqld] that the new node does not get, for the person to look at."""
    known = set(COPIED) | OWN
    return tuple(
        dict.fromkeys(
            name for section, name, _ in facts.host(donor)[Options].given if section == "mysqld" and name not in known
        )
    )


def address_place(host: HostFacts) -> tuple[str, str]:
    """Return (option file, section) where a member's wsrep_cluster_address stands last; ('', '') when none was read.

    Debian's package has it in [galera], not in [mysqld]: a line in another section of the same file would not count.
    """
    settings = in_reading_order(host[Options].files, host[Program].version)
    found = [(one.path, one.section) for one in settings if one.name == "wsrep_cluster_address"]
    return found[-1] if found else ("", "")


def extended_address(host: HostFacts, wanted: str) -> str:
    """Return the whole list for one member's file: its own parameters (`gcomm://a,b?gmcast.segment=1`) stay."""
    own = host[Options].option("mysqld", "wsrep_cluster_address") or ""
    return wanted + "".join(own.partition("?")[1:])
