"""What is read of a MongoDB server's process, file, folder and data before a plan: texts as a lab's host gave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Reply
from services.connections.ports import Output
from services.connections.programs.folder_programs import OWN_PLACE
from services.connections.programs.read_programs import START_LINE
from services.connections.programs.way_programs import WAY_OF
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.facts.model import NodeFacts
from services.facts.mongodb.process import command_line, is_program, may_be_shown, parse_processes, unit_of
from services.facts.mongodb.sharding import ShardedCluster
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.last_vote import NEVER, LastVote
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.parts.mongodb.set_document import SetDocument
from services.types import Reach
from tests.unit.discovery.mongo_scenes import AT, hosts, member, mirror, row, view
from tests.unit.procedures.scripted_sessions import ScriptedSession, out

FILE = """\
net:
  bindIp: 127.0.0.1,10.213.16.21
  port: 27019
  ssl:
    PEMKeyPassword: very-secret
sharding:
  clusterRole: configsvr
storage:
  dbPath: /var/lib/mysql/db
"""
WAY = """\
at drwxr-x--- 100 101 /var/lib/mysql/db
at drwxr-xr-x 100 101 /var/lib/mysql
at drwxr-xr-x 0 0 /var/lib
at drwxr-xr-x 0 0 /var
at drwxr-xr-x 0 0 /
end
"""
_BIN = (
    "at drwxr-xr-x 0 0 /usr/local/bin\nat drwxr-xr-x 0 0 /usr/local\nat drwxr-xr-x 0 0 /usr\nat drwxr-xr-x 0 0 /\nend\n"
)
RUN_BY = f"Uid:\t100\t100\t100\t100\nGid:\t101\t101\t101\t101\nat -rwxr-xr-x 0 0 /usr/local/bin/mongod\n{_BIN}"


_ETC = "at -rw-r--r-- 0 0 /etc/mongod.conf\nat drwxr-xr-x 0 0 /etc\nat drwxr-xr-x 0 0 /\nend\n"


class Host(ScriptedSession):
    """A host that answers each command by its words."""

    def __init__(self, **more: str) -> None:
        super().__init__("c1")
        self.kind = "mongodb"
        self.said = {
            "ps": "     45 Ssl  mongod\n",
            "45": RUN_BY,
            "LoadState,MainPID,User": "LoadState=loaded\nMainPID=45\nUser=mysql\n",
            "/proc/45/cgroup": "0::/system.slice/mongod.service\n",
            "/proc/45/cmdline": "/usr/local/bin/mongod\0--config\0/etc/mongod.conf\0",
            "/etc/mongod.conf": FILE,
            "the way to the file": _ETC,
            OWN_PLACE: "",
            "UnitFileState": "UnitFileState=enabled\n",
            "ls": "WiredTiger\nlost+found\nstorage.bson\n",
            "du": "335544320\t/var/lib/mysql/db\n",
            WAY_OF: WAY,
            **more,
        }

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        words = command_of(read).argv
        if words[:3] == ("ps", "-p", "1"):
            return out("      1     0 systemd\n")
        if WAY_OF in words and words[-1].endswith(".conf"):
            return out(self.said["the way to the file"])
        if OWN_PLACE in words and self.said[OWN_PLACE]:
            return out(self.said[OWN_PLACE], code=1)
        found = next((text for key, text in self.said.items() if key in words), None)
        return out(found) if found is not None else out(code=1, errors="No such file or directory")

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del read, limit_s
        return Reply({"cursor": {"firstBatch": [{"_id": "csrs", "version": 4}]}})


def _node(**more: object) -> HostFacts:
    node = mirror(1, ShardedCluster("77", hosts("c1:27019")))
    assert node.mongo is not None
    told = {"configuration": "/etc/mongod.conf", "data_path": "/var/lib/mysql/db", **more}
    server = replace(node.mongo.server, **told)  # type: ignore[arg-type]
    return HostFacts("c1", "c1", replace(node, mongo=replace(node.mongo, server=server)))


def _process(host: Host, facts: HostFacts | None = None) -> MongoProcess:
    found = MongoProcess.read(facts or _node(), Reader(host, ManualClock()))
    assert found is not None
    return found


def test_that_a_server_under_systemd_is_known_by_program_unit_and_file() -> None:
    found = _process(Host())
    assert (found.running, found.program, found.unit) == (1, "/usr/local/bin/mongod", "mongod.service")
    assert (found.account, found.odd) == (100, "")
    assert (found.enabled, found.path, found.trouble) == (True, "/etc/mongod.conf", "")
    assert found.setting("net.port") == 27019


def test_that_no_password_of_the_file_is_kept() -> None:
    found = _process(Host())
    assert "very-secret" not in repr(found)
    assert found.others == ("net.ssl.PEMKeyPassword",)


@pytest.mark.parametrize(
    ("more", "trouble"),
    [
        ({"ps": "     45 Ssl  mongod\n     46 Ssl  mongos\n"}, "several servers run there"),
        (
            {"/etc/mongod.conf": "a: [\n"},
            "it is not YAML",
        ),
        (
            {"/etc/mongod.conf": "just words"},
            "it contains no settings",
        ),
    ],
)
def test_that_what_can_t_be_edited_is_told_with_why(more: dict[str, str], trouble: str) -> None:
    assert trouble in _process(Host(**more)).trouble


def test_that_a_file_in_a_persons_folder_is_not_read() -> None:
    home = {"/proc/45/cmdline": "/usr/local/bin/mongod\0-f\0/home/me/mongod.conf\0"}
    found = _process(Host(**home), _node(configuration="/home/me/mongod.conf"))
    assert found.settings == ()
    assert "not a place that the console reads" in found.trouble
    none = Host(**{"/proc/45/cmdline": "/usr/local/bin/mongod\0"})
    assert _process(none, _node(configuration="")).trouble == "it was started without a configuration file"


def test_that_the_file_is_the_one_of_the_process_and_what_the_server_says_has_to_agree() -> None:
    """A server told of another one in its data folder: root would have edited it there."""
    evil = "/srv/mongodb/data/mongod.conf"
    found = _process(Host(**{evil: FILE}), _node(configuration=evil))
    assert found.path == "/etc/mongod.conf"
    assert found.trouble == f"its process was started with /etc/mongod.conf, and the server reports {evil}"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, ""),
        (
            {OWN_PLACE: "others than root may write into /etc, or change what lies there\n"},
            "others than root may write",
        ),
        ({"the way to the file": "end\n"}, None),
    ],
)
def test_that_the_way_to_the_file_is_told_where_it_is_not_roots_alone(more: dict[str, str], told: str | None) -> None:
    found = _process(Host(**more)).open_way
    assert found == told if not told else (found or "").startswith(told)


INSIDE = "Name:\tmongod\nNSpid:\t900\t1\n"


@pytest.mark.parametrize(
    ("line", "more", "whose"),
    [
        ("900 Ssl mongod systemd-coredump 999", {"/proc/900/status": INSIDE}, "a container"),
        ("900 Ssl mongod mongodb 100", {"/proc/900/status": INSIDE}, "a container"),
        ("900 Ssl mongod bob 1000", {}, "a user who is not mongodb"),
    ],
)
def test_that_what_only_is_called_like_a_server_is_told_and_is_no_second_one(
    line: str, more: dict[str, str], whose: str
) -> None:
    """It blocked every plan on that host, before anything was planned."""
    found = _process(Host(ps=f"  {line}\n     45 Ssl  mongod mongodb 100\n", **more))
    assert (found.running, found.unit, found.trouble, found.odd) == (1, "mongod.service", "", "")
    assert found.strangers.startswith(f"pid 900 is called like one, of {whose}")


@pytest.mark.parametrize("line", ["900 Ssl mongod mongodb 100", "900 Ssl mongod root 0", "900 Ssl mongod"])
def test_that_one_that_may_be_the_servers_own_counts_as_a_second_one(line: str) -> None:
    found = _process(Host(ps=f"  {line}\n     45 Ssl  mongod mongodb 100\n"))
    assert (found.running, found.trouble) == (2, "several servers run there")


def test_that_on_a_spare_host_a_process_of_another_user_is_no_server() -> None:
    spare = HostFacts("n1", "n1", NodeFacts("n1", AT, Reach.SSH_ONLY, "n1"))
    found = _process(Host(ps="  900 Ssl mongod bob 1000\n"), spare)
    assert (found.running, found.unit) == (0, "mongod.service")
    assert "not mysql" in found.strangers


def test_that_a_server_that_answers_on_another_port_than_the_units_is_told() -> None:
    found = _process(Host(), _node(port=27018))
    assert found.trouble == ("the server of mongod.service listens on port 27019, and the one that answers on 27018")


def test_that_a_server_started_by_hand_has_no_unit() -> None:
    assert _process(Host(**{"/proc/45/cgroup": "0::/user.slice/user-0.slice/session-1.scope\n"})).unit == ""


def test_that_a_data_folder_is_told_with_its_size_and_that_a_spare_hosts_is_the_others() -> None:
    found = MongoData.read(_node(), Reader(Host(), ManualClock()))
    assert found == MongoData(
        "/var/lib/mysql/db", 335_544_320, 2, 100, 101, "", ("WiredTiger", "lost+found", "storage.bson")
    )
    assert [found.holds(f"/var/lib/{path}") for path in ("mysql/lost+found", "mysql/other", "lost+found")] == [
        True,
        False,
        False,
    ]
    named = MongoData.read(_node(), Reader(Host(**{"%U": "mongod\n"}), ManualClock()))
    assert named is not None
    assert named.owner_name == "mongod"
    spare = HostFacts("n1", "n1", NodeFacts("n1", AT, Reach.SSH_ONLY, "n1"))
    assert MongoData.read(spare, Reader(Host(), ManualClock())) is None  # nobody told which one


def test_that_a_set_which_lies_in_a_mirrors_data_is_named() -> None:
    assert SetDocument.read(_node(), Reader(Host(), ManualClock())) == SetDocument(("csrs",))


class Voter(Host):
    """A member that answers with what lies in local.replset.election, as 3.2.5 gave it."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        super().__init__()
        self._rows = list(rows)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del read, limit_s
        return Reply({"cursor": {"firstBatch": self._rows}})


@pytest.mark.parametrize(
    ("rows", "term"), [((), NEVER), (({"term": 0},), 0), (({"term": 3},), 3), (({"term": "3"},), None), (({},), None)]
)
def test_that_a_members_last_vote_is_told_and_nothing_is_made_of_what_is_no_number(
    rows: tuple[dict[str, Any], ...], term: int | None
) -> None:
    node = member(1, view(1, (row(1, "PRIMARY"), row(2))))
    assert LastVote.read(HostFacts("m1", "m1", node), Reader(Voter(*rows), ManualClock())) == LastVote(term)


def test_that_who_is_in_no_set_has_no_vote_to_tell() -> None:
    assert LastVote.read(_node(), Reader(Voter(), ManualClock())) is None


@pytest.mark.parametrize("text", ["", "nonsense", "  45\n", " 45 Z mongod\n", "45 Ssl mysqld\n"])
def test_that_what_is_no_running_server_is_none(text: str) -> None:
    assert parse_processes(text) == ()


@pytest.mark.parametrize(
    "path", ["", "mongod", "/bin/mongod$(x)", "/bin/a b/mongod", "/usr/bin/python3", "/bin/mongod (deleted)"]
)
def test_that_no_program_is_made_of_a_hostile_path(path: str) -> None:
    assert not is_program(path)


_USERS = "0::/user.slice/user-1000.slice/user@1000.service"


@pytest.mark.parametrize(
    "text",
    [
        *("", "0::/", "0::/a.scope", "0::/system.slice/$(x).service", "0::/system.slice/mongod.service/x.service"),
        *(f"{_USERS}/app.slice/mongod.service", _USERS, "0::/user.slice/mongod.service"),
        "0::/system.slice/user@1000.service/mongod.service",
    ],
)
def test_that_no_unit_is_made_of_a_hostile_group_nor_of_one_below_a_users_manager(text: str) -> None:
    assert unit_of(text) == ""


@pytest.mark.parametrize("text", ["0::/system.slice/mongod.service\n", "0::/db.slice/db-a.slice/mongod@1.service\n",
                                  "12:cpu:/x\n1:name=systemd:/system.slice/mongod.service\n"])  # fmt: skip
def test_that_a_unit_of_the_system_is_told(text: str) -> None:
    assert unit_of(text).startswith("mongod")


@pytest.mark.parametrize(
    ("more", "odd"),
    [
        ({"LoadState,MainPID,User": "LoadState=loaded\nMainPID=7\nUser=u\n"}, "is not the main process of a system"),
        ({"LoadState,MainPID,User": ""}, "is not the main process of a system"),
        ({"/proc/45/cgroup": f"{_USERS}/app.slice/mongod.service\n"}, "is not the main process of a system"),
        ({"45": RUN_BY.replace("mongod", "python3")}, "is not a program of MongoDB"),
        ({"45": RUN_BY.replace("-rwxr-xr-x 0 0", "-rwxrwxr-x 0 5")}, "may change /usr/local/bin/mongod"),
        ({"45": RUN_BY.replace("-rwxr-xr-x 0 0", "-rwxr-xr-x 100 0")}, "others than root may change"),
        ({"45": RUN_BY.replace("-rwxr-xr-x 0", "-rwxrwxr-x+ 0")}, "others than root may change"),
        ({"45": RUN_BY.replace("-xr-x 0 0 /usr/local\n", "-xrwx 0 0 /usr/local\n")}, "may change /usr/local"),
        ({"45": RUN_BY.replace("-rwxr-xr-x", "prw-r--r--")}, "is not a plain file"),
        ({"45": RUN_BY.replace("end\n", "")}, "is not known"),
        ({"45": RUN_BY.replace("Uid:\t100\t100", "Uid:\t100\t0")}, "is not known"),
    ],
)  # fmt: skip
def test_that_a_servers_program_is_the_kernels_word_and_roots_own_file(more: dict[str, str], odd: str) -> None:
    """Its own first word was taken, whoever may write that file."""
    found = _process(Host(**more))
    assert (found.program, odd in found.odd) == ("", True), found


def test_that_a_server_that_runs_as_root_is_told_so() -> None:
    assert _process(Host(**{"45": RUN_BY.replace("100", "0").replace("101", "0")})).account == 0


@pytest.mark.parametrize("user", ["", "root", "0"])
def test_that_a_new_hosts_unit_that_starts_its_server_as_root_is_told(user: str) -> None:
    host = Host(ps="", **{"LoadState,MainPID,User": f"LoadState=loaded\nMainPID=0\nUser={user}\n"})
    assert "as root" in _process(host).odd


@pytest.mark.parametrize(
    ("old", "new", "odd"),
    [
        ("at drwxr-x--- 100", "at drwxr-x--- 0", "is root"),
        ("/var/lib/mysql/db\nat drwxr-xr-x 100", "/var/lib/mysql/db\nat drwxr-xr-x 33", "may change /var/lib/mysql"),
        ("at drwxr-x---", "at drwxrwxrwx", "may change /var/lib/mysql/db"),
        ("at drwxr-xr-x 0 0 /var\n", "at drwxrwxr-x 0 50 /var\n", "may change /var"),
        ("at drwxr-x--- 100", "at -rw-r----- 100", "is no folder"),
    ],
)
def test_that_who_else_may_change_a_data_folder_is_told(old: str, new: str, odd: str) -> None:
    found = MongoData.read(_node(), Reader(Host(**{WAY_OF: WAY.replace(old, new)}), ManualClock()))
    assert found is not None
    assert odd in (found.odd or ""), found


def test_that_an_account_that_may_write_above_its_own_data_is_no_fault() -> None:
    found = MongoData.read(_node(), Reader(Host(), ManualClock()))
    assert found is not None
    assert (found.owner, found.odd) == (100, "")
    unread = MongoData.read(_node(), Reader(Host(**{WAY_OF: ""}), ManualClock()))
    assert unread is not None
    assert (unread.owner, unread.odd) == (None, None)


def test_that_only_settings_of_a_closed_list_are_looked_at() -> None:
    assert may_be_shown("storage.dbPath")
    assert may_be_shown("security.keyFile")
    for name in ("net.ssl.PEMKeyPassword", "security.ldap.bind.queryPassword", "setParameter.x", "security"):
        assert not may_be_shown(name)


def test_that_the_name_of_a_set_on_a_command_line_ends_before_its_seeds() -> None:
    words = ("mongod", "--config", "/etc/mongod.conf", "--replSet", "rs0/h1:27017,h2:27017")
    assert command_line("\0".join((*words, "")))["replication.replSetName"] == "rs0"


_STARTS = "LoadState=loaded\nExecStart={{ path=/usr/bin/mongod ; argv[]={} ; ignore_errors=no ; start_time=[n/a] }}\n{}"


@pytest.mark.parametrize(
    ("argv", "more", "path", "given"),
    [
        ("/usr/bin/mongod --config /etc/mongod.conf", "", "/etc/mongod.conf", {}),
        ("/usr/bin/mongod -f /etc/mongodb/mongod.conf --port 27017", "", "/etc/mongodb/mongod.conf",
         {"net.port": "27017"}),
        ("/usr/bin/mongod $OPTIONS", "unit OPTIONS=$'-f /etc/mongod-other.conf'\n", "/etc/mongod-other.conf", {}),
        ("/usr/bin/mongod --config ${FILE}", "file /etc/default/mongod FILE=/etc/mongod-other.conf\n",
         "/etc/mongod-other.conf", {}),
        ("/usr/bin/mongod --dbpath /srv/db", "", "", {"storage.dbPath": "/srv/db"}),
        ("/etc/init.d/mongod start", "", "/etc/mongod.conf", {}),
    ],
)  # fmt: skip
def test_that_where_no_server_runs_its_unit_tells_what_it_would_start_with(
    argv: str, more: str, path: str, given: dict[str, str]
) -> None:
    """The package's usual file was taken for it, whatever the unit names: what was written there nobody read."""
    host = Host(**{"ps": "", START_LINE: _STARTS.format(argv, more)})
    found = _process(host, HostFacts("n1", "n1", NodeFacts("n1", AT, Reach.SSH_ONLY, "n1")))
    assert (found.running, found.unit, found.path, found.user) == (0, "mongod.service", path, "mysql")
    assert {name: value for name, value in found.given if name != "config"} == given
