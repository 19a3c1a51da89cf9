"""Conditions of config servers, by what real servers of 3.2.5 told in each phase of a conversion (recorded)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Document, Reply
from services.connections.ports import Output
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import QueryFailed, Unreachable, UserError
from services.procedures.conditions.config_servers.configured import AllVote, SetLies
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.config_servers.metadata import MetadataSame
from services.procedures.conditions.config_servers.runs_with import RunsWith
from services.procedures.conditions.config_servers.spare_folder import SpareFolder
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard
from services.procedures.conditions.config_servers.uses import RoutersUse, ShardsUse, StartedWith
from services.procedures.conditions.machine.there import FolderEmpty, FolderThere
from services.procedures.conditions.machine.unit import UnitNotEnabled
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, ScriptedSession, out
from tests.unit.recorded.mongo_replies import recorded

NAME = "csReplSet"
_COMMANDS = {
    "hello": "isMaster",
    "command-line": "getCmdLineOpts",
    "shard-map": "getShardMap",
    "sharding-state": "shardingState",
    "config-hash": "config.dbhash",
    "replica-set-status": "replSetGetStatus",
    "replica-set-config": "replSetGetConfig",
}


class Server(ScriptedSession):
    """A server as it was recorded in a phase; a reply that a case gives comes before it."""

    def __init__(self, host: str, phase: str) -> None:
        super().__init__(host)
        self.kind = "mongodb"
        self.phase = phase
        self.told: dict[str, Document | UserError] = {}
        self.found: dict[str, tuple[Document, ...]] = {}
        self.asked = 0
        self.files: dict[str, str] = {}

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        argv = command_of(read).argv
        return out(self.files[argv[-1]]) if argv[-1] in self.files else super().run(read, limit_s=limit_s)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del limit_s
        self.asked += 1
        if read.name in self.found:
            return Reply({}, self.found[read.name])
        answer = self.told.get(read.name)
        if isinstance(answer, UserError):
            raise answer
        known = recorded(f"{self.phase}.{self.host}")
        if answer is None:
            answer = known.answer(_COMMANDS[read.name])
        if answer is None:
            errno = known.errno(_COMMANDS[read.name])
            raise QueryFailed("Refused.", host=self.host, errno=errno if isinstance(errno, int) else 59)
        return Reply(answer)


def looked(condition: Condition, *servers: ScriptedSession) -> tuple[bool | None, str]:
    answer = answered(condition, *servers)
    return answer.holds, answer.evidence


def answered(condition: Condition, *servers: ScriptedSession, past: Past = NOTHING) -> Answer:
    hosts = ScriptedHosts()
    hosts.sessions.update({one.host: one for one in servers})
    return Attempt(hosts, ManualClock()).look(condition, past)


@pytest.mark.parametrize(
    ("phase", "host", "form", "name"),
    [
        ("1-sccc", "c1", "alone", ""),
        ("2-members-added", "c1", "mirrored-set", NAME),
        ("2-members-added", "n1", "set", NAME),
        ("3-stepped-down", "c1", "mirrored-set", NAME),
        ("3-stepped-down", "c2", "alone", ""),
        ("4-c1-restarted-old-string", "c1", "set", NAME),
        ("5-csrs", "n2", "set", NAME),
    ],
)
def test_that_each_phase_of_a_config_server_is_told_from_every_other(
    phase: str, host: str, form: str, name: str
) -> None:
    for other in ("alone", "mirrored-set", "new", "set", "removed"):
        holds, evidence = looked(ConfigServerIs(host, other, name), Server(host, phase))  # type: ignore[arg-type]
        assert holds is (other == form), evidence
    assert looked(ConfigServerIs(host, form, "another"), Server(host, phase))[0] is False  # type: ignore[arg-type]


def test_that_a_server_which_is_started_for_a_set_and_in_none_is_new() -> None:
    server = Server("n1", "5-csrs")
    server.told["hello"] = {"ismaster": False, "secondary": False, "isreplicaset": True, "configsvr": 1}
    assert looked(ConfigServerIs("n1", "new"), server)[0] is True


def test_that_an_mmapv1_server_out_of_its_set_is_removed_and_no_member() -> None:
    server = Server("c1", "4-c1-restarted-old-string")
    server.told["hello"] = {"setName": NAME, "isreplicaset": True, "configsvr": 1, "ismaster": False}
    assert looked(ConfigServerIs("c1", "removed", NAME), server)[0] is True
    assert looked(ConfigServerIs("c1", "set", NAME), server)[0] is False


def test_that_equal_metadata_are_equal_and_that_what_differs_is_named() -> None:
    mirrors = [Server(host, "1-sccc") for host in ("c1", "c2", "c3")]
    same = recorded("1-sccc.c1").answer("config.dbhash")
    assert same is not None
    for one in mirrors:
        one.told["config-hash"] = same
    condition = MetadataSame(("c1", "c2", "c3"))
    assert looked(condition, *mirrors)[0] is True
    told = same["collections"]
    assert isinstance(told, dict)
    mirrors[2].told["config-hash"] = {"collections": {**told, "chunks": "0" * 32}}
    holds, evidence = looked(condition, *mirrors)
    assert (holds, evidence) == (False, "c1, c2, c3 differ in chunks")
    mirrors[2].told["config-hash"] = {"collections": {**told, "lockpings": "0" * 32}}
    assert looked(condition, *mirrors)[0] is True  # it moves by itself
    mirrors[2].told["config-hash"] = {"collections": {}}
    assert looked(condition, *mirrors)[0] is None
    mirrors[2].told["config-hash"] = Unreachable("Gone.", host="c3")
    assert looked(condition, *mirrors)[0] is None


def test_that_a_split_which_is_under_way_is_waited_out() -> None:
    class Splitting(Server):
        def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
            found = super().ask(read, limit_s=limit_s)
            told = found.body["collections"]
            assert isinstance(told, dict)
            return Reply({"collections": {**told, "chunks": "later"}}) if self.asked == 1 else found

    same = recorded("1-sccc.c1").answer("config.dbhash")
    assert same is not None
    servers = Server("c1", "1-sccc"), Splitting("c2", "1-sccc")
    for one in servers:
        one.told["config-hash"] = same
    assert looked(MetadataSame(("c1", "c2")), *servers)[0] is True


@pytest.mark.parametrize(
    ("phase", "uses"),
    [("1-sccc", ""), ("3-stepped-down", ""), ("4-c1-restarted-old-string", NAME), ("5-csrs", NAME)],
)
def test_that_a_mongos_uses_what_its_map_says_whatever_it_was_started_with(phase: str, uses: str) -> None:
    server = Server("m1", phase)
    assert looked(RoutersUse(("m1",), uses), server)[0] is True
    assert looked(RoutersUse(("m1",), NAME if not uses else ""), server)[0] is False


def test_that_a_mongos_which_swapped_was_not_started_with_the_new_string() -> None:
    new = f"{NAME}/127.0.0.1:29001,127.0.0.1:29004,127.0.0.1:29005"
    assert looked(StartedWith("m1", new), Server("m1", "4-c1-restarted-old-string"))[0] is False
    assert looked(StartedWith("m1", new), Server("m1", "5-csrs"))[0] is True
    silent = Server("m1", "5-csrs")
    silent.told["command-line"] = {"parsed": {}}
    assert looked(StartedWith("m1", new), silent)[0] is None


_FILE = "/etc/mongod.conf"


def _runs(*settings: tuple[str, str]) -> RunsWith:
    return RunsWith("c1", _FILE, settings)


def test_that_what_a_server_runs_with_is_what_it_says_and_not_its_file() -> None:
    server = Server("c1", "1-sccc")
    server.told["command-line"] = {
        "parsed": {
            "config": _FILE,
            "net": {"port": 27019},
            "storage": {"dbPath": "/old"},
            "replication": {"replSet": "x"},
        }
    }
    assert looked(_runs(("storage.dbPath", "/old"), ("net.port", "27019")), server)[0] is True
    holds, evidence = looked(_runs(("storage.dbPath", "/new")), server)
    assert holds is False
    assert "c1 runs with storage.dbPath /old, not /new" in evidence
    assert looked(_runs(("replication.replSetName", "")), server)[0] is False
    assert looked(_runs(("sharding.configsvrMode", "")), server)[0] is True
    server.told["command-line"] = {"parsed": {}}
    assert looked(_runs(("storage.dbPath", "/new")), server)[0] is None


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        (f"/usr/bin/mongod\0--config\0{_FILE}\0", True),
        (f"/usr/bin/mongod\0-f\0{_FILE}\0--dbpath=/old\0", False),
        (f"/usr/bin/mongod\0--config={_FILE}\0-dbpath\0/old\0", False),
        ("/usr/bin/mongod\0--config\0/etc/other.conf\0", False),
        ("/usr/bin/mongod\0--dbpath\0/new\0", False),
    ],
)
def test_that_of_one_that_tells_nobody_its_command_line_and_its_file_are_read(line: str, holds: bool) -> None:
    server = Server("c1", "1-sccc")
    server.told["command-line"] = QueryFailed("not authorized", host="c1", errno=13)
    server.programs["ps"] = out("412 Ssl mongod\n")
    server.files = {"/proc/412/cmdline": line, _FILE: "storage:\n  dbPath: /new\nnet: {port: 27019}\n"}
    assert looked(_runs(("storage.dbPath", "/new"), ("net.port", "27019")), server)[0] is holds


def _started_by(age: str, told: Document | UserError, began: dict[str, float], line: str = "") -> Answer:
    server = Server("c1", "1-sccc")
    server.told["command-line"] = told
    server.programs["ps"] = out("412 Ssl mongod\n")
    server.files = {"/proc/412/cmdline": line, _FILE: "storage:\n  dbPath: /old\n", "etimes=": age}
    hosts, clock = ScriptedHosts(), ManualClock()
    hosts.sessions["c1"] = server
    past = Past({}, {step: clock.wall() - ago for step, ago in began.items()})
    return Attempt(hosts, clock).look(RunsWith("c1", _FILE, (("storage.dbPath", "/new"),), "c1:set-up"), past)


_OTHERWISE: Document = {"parsed": {"storage": {"dbPath": "/old"}}}
_NOBODY = QueryFailed("not authorized", host="c1", errno=13)


@pytest.mark.parametrize(
    ("age", "told", "began", "line", "final"),
    [
        ("4\n", _OTHERWISE, {"c1:set-up": 9.0}, "", True),
        ("9\n", _OTHERWISE, {"c1:set-up": 9.0}, "", False),  # an older one may be about to end
        ("8\n", _OTHERWISE, {"c1:set-up": 9.0}, "", False),  # ps leaves out what is no whole second
        ("4\n", _OTHERWISE, {}, "", False),
        ("", _OTHERWISE, {"c1:set-up": 9.0}, "", False),
        ("4\n", {"parsed": {}}, {"c1:set-up": 9.0}, "", False),
        ("4\n", _NOBODY, {"c1:set-up": 9.0}, f"/usr/bin/mongod\0--config\0{_FILE}\0--dbpath\0/old\0", True),
        ("4\n", _NOBODY, {"c1:set-up": 9.0}, f"/usr/bin/mongod\0--config\0{_FILE}\0", False),  # its file may be newer
        ("4\n", {"parsed": {"storage": {"dbPath": "/new"}}}, {"c1:set-up": 9.0}, "", False),
    ],
)
def test_that_only_of_a_process_that_the_step_started_another_option_is_final(
    age: str, told: Document | UserError, began: dict[str, float], line: str, final: bool
) -> None:
    """It can't change without another start: nobody waits for that in an outage."""
    assert _started_by(age, told, began, line).final is final


def test_that_a_shard_uses_what_its_primary_says_and_a_secondary_says_nothing() -> None:
    servers = Server("s0", "5-csrs"), Server("s1", "5-csrs")
    holds, evidence = looked(ShardsUse(("s0", "s1"), NAME), *servers)
    assert (holds, evidence) == (False, "s0 uses mirrored config servers")  # nothing was asked of it since
    servers[0].told["sharding-state"] = {"enabled": True, "configServer": f"{NAME}/127.0.0.1:29001"}
    assert looked(ShardsUse(("s0", "s1"), NAME), *servers)[0] is True
    assert looked(ShardsUse(("s1",), NAME), servers[1])[0] is None
    servers[1].told["sharding-state"] = Unreachable("Gone.", host="s1")
    assert looked(ShardsUse(("s0", "s1"), NAME), *servers)[0] is None


def test_that_a_set_in_the_data_is_seen_whatever_the_server_was_started_for() -> None:
    server = Server("c1", "1-sccc")
    server.found["replica-set-document"] = ()
    assert looked(SetLies("c1", ""), server)[0] is True
    assert looked(SetLies("c1", NAME), server)[0] is False
    server.found["replica-set-document"] = ({"_id": NAME, "version": 1},)
    assert looked(SetLies("c1", NAME), server)[0] is True
    assert looked(SetLies("c1", ""), server)[0] is False


def test_that_all_vote_only_where_every_member_has_a_vote_and_a_priority() -> None:
    members = tuple(Server(host, "3-stepped-down") for host in ("c1", "n1", "n2"))
    assert looked(AllVote(("c1", "n1", "n2")), *members)[0] is True
    fewer = tuple(Server(host, "2-members-added") for host in ("c1", "n1"))
    assert looked(AllVote(("c1", "n1")), *fewer)[0] is False
    assert looked(AllVote(("c1",)), Server("c1", "3-stepped-down"))[0] is False  # it has members that were not asked


def _machine(**programs: str) -> ScriptedSession:
    session = ScriptedSession("c3")
    session.programs = {name: out(text) for name, text in programs.items()}
    return session


def test_that_a_server_is_stopped_when_no_process_but_the_runs_own_is_left() -> None:
    quiet = _machine(ps="", systemctl="ActiveState=inactive\n")
    assert looked(MongoStopped("c3", "mongod.service"), quiet)[0] is True
    running = _machine(ps="  413 Ssl  mongod\n", systemctl="ActiveState=inactive\nMainPID=413\n")
    assert looked(MongoStopped("c3", "mongod.service"), running)[0] is False
    assert looked(MongoStopped("c3", "mongod.service", "scratch.service"), running)[0] is True
    other = _machine(ps="  413 Ssl  mongod\n  500 Ssl  mongod\n", systemctl="ActiveState=inactive\nMainPID=413\n")
    assert looked(MongoStopped("c3", "mongod.service", "scratch.service"), other)[0] is False
    assert looked(MongoStopped("c3", "mongod.service"), _machine(ps="", systemctl=""))[0] is None


@pytest.mark.parametrize(
    ("owner", "unit_user", "holds"),
    [
        ("mallory 1001", "mongodb", True),
        ("mongodb 100", "mongodb", False),
        ("mongodb 100", "100", False),
        ("root 0", "mongodb", False),
        ("mallory 1001", "", False),
        ("", "mongodb", False),
    ],
)
def test_that_a_process_of_another_user_that_is_called_like_it_keeps_no_stop_from_being_proven(
    owner: str, unit_user: str, holds: bool
) -> None:
    """Of the unit's user, of root, or of nobody known it may be the server, started by hand."""
    machine = _machine(ps=f"  413 Ssl  mongod {owner}\n", systemctl=f"ActiveState=inactive\nUser={unit_user}\n")
    found = looked(MongoStopped("c3", "mongod.service"), machine)
    assert (found[0], "pid 413" in found[1]) == (holds, True)


def test_that_a_containers_process_keeps_no_stop_from_being_proven() -> None:
    machine = _machine(
        ps="  413 Ssl  mongod mongodb 100\n", systemctl="ActiveState=inactive\nUser=mongodb\n",
        cat="Name:\tmongod\nNSpid:\t413\t1\n",
    )  # fmt: skip
    holds, told = looked(MongoStopped("c3", "mongod.service"), machine)
    assert (holds, "of a container" in told) == (True, True)


def _on_c1(**programs: str) -> Server:
    server = Server("c1", "1-sccc")
    server.programs |= {name: out(text) for name, text in programs.items()}
    return server


def test_that_a_copy_is_in_nobodys_use_where_the_server_is_stopped_or_back_on_its_own_folder() -> None:
    """A boot, or a person, starts the server while the run rests: the copy can go, and the undo goes on."""
    made = SpareFolder("c1", "mongod.service", "", _FILE, "/data/db")
    assert looked(made, _on_c1(ps="", systemctl="ActiveState=inactive\n"))[0] is True
    for folder, holds in (("/data/db", True), ("/data/db-cfg", False)):
        running = _on_c1(ps="  413 Ssl  mongod\n", systemctl="ActiveState=active\nMainPID=413\n")
        running.told["command-line"] = {"parsed": {"storage": {"dbPath": folder}}, "ok": 1.0}
        assert looked(made, running)[0] is holds
    assert looked(made, _on_c1(ps="", systemctl=""))[0] is None


def test_that_folders_are_told_by_what_they_hold() -> None:
    assert looked(FolderEmpty("c3", "/data"), _machine(ls="lost+found\n"))[0] is True
    assert looked(FolderEmpty("c3", "/data"), _machine(ls="storage.bson\n"))[0] is False
    gone = ScriptedSession("c3")
    assert looked(FolderEmpty("c3", "/data"), gone)[0] is False
    assert looked(FolderEmpty("c3", "/data", absent=True), gone)[0] is True
    assert looked(FolderThere("c3", "/data"), _machine(stat="directory\n"))[0] is True
    assert looked(FolderThere("c3", "/data"), _machine(stat="regular file\n"))[0] is False
    assert looked(FolderThere("c3", "/data"), gone)[0] is False
    gone.programs["stat"] = gone.programs["ls"] = out(code=1, errors="Permission denied")
    assert looked(FolderThere("c3", "/data"), gone)[0] is None
    assert looked(FolderEmpty("c3", "/data"), gone)[0] is None


def test_that_a_setting_is_what_the_file_says_and_nothing_else() -> None:
    path, mode = "/etc/mongod.conf", "sharding.configsvrMode"
    file = _machine(cat="sharding:\n  clusterRole: configsvr\n  configsvrMode: sccc\n")
    assert looked(SettingIs("c3", path, mode, "sccc"), file)[0] is True
    assert looked(SettingIs("c3", path, mode, ""), file)[0] is False
    assert looked(SettingIs("c3", path, mode, ""), ScriptedSession("c3"))[0] is True  # there is no such file
    assert looked(SettingIs("c3", path, mode, ""), _machine(cat="[mongod]\nport = 1\n"))[0] is None


@pytest.mark.parametrize(("wire", "holds"), [(4, True), (5, False), (3, False)])
def test_that_a_new_server_of_another_release_is_not_made_a_member(wire: int, holds: bool) -> None:
    """Its version was looked at nowhere: while the plan was made it was stopped."""
    server = Server("n1", "5-csrs")
    told: Document = {"ismaster": False, "secondary": False, "isreplicaset": True, "configsvr": 1}
    server.told["hello"] = {**told, "maxWireVersion": wire}
    assert looked(ConfigServerIs("n1", "new"), server)[0] is holds


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("UnitFileState=disabled\n", True),
        ("UnitFileState=static\n", True),
        ("UnitFileState=generated\n", True),
        ("UnitFileState=\n", True),
        ("UnitFileState=enabled\n", False),
        ("UnitFileState=enabled-runtime\n", False),
        ("", None),
    ],
)
def test_that_a_unit_which_can_not_be_disabled_does_not_hold_up_the_last_step(said: str, holds: bool | None) -> None:
    """Past the point of no return such a step could only be tried again, for ever."""
    assert looked(UnitNotEnabled("c3", "mongod.service"), _machine(systemctl=said))[0] is holds


@pytest.mark.parametrize(("name", "seconds", "holds"), [("r2", 5, True), ("r9", 5, False), ("r9", 300, True)])
def test_that_a_mongos_which_came_after_the_plan_is_seen(name: str, seconds: int, holds: bool) -> None:
    """It would keep the old string, and fail once the old config servers are stopped."""
    latest = 1_795_000_000.0
    server = Server("c1", "1-sccc")
    server.found["config-mongos"] = (
        {"_id": "r1:27017", "ping": latest},
        {"_id": f"{name}:27017", "ping": latest - seconds},
    )
    condition = NoOtherRouter("c1", ("r1:27017", "r2:27017"))
    assert looked(condition, server)[0] is holds
    server.found["config-mongos"] = ()
    assert looked(condition, server)[0] is None


def test_that_a_shard_which_came_after_the_plan_is_seen() -> None:
    server = Server("r1", "")
    condition = NoOtherShard("r1", ("rs0",))
    for told, holds in ((("rs0",), True), (("rs0", "rs1"), False), ((), None)):
        server.found["config-shards"] = tuple({"_id": name, "host": f"{name}/m1:27018"} for name in told)
        assert looked(condition, server)[0] is holds
    assert condition.declared().stands, "others may add one: it is looked at again before what relies on it"
    server.found["config-shards"] = ({"_id": "rs1", "host": "rs1/m4:27018"},)
    answer = answered(replace(condition, way="see to it"), server)
    assert (answer.evidence, answer.final) == ("rs1 is a shard, and not in the plan: see to it", True), "no wait helps"
