"""Config servers in memory: mirrored ones, a set of them, mongos and one shard, driven by their configuration files.

What a server is follows from its file and from its data when it starts. Real servers prove the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.connections.mongo.change import Fields, MongoCommand, SetChange
from services.connections.operator import folders_of_others
from services.errors import UserError
from services.facts.model import DiskFacts, NodeFacts
from services.facts.mongodb.model import Metadata, MongoFacts
from services.facts.mongodb.server import MongoServer
from services.facts.mongodb.sharding import HostList, Router, Shard, ShardedCluster, parse_hosts
from services.facts.yaml_files.edit import edit_yaml
from services.facts.yaml_files.settings import Scalar, settings_of, text_of
from services.procedures.engine.ports import Acted, ActFailed
from services.procedures.looking.files import digest, wrote_name
from services.procedures.looking.own_lines import without_own
from services.procedures.plan.actions import (
    Action,
    EditYaml,
    Mongo,
    PutFile,
    Reconfigure,
    RestoreFile,
    Run,
    TryMetadata,
)
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.parts.mongodb.set_document import SetDocument
from services.secrets import Secret
from services.types import Reach
from tests.faults.scripted import shards
from tests.faults.scripted.cluster import Cluster, Host
from tests.faults.scripted.names import FORM, LEADS, LIES, METADATA, STRING, USES
from tests.unit.discovery.mongo_scenes import facts as node_of
from tests.unit.discovery.mongo_scenes import member, place, rows, view

AT = 1_700_000_000.0
SERVERS, ROUTERS, SHARD = ("c1", "c2", "c3"), ("r1", "r2"), ("m1", "m2", "m3")
DATA, COPY, NAME = "/data/db", "/srv/copy", "cfg"
MARK = "config-servers"
"""Whether a scripted cluster is one of these."""
_FILES = {"mongod": "/etc/mongod.conf", "mongos": "/etc/mongos.conf"}
_SIZE = 10**8
_TRIAL = "pilothouse-config-trial.service"


def sharded(*new: str, engine: str = "wiredTiger") -> Cluster:
    """Return a cluster with mirrored config servers, two mongos, a shard, and new hosts without a server."""
    hosts: dict[str, Host] = {}
    for name in (*SERVERS, *ROUTERS, *SHARD, *new):
        up = name not in new
        hosts[name] = Host(name, running=up, primary=up, member=up and name not in ROUTERS, frozen_at=None)
    for name in SERVERS:
        settings = {"storage.dbPath": DATA, "storage.engine": engine, "net.port": 27019}
        hosts[name].files = {
            _FILES["mongod"]: text_of({**settings, "sharding.clusterRole": "configsvr"}),
            DATA: "",
            f"{DATA}/data": "v1",
        }
    for name in ROUTERS:
        hosts[name].files = {_FILES["mongos"]: text_of({"sharding.configDB": _string(SERVERS)})}
    for name in new:
        hosts[name].files = {DATA: ""}
    told: dict[str, int | str] = {MARK: 1, "version": 1, "primary": "", "trial": 0, "balancer": 1}
    told |= {"swapped": 0, "all-vote": 0, LEADS: SHARD[0]}
    cluster = Cluster(hosts, replica_set=told)
    for name in (*SERVERS, *ROUTERS):
        _started(cluster, hosts[name])
    return derived(cluster)


def is_one(cluster: Cluster) -> bool:
    """Return whether a cluster is one of these."""
    return bool(cluster.replica_set.get(MARK))


# -- what a gathering finds --------------------------------------------------------------------------------------------


def facts_of(cluster: Cluster, kept: tuple[tuple[str, str], ...]) -> Facts:
    """Return what a gathering finds now."""
    told = cluster.replica_set
    known = ShardedCluster(
        "77",
        config=HostList(places=tuple(map(place, _string(SERVERS).split(",")))),
        shards=(Shard("rs0", HostList("rs0", tuple(place(f"{one}:27018") for one in SHARD))),),
        routers=tuple(Router(place(f"{one}:27017"), "3.2.5", AT, 10) for one in ROUTERS),
        balancer=bool(told["balancer"]),
    )
    nodes = {name: _mirror(cluster.hosts[name], known) for name in SERVERS}
    nodes |= {name: _router(cluster.hosts[name], known) for name in ROUTERS}
    seen = rows("PRIMARY", "SECONDARY", "SECONDARY")
    nodes |= {name: member(n, view(n, seen), shard=True) for n, name in enumerate(SHARD, 1)}
    new = tuple(name for name in cluster.hosts if name not in nodes)
    nodes |= {name: NodeFacts(name, AT, Reach.SSH_ONLY, name) for name in new}
    hosts = tuple(_host(cluster.hosts[name], node) for name, node in nodes.items())
    members = (*SERVERS, *ROUTERS, *SHARD)
    return Facts(AT, "77", "orders", members=members, candidates=new, hosts=hosts, kept=kept)


def _mirror(host: Host, known: ShardedCluster) -> NodeFacts:
    settings = settings_of(host.files[_FILES["mongod"]])
    server = MongoServer(
        role="standalone", config="mirrored", version="3.2.5", engine=str(settings["storage.engine"]), wire=4, at=AT,
        uptime_s=900, host=f"{host.name}:27019", port=27019, data_path=DATA, configuration=_FILES["mongod"],
    )  # fmt: skip
    return node_of(host.name, MongoFacts(server, cluster=known, metadata=Metadata((("chunks", "v1"),), AT)))


def _router(host: Host, known: ShardedCluster) -> NodeFacts:
    server = MongoServer(
        role="router", version="3.2.5", wire=4, at=AT, uptime_s=900, host=f"{host.name}:27017", port=27017,
        configuration=_FILES["mongos"], config_string=_string(SERVERS),
    )  # fmt: skip
    return node_of(host.name, MongoFacts(server, cluster=known))


def _host(host: Host, node: NodeFacts) -> HostFacts:
    path = _path(host)
    process = MongoProcess(
        running=int(node.mongo is not None),
        program=f"/usr/bin/{'mongos' if host.name in ROUTERS else 'mongod'}",
        unit="mongos.service" if host.name in ROUTERS else "mongod.service",
        account=100,
        enabled=True,
        path=path,
        settings=tuple(sorted(settings_of(host.files.get(path, "")).items())),
        text=Secret(host.files.get(path, "")),
        open_way="",
        user="" if node.mongo is not None else "mongod",
    )
    full = f"{DATA}/data" in host.files
    data = MongoData(DATA, _SIZE * full, int(full), owner=100, group=101, odd="", owner_name="mongod")
    disk = Volumes((DiskFacts("/", size=10**12, free=host.free),))
    parts = (process, data, disk, MongoRights(logged_in=False, clears_sets=True), SetDocument(()))
    return HostFacts(host.name, host.name, node, is_root=True, server_up=node.mongo is not None, parts=parts)


# -- what acts do ------------------------------------------------------------------------------------------------------


def perform(cluster: Cluster, host: Host, action: Action) -> Acted:
    """Do what the host, or its server, does."""
    kept: tuple[tuple[str, str], ...] = ()
    match action:
        case EditYaml(path=path, settings=settings):
            kept = _written(host, path, edit_yaml(host.files.get(path, ""), settings))
        case PutFile(path=path, content=content):
            kept = _written(host, path, "".join(str(one) for one in content))
        case RestoreFile(path=path):
            _put_back(host, path)
        case Run(command=command):
            _run(cluster, host, list(command.argv))
        case TryMetadata():
            _compared(cluster, host, action)
        case Mongo(command=sent):
            _command(cluster, host, sent)
        case Reconfigure(change=change):
            _reconfigured(cluster, host, change)
        case _:
            raise AssertionError(action)
    derived(cluster)
    return Acted(kept=kept)


def derived(cluster: Cluster) -> Cluster:
    """Keep what each server tells, as its file and its data make it."""
    told = cluster.replica_set
    for host in cluster.hosts.values():
        if host.name in SHARD:
            told[USES + host.name] = "set" if told["swapped"] or host.variables.get("over") else "mirrored"
        elif host.name in ROUTERS:
            told[STRING + host.name] = host.variables.get("string", "")
            told[USES + host.name] = "set" if told["swapped"] or host.variables.get("over") else "mirrored"
        else:
            told[FORM + host.name] = host.variables.get("form", "") if host.running else ""
            folder = host.variables.get("folder", "")
            told[METADATA + host.name] = host.files.get(f"{folder}/data", "")
            told[LIES + host.name] = host.files.get(f"{folder}/set", "")
    return cluster


def heal(cluster: Cluster, host: Host, *, was_running: bool) -> None:
    """Let a server that a fault ended, or cut off, be back as its file has it."""
    host.primary = host.running and host.name not in ROUTERS
    if was_running and not host.running:
        _started(cluster, host)
    derived(cluster)


def _written(host: Host, path: str, text: str) -> tuple[tuple[str, str], ...]:
    host.kept.setdefault(path, host.files.get(path))
    host.files[path] = host.wrote[path] = text
    return ((wrote_name(host.name, path), digest(text)),)


def _put_back(host: Host, path: str) -> None:
    if path not in host.kept:
        return
    now, original, wrote = host.files.get(path), host.kept.pop(path), host.wrote.get(path)
    if wrote is not None and now is not None and now != wrote and (back := without_own(original, wrote, now)):
        original = back.text
    host.files.pop(path, None)
    if original is not None:
        host.files[path] = original


def _run(cluster: Cluster, host: Host, argv: list[str]) -> None:
    match argv:
        case ["systemctl", verb, unit, *_]:
            _systemctl(cluster, host, verb, unit)
        case ["systemd-run", *_]:
            assert f"{COPY}.trial" in host.works
            host.units[_TRIAL] = "active"
        case ["bash", "-c", program, "pilothouse", "100:101", *words] if program in _ON_FOLDERS:
            _ON_FOLDERS[program](host, *words)
        case _:
            raise AssertionError(argv)


def _copied_folder(host: Host, source: str, target: str) -> None:
    assert not host.running or source == COPY, "the data of a running server are copied"
    held = host.files.get(f"{source}/data", host.works.get(source, ""))
    if host.free < _SIZE:
        host.works[f"{target}.part"], host.free = "", 0
        raise ActFailed("No space left on device", host=host.name, safe="What was begun of the copy is there still.")
    if target in {COPY, f"{COPY}.trial"}:
        host.works[target] = held
    else:
        host.files |= {target: "", f"{target}/data": held}


def _made_folder(host: Host, folder: str, mode: str) -> None:
    assert mode == "0700"
    host.files.setdefault(folder, "")


def _removed_folders(host: Host, *folders: str) -> None:
    for folder in folders:
        if folder.endswith(".part") and folder in host.works:
            host.free = _SIZE  # what was begun of a copy filled the disk: no server starts on it
        _gone(host, folder)


def _emptied(host: Host, folder: str) -> None:
    assert not host.running
    for name in ("data", "set"):
        host.files.pop(f"{folder}/{name}", None)


_ON_FOLDERS: dict[str, Callable[..., None]] = {
    folders_of_others.COPY: _copied_folder,
    folders_of_others.MAKE: _made_folder,
    folders_of_others.REMOVE: _removed_folders,
    folders_of_others.EMPTY: _emptied,
}


def _systemctl(cluster: Cluster, host: Host, verb: str, unit: str) -> None:
    if unit == _TRIAL:
        host.units.pop(_TRIAL, None)
    elif verb == "disable":
        host.units["mongod.service"] = "disabled"
    else:
        if host.name in SHARD:
            shards.restarted(cluster, SHARD, host)
        if verb in {"stop", "restart"}:
            _stopped(cluster, host)
        if verb in {"start", "restart"}:
            _started(cluster, host)


def _gone(host: Host, folder: str) -> None:
    assert folder not in {DATA, COPY}, "the only copy is removed"
    host.works.pop(folder, None)
    host.files = {
        path: text for path, text in host.files.items() if path != folder and not path.startswith(f"{folder}/")
    }


def _stopped(cluster: Cluster, host: Host) -> None:
    host.running = host.primary = False
    host.member = host.name in SERVERS
    host.variables = {}
    shards.ended(cluster, SHARD, host)
    if cluster.replica_set["primary"] == host.name:
        _elected(cluster, but=host.name)


def _started(cluster: Cluster, host: Host) -> None:
    """A start reads the file: what the server is follows from it."""
    if host.running and host.variables:
        return
    if host.fails_to_start or host.free == 0 or (_path(host) not in host.files and host.name not in SHARD):
        return
    host.running = True
    host.primary = host.member = host.name not in ROUTERS
    if host.name in SHARD:
        shards.started(cluster, SHARD, host)
        return
    settings = settings_of(host.files[_path(host)])
    if host.name not in ROUTERS:
        _config_started(cluster, host, settings)
        return
    host.variables = {"string": str(settings["sharding.configDB"])}
    if parse_hosts(host.variables["string"]).set_name:
        assert _majority(cluster), "a mongos is started with a set that has no majority"
        cluster.replica_set["swapped"] = 1
    else:
        over = [name for name in SHARD if cluster.hosts[name].variables.get("over")]
        assert not over, "a mongos is started with mirrored config servers, and shards would refuse it"


def _config_started(cluster: Cluster, host: Host, settings: Mapping[str, Scalar]) -> None:
    folder, name = str(settings["storage.dbPath"]), settings.get("replication.replSetName")
    lies = host.files.get(f"{folder}/set", "")
    form = "alone" if not name else "new" if not lies else "mirrored-set"
    if form == "mirrored-set" and settings.get("sharding.configsvrMode") != "sccc":
        form = "removed" if settings["storage.engine"] == "mmapv1" else "set"
    host.variables = {"form": form, "folder": folder}
    if form == "alone":
        cluster.replica_set["all-vote"] = 0
    host.files.setdefault(f"{folder}/data", "")
    converted = form in {"set", "removed"} and host.name == SERVERS[0] and folder == DATA
    if converted and not cluster.replica_set["swapped"]:
        cluster.replica_set["swapped"] = 1  # every mongos goes over by itself
        down = [name for name in SERVERS if not cluster.hosts[name].running]
        assert down, "the set takes over while every mirror takes changes"
    if form in {"mirrored-set", "set"} and not cluster.replica_set["primary"]:
        _elected(cluster)
    if form == "set":
        shards.go_over(cluster, (*SHARD, *ROUTERS))


def _members(cluster: Cluster) -> list[Host]:
    return [host for host in cluster.hosts.values() if host.files.get(f"{host.variables.get('folder', '')}/set")]


def _majority(cluster: Cluster) -> bool:
    members = _members(cluster)
    return sum(one.running and one.primary for one in members) * 2 > len(members)


def _elected(cluster: Cluster, but: str = "") -> None:
    up = [one.name for one in _members(cluster) if one.running and one.primary and one.name != but]
    cluster.replica_set["primary"] = up[0] if up and _majority(cluster) else ""


def _compared(cluster: Cluster, host: Host, action: TryMetadata) -> None:
    assert host.units.get(_TRIAL) == "active"
    other = cluster.hosts[action.host]
    if not other.running:
        raise UserError("No server answers.", host=other.name)
    if host.works[f"{COPY}.trial"] != other.files[f"{other.variables['folder']}/data"]:
        raise UserError("They differ.", host=host.name)


def _command(cluster: Cluster, host: Host, command: MongoCommand) -> None:
    if not host.running:
        raise UserError("No server answers.", host=host.name)
    told = cluster.replica_set
    match command.document.pairs[0].name:
        case "update":
            told["balancer"] = int("stopped: false" in str(command))
        case "enableSharding" | "dropDatabase" as name:
            mirrors = all(cluster.hosts[one].running for one in SERVERS)
            if not (_majority(cluster) and told["primary"] if told["swapped"] else mirrors):
                raise UserError("The catalog takes no change.", host=host.name)
            told["trial"] = int(name == "enableSharding")
        case "replSetInitiate":
            folder = host.variables["folder"]
            if host.files.get(f"{folder}/set"):
                raise UserError("already initialized", host=host.name)
            host.files[f"{folder}/set"] = NAME
            told["version"] = 1
            if host.variables["form"] == "new":
                host.variables["form"] = "set"
                _elected(cluster)
                shards.go_over(cluster, (*SHARD, *ROUTERS))
        case "delete":
            host.files.pop(f"{host.variables['folder']}/set", None)
        case "replSetStepDown":
            _stepped_down(cluster, host)
        case other:
            raise AssertionError(other)


def _stepped_down(cluster: Cluster, host: Host) -> None:
    if host.name in SHARD:
        shards.stepped_down(cluster, host)
    else:
        assert cluster.replica_set["primary"] == host.name
        _elected(cluster, but=host.name)
    host.answer_lost = True


def _reconfigured(cluster: Cluster, host: Host, change: SetChange) -> None:
    told = cluster.replica_set
    if not host.running or told["primary"] != host.name or told["version"] != change.version:
        raise UserError("It is not the primary, or somebody else changed it since.", host=host.name)
    told["version"] = change.version + 1
    for one in change.adds:
        come = cluster.hosts[_name(one)]
        if not come.running:
            raise UserError("No heartbeat.", host=host.name)
        folder = come.variables["folder"]
        come.files |= {f"{folder}/set": NAME, f"{folder}/data": host.files[f"{host.variables['folder']}/data"]}
        come.variables["form"] = "set"
    if change.settings:
        told["all-vote"] = 1
    for number in change.removes:
        assert number == 0
        gone = cluster.hosts["c1"]
        gone.files.pop(f"{gone.variables['folder']}/set")


def _name(member: Fields) -> str:
    found = next(pair.value for pair in member.pairs if pair.name == "host")
    return str(found).partition(":")[0]


def _path(host: Host) -> str:
    return _FILES["mongos" if host.name in ROUTERS else "mongod"]


def _string(names: tuple[str, ...]) -> str:
    return ",".join(f"{name}:27019" for name in names)
