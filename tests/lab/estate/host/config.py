"""What is written into a host before it boots: names, keys, accounts and the server's configuration."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.lab.estate import client, tls, vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import rootfs
from tests.lab.estate.servers import config_mysql, mongodb
from tests.lab.estate.servers.engine import MONGOD, MONGOS, MYSQL
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec, HostSpec

GALERA_PROVIDER = "/usr/lib/galera/libgalera_smm.so"
_OTHER_PROVIDER = "/usr/lib/galera/lab_provider.so"

_SERVER = """\
# Written by the lab.
[mysqld]
bind-address = 0.0.0.0
server_id = {number}
skip_name_resolve = ON
log_bin = mysql-bin
log_slave_updates = ON
binlog_format = ROW
max_binlog_size = 32M
binlog_expire_logs_seconds = {binlog_s}
report_host = {name}
ssl_ca = /etc/mysql/tls/ca.pem
ssl_cert = /etc/mysql/tls/server.pem
ssl_key = /etc/mysql/tls/server.key
"""

_REPLICATION = """\
gtid_strict_mode = ON
sync_binlog = 0
"""

_GALERA = """\
default_storage_engine = InnoDB
innodb_autoinc_lock_mode = 2
wsrep_on = ON
wsrep_provider = {provider}
wsrep_provider_options = "gcache.size=128M"
wsrep_cluster_name = lab-{estate}
wsrep_cluster_address = gcomm://{addresses}
wsrep_node_name = {name}
wsrep_node_address = {address}
wsrep_slave_threads = 2
wsrep_sst_method = mariabackup
# the image's account mysql@localhost is let in by its socket: no password stands in this file
wsrep_sst_auth = mysql:
"""


def server_config(spec: EstateSpec, host: HostSpec) -> str:
    """Text of the host's own settings; empty for a spare, which has the package's defaults only."""
    if host.role == "spare":
        return ""
    if host.engine is MYSQL:
        return config_mysql.server_config(spec, host)
    text = _SERVER.format(number=host.number, name=host.name, binlog_s=spec.binlog_s)
    if host.role != "galera":
        return text + _REPLICATION
    provider = _OTHER_PROVIDER if spec.other_provider else GALERA_PROVIDER
    addresses = ",".join(spec.address(h.name) for h in spec.hosts if h.role == "galera")
    return text + _GALERA.format(
        provider=provider, estate=spec.name, addresses=addresses, name=host.name, address=spec.address(host.name)
    )


def write_host(spec: EstateSpec, name: str) -> None:
    """Everything a prepared (mounted, not running) host needs to be itself."""
    host = spec.host(name)
    root = rootfs.root(spec, name)
    _write(root / "etc/hostname", f"{name}\n")
    known = "".join(f"{spec.address(h.name)} {h.name}\n" for h in spec.hosts)
    _write(root / "etc/hosts", f"127.0.0.1 localhost\n{known}{spec.gateway} console\n")
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    _write(root / "etc/resolv.conf", "")
    client.make_host_key(spec, name, root / "etc/ssh/ssh_host_ed25519_key")
    _accounts(spec, root)
    if host.engine in (MONGOD, MONGOS):
        mongodb.write_host(spec, host)
        return
    server = server_config(spec, host)
    if host.engine is MYSQL:
        config_mysql.make_own(rootfs.data(spec, name))
    elif server:
        tls.make_server_certificate(spec, name, root / "etc/mysql/tls", rootfs.mysql_ids(spec, name))
    if server:
        _write(root / host.engine.settings, server)
    if host.role == "galera" and spec.other_provider:
        other = os.environ.get("PILOTHOUSE_LAB_GALERA", "")
        if not Path(other).is_file():
            raise LabError(
                f"estate {spec.name} needs another provider library: "
                f"PILOTHOUSE_LAB_GALERA names no file ({other or 'it is not set'})"
            )
        shutil.copyfile(other, root / _OTHER_PROVIDER.lstrip("/"))


def _accounts(spec: EstateSpec, root: Path) -> None:
    keys = client.authorized_keys(spec)
    for home in ("root", "home/dba", "home/dbapw"):
        folder = root / home / ".ssh"
        folder.mkdir(mode=0o700, exist_ok=True)
        _write(folder / "authorized_keys", keys)
        owner = (root / home).stat()
        for path in (folder, folder / "authorized_keys"):
            os.chown(path, owner.st_uid, owner.st_gid)
    run(["chroot", str(root), "chpasswd"], stdin=f"dbapw:{vault.load()['sudo']}\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
