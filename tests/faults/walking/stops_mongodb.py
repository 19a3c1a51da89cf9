"""The states in which the procedures for MongoDB refuse, and what their advice says to do."""

from __future__ import annotations

from services.connections.mongo.document import Stamp
from services.facts.model import DiskFacts
from services.facts.mongodb.sharding import Router
from tests.faults.scripted import config_servers, mongo
from tests.faults.scripted.cluster import Cluster
from tests.faults.walking.spoils import (
    in_set,
    metadata,
    of_all,
    on,
    rows,
    sharded,
    silent,
)
from tests.faults.walking.spoils import mongo as told
from tests.faults.walking.walk import Stop
from tests.unit.discovery.mongo_scenes import NOW, place

SET, TERMS, UPGRADE = ("m1", "m2", "m3"), "protocol upgrade", "rolling upgrade"
TURN, WINDOW = "config servers", "config servers, in a window"


def _old_storage() -> Cluster:
    return config_servers.sharded("n1", "n2", "n3", engine="mmapv1")


_LATE = Router(place("r9:27017"), "3.2.5", config_servers.AT, 10)
_KNOWN = tuple(Router(place(f"{one}:27017"), "3.2.5", config_servers.AT, 10) for one in config_servers.ROUTERS)
_MIRROR = {"config": "mirrored", "role": "standalone", "config_mode": "sccc", "host": "m3:27019", "port": 27019}
# fmt: off
STOPS = (
    # -- every set
    Stop("SET-WHOLE", TERMS, rows(*SET, number=3, state="RECOVERING"), needs="Bring the member back"),
    Stop("SET-LAG", TERMS, rows(*SET, number=3, optime=Stamp(NOW - 60, 1)), needs="Wait until it has caught up"),
    Stop("SET-VERSIONS", TERMS, told("m2", version="3.0.15"), needs="same release first"),
    Stop("EVERY-SET", TERMS, silent("m3"), needs="bring them back"),
    Stop("OLD-ENTRIES", TERMS, rows(*SET, number=2, optime_term=3), needs="reach every secondary"),
    Stop("TERMS-BEFORE", TERMS, on("m2", last_vote_term=5), needs="initial sync"),
    # -- an upgrade
    Stop("EVERY-SERVER", UPGRADE, silent("m3"), needs="bring it back"),
    Stop("BALANCER", UPGRADE, sharded("r1", balancer=None), needs="read the database config"),
    Stop("ONE-RELEASE", UPGRADE, inputs=(("version", "4.0.28"),), way="other", needs="in between first"),
    Stop("TOO-OLD", UPGRADE, of_all((*SET, "r1"), lambda name: told(name, version="3.6.23", compatibility="3.6")),
         inputs=(("version", "4.0.28"),), way="elsewhere", then="mongo-protocol-upgrade",
         needs="mongo-protocol-upgrade"),
    Stop("COMPATIBILITY", UPGRADE, of_all((*SET, "r1"), lambda name: told(name, version="3.4.24", compatibility="3.2")),
         inputs=(("version", "3.6.23"),), needs="Set featureCompatibilityVersion",
         cluster=lambda: mongo.sharded(*SET, router="r1", release="3.4.24"), does=mongo.replaces_by("3.6.23")),
    Stop("CONFIG-HALF-WAY", UPGRADE, told("m3", **_MIRROR), needs="Complete the conversion"),
    # -- config servers
    Stop("CONFIG-FORM", TURN, on("c1", set_document_names=("cfg",)), needs="system.replset.remove"),
    Stop("CONFIG-VERSIONS", TURN, told("c2", version="3.2.3"), needs="mongo-rolling-upgrade first"),
    Stop("SHARD-PROTOCOL", TURN, of_all(SET, lambda name: in_set(name, protocol=0)), needs="mongo-protocol-upgrade"),
    Stop("CONFIG-SAME", TURN, metadata("c2", ("chunks", "v0")), needs="repair the wrong one"),
    Stop("CONFIG-STRING", TURN, told("r2", config_string="c2:27019,c1:27019,c3:27019"),
         needs="the same string"),
    Stop("EVERY-MONGOS", TURN, of_all(("r1", "r2"), lambda name: sharded(name, routers=(*_KNOWN, _LATE))),
         needs="Add its host to the inventory"),
    Stop("CONFIG-FILES", TURN, on("c1", mongo_process_trouble="it is not YAML"), needs="to a YAML file"),
    Stop("CONFIG-FOLDERS", TURN, on("c1", mongo_data_odd="/data may be written by others"), needs="separate account"),
    Stop("CONFIG-ENGINE", WINDOW, cluster=_old_storage, way="elsewhere", then="the rolling way",
         needs="with three new hosts", confirmed=frozenset({"c1"})),
    Stop("NEW-HOSTS", TURN, on("n1", mongo_data_entries=5), needs="create its data folder"),
    Stop("BACKUP-ROOM", TURN, of_all(config_servers.SERVERS, lambda name: on(name, volumes_disks=(
        DiskFacts("/", size=10**12, free=10),))), needs="Free disk space"),
)
# fmt: on
