"""MongoDB on the hosts of an estate: programs, configuration, units; replica sets and sharded clusters, formed, asked.

No package registry has MongoDB: the binaries come from the folder that PILOTHOUSE_LAB_MONGODB names
(`mongod-<version>`, `mongos-<version>`), then from PATH. They run on the image as they are.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.lab.estate import vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import container, rootfs
from tests.lab.estate.servers import database, mongo_wire
from tests.lab.estate.shell import run
from tests.lab.estate.spec import EstateSpec, HostSpec
from tests.lab.estate.waiting import wait_until

PORTS = {"mongod": 27018, "arbiter": 27018, "mirror": 27019, "config": 27019, "mongos": 27017, "mongo-spare": 27019}
_WITH_DATA = ("mongod", "arbiter", "mirror", "config")
SHARD, CONFIG_SET = "rs0", "csrs"
VERSION = "3.2"
_FOLDER = "PILOTHOUSE_LAB_MONGODB"
_FORM_S = 90.0

_UNIT = """\
# Written by the lab.
[Unit]
Description=MongoDB ({program})
After=network.target

[Service]
User=mysql
ExecStart=/usr/local/bin/{program} --config /etc/{program}.conf
LimitNOFILE=64000
Restart=no

[Install]
WantedBy=multi-user.target
"""
# The account is the image's: another one would be another image, for a name.

_MONGOD = """\
# Written by the lab.
systemLog:
  destination: file
  path: /var/lib/mysql/mongod.log
  logAppend: true
storage:
  dbPath: /var/lib/mysql/db
  engine: {engine}
  {storage}
net:
  bindIp: 127.0.0.1,{address}
  port: {port}
"""
_ENGINES = {
    "wiredTiger": "wiredTiger:\n    engineConfig:\n      cacheSizeGB: 1",
    "mmapv1": "mmapv1:\n    smallFiles: true",
}
MIRRORS_STORE_BY = "wiredTiger"
"""The engine of mirrored config servers; a test of MMAPv1 sets it before it makes the estate anew."""
PROTOCOL = 1
"""protocolVersion of the sets that are formed; a test of the old one sets it before it makes the estate anew."""
_SET = """\
replication:
  replSetName: {name}
  oplogSizeMB: 64
"""
_ROLE = """\
sharding:
  clusterRole: {role}
"""
_SECURITY = """\
security:
  keyFile: /var/lib/mysql/keyfile
  authorization: enabled
"""
_MONGOS = """\
# Written by the lab.
systemLog:
  destination: file
  path: /var/lib/mysql/mongos.log
  logAppend: true
net:
  bindIp: 127.0.0.1,{address}
  port: {port}
sharding:
  configDB: {config}
"""


def binary(program: str) -> Path | None:
    """The program of the lab's version, None where it is not at hand."""
    folder = os.environ.get(_FOLDER, "")
    found = sorted(Path(folder).glob(f"{program}-{VERSION}*")) if folder else []
    on_path = shutil.which(program)
    return found[-1] if found else Path(on_path) if on_path else None


def missing() -> str:
    """Why no estate of MongoDB can come up here, '' when it can."""
    lacking = [program for program in ("mongod", "mongos") if binary(program) is None]
    return f"{_FOLDER} names no folder with {' and '.join(lacking)} {VERSION}" if lacking else ""


def hosts(spec: EstateSpec, *roles: str) -> tuple[HostSpec, ...]:
    """The hosts of these roles, of all of MongoDB's where none is named."""
    return tuple(h for h in spec.hosts if h.role in (roles or PORTS))


def place(spec: EstateSpec, host: HostSpec) -> str:
    """host:port, as sets and strings name it: the address, which every host and the console reach."""
    return f"{spec.address(host.name)}:{PORTS[host.role]}"


def config_string(spec: EstateSpec) -> str:
    """What a mongos is started with."""
    mirrors = ",".join(place(spec, h) for h in hosts(spec, "mirror"))
    members = ",".join(place(spec, h) for h in hosts(spec, "config"))
    return mirrors or f"{CONFIG_SET}/{members}"


def server_config(spec: EstateSpec, host: HostSpec) -> str:
    """Text of a host's configuration file."""
    where = {"address": spec.address(host.name), "port": PORTS[host.role]}
    if host.role == "mongos":
        return _MONGOS.format(**where, config=config_string(spec))
    engine = MIRRORS_STORE_BY if host.role == "mirror" else "wiredTiger"
    text = _MONGOD.format(**where, engine=engine, storage=_ENGINES[engine])
    if host.role in {"mongod", "arbiter"}:
        sharded = bool(hosts(spec, "mongos"))
        return text + _SET.format(name=SHARD) + (_ROLE.format(role="shardsvr") if sharded else "")
    text += _SET.format(name=CONFIG_SET) if host.role == "config" else ""
    return text + _ROLE.format(role="configsvr")


def write_host(spec: EstateSpec, host: HostSpec) -> None:
    """Put the program, its unit and its configuration into a prepared host; its data go to the data disk."""
    root, program = rootfs.root(spec, host.name), host.engine.process
    source = binary(program)
    if source is None:
        raise LabError(missing())
    shutil.copyfile(source, root / "usr/local/bin" / program)
    (root / "usr/local/bin" / program).chmod(0o755)
    (root / "etc/systemd/system" / f"{program}.service").write_text(_UNIT.format(program=program), encoding="utf-8")
    if host.role != "mongo-spare":
        (root / "etc" / f"{program}.conf").write_text(server_config(spec, host), encoding="utf-8")
    data = rootfs.data(spec, host.name)
    (data / "db").mkdir(exist_ok=True)
    if spec.accounts:
        key = data / "keyfile"
        key.touch(mode=0o400)
        key.write_text(base64.b64encode(vault.load()["replication"].encode()).decode() + "\n", encoding="utf-8")
    uid, gid = rootfs.mysql_ids(spec, host.name)
    run(["chown", "-R", f"{uid}:{gid}", str(data)])


def ask(spec: EstateSpec, name: str, asked: dict[str, Any], *, database: str = "admin", limit_s: float = 20.0) -> Any:
    """Send a command to the server of a host and return its answer."""
    host = spec.host(name)
    return mongo_wire.command(spec.address(name), PORTS[host.role], database, asked, limit_s=limit_s)


def form(spec: EstateSpec) -> None:
    """Start the servers; form the sets, then the cluster of them."""
    for host in hosts(spec, *_WITH_DATA):
        database.begin_start(spec, host.name)
    for host in hosts(spec, *_WITH_DATA):
        wait_answers(spec, host.name)
    for name, roles in ((CONFIG_SET, ("config",)), (SHARD, ("mongod", "arbiter"))):
        members = hosts(spec, *roles)
        if members:
            initiate(spec, name, [h.name for h in members], config=name == CONFIG_SET)
    if spec.accounts and not hosts(spec, "mongos"):
        close(spec)
    for host in hosts(spec, "mongos"):
        database.begin_start(spec, host.name)
    for host in hosts(spec, "mongos"):
        wait_answers(spec, host.name)
    routers = hosts(spec, "mongos")
    if routers:
        shard = ",".join(place(spec, h) for h in hosts(spec, "mongod"))
        ask(spec, routers[0].name, {"addShard": f"{SHARD}/{shard}"}, limit_s=60)
        ask(spec, routers[0].name, {"enableSharding": "shop"}, limit_s=60)
        ask(spec, routers[0].name, {"shardCollection": "shop.orders", "key": {"_id": 1}}, limit_s=60)
        if spec.accounts:
            close(spec)


def close(spec: EstateSpec) -> None:
    """Make the users, and take nobody without one from now on: access control comes with a restart."""
    known = vault.load()
    rights = (("clusterMonitor", "admin"), ("read", "local"), ("read", "config"))
    monitor: list[Any] = [{"role": role, "db": where} for role, where in rights]
    nothing: list[Any] = []
    users = (("watch", "observer", monitor), ("pilot", "pilot", ["root"]), ("blind", "observer", nothing))
    for first in (hosts(spec, "mongod")[0], *hosts(spec, "mongos")[:1]):  # a shard has users of its own
        for user, purpose, roles in users:
            ask(spec, first.name, {"createUser": user, "pwd": known[purpose], "roles": roles})
    routers = hosts(spec, "mongos")
    for host in routers:
        database.stop(spec, host.name)
    for host in (*hosts(spec, *_WITH_DATA), *routers):
        text = _SECURITY if host not in routers else _SECURITY.partition("  authorization")[0]
        container.sh(spec, host.name, f"cat >> /etc/{host.engine.process}.conf", stdin=text)
    for host in (*reversed(hosts(spec, *_WITH_DATA)), *routers):  # the primary last, mongos behind all
        database.stop(spec, host.name)
        database.start(spec, host.name)
        wait_answers(spec, host.name)
    wait_greetings(spec)


def wait_greetings(spec: EstateSpec, *, limit_s: float = _FORM_S) -> None:
    """Wait until the members' greetings, which need no account, tell one primary and no member without a state."""

    def reason() -> str | None:
        said = [ask(spec, h.name, {"isMaster": 1}, limit_s=5) for h in hosts(spec, "mongod", "arbiter")]
        primaries = sum(bool(one.get("ismaster")) for one in said)
        settled = all(one.get("ismaster") or one.get("secondary") or one.get("arbiterOnly") for one in said)
        return None if primaries == 1 and settled else f"{primaries} primaries, settled: {settled}"

    wait_until("the set's greetings", reason, limit_s=limit_s)


def initiate(spec: EstateSpec, name: str, members: Sequence[str], *, config: bool = False) -> None:
    """Form a set of these hosts, the first one preferred as its primary, and wait until all follow."""
    rows: list[dict[str, Any]] = [
        {"_id": n, "host": place(spec, spec.host(one)), "priority": 2 if n == 0 else 1} for n, one in enumerate(members)
    ]
    for row, one in zip(rows, members, strict=True):
        if spec.host(one).role == "arbiter":
            row |= {"arbiterOnly": True, "priority": 0}
    asked: dict[str, Any] = {"_id": name, "version": 1, "members": rows, "protocolVersion": PROTOCOL}
    if config:
        asked["configsvr"] = True
    ask(spec, members[0], {"replSetInitiate": asked}, limit_s=60)
    wait_set(spec, members)


def states(spec: EstateSpec, name: str) -> dict[str, str]:
    """The members as one of them sees them: host name -> state; {} while it does not answer or is in no set."""
    try:
        reply = ask(spec, name, {"replSetGetStatus": 1}, limit_s=5)
    except LabError:
        return {}
    called = {place(spec, h): h.name for h in hosts(spec)}
    return {called.get(one["name"], one["name"]): str(one["stateStr"]) for one in reply["members"]}


def wait_set(spec: EstateSpec, members: Sequence[str], *, limit_s: float = _FORM_S) -> None:
    """Wait until each of these sees all of them as PRIMARY, SECONDARY or ARBITER, and one as PRIMARY."""

    def reason() -> str | None:
        for name in members:
            seen = states(spec, name)
            settled = [seen.get(one, "") for one in members]
            if settled.count("PRIMARY") != 1 or not set(settled) <= {"PRIMARY", "SECONDARY", "ARBITER"}:
                return f"{name} sees {seen}"
        return None

    wait_until(f"the set of {', '.join(members)}", reason, limit_s=limit_s)


def primary(spec: EstateSpec) -> str:
    """The primary of the shard, as a member that sees one says."""
    for host in hosts(spec, "mongod"):
        for name, state in states(spec, host.name).items():
            if state == "PRIMARY":
                return name
    raise LabError(f"no member of {spec.name} sees a primary")


def wait_answers(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> None:
    """Wait until the server of a host answers a greeting."""

    def reason() -> str | None:
        try:
            ask(spec, name, {"isMaster": 1}, limit_s=5)
        except LabError as problem:
            return str(problem)
        return None

    wait_until(f"the server of {name}", reason, limit_s=limit_s)


def wait_takes_writes(spec: EstateSpec, name: str, *, limit_s: float = _FORM_S) -> None:
    """Wait until a member leads and takes writes: one that was elected applies first what it still has, and says no."""

    def reason() -> str | None:
        try:
            leads = bool(ask(spec, name, {"isMaster": 1}, limit_s=5).get("ismaster"))
        except LabError as problem:
            return str(problem)
        return None if leads else "it does not yet"

    wait_until(f"{name} to take writes", reason, limit_s=limit_s)


def recover(spec: EstateSpec) -> None:
    """Bring back every server that `up` started; wait until the sets are whole, each led by its preferred member."""
    for host in (*hosts(spec, *_WITH_DATA), *hosts(spec, "mongos")):
        if database.pid(spec, host.name) is None:
            database.start(spec, host.name)
        wait_answers(spec, host.name)
    if spec.accounts:
        wait_greetings(spec)
        return
    for role in ("config", "mongod"):
        members = [h.name for h in hosts(spec, role)]
        if members:
            wait_takes_writes(spec, members[0])
            wait_set(spec, members)


def server_words(spec: EstateSpec, name: str) -> str:
    """The state of a server in one phrase, for the table of `status`."""
    said = ask(spec, name, {"isMaster": 1}, limit_s=5)
    if said.get("msg") == "isdbgrid":
        return "mongos"
    if not said.get("setName"):
        return "config server (mirrored)" if "configsvr" in said else "alone"
    if spec.accounts:
        words = (("ismaster", "PRIMARY"), ("secondary", "SECONDARY"), ("arbiterOnly", "ARBITER"))
        return next((word for key, word in words if said.get(key)), "no state")
    seen = states(spec, name)
    reached = sum(state in {"PRIMARY", "SECONDARY", "ARBITER"} for state in seen.values())
    return f"{seen.get(name, 'no state')}, {reached} of {len(seen)} reached"
