"""The settings of a MySQL server, and what a copied data folder must lose before its first start."""

from __future__ import annotations

import uuid
from pathlib import Path

from tests.lab.estate.spec import EstateSpec, HostSpec

GROUP_PORT = 33061
CA = "/var/lib/mysql/ca.pem"
"""Made by mysqld when the image was installed, with the certificate that every host of the estate shows."""

# report_host is the address: Group Replication names members by it (MEMBER_HOST), and no resolver outside knows g2.
_SERVER = """\
# Written by the lab.
[mysqld]
bind-address = 0.0.0.0
mysqlx = OFF
server_id = {number}
report_host = {address}
skip_name_resolve = ON
log_bin = mysql-bin
max_binlog_size = 32M
sync_binlog = 0
gtid_mode = ON
enforce_gtid_consistency = ON
innodb_buffer_pool_size = 64M
innodb_redo_log_capacity = 64M
"""

# Settings of the plugin that are not here have the server's own defaults: 5 s to expel, 3 tries to come back.
_GROUP = """\
plugin_load_add = group_replication.so
plugin_load_add = mysql_clone.so
group_replication_group_name = {group}
group_replication_local_address = {address}:{port}
group_replication_group_seeds = {seeds}
group_replication_start_on_boot = OFF
group_replication_recovery_use_ssl = ON
"""

_SEMI_SYNC = """\
plugin_load_add = semisync_source.so
plugin_load_add = semisync_replica.so
rpl_semi_sync_source_enabled = {source}
rpl_semi_sync_replica_enabled = {replica}
"""


def group_name(spec: EstateSpec) -> str:
    """The group's UUID: the same at every `up`, as its members are."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{spec.name}.lab.pilothouse"))


def server_config(spec: EstateSpec, host: HostSpec) -> str:
    """Text of the host's option file, which is read after the package's own."""
    address = spec.address(host.name)
    text = _SERVER.format(number=host.number, address=address)
    if host.role == "group":
        seeds = ",".join(f"{spec.address(h.name)}:{GROUP_PORT}" for h in spec.hosts if h.role == "group")
        text += _GROUP.format(group=group_name(spec), address=address, port=GROUP_PORT, seeds=seeds)
    if host.semi_sync:
        source = host.role == "source"
        text += _SEMI_SYNC.format(source=int(source), replica=int(not source))
    return text


def make_own(data: Path) -> None:
    """Let the server of this data folder find a server_uuid of its own: the image's would be on every host."""
    (data / "auto.cnf").unlink(missing_ok=True)
