"""A mongod: alone, a member of a replica set, a shard's server, or a config server of either kind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from bson.objectid import ObjectId

from tests.lab.mongodb.scripted import replies
from tests.lab.mongodb.scripted.base import Program
from tests.lab.mongodb.scripted.data import Documents
from tests.lab.mongodb.scripted.election import Elections
from tests.lab.mongodb.scripted.following import Following
from tests.lab.mongodb.scripted.member import CONFIG, PRIMARY, SECONDARY, WORDS, Member
from tests.lab.mongodb.scripted.options import Options
from tests.lab.mongodb.scripted.set_config import INCOMPATIBLE, NO_NODE, check_change, majority_of, normal, protocol_of
from tests.lab.mongodb.scripted.store import Store
from tests.lab.mongodb.scripted.wire import Asked, Doc, HungUp, Refused, ask

_STEP_DOWN_S = 60
_CATCH_UP_S = 10.0


class Mongod(Program):
    """One run of a mongod."""

    def __init__(self, port: int, folder: Path, options: Options) -> None:
        store = Store(folder)
        if not (folder / "documents.bson").exists():
            store.rows("local.startup_log").append({"_id": ObjectId(), "startTime": replies.moment(time.time())})
        self.member = Member(f"127.0.0.1:{port}", options, store, self._hang_up)
        self.elections = Elections(self.member)
        self.following = Following(self.member, self.elections)
        self._shard_of: Doc = {}
        super().__init__(port, folder, options)
        self.commands |= Documents(self.member).commands
        self._own_commands()
        store.save()
        self.listen()
        if self.member.active:
            self.loop(self._beat)
            self.loop(self.following.step)

    def _hang_up(self) -> None:
        self.listener.hang_up()

    def _own_commands(self) -> None:
        self.commands |= {
            "ismaster": lambda _: self._hello(),
            "buildinfo": lambda _: replies.build_info(),
            "serverstatus": lambda _: self._status(),
            "getparameter": self._parameter,
            "replsetgetstatus": lambda _: self._locked_status(),
            "replsetgetconfig": lambda _: {"config": replies.configuration(self.member), "ok": 1.0},
            "replsetinitiate": self._initiate,
            "replsetreconfig": self._reconfigure,
            "replsetstepdown": self._step_down,
            "replsetfreeze": self._freeze,
            "replsetmaintenance": self._maintenance,
            "replsetheartbeat": lambda asked: self._between(self.elections.heartbeat, asked),
            "replsetrequestvotes": lambda asked: self._between(self.elections.vote, asked),
            "replsetpull": lambda asked: self._between(self.following.pulled, asked),
            "replsetclone": lambda asked: self._between(lambda _: self.following.cloned(), asked),
            "fsync": lambda asked: self._lock(held=bool(asked.command.get("lock"))),
            "fsyncunlock": lambda _: self._lock(held=False),
            "shardingstate": lambda _: self._sharding_state(),
            "getshardmap": lambda _: self._shard_map(),
            "scriptedshard": self._told_shard,
        }

    def _between(self, answer: Callable[[Doc], Doc], asked: Asked) -> Doc:
        """Answer another member; a server in no set has none."""
        if not self.member.active or self.ended.is_set():
            raise Refused(76, "not running with --replSet")
        return answer(asked.command)

    def _beat(self) -> None:
        before = self.member.state
        self.elections.beat()
        if self.member.state != before:
            self.log(f"I REPL     transition to {self.member.state} from {before}")
        self.elections.wait()

    # -- what it says of itself

    def _hello(self) -> Doc:
        with self.member.lock:
            found = replies.in_set(self.member, self.elections.primary())
        if "--configsvr" in self.options:
            found["configsvr"] = 0 if self.options.mirrored else 1
        return {**found, **replies.hello_end()}

    def _status(self) -> Doc:
        found = replies.server_status(self.name, "mongod", self.started, self.listener.connections, self.counts)
        if self.member.active or "--configsvr" in self.options:
            with self.member.lock:
                own = replies.in_set(self.member, self.elections.primary())
            found["repl"] = {**own, "rbid": self.member.rbid}
        if self._shard_of:
            found["sharding"] = {"configsvrConnectionString": self._shard_of["config"]}
        return {**found, **replies.engine_status(self.options.engine), "ok": 1.0}

    def _locked_status(self) -> Doc:
        with self.member.lock:
            return replies.set_status(self.member, self.started)

    def _parameter(self, _: Asked) -> Doc:
        raise Refused(0, "no option found to get")

    # -- the set's own commands

    def _initiate(self, asked: Asked) -> Doc:
        me = self.member
        given = asked.command["replSetInitiate"]
        if not me.active and "--configsvr" not in self.options:
            raise Refused(76, "This node was not started with the replSet option")
        if me.config is not None or me.store.collections.get(CONFIG):
            raise Refused(23, "already initialized")
        config = normal({"protocolVersion": 1, **given})
        named = self.options["--replSet"]
        if named and config["_id"] != named:
            said = f"Attempting to initiate a replica set with name {config['_id']}, but command line reports {named}"
            raise Refused(93, f"{said}; rejecting")
        hosts = [one["host"] for one in config["members"]]
        if self.name not in hosts:
            raise Refused(NO_NODE, f"No host described in new configuration {config['version']} for replica set "
                          f"{config['_id']} maps to this node")  # fmt: skip
        self._quorum(config, len(hosts), "replSetInitiate quorum check failed because not all proposed set members "
                     "responded affirmatively")  # fmt: skip
        with me.lock:
            me.begin(config)
        self.log("I REPL     this node begins a set")
        return {"ok": 1.0}

    def _reconfigure(self, asked: Asked) -> Doc:
        me = self.member
        old, force = replies.configuration(me), bool(asked.command.get("force"))
        if me.state != PRIMARY and not force:
            said = f"replSetReconfig should only be run on PRIMARY, but my state is {WORDS[me.state]}"
            raise Refused(10107, f'{said}; use the "force" argument to override')
        new = normal(asked.command["replSetReconfig"], old["settings"]["replicaSetId"], wrong=INCOMPATIBLE)
        check_change(old, new, force=force)
        if force:
            new["version"] = max(new["version"], old["version"] + 10000)
        if self.name not in [one["host"] for one in new["members"]]:
            raise Refused(NO_NODE, f"No host described in new configuration {new['version']} for replica set "
                          f"{new['_id']} maps to this node")  # fmt: skip
        if not force:
            wanted = majority_of(new)
            words = f"not enough voting nodes responded; required {wanted} but only the following"
            self._quorum(new, wanted, f"Quorum check failed because {words}")
        with me.lock:
            me.install(new)
            if me.state == PRIMARY:
                own = me.own
                if own is None or own["priority"] <= 0:
                    me.step_down()
                else:
                    me.write({"op": "n", "ns": "", "o": {"msg": "Reconfig set", "version": new["version"]}})
            me.store.save()
        self.log(f"I REPL     new configuration {new['version']} with protocolVersion {protocol_of(new)}")
        return {"ok": 1.0}

    def _quorum(self, config: Doc, wanted: int, words: str) -> None:
        """Ask the members of a new configuration whether they would be of it."""
        missing = []
        votes = 0
        for one in config["members"]:
            if one["host"] == self.name:
                votes += one["votes"]
                continue
            try:
                ask(one["host"], {"replSetHeartbeat": config["_id"], "configVersion": -2, "from": "", "term": -1})
                votes += one["votes"]
            except (OSError, EOFError, Refused) as problem:
                missing.append(f"{one['host']} failed with {problem}")
        whole = wanted == len(config["members"])
        if (whole and missing) or (not whole and votes < wanted):
            raise Refused(NO_NODE, f"{words}: {', '.join(missing)}")

    def _step_down(self, asked: Asked) -> Doc:
        me, seconds = self.member, int(asked.command["replSetStepDown"] or _STEP_DOWN_S)
        replies.configuration(me)
        catch_up = float(asked.command.get("secondaryCatchUpPeriodSecs", _CATCH_UP_S))
        deadline = time.monotonic() + min(catch_up, seconds)
        with me.lock:
            if me.state != PRIMARY:
                raise Refused(10107, "not primary so can't step down")
            while not asked.command.get("force") and not self._successor():
                if time.monotonic() >= deadline:
                    said = f"No electable secondaries caught up as of {replies.moment(time.time()).isoformat()}"
                    raise Refused(50, f"{said}. Please use {{force: true}} to force node to step down.")
                me.moved.wait(0.1)
            me.may_not_before = time.monotonic() + seconds
            me.step_down()
        raise HungUp

    def _successor(self) -> bool:
        me = self.member
        for one in me.others:
            seen = me.seen[one["host"]]
            if one["priority"] > 0 and seen.up and seen.state == SECONDARY and seen.place.ts >= me.last.ts:
                return True
        return False

    def _freeze(self, asked: Asked) -> Doc:
        seconds, me = int(asked.command["replSetFreeze"]), self.member
        replies.configuration(me)
        with me.lock:
            if me.state == PRIMARY:
                raise Refused(95, "cannot freeze node when primary or running for election. state: Primary")
            me.may_not_before = time.monotonic() + seconds if seconds else 0.0
        return {"info": "unfreezing", "ok": 1.0} if seconds == 0 else {"ok": 1.0}

    def _maintenance(self, asked: Asked) -> Doc:
        with self.member.lock:
            if self.member.state == PRIMARY:
                raise Refused(95, "primaries can't modify maintenance mode")
            self.member.maintenance = bool(asked.command["replSetMaintenance"])
        return {"ok": 1.0}

    def _lock(self, *, held: bool) -> Doc:
        with self.member.lock:
            self.member.held = held
        return {"info": "now locked against writes" if held else "unlock completed", "ok": 1.0}

    # -- as a shard's server

    def _told_shard(self, asked: Asked) -> Doc:
        """What a mongos's first request tells a shard's primary: whose it is."""
        self._shard_of = dict(asked.command["scriptedShard"])
        return {"ok": 1.0}

    def _sharding_state(self) -> Doc:
        if self.member.active and self.member.state != PRIMARY:
            raise Refused(10107, "not master")
        if not self._shard_of:
            return {"enabled": False, "ok": 1.0}
        told = self._shard_of
        return {"enabled": True, "configServer": told["config"], "shardName": told["shard"], "versions": {}, "ok": 1.0}

    def _shard_map(self) -> Doc:
        return {"map": self._shard_of["map"], "ok": 1.0} if self._shard_of else {"ok": 1.0}
